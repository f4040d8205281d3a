"""Redo during and after a session, and quitting while recording, lose nothing and leave nothing
behind.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.app.live import host
from motion_matching.app.runtime import runtime
from motion_matching.app.takes import recordings
from tests.conftest import CHECKOUT
from tests.live.hero import Hero
from tests.scene.keys import read_channels

# enabled as Blender does, so that Blender disables it when it quits
QUITS = """
import sys
import bpy
import addon_utils
sys.argv = sys.argv[1:]
assert addon_utils.enable("motion_matching", default_set=True)
from tests.live.hero import *
hero = Hero(**eval(sys.argv[3]))
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[2])
live = hero.start()
live.toggle_recording()
if hero.obj.motion_matching.play.timeline:
    hero.play(*range(2, 132))
else:
    hero.run(130)
print("recorded", flush=True)
"""

NEXT_START = """
import motion_matching
motion_matching.register()
from tests.live.hero import *
from motion_matching.app.runtime import runtime
from motion_matching.app.takes import recordings
from motion_matching.app.live import endings
# Blender looks for interrupted recordings one second after its start
recordings.refresh()
assert len(runtime.interrupted) == 2
for file, begins in zip(sys.argv[1:3], (1, 2), strict=True):
    bpy.ops.wm.open_mainfile(filepath=file)
    assert bpy.ops.motion_matching.recover_take() == {"FINISHED"}
    obj = bpy.data.objects["Hero"]
    [take] = obj.motion_matching.takes
    first, last = take.action.frame_range
    assert obj.animation_data.action == take.action and first == begins
    assert last - first + 1 == 130, (first, last)
assert not runtime.interrupted and not list(recordings.get_folder().iterdir())
"""


def test_redo_ends_a_session_and_restores_its_take() -> None:
    ed = bpy.ops.ed

    def create_hero():
        hero = Hero()
        ed.undo_push(message="the hero")
        hero.obj.location.z = 1.0
        ed.undo_push(message="lifted")
        ed.undo()
        hero.obj = bpy.data.objects["Hero"]
        return hero

    # a redo while live ends the session, as an undo does, and goes to the next step
    hero = create_hero()
    live = hero.start()
    hero.run(30)
    ed.redo()
    hero.run(3)
    assert runtime.live is None
    assert "Undo" in live.ending
    assert not live.session.is_running
    obj = bpy.data.objects["Hero"]
    assert obj.location.z == 1.0
    assert not obj.animation_data
    assert len(bpy.data.actions) == 0

    # while recording, the take survives the redo
    hero = create_hero()
    live = hero.start()
    live.toggle_recording()
    hero.run(70)
    ed.redo()
    hero.run(3)
    obj = bpy.data.objects["Hero"]
    assert runtime.live is None
    assert not runtime.interrupted
    assert obj.animation_data.action.name == "Recovered Walk"
    assert obj.animation_data.action.frame_range[1] == 70
    assert [take.action for take in obj.motion_matching.takes] == [obj.animation_data.action]

    # after the session, undo removes the take and redo restores it; another session may start each
    # time
    hero = create_hero()
    ed.redo()
    hero.obj = bpy.data.objects["Hero"]
    live = hero.start()
    live.toggle_recording()
    hero.run(60)
    host.end()
    ed.undo_push(message="Start")  # as Blender does after an operator
    keys = {
        key: values.copy() for key, values in read_channels(hero.obj.animation_data.action).items()
    }
    for _ in range(2):
        ed.undo()
        hero.obj = bpy.data.objects["Hero"]
        assert not hero.obj.motion_matching.takes
        assert "Recovered Walk" not in bpy.data.actions
        ed.redo()
        hero.obj = bpy.data.objects["Hero"]
        [take] = hero.obj.motion_matching.takes
        assert hero.obj.animation_data.action == take.action
        again = read_channels(take.action)
        assert again.keys() == keys.keys()
        assert all(np.array_equal(again[key], keys[key]) for key in keys)
    live = hero.start()
    hero.run(20)
    host.end()
    assert hero.obj.animation_data.action == take.action
    assert live.ending == ""
    assert not runtime.interrupted
    assert not list(recordings.get_folder().iterdir())


@pytest.mark.slow
def test_quitting_while_recording_keeps_the_recording(
    run_in_blender: Callable[..., str], demo_file: Path, tmp_path: Path
) -> None:
    script = tmp_path / "quits.py"
    script.write_text("import bpy\n" + QUITS, encoding="utf-8")
    environment = {
        **os.environ,
        "BLENDER_USER_RESOURCES": str(tmp_path / "blender_user"),
        "PYTHONPATH": str(CHECKOUT),
    }
    files = [tmp_path / f"{name}.blend" for name in ("clock", "timeline")]
    for saved, play in zip(files, ("{}", "{'timeline': True}"), strict=True):
        command = [
            sys.executable,
            "-X",
            "faulthandler",
            str(script),
            "",
            str(demo_file),
            str(saved),
            play,
        ]
        done = subprocess.run(
            command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, timeout=200
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "recorded" in done.stdout
    run_in_blender("import sys\n" + NEXT_START, *files)
