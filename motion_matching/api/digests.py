"""Digests of files, to see whether two runs made the same."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from .. import scene
from ..engine.bvh import bvh_text
from ..engine.errors import MotionDataError, MotionMatchingError, shorten
from ..engine.files import digests, json_files
from ..engine.files.digests import Part
from .motion import check_blender

ANIMATED = (".blend", ".fbx", ".usd", ".usda", ".usdc", ".usdz")
_LONGEST_VALUE = 80  # letters of an entry in a sentence


def digest(path: str | Path) -> str:
    """Return a digest of a file's content: the same for the same motion, picture or numbers.

    Parameters
    ----------
    path : path
        A .blend, FBX or USD file counts by its keys: action, slot, bone, property, frame to three
        decimals, value and handles to five, and interpolation. A PNG file counts by its pixels, any
        other by its bytes.

    Returns
    -------
    str
        64 hexadecimal digits (SHA-256).

    Raises
    ------
    MotionDataError
        If the file cannot be read, or has no keys to compare.
    SettingsError
        If it needs Blender and there is none.

    Notes
    -----
    Other versions of Blender may import an FBX or USD file otherwise, and so give another digest.

    Examples
    --------
    >>> len(api.digest("copy.bvh"))
    64
    """
    path = Path(path)
    read = _find_reader(path)
    return digests.digest_parts(read(path)) if read else digests.digest_bytes(path)


def compare(path: str | Path, other: str | Path) -> str:
    """Return where the content of two files differs first, as `digest` counts it.

    Parameters
    ----------
    path, other : path
        Two files of one kind.

    Returns
    -------
    str
        Such as ``"bone 'Hips', location[0], frame 12: 0.5 and 0.6"``; empty if they are equal.

    Raises
    ------
    MotionDataError
        If a file cannot be read, or they are of different kinds.
    SettingsError
        If they need Blender and there is none.

    Examples
    --------
    >>> api.write_bvh(clips[0], "again.bvh")
    >>> api.compare("copy.bvh", "again.bvh")
    ''
    """
    first, second = Path(path), Path(other)
    read = _find_reader(first)
    if read != _find_reader(second):
        raise MotionDataError(f"{first} and {second} are of different kinds; compare like files.")
    if read:
        return digests.describe_other_parts(read(first), read(second))
    difference = digests.describe_other_bytes(first, second)
    explain = _EXPLAINED.get(first.suffix.lower())
    if not (difference and explain and first.suffix.lower() == second.suffix.lower()):
        return difference
    try:
        return explain(first, second) or difference
    except MotionMatchingError:  # damaged files have other bytes all the same
        return difference


def _find_reader(path: Path) -> Callable[[Path], list[Part]] | None:
    """Return what reads the parts that a file counts by; None if its bytes count."""
    ending = path.suffix.lower()
    if ending == ".png":
        return digests.read_pixels
    return _read_keys if ending in ANIMATED else None


def _read_keys(path: Path) -> list[Part]:
    digests.check_file(path)
    check_blender(str(path), "run 'blender --command motion_matching digest …'")
    return scene.reading.imports.read_keys(path)


def _explain_bvh(first: Path, second: Path) -> str:
    return digests.describe_other_parts(_read_channels(first), _read_channels(second))


def _read_channels(path: Path) -> list[Part]:
    """Return the values of each channel of a BVH file by joint, with frames counted from 1."""
    text = bvh_text.read(path)
    frames = np.arange(1, len(text.values) + 1)
    return [
        Part(
            f"joint '{joint.name}', {bvh_text.AXES[axis]}{kind}",
            "frame",
            frames,
            text.values[:, column],
        )
        for joint in text.joints
        for column, (kind, axis) in enumerate(joint.channels, joint.first_channel)
    ]


def _explain_arrays(first: Path, second: Path) -> str:
    return digests.describe_other_parts(_read_arrays(first), _read_arrays(second))


def _read_arrays(path: Path) -> list[Part]:
    """Return the arrays of numbers in an .npz file. MotionDataError if it cannot be read."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: np.atleast_1d(archive[name]) for name in archive.files}
    except (OSError, ValueError, zipfile.BadZipFile) as cause:
        raise MotionDataError(f"{path} cannot be read ({shorten(str(cause))}).") from cause
    return [
        Part(f"array '{name}'", "row", np.arange(len(values)), values)
        for name, values in arrays.items()
        if values.dtype.kind in "bifu"
    ]


def _explain_json(first: Path, second: Path) -> str:
    one, other = (json_files.read(path, "file") for path in (first, second))
    return next(_list_differences(one, other, ""), "")


def _list_differences(one: Any, other: Any, where: str) -> Iterator[str]:
    """Yield where the content of two JSON files differs, in the order of the first."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in (*one, *(name for name in other if name not in one)):
            place = f"{where}.{name}".lstrip(".")
            if name not in one or name not in other:
                yield f"only the {'first' if name in one else 'second'} has entry {place}"
            else:
                yield from _list_differences(one[name], other[name], place)
    elif isinstance(one, list) and isinstance(other, list):
        for index, (a, b) in enumerate(zip(one, other, strict=False)):
            yield from _list_differences(a, b, f"{where}[{index}]")
        if len(one) != len(other):
            yield f"{where or 'the list'} has {len(one)} and {len(other)} entries"
    elif one != other or type(one) is not type(other):
        yield f"entry {where}: {_shorten(one)} and {_shorten(other)}"


def _shorten(value: Any) -> str:
    return shorten(json_files.to_text(value), _LONGEST_VALUE)


_EXPLAINED: Mapping[str, Callable[[Path, Path], str]] = MappingProxyType(
    {".bvh": _explain_bvh, ".npz": _explain_arrays, ".json": _explain_json}
)
