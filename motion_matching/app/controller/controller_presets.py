"""Controller presets by name: shipped ones and the user's own, as in the preset menu."""

from __future__ import annotations

from pathlib import Path

import bpy

from ...engine.errors import SettingsError
from ...engine.files import presets
from ...engine.performance.settings import PerformerSettings
from ..settings import get_preset_changes

_KIND = "controllers"


def list_names() -> list[str]:
    """Return the names of all controller presets, sorted."""
    return sorted(_find_files())


def find_file(name: str) -> Path:
    """Return the file of a preset, whose name may be written as menus show it.

    Raises SettingsError if there is none.
    """
    files = _find_files()
    wanted = name.strip().lower().replace(" ", "_")
    for known, path in files.items():
        if wanted in (known.lower(), known.lower().replace(" ", "_")):
            return path
    raise SettingsError(
        f"There is no controller preset '{name}'; choose one of {', '.join(sorted(files))}."
    )


def apply_to(settings: PerformerSettings, path: Path) -> PerformerSettings:
    """Return settings as a preset makes them. SettingsError if the preset is wrong."""
    changes = presets.load(_KIND, str(path)).get("settings")
    return settings.with_changes(get_preset_changes(changes, path.stem))


def _find_files() -> dict[str, Path]:
    """Return the files of presets by name; the user's own come before shipped ones of the name."""
    folders = [presets.find_folder(_KIND)]
    folders += map(Path, reversed(bpy.utils.preset_paths(f"motion_matching/{_KIND}")))
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.json"))}
