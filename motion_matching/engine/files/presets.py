"""Shipped presets: JSON files under `presets/motion_matching/<kind>/`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..errors import SettingsError
from . import json_files

_PACKAGE = Path(__file__).resolve().parents[2]


def find_folder(kind: str) -> Path:
    """Return the folder of one kind: in the installed extension, or next to the package."""
    inside = _PACKAGE / "presets" / "motion_matching" / kind
    return inside if inside.is_dir() else _PACKAGE.parent / "presets" / "motion_matching" / kind


def list_names(kind: str) -> list[str]:
    """Return the names of the shipped presets of one kind, sorted."""
    return sorted(path.stem for path in find_folder(kind).glob("*.json"))


def load(kind: str, name: str) -> dict[str, Any]:
    """Return a shipped preset by name, or a JSON file by path.

    Raises SettingsError if there is neither, or if the file holds no JSON object.
    """
    is_path = name.endswith(".json")
    shipped = list_names(kind)
    path = Path(name) if is_path else find_folder(kind) / f"{name}.json"
    if not (os.path.isfile(path) if is_path else name in shipped):
        choices = ", ".join(shipped)
        raise SettingsError(
            f"There is no {kind} preset '{name}'; use one of {choices}, or a JSON file."
        )
    with json_files.name_file(f"preset {path}"):
        return dict(json_files.expect_object(json_files.read(path, "preset"), "the file"))
