"""Pythons with a bpy module, beside the one that runs the tests."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

from building.environments import STAMP
from building.pins import BLENDERS
from tests.conftest import CHECKOUT

THIS = ".".join(version("bpy").split(".")[:2])


def find_newer_pythons() -> dict[str, Path]:
    """Return the Pythons of `build.py`'s environments with a newer Blender than this one, by
    version.
    """
    wanted = [name for name in BLENDERS if _parse_version(name) > _parse_version(THIS)]
    homes = [CHECKOUT, *Path(sys.prefix).parents[:2]]
    found = {}
    for name in sorted(wanted, key=_parse_version):
        folders = [home / ".venvs" / name for home in homes]
        # the default environment has its own folder
        folders += [
            home / ".venv"
            for home in homes
            for lib in ("lib/python*", "Lib")
            if any(home.glob(f".venv/{lib}/site-packages/bpy-{name}.*"))
        ]
        places = [
            folder / program
            for folder in folders
            if (folder / STAMP).exists()
            for program in ("bin/python", "Scripts/python.exe")
        ]
        there = next((place for place in places if place.exists()), None)
        if there:
            found[name] = there
    return found


def _parse_version(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.split("."))
