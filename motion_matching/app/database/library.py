"""Access the library of databases on the disk, and digests of files and actions of sources."""

from __future__ import annotations

from pathlib import Path

import bpy

from ...engine.errors import DatabaseError
from ...engine.files import own_files
from ...scene.library import library, library_moving
from .. import preferences
from ..runtime import runtime
from ..steps import Steps


def get_folder() -> Path:
    """Return the folder of databases: our own in that of the preferences, or in Blender's.

    Raises DatabaseError if it cannot be made.
    """
    chosen = preferences.get_preferences()
    if not (chosen and chosen.folder):
        return library.get_folder()
    given = Path(bpy.path.abspath(chosen.folder))
    folder = own_files.get_own_folder(given)
    try:
        given.mkdir(exist_ok=True)  # not those above: its disk may not be connected
        folder.mkdir(exist_ok=True)
    except OSError as cause:
        raise DatabaseError(
            f"The folder for databases, {folder}, cannot be used ({cause.strerror}); connect its "
            "disk, or choose another folder in the preferences of the extension."
        ) from cause
    return folder


def move_steps(target: Path | None) -> Steps[str]:
    """Move the databases to a folder, or back to Blender's own, and return what was done.

    Raises DatabaseError if that cannot be; then nothing has changed.
    """
    chosen = preferences.get_preferences()
    source = get_library().folder
    goal = own_files.get_own_folder(target) if target else library.get_folder()
    if chosen is None:
        raise DatabaseError("The folder is a preference; enable the extension to choose another.")
    if source.resolve() == goal.resolve():
        return "The databases are already in this folder"
    files = yield from library_moving.copy_steps(source, goal)
    chosen.folder = str(target) if target else ""
    bpy.context.preferences.is_dirty = True
    runtime.library = None  # whose files are open
    left = library_moving.remove_files(files)
    own_files.remove_own_folder(source)
    kept = f"; {left} in use stay in the old folder, too" if left else ""
    return f"Moved {len(files)} files to {goal}{kept}"


def get_library() -> library.Library:
    """Return the library, limited by the preferences. DatabaseError if it has no folder."""
    folder = get_folder()
    chosen = preferences.get_preferences()
    if runtime.library is None or runtime.library.folder != folder:
        runtime.library = library.Library(folder)
        if folder.name == own_files.FOLDER:
            library_moving.adopt_files(folder.parent, folder)
    limit = round(chosen.limit * library.GIGABYTE) if chosen else library.DEFAULT_LIMIT
    runtime.library.limit = limit
    return runtime.library


def get_action_digests() -> library.ActionDigests:
    """Return the digests of actions, which Blender's reports of changes keep true."""
    if runtime.action_digests is None:
        runtime.action_digests = library.ActionDigests()
    return runtime.action_digests
