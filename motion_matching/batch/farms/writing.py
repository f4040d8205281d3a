"""Put the files of a farm into a folder, and replace none that are another's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from ...engine.errors import SettingsError
from ...engine.files import file_paths

_OURS = re.compile("motion.matching", re.IGNORECASE)


def write_files(files: Mapping[str, str], folder: Path) -> None:
    """Write texts by name into a folder, which is made if needed.

    Raises `SettingsError`, before any is written, if the folder has a file of one of these names
    and the first is not ours.
    """
    first = folder / next(iter(files))
    taken = [name for name in files if (folder / name).exists()]
    if taken and not (first.is_file() and _OURS.search(first.read_text("utf-8", "replace"))):
        raise SettingsError(
            f"{folder} has a file {taken[0]} that is no batch for a farm; choose another folder."
        )
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        file_paths.write_text(path, text, SettingsError)
