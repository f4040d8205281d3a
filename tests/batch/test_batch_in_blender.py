"""Blender files of a batch run no scripts unless they may, and are as of a row alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.batch.batches import DATABASE

SCRIPT = """
import json
import os
import sys
from pathlib import Path
from motion_matching.cli import main

database, folder = sys.argv[1], Path(sys.argv[2])
os.chdir(folder)
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
assert main(["take", database, "--seconds", "1", "-o", "rig.blend", "--quiet"]) == 0
bpy.ops.wm.open_mainfile(filepath="rig.blend")
(armature,) = [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]
name = armature.name
armature.driver_add("hide_render").driver.expression = "len(str(frame)) > 90"  # which may only run with the rest
armature.driver_add("show_in_front").driver.expression = "sin(frame) > 2"  # which always may
text = bpy.data.texts.new("spy.py")
text.write("import pathlib; pathlib.Path('spied').touch()")
text.use_module = True
bpy.ops.wm.save_as_mainfile(filepath=str(folder / "rig.blend"))
row = {"command": "take", "database": database, "seconds": 1, "onto": "rig.blend", "armature": armature.name}
rows = [{**row, "seed": seed, "script": "turns", "output": f"out/{seed}.blend"} for seed in range(2)]
Path("jobs.json").write_text(json.dumps({"rows": rows}))

assert main(["batch", "jobs.json", "--quiet"]) == 0
assert not Path("spied").exists()
log = Path("out/1.blend.row.log").read_text()
assert log.count("Warning: the driver") == 1, log
assert f"of '{name}' (hide_render) fails" in log, log
for seed in range(2):
    bpy.ops.wm.open_mainfile(filepath=f"out/{seed}.blend", use_scripts=False)
    assert [obj.name for obj in bpy.data.objects if obj.type == "ARMATURE"] == [name]
    assert len(bpy.data.actions) == 2, [action.name for action in bpy.data.actions]
assert main(["batch", "jobs.json", "--quiet", "--force", "--only", "1", "--allow-scripts"]) == 0
assert Path("spied").exists()
assert not bpy.context.preferences.filepaths.use_scripts_auto_execute
"""


@pytest.mark.slow
def test_blender_files_of_rows_run_scripts_only_if_they_may(
    run_in_blender: Callable[..., str], tmp_path: Path
) -> None:
    run_in_blender(SCRIPT, DATABASE, tmp_path)
