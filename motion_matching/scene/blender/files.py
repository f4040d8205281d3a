"""Blender files: open one, find its character, and save a copy."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import bpy
import numpy as np

from ...engine.errors import MotionDataError, MotionMatchingError, SettingsError
from ...engine.files.file_paths import replacing
from ...engine.silence import silence_output

SEEK_TABLE = 0x8F92EAB1  # the magic number at the end of a zstd seek table
_MOST_NAMES = 8  # in one sentence
_Block = TypeVar("_Block", bound=bpy.types.ID)


def check_background(file: Path | str) -> None:
    """Raise SettingsError in a Blender with a window: what is open may be somebody's work."""
    if not bpy.app.background:
        raise SettingsError(
            f"{file} would replace the open file; run the script with 'blender --background'."
        )


def open_blend(file: Path) -> None:
    """Open a Blender file in place of the one that is open.

    Raises MotionDataError if this Blender cannot open it, SettingsError if it has a window.
    """
    check_background(file)
    with silence_output():
        try:
            bpy.ops.wm.open_mainfile(filepath=str(file.absolute()), load_ui=False)
        except RuntimeError as error:
            raise MotionDataError(
                f"{file} cannot be opened by this Blender; give a file of its version or older."
            ) from error


def list_armatures() -> list[bpy.types.Object]:
    """Return the file's armature objects; of one that is linked and overridden, the override."""
    armatures = [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]
    overridden = {obj.override_library.reference for obj in armatures if obj.override_library}
    return [obj for obj in armatures if obj not in overridden]


def find_armature(
    file: Path,
    name: str | None,
    option: str = "--armature or 'armature' in a list of sources",
    *,
    takes_keys: bool = False,
) -> bpy.types.Object:
    """Return the armature object of that name, or the only one; raise SettingsError otherwise.

    With `takes_keys`, linked ones do not count beside others. The error says that `option` chooses
    one of several.
    """
    armatures = list_armatures()
    if not armatures:
        raise SettingsError(f"{file} has no armature; give a Blender file with a character.")
    named = armatures if name is None else find_named(armatures, name)
    if not named:
        raise SettingsError(f"{file} has no armature '{name}'; it has {format_names(armatures)}.")
    if takes_keys:
        named = [obj for obj in named if not obj.library] or named
    if len(named) > 1:
        raise SettingsError(
            f"{file} has {len(named)} armatures{' of that name' if name else ''}, "
            f"{format_names(named)}; choose one with {option}."
        )
    return named[0]


def find_named(blocks: Iterable[_Block], name: str) -> list[_Block]:
    """Return the blocks of a name: the file's own come before linked ones, which may share it.

    The full name identifies a linked one, such as 'Hero [library.blend]'.
    """
    named = [block for block in blocks if block.name == name]
    own = [block for block in named if not block.library]
    return own or named or [block for block in blocks if block.name_full == name]


def format_names(blocks: Iterable[bpy.types.ID]) -> str:
    """List the names of blocks in a sentence, the first ones if there are many."""
    names = [f"'{block.name_full}'" for block in blocks]
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


@contextmanager
def save_after(path: Path) -> Iterator[None]:
    """Save what the block makes of the open file as a copy, or raise MotionMatchingError."""
    with replacing(path, MotionMatchingError) as unfinished, silence_output():
        yield
        unfinished.unlink()  # else Blender would keep it as a backup
        target = str(unfinished.absolute())
        try:
            bpy.ops.wm.save_as_mainfile(
                filepath=target, compress=True, copy=True, check_existing=False
            )
        except RuntimeError as error:
            raise OSError(" ".join(str(error).removeprefix("Error:").split())) from error
        if not _is_complete(unfinished):
            raise OSError("no space left, or a limit to the size of files")


def _is_complete(path: Path) -> bool:
    """Return whether a compressed .blend has all its parts: Blender ignores a full disk.

    The last part is zstd's seek table: 8 bytes of header, the packed and unpacked size of each
    part, and a footer of 9 bytes (number of parts, flags, magic number).
    """
    data = path.read_bytes()
    if len(data) < 17:
        return False
    count, flags, magic = struct.unpack("<IBI", data[-9:])
    fields = 3 if flags & 0x80 else 2  # a checksum may follow the sizes
    table = 4 * fields * count
    if magic != SEEK_TABLE or len(data) < 17 + table:
        return False
    packed = np.frombuffer(data, "<u4", fields * count, len(data) - 9 - table)[::fields]
    return int(packed.sum(dtype=np.int64)) + 17 + table == len(data)
