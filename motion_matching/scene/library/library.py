"""Databases on disk: one file for each content of sources, rig and settings, found by its key.

Names do not count. Nor does what a rig follows beyond its own bones and constraints (such as the
motion of their targets), or the current value of what a source keys or a driver sets.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...engine import database, takes
from ...engine.errors import DatabaseError, MotionDataError, SettingsError
from ...engine.files import file_paths, own_files
from ...engine.files.own_files import DATABASE, NOTE
from ...engine.maths.rotations import quat
from ...engine.names import get_child
from ..blender.animation import actions
from ..blender.animation.curves import LINEAR, read_keys
from ..blender.evaluation.object_motion import find_steady_axes
from ..rig.armature import read_rest_bytes

if TYPE_CHECKING:
    from ...engine.database.database import Database

GIGABYTE = 1024**3
DEFAULT_LIMIT = 4 * GIGABYTE
_PACKAGE = __package__.rpartition(".")[0]
_KEYS_VERSION = 3  # how keys are made
_ROUND = 5  # decimals of a rig's measures that count
_BONE_FLAGS = ("use_deform", "use_connect", "use_inherit_rotation", "use_local_location")
_NO_VALUES = ("rna_type", "is_valid", "show_expanded", "active", "ui_expand")


@dataclass
class Library:
    """A folder of at most `limit` bytes: what was used longest ago goes first."""

    folder: Path
    limit: int = DEFAULT_LIMIT
    _loaded: dict[str, Database] = field(default_factory=dict)
    # by key, the key of the stored database that it has its motion from, and itself
    _tagged: dict[str, tuple[str, Database]] = field(default_factory=dict)

    def get_path(self, key: str) -> Path:
        return get_child(self.folder, key, ".npz")

    def has(self, key: str) -> bool:
        """Return whether the database of this key is there; this looks at the disk once."""
        base, _ = self._tagged.get(key, (key, None))
        return bool(key) and self.get_path(base).is_file()

    def is_loaded(self, key: str) -> bool:
        """Return whether the database of this key need not be read."""
        return key in self._tagged or key in self._loaded

    def load(self, key: str) -> Database:
        """Return the database of this key, mapped once; raise DatabaseError without a sound one."""
        if key in self._tagged and self.has(key):
            base, tagged = self._tagged[key]
            self.touch(base)
            return tagged
        if key not in self._loaded or not self.has(key):
            self._loaded.pop(key, None)
            self._loaded[key] = database.database.load(self.get_path(key))
        self.touch(key)
        return self._loaded[key]

    def store(self, key: str, built: Database, motion: str = "") -> Database:
        """Store a database and make room for it; raise DatabaseError if it cannot be written.

        With the key of its `motion`, it replaces databases that differ only in tags. Another
        Blender may clear the folder meanwhile: then it is written again, or only returned.
        """
        self._loaded.pop(key, None)
        self._tagged.pop(key, None)
        try:
            self._save(key, built, motion)
        except DatabaseError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._save(key, built, motion)
            except (OSError, DatabaseError) as cause:
                raise DatabaseError(
                    f"The folder {self.folder} was cleared or deleted while a database was stored "
                    "there, perhaps by another Blender; build again."
                ) from cause
        self.make_room(key)
        return self.load(key) if self.has(key) else built

    def _save(self, key: str, built: Database, motion: str) -> None:
        own_files.make_way(self.get_path(key), DATABASE)
        takes.takes.save_database(built, self.get_path(key), key)
        if motion:
            self._replace_base(motion, key)

    def _replace_base(self, motion: str, key: str) -> None:
        """Note which database holds a motion; that before it is not needed any more."""
        before = self.find_base(motion)
        for tagged in self.find_tagged(motion):
            del self._tagged[tagged]
        if before not in ("", key):
            self._loaded.pop(before, None)
            own_files.remove(self.get_path(before))
        own_files.make_way(self._get_note_path(motion), NOTE)
        with file_paths.replacing(self._get_note_path(motion), DatabaseError) as note:
            note.write_text(key, encoding="ascii")

    def find_base(self, motion: str) -> str:
        """Return the key of the stored database with a motion, whatever its tags; or nothing."""
        try:
            key = self._get_note_path(motion).read_text(encoding="ascii")
            return key if self.get_path(key).is_file() else ""
        except (OSError, ValueError, SettingsError):  # a note that names no file of the folder
            return ""

    def find_tagged(self, motion: str) -> list[str]:
        """Return the keys of the databases that were tagged again from one with this motion."""
        base = self.find_base(motion)
        return [key for key, (other, _) in self._tagged.items() if base and other == base]

    def add_tagged(self, key: str, base: str, tagged: Database) -> None:
        """Keep a database that was tagged again from the stored one with the key `base`.

        It is built again in the next session, with the tags of the sources.
        """
        self._tagged[key] = base, tagged

    def _get_note_path(self, motion: str) -> Path:
        return get_child(self.folder, motion, ".base")

    def touch(self, key: str) -> Path | None:
        """Mark the file of this key as used now, and return its path; None if it is missing."""
        if not self.get_path(key).is_file():
            return None
        with suppress(OSError):
            os.utime(self.get_path(key))
        return self.get_path(key)

    def clear(self) -> tuple[int, int]:
        """Delete all that is our own; return the bytes freed, and the number of files in use.

        Those stay, as does what is not recognised as a file of the library.
        """
        self._loaded.clear()
        self._tagged.clear()
        stored = self._list_files()
        removed = [(state.st_size, own_files.remove(path)) for path, state in stored]
        freed = [size for size, is_gone in removed if is_gone]
        return sum(freed) + own_files.sweep(self.folder), len(removed) - len(freed)

    def make_room(self, newest: str) -> None:
        """Delete what was used longest ago, except one key, until the rest is within the limit."""
        own_files.sweep(self.folder)
        stored = sorted(self._list_files(), key=lambda file: file[1].st_mtime)
        total = sum(state.st_size for _, state in stored)
        for path, state in stored:
            if total <= self.limit:
                break
            if path.suffix == ".npz" and path.stem != newest:
                self._loaded.pop(path.stem, None)
                total -= state.st_size if own_files.remove(path) else 0
        for path, _ in stored:
            if path.suffix == ".base" and not self.find_base(path.stem):
                own_files.remove(path)

    def _list_files(self) -> list[tuple[Path, os.stat_result]]:
        """Return all files of the library, except unfinished ones."""
        found = []
        for path in own_files.list_stored(self.folder):
            with suppress(OSError):
                found.append((path, path.stat()))
        return found


def get_folder() -> Path:
    """Return the folder of databases; raise DatabaseError if it cannot be made."""
    try:
        try:
            return Path(bpy.utils.extension_path_user(_PACKAGE, path="databases", create=True))
        except ValueError:  # imported as a plain package
            path = "motion_matching/databases"
            if folder := bpy.utils.user_resource("DATAFILES", path=path, create=True):
                return Path(folder)
            raise OSError("Blender has no user folder") from None
    except OSError as cause:
        raise DatabaseError(
            f"The folder for databases cannot be made ({cause}); see that Blender may write to its "
            "user folder."
        ) from cause


@dataclass(frozen=True)
class SourceContent:
    """A source by its content: an action or a file, and how it is used, as JSON data.

    `motion_use` is the same without tags: what decides the motion.
    """

    action: bpy.types.Action | None
    file: Path | None
    use: Mapping[str, Any]
    motion_use: Mapping[str, Any]


class FileDigests:
    """Digests of files, each computed again only if the file's size or time changed."""

    def __init__(self) -> None:
        self._by_version: dict[tuple[str, int, int], bytes] = {}  # by name, size and time

    def compute(self, file: Path) -> bytes:
        """Return the digest of a file's bytes; raise MotionDataError if it cannot be read."""
        try:
            found = file.stat()
            if not stat.S_ISREG(found.st_mode):  # a device may have no end
                raise OSError(0, "it is no regular file")
            version = str(file), found.st_size, found.st_mtime_ns
            if version not in self._by_version:
                with open(file, "rb") as stream:
                    self._by_version[version] = hashlib.file_digest(stream, "blake2b").digest()
        except OSError as cause:
            raise MotionDataError(
                f"{file} cannot be read ({cause.strerror}); correct the path of the source, or "
                "remove it."
            ) from cause
        return self._by_version[version]


@dataclass
class ActionUses:
    """An action as it was read last: digests by how it is used, and the data paths that it keys."""

    digests: dict[bytes, str] = field(default_factory=dict)
    keyed: set[str] = field(default_factory=set)


class ActionDigests:
    """Digests of actions, until Blender reports that they changed."""

    def __init__(self) -> None:
        self._by_uid: dict[int, dict[tuple[int, str, bytes], ActionUses]] = {}

    def get(self, action: bpy.types.Action, obj: bpy.types.Object, use: bytes) -> ActionUses:
        """Return what is known of an action on an armature that has a use, to be filled."""
        slot = actions.find_slot(action, obj)
        key = obj.session_uid, slot.identifier if slot else "", use
        return self._by_uid.setdefault(action.session_uid, {}).setdefault(key, ActionUses())

    def forget(self, uids: Iterable[int]) -> None:
        """Drop the actions among these session_uids: they changed, perhaps while they are read."""
        for uid in uids:
            self._by_uid.pop(uid, None)

    def clear(self) -> None:
        self._by_uid.clear()


class DatabaseKeyBuilder:
    """Builds the key of the database that sources make for an armature, and the key of its motion.

    It takes the settings (JSON data, also without tags), each source, and the rig if
    there are actions. The order of sources does not count, except among clips of one name.
    """

    def __init__(
        self,
        settings: Mapping[str, Any],
        motion_settings: Mapping[str, Any],
        file_digests: FileDigests,
        action_digests: ActionDigests,
    ) -> None:
        self._settings = settings
        self._motion_settings = motion_settings
        self._file_digests = file_digests
        self._action_digests = action_digests
        self._keyed: set[str] = set()  # data paths of all curves so far
        self._by_clip: dict[str, list[str]] = {}
        self._motion_by_clip: dict[str, list[str]] = {}
        self.motion_digests: list[str] = []  # of the sources in turn, without their tags
        self.rig_digest = ""

    def add_steps(self, source: SourceContent, obj: bpy.types.Object) -> Iterator[None]:
        """Add a source in pieces; raise MotionDataError if it cannot be read or is deleted."""
        uses = [_encode_json(use) for use in (source.use, source.motion_use)]
        clip = ""
        digests = {use: hashlib.blake2b(use, digest_size=16) for use in uses}
        if source.action is not None:
            clip = source.action.name
            known = self._action_digests.get(source.action, obj, uses[-1])
            digests = {use: made for use, made in digests.items() if use not in known.digests}
            if digests:
                yield from _digest_action_steps(source.action, obj, digests.values(), known.keyed)
            self._keyed |= known.keyed
            found = known.digests | {use: made.hexdigest() for use, made in digests.items()}
            known.digests = {use: found[use] for use in uses}  # others are of earlier tags
        else:
            if source.file is not None:
                clip = source.file.stem
                for made in digests.values():
                    made.update(self._file_digests.compute(source.file))
            found = {use: made.hexdigest() for use, made in digests.items()}
        whole, motion = (found[use] for use in uses)
        self.motion_digests.append(motion)
        self._by_clip.setdefault(clip, []).append(whole)
        self._motion_by_clip.setdefault(clip, []).append(motion)

    def add_rig(self, obj: bpy.types.Object) -> None:
        """Add, after all sources, how an armature rests and what else moves its bones."""
        digest = hashlib.blake2b(self.rig_digest.encode(), digest_size=16)
        for part in _encode_rig(obj, self._keyed):
            digest.update(part)
        self.rig_digest = digest.hexdigest()

    @property
    def key(self) -> str:
        return self._compute_key(self._settings, self._by_clip)

    @property
    def motion_key(self) -> str:
        return self._compute_key(self._motion_settings, self._motion_by_clip)

    def _compute_key(self, settings: Mapping[str, Any], by_clip: Mapping[str, list[str]]) -> str:
        content = [_KEYS_VERSION, settings, sorted(by_clip.values()), self.rig_digest]
        return hashlib.blake2b(_encode_json(content), digest_size=16).hexdigest()


def _digest_action_steps(
    action: bpy.types.Action, obj: bpy.types.Object, digests: Iterable[Any], keyed: set[str]
) -> Iterator[None]:
    """Add an action to digests, and the data paths of its curves to `keyed`, in pieces."""

    def update(part: bytes) -> None:
        for digest in digests:
            digest.update(part)

    manual = [action.frame_start, action.frame_end, action.use_cyclic]
    update(_encode_json(manual if action.use_frame_range else None))
    for curve in actions.iterate_curves(action, obj):
        if curve is None:
            yield
            continue
        keyed.add(curve.data_path)
        for part in _encode_curve(curve):
            update(part)


def _encode_json(data: Any) -> bytes:
    return json.dumps(data, sort_keys=True, default=str).encode()


def _encode_curve(curve: bpy.types.FCurve) -> Iterator[bytes]:
    """Yield what a curve does: its modifiers and all its keys."""
    points = curve.keyframe_points
    head = [curve.data_path, curve.array_index, curve.extrapolation, len(points)]
    yield _encode_json([*head, [_read_values(modifier) for modifier in curve.modifiers]])
    # bytes are copied in bulk, other types one by one
    interpolations = np.empty(len(points), dtype=np.uint8)
    points.foreach_get("interpolation", interpolations)
    yield interpolations.tobytes()
    linear = bool(np.all(interpolations == LINEAR))
    for name in ("co",) if linear else ("co", "handle_left", "handle_right"):
        yield read_keys(curve, name).tobytes()


def _encode_rig(obj: bpy.types.Object, keyed: Set[str]) -> Iterator[bytes]:
    """Yield rests, tilt, constraints and drivers, without what sources key or drivers set."""
    yield _encode_rounded(np.frombuffer(read_rest_bytes(obj), np.float32))
    yield _encode_json(
        [
            [b.name, b.parent.name if b.parent else None]
            + [getattr(b, name) for name in _BONE_FLAGS]
            + [b.inherit_scale, round(b.length, _ROUND)]
            for b in obj.data.bones
        ]
    )
    drivers = actions.get_drivers(obj)
    moved = keyed | {d.data_path for d in drivers if not d.mute}
    modes = [(bone, {"rotation_mode": bone.rotation_mode}) for bone in obj.pose.bones]
    constraints = [(c, _read_values(c)) for bone in obj.pose.bones for c in bone.constraints]
    yield _encode_json([_select_unmoved(*pair, moved) for pair in modes])
    yield _encode_json([_select_unmoved(*pair, moved) for pair in constraints])
    yield _encode_json(
        [[d.data_path, d.array_index, d.mute, d.driver.type, d.driver.expression] for d in drivers]
    )
    driving = [d for d in drivers if ".constraints[" in d.data_path]
    yield _encode_json([[d.data_path, *_find_sliders(d.driver, obj, moved)] for d in driving])
    # a turn about Z and a shift are where the character stands, not what it is
    tilt = np.array(obj.matrix_world, dtype=np.float64)[:3, :3]
    if steady := find_steady_axes(obj):
        tilt = quat.to_matrix(steady[0]) * steady[1]
    yield _encode_rounded(tilt.T @ tilt) + _encode_rounded(tilt[2])


def _encode_rounded(measures: np.ndarray) -> bytes:
    return (np.round(measures, _ROUND) + 0.0).tobytes()  # + 0.0: no negative zero


def _select_unmoved(owner: Any, values: Mapping[str, Any], moved: Set[str]) -> list[Any]:
    """Return the path of a bone or constraint, and its values that nothing moves."""
    path = owner.path_from_id()
    return [path, {name: value for name, value in values.items() if f"{path}.{name}" not in moved}]


def _find_sliders(
    driver: bpy.types.Driver, obj: bpy.types.Object, moved: Set[str]
) -> Iterator[tuple[str, Any]]:
    """Yield unmoved custom properties that a driver reads on the object and its bones."""
    read = [variable for variable in driver.variables if variable.type == "SINGLE_PROP"]
    for target in (target for variable in read for target in variable.targets):
        path = target.data_path
        if target.id == obj and path.endswith('"]') and path not in moved:
            with suppress(ValueError):  # the path leads nowhere
                yield path, obj.path_resolve(path)


def _read_values(block: Any) -> dict[str, Any]:
    """Return the values of a modifier or constraint; for what it points at, the name."""
    result: dict[str, Any] = {}
    for prop in block.bl_rna.properties:
        name = prop.identifier
        if name in _NO_VALUES or name.startswith("error_") or prop.type == "COLLECTION":
            continue
        value = getattr(block, name)
        if prop.type == "POINTER":
            value = getattr(value, "name", None)
        elif getattr(prop, "is_array", False):
            value = [list(row) if hasattr(row, "__len__") else row for row in value]
        result[name] = value
    return result
