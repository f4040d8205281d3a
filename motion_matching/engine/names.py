"""Handle names from files, in which anybody may have written anything.

A name becomes a path only through `get_child`. A name that may be of a file on the disk becomes a
name in Blender or text in a file only through `to_readable`.
"""

from __future__ import annotations

import reprlib
from pathlib import Path, PureWindowsPath

from .errors import SettingsError

MAX_BYTES = 255  # of the name of a file, on all common file systems


def get_child(folder: Path, name: str, ending: str) -> Path:
    """Return the path of a file that lies directly in a folder: `name` and an ending.

    Raises SettingsError for a name that leads elsewhere, on any system, or that no file can have.
    """
    # also the separators and drives of Windows: a file made there may be opened anywhere
    is_plain = name == PureWindowsPath(name).name and not name.startswith(".")
    is_clean = name.isprintable() and len((name + ending).encode(errors="replace")) <= MAX_BYTES
    if not (name and is_plain and is_clean):
        raise SettingsError(f"{reprlib.repr(name)} is not the name of a file; give a plain name.")
    return folder / f"{name}{ending}"


def to_readable(name: str) -> str:
    """Return a name with a question mark for each letter that no text can hold.

    Python reads such letters from names of files that are not UTF-8; Blender refuses them.
    """
    return name.encode("utf-8", "replace").decode("utf-8")


def shorten_to_bytes(name: str, count: int) -> str:
    """Shorten a name to some bytes of UTF-8, without a space at the end."""
    data = to_readable(name).encode("utf-8")
    return data[:count].decode("utf-8", "ignore").rstrip() if len(data) > count else name
