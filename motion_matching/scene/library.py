"""Databases on disk: one file for each content of sources, rig and settings, found again by its key and loaded once.

The key is made of what the sources hold rather than of their names, so the same motion is found again in another file,
and a change of one key of a curve asks for another database. What a rig follows beyond its own bones and constraints
(the motion of their targets, for one) is not looked at, nor is the value that something has at the frame that is shown
where a source keys it or a driver sets it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..engine.errors import DatabaseError, MotionDataError
from . import actions

if TYPE_CHECKING:
    from ..engine.matching.database import Database

GIGABYTE = 1024**3
DEFAULT_LIMIT = 4 * GIGABYTE
_PACKAGE = __package__.rpartition(".")[0]
_KEYS_VERSION = 3  # of the way keys are made
_LINEAR = 1  # the number of that interpolation, as foreach_get has it
_ROUND = 5  # decimals of a rig's measures that count


# ---------------------------------------------------------------- where they lie


@dataclass
class Library:
    """A folder of databases, and of what is made of them under keys of its own, that holds at most `limit` bytes; what was
    used longest ago goes first."""

    folder: Path
    limit: int = DEFAULT_LIMIT
    _loaded: dict[str, Database] = field(default_factory=dict)

    def path(self, key: str) -> Path:
        return self.folder / f"{key}.npz"

    def has(self, key: str) -> bool:
        """Whether the database of this key is there: one look at the disk."""
        return bool(key) and self.path(key).is_file()

    def load(self, key: str) -> Database:
        """The database of this key, mapped from its file once. DatabaseError where it is missing or damaged."""
        from ..engine.matching import database

        if key not in self._loaded or not self.has(key):
            self._loaded.pop(key, None)
            self._loaded[key] = database.load(self.path(key))
        self.used(key)
        return self._loaded[key]

    def store(self, key: str, built: Database) -> Database:
        """Keep a database under its key, and make room for it. DatabaseError where it cannot be written."""
        from ..engine.matching import database

        self._loaded.pop(key, None)
        database.save(built, self.path(key))
        self.make_room(key)
        return self.load(key)

    def used(self, key: str) -> Path | None:
        """The file of this key, which is used now; None where it is not there."""
        if not self.has(key):
            return None
        with suppress(OSError):
            os.utime(self.path(key))
        return self.path(key)

    def size(self) -> int:
        """Bytes of all files."""
        return sum(size for _, size, _ in self._files())

    def clear(self) -> tuple[int, int]:
        """Delete all files; returns the bytes freed and the number of files that are in use and stay."""
        self._loaded.clear()
        freed, kept = 0, 0
        for path, size, _ in self._files():
            if _removed(path):
                freed += size
            else:
                kept += 1
        return freed, kept

    def make_room(self, newest: str) -> None:
        """Delete what was used longest ago, but for one key, until the rest keeps within the limit."""
        files = sorted(self._files(), key=lambda file: file[2])
        total = sum(size for _, size, _ in files)
        for path, size, _ in files:
            if total <= self.limit:
                return
            if path.stem != newest:
                self._loaded.pop(path.stem, None)
                total -= size if _removed(path) else 0

    def _files(self) -> list[tuple[Path, int, float]]:
        """Every file with its size in bytes and when it was used last."""
        found = []
        for path in self.folder.glob("*.npz"):
            with suppress(OSError):
                stat = path.stat()
                found.append((path, stat.st_size, stat.st_mtime))
        return found


def _removed(path: Path) -> bool:
    """Delete a file; some systems refuse while it is mapped."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def folder() -> Path:
    """Where databases lie: in the extension's user folder, or in Blender's where this is no installed extension.

    DatabaseError where the folder cannot be made.
    """
    try:
        try:
            return Path(bpy.utils.extension_path_user(_PACKAGE, path="databases", create=True))
        except ValueError:  # imported as a plain package
            found = bpy.utils.user_resource(
                "DATAFILES", path="motion_matching/databases", create=True
            )
            if not found:
                raise OSError("Blender has no user folder") from None
            return Path(found)
    except OSError as cause:
        raise DatabaseError(
            f"The folder for databases cannot be made ({cause}); see that Blender may write to its user "
            "folder."
        ) from cause


_shared: dict[Path, Library] = {}


def shared(limit: int = DEFAULT_LIMIT) -> Library:
    """The library of this Blender, with that limit in bytes."""
    where = folder()
    library = _shared.setdefault(where, Library(where))
    library.limit = limit
    return library


# ---------------------------------------------------------------- keys


@dataclass(frozen=True)
class Ingredient:
    """A source by its content: an action or a file, and how it is used, as JSON data."""

    action: bpy.types.Action | None
    file: Path | None
    use: Mapping[str, Any]


class KeyInMaking:
    """The key of the database that sources make for an armature: of settings (JSON data), one ingredient after the other,
    and the rig if there are actions. The order of the sources is nothing, but among clips of one name, which nothing else
    tells apart.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._keyed: set[str] = set()  # data paths of all curves so far
        self._by_clip: dict[str, list[str]] = {}
        self.sources: list[str] = []  # a digest of each, in turn
        self.rig = ""  # its digest

    def add(self, one: Ingredient, obj: bpy.types.Object) -> Iterator[None]:
        """Work that takes in a source; between two yields Blender may go on. MotionDataError where its file cannot be read,
        or its action goes meanwhile."""
        told = hashlib.blake2b(_json(one.use), digest_size=16)
        clip = ""
        if one.action is not None:
            clip = one.action.name
            told.update(_range(one.action))
            for curve in actions.in_turn(one.action, obj):
                if curve is None:
                    yield
                    continue
                self._keyed.add(curve.data_path)
                for part in _keys(curve):
                    told.update(part)
        elif one.file is not None:
            clip = one.file.stem
            told.update(file_digest(one.file))
        self.sources.append(told.hexdigest())
        self._by_clip.setdefault(clip, []).append(told.hexdigest())

    def add_rig(self, obj: bpy.types.Object) -> None:
        """Take in, after all sources, how the armature rests and what moves its bones beside actions."""
        told = hashlib.blake2b(digest_size=16)
        for part in _rig(obj, self._keyed):
            told.update(part)
        self.rig = told.hexdigest()

    @property
    def key(self) -> str:
        told = [_KEYS_VERSION, self._settings, sorted(self._by_clip.values()), self.rig]
        return hashlib.blake2b(_json(told), digest_size=16).hexdigest()


def _json(data: Any) -> bytes:
    return json.dumps(data, sort_keys=True, default=str).encode()


_digests: dict[tuple[str, int, int], bytes] = {}


def file_digest(file: Path) -> bytes:
    """The digest of a file's bytes, read again only where its size or time changed. MotionDataError where it cannot be."""
    try:
        stat = file.stat()
        known = str(file), stat.st_size, stat.st_mtime_ns
        if known not in _digests:
            with open(file, "rb") as stream:
                _digests[known] = hashlib.file_digest(stream, "blake2b").digest()
    except OSError as cause:
        raise MotionDataError(
            f"{file} cannot be read ({cause.strerror}); correct the path of the source, or remove "
            "it."
        ) from cause
    return _digests[known]


def _range(action: bpy.types.Action) -> bytes:
    return _json(
        [action.frame_start, action.frame_end, action.use_cyclic]
        if action.use_frame_range
        else None
    )


def _keys(curve: bpy.types.FCurve) -> Iterator[bytes]:
    """What a curve does: its modifiers and all its keys."""
    points = curve.keyframe_points
    yield _json(
        [
            curve.data_path,
            curve.array_index,
            curve.extrapolation,
            len(points),
            [_plain(modifier) for modifier in curve.modifiers],
        ]
    )
    interpolations = np.empty(
        len(points), dtype=np.uint8
    )  # bytes are copied as they are, other types one by one
    points.foreach_get("interpolation", interpolations)
    yield interpolations.tobytes()
    linear = bool(np.all(interpolations == _LINEAR))
    for name in ("co",) if linear else ("co", "handle_left", "handle_right"):
        numbers = np.empty(2 * len(points), dtype=np.float32)
        points.foreach_get(name, numbers)
        yield numbers.tobytes()


def _rig(obj: bpy.types.Object, keyed: Set[str]) -> Iterator[bytes]:
    """How the bones rest and hang, what constrains and drives them, and how the object is tilted and scaled.

    What the sources key (data paths) or a driver sets is left out: it has another value at another frame.
    """
    bones = obj.data.bones
    rests = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get("matrix_local", rests)
    yield _rounded(rests)
    yield _json(
        [
            [
                b.name,
                b.parent.name if b.parent else None,
                b.use_deform,
                b.use_connect,
                b.use_inherit_rotation,
                b.use_local_location,
                b.inherit_scale,
                round(b.length, _ROUND),
            ]
            for b in bones
        ]
    )
    drivers = list(obj.animation_data.drivers) if obj.animation_data else []
    moved = keyed | {d.data_path for d in drivers if not d.mute}
    yield _json([_unmoved(b, {"rotation_mode": b.rotation_mode}, moved) for b in obj.pose.bones])
    yield _json([_unmoved(c, _plain(c), moved) for b in obj.pose.bones for c in b.constraints])
    yield _json(
        [[d.data_path, d.array_index, d.mute, d.driver.type, d.driver.expression] for d in drivers]
    )
    yield _json(
        [
            [d.data_path, *_sliders(d.driver, obj, moved)]
            for d in drivers
            if ".constraints[" in d.data_path
        ]
    )
    # a turn about Z and a shift are where the character stands, not what it is
    tilt = np.array(obj.matrix_world, dtype=np.float64)[:3, :3]
    yield _rounded(tilt.T @ tilt) + _rounded(tilt[2])


def _rounded(measures: np.ndarray) -> bytes:
    return (
        np.round(measures, _ROUND) + 0.0
    ).tobytes()  # what is next to nothing is so whatever its sign


def _unmoved(owner: Any, values: Mapping[str, Any], moved: Set[str]) -> list[Any]:
    """The path of a bone or constraint, and those of its values whose own path is not among the moved ones."""
    path = owner.path_from_id()
    return [path, {name: value for name, value in values.items() if f"{path}.{name}" not in moved}]


def _sliders(
    driver: bpy.types.Driver, obj: bpy.types.Object, moved: Set[str]
) -> Iterator[tuple[str, Any]]:
    """The custom properties of the object and its bones that a driver looks at, unless they are moved, and their values."""
    for target in (
        target
        for variable in driver.variables
        if variable.type == "SINGLE_PROP"
        for target in variable.targets
    ):
        path = target.data_path
        if target.id == obj and path.endswith('"]') and path not in moved:
            with suppress(ValueError):  # the path leads nowhere
                yield path, obj.path_resolve(path)


def _plain(block: Any) -> dict[str, Any]:
    """The values of a modifier or constraint; of what it points at the name."""
    result: dict[str, Any] = {}
    for prop in block.bl_rna.properties:
        name = prop.identifier
        if (
            name == "rna_type"
            or name.startswith("error_")
            or name in ("is_valid", "show_expanded", "active", "ui_expand")
        ):
            continue
        if prop.type == "POINTER":
            result[name] = getattr(getattr(block, name), "name", None)
        elif prop.type != "COLLECTION":
            value = getattr(block, name)
            result[name] = (
                [list(row) if hasattr(row, "__len__") else row for row in value]
                if getattr(prop, "is_array", False)
                else value
            )
    return result
