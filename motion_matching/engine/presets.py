"""Shipped presets: JSON files under `presets/motion_matching/<kind>/`, read by the engine and the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .errors import SettingsError

_PACKAGE = Path(__file__).resolve().parents[1]


def folder(kind: str) -> Path:
    """The folder of one kind: inside the installed extension, or beside the package in a checkout."""
    inside = _PACKAGE / "presets" / "motion_matching" / kind
    return inside if inside.is_dir() else _PACKAGE.parent / "presets" / "motion_matching" / kind


def names(kind: str) -> list[str]:
    return sorted(path.stem for path in folder(kind).glob("*.json"))


def load(kind: str, name: str) -> dict[str, Any]:
    """A shipped preset by name, or a JSON file by path; SettingsError where there is neither."""
    path = Path(name) if name.endswith(".json") else folder(kind) / f"{name}.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        choices = ", ".join(names(kind))
        raise SettingsError(
            f"There is no {kind} preset '{name}'; use one of {choices}, or a JSON file."
        ) from None
    except (OSError, ValueError) as error:
        raise SettingsError(f"The preset {path} cannot be read as JSON: {error}.") from error
    if not isinstance(data, dict):
        raise SettingsError(f"The preset {path} must hold a JSON object.")
    return data
