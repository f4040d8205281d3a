"""Without scipy, each command and operator says in one sentence what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from motion_matching.engine.errors import MissingLibraryError, to_missing_library
from tests.conftest import CHECKOUT

BEFORE = Path(__file__).parent / "data" / "before"
SENTENCE = "scipy is missing: reinstall the extension for this platform"
BLOCK = "import sys; sys.modules['scipy'] = None"
COMMAND = f"{BLOCK}; from motion_matching.cli import main; sys.exit(main())"
COMMANDS = (
    "build curves.bvh -o made.npz",
    "take curves.npz --seconds 1",
    "train curves.npz -o made.npz",
    "direct curves.npz scene.json",
    "inspect curves.npz",
)


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_says_that_scipy_is_missing(line: str, tmp_path: Path) -> None:
    for name in ("curves.bvh", "curves.npz"):
        shutil.copy(BEFORE / name, tmp_path)
    (tmp_path / "scene.json").write_text('{"seconds": 2}')
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *line.split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        encoding="utf-8",
        timeout=200,
    )
    assert done.returncode == 1, done.stderr
    assert SENTENCE in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


OPERATORS = f"""
{BLOCK}
import contextlib, io
import motion_matching
motion_matching.register()
bpy.ops.wm.open_mainfile(filepath={str(BEFORE / "performer.blend")!r})
[obj] = [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]
bpy.context.view_layer.objects.active = obj
ops = bpy.ops.motion_matching
said = {{}}
def call(name, **options):
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed):
        try:
            said[name] = str(getattr(ops, name)(**options))
        except RuntimeError as error:
            said[name] = str(error)
    assert "Traceback" not in printed.getvalue() + said[name], (name, printed.getvalue(), said)
call("add_mark")
for name in ("build", "bake_script", "direct", "train", "measure_coverage", "add_demo_performer"):
    call(name)
    assert {SENTENCE!r} in said[name], said
"""


@pytest.mark.slow
@pytest.mark.blender
def test_an_operator_says_that_scipy_is_missing(run_in_blender: Callable[..., str]) -> None:
    run_in_blender(OPERATORS)


def test_other_errors_of_imports_are_raised() -> None:
    for name in ("scipy", "scipy.spatial", "numpy"):
        found = to_missing_library(ModuleNotFoundError("gone", name=name))
        assert isinstance(found, MissingLibraryError)
    for error in (ImportError("cannot import name"), ModuleNotFoundError("x", name="scipyx")):
        with pytest.raises(type(error)) as raised:
            to_missing_library(error)
        assert raised.value is error
