"""Buttons name operators as texts: each of these names is an operator's."""

from __future__ import annotations

import re
from pathlib import Path

import motion_matching
from motion_matching.ui import classes


def test_buttons_name_operators_that_exist():
    known = {getattr(cls, "bl_idname", "") for cls in classes.ALL}
    files = (Path(motion_matching.__file__).parent / "ui").rglob("*.py")
    named = {
        name
        for file in files
        for name in re.findall(r'"(motion_matching\.\w+)"', file.read_text(encoding="utf-8"))
    }
    assert len(named) > 40
    assert named <= known, named - known
