"""The library of databases on the disk, and digests of the files of sources."""

from __future__ import annotations

from ..scene.reading import library
from . import preferences
from .runtime import runtime


def get_library() -> library.Library:
    """Return the library, limited by the preferences. DatabaseError if it has no folder."""
    folder, chosen = library.get_folder(), preferences.get_preferences()
    if runtime.library is None or runtime.library.folder != folder:
        runtime.library = library.Library(folder)
    limit = round(chosen.limit * library.GIGABYTE) if chosen else library.DEFAULT_LIMIT
    runtime.library.limit = limit
    return runtime.library


def get_file_digests() -> library.FileDigests:
    """Return the digests of source files, by what they hold."""
    if runtime.file_digests is None:
        runtime.file_digests = library.FileDigests()
    return runtime.file_digests
