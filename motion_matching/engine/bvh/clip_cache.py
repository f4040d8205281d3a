"""Keep the clips of files that were read, by the content of the files."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DatabaseError, MotionMatchingError
from ..files import array_files, json_files, own_files
from ..motion.clip import Clip
from ..skeleton.skeleton import Skeleton
from . import bvh

DEFAULT_LIMIT = 4 * 1024**3  # bytes, as of the library of databases
FORMAT = "motion-matching clip"
_VERSION = "1"  # of how files are read: clips of another version are read again

# name: (type, shape), where F frames and B bones
_ARRAYS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "parents": (np.int64, ("B",)),
    "rest_positions": (np.float32, ("B", 3)),
    "rest_rotations": (np.float32, ("B", 4)),
    "positions": (np.float32, ("F", "B", 3)),
    "rotations": (np.float32, ("F", "B", 4)),
}
_OF_SKELETON = ("parents", "rest_positions", "rest_rotations")


@dataclass(frozen=True)
class ClipCache:
    """A folder of at most `limit` bytes with the clips of BVH files.

    Each is found by the content and the name of its file, and by how that was read. What cannot be
    kept, or is damaged, is read from the BVH file.
    """

    folder: Path
    limit: int = DEFAULT_LIMIT

    def read(self, file: Path, *, root: str | None, **axes: Any) -> Clip:
        """Return the clip of a BVH file. Raises as `bvh.load`."""
        try:
            path = self.folder / f"{_compute_key(file, root, axes)}.clip"
        except OSError:  # reading says what is wrong
            return bvh.load(file, root=root, **axes)
        clip = _load(path)
        if clip is None:
            clip = bvh.load(file, root=root, **axes)
            self._keep(clip, path)
        else:
            with suppress(OSError):
                os.utime(path)
        return clip

    def make_room(self) -> None:
        """Delete the clips that were used longest ago, until the others are within the limit."""
        found = [path for path in own_files.list_stored(self.folder) if path.match("*.clip")]
        states = {}
        for path in found:
            with suppress(OSError):
                states[path] = path.stat()
        total = sum(state.st_size for state in states.values())
        for path, state in sorted(states.items(), key=lambda each: each[1].st_mtime):
            if total <= self.limit:
                break
            total -= state.st_size if own_files.remove(path) else 0

    def _keep(self, clip: Clip, path: Path) -> None:
        if not own_files.is_free(path, own_files.CLIP):
            return
        with suppress(OSError, DatabaseError):  # a full disk, or a folder that may not be written
            self.folder.mkdir(parents=True, exist_ok=True)
            _save(clip, path)


def _compute_key(file: Path, root: str | None, axes: Mapping[str, Any]) -> str:
    """Return the key of a file's clip: 32 hexadecimal digits. OSError if it cannot be read."""
    how = json.dumps([_VERSION, file.name, root, sorted(axes.items())])
    with open(file, "rb") as stream:
        digest = hashlib.file_digest(stream, "blake2b").digest()
    return hashlib.blake2b(how.encode() + digest, digest_size=16).hexdigest()


def _save(clip: Clip, path: Path) -> None:
    skeleton = clip.skeleton
    header = {
        "format": FORMAT,
        "name": clip.name,
        "fps": clip.fps,
        "warnings": clip.warnings,
        "bones": skeleton.names,
        "end_sites": skeleton.end_sites,
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    arrays = {"header": np.frombuffer(text, np.uint8)}
    for name, (dtype, _) in _ARRAYS.items():
        arrays[name] = getattr(skeleton if name in _OF_SKELETON else clip, name)
        if arrays[name].dtype != dtype:  # not as BVH files are read
            return
    array_files.save_arrays(path, arrays, DatabaseError)


def _load(path: Path) -> Clip | None:
    """Return a clip that was kept; None if it is missing or damaged."""
    if not path.is_file():
        return None
    try:
        arrays = array_files.map_arrays(path, DatabaseError)
        header = json_files.parse(arrays["header"].tobytes(), "header")
        sizes = {"B": len(header["bones"]), "F": None}
        found = array_files.expect_arrays(arrays, _ARRAYS, sizes, path, DatabaseError)
        # copies, as of a file that was just read: its file may be deleted meanwhile
        found = {name: np.array(array) for name, array in found.items()}
        parents, positions, rotations = (found.pop(name) for name in _OF_SKELETON)
        sites = tuple((bone, (x, y, z)) for bone, (x, y, z) in header["end_sites"])
        skeleton = Skeleton(tuple(header["bones"]), parents, positions, rotations, sites)
        return Clip(
            header["name"],
            skeleton,
            fps=header["fps"],
            warnings=tuple(header["warnings"]),
            **found,
        )
    except (MotionMatchingError, LookupError, TypeError, ValueError):
        return None
