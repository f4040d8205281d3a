"""Channels of an armature's bones: set tick by tick, recorded as tracks, saved and restored."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import bpy
import numpy as np

from ...engine.errors import RigError
from ..blender.animation.actions import get_assigned, has_nla_tracks
from ..blender.animation.curves import build_bone_path
from ..blender.evaluation.channels import STILL, find_unlocked_components
from ..blender.handle import Handle, find_posable
from ..blender.id_properties import Switch
from ..blender.transforms.rotation_modes import get_rotation_property, to_mode_near
from ..blender.transforms.transforms import REST
from .saved_pose import SavedPose


@dataclass(frozen=True)
class Track:
    """A property that poses set: its curves, and where it starts among the channels.

    `free` are the unlocked components; `rest` are the values of all at rest. An
    `optional` one need not be recorded while it stays at rest.
    """

    path: str
    group: str
    start: int
    free: tuple[int, ...]
    rest: tuple[float, ...]
    optional: bool = False

    def get_values(self, rows: np.ndarray) -> np.ndarray:
        """Return the track's values (C, T) among all channels (T, N)."""
        return rows[:, self.start : self.start + len(self.rest)].T

    def may_skip(self, rows: np.ndarray) -> bool:
        """Return whether it may be left out of a take with these channels (T, N)."""
        if not self.optional:
            return False
        return float(np.abs(self.get_values(rows).T - np.array(self.rest)).max()) <= STILL


class CarrierMove(NamedTuple):
    """Change of a carrier's keys when the character is moved and turned on the ground.

    Rotations are multiplied by `turn` (4,) from the left; locations by `linear` (4,), a rotation,
    and then `shift` (3,) is added.
    """

    location: Track
    rotation: Track
    mode: str
    turn: np.ndarray
    linear: np.ndarray
    shift: np.ndarray


class ChannelWriter:
    """Writes poses onto the bones of an armature, which it knows by name.

    `start` (x, y, yaw) is where the armature rests, for a performer to start from, and `travels`
    says whether what is shown moves over the ground. `tracks` are the properties that are set, and
    `scaled` the bones whose scale is reset.
    """

    alone = False  # it shows a character
    shows_keys = True  # whether a recording shows its keys while they come
    start: tuple[float, float, float]
    travels = True
    _last_channels: np.ndarray

    def __init__(self, obj: bpy.types.Object, collection: str = "") -> None:
        self.armature = Handle.from_block(obj, "objects")
        self.collection = collection  # other bones go on playing theirs
        self.tracks: tuple[Track, ...] = ()
        self.scaled: list[str] = []
        self._saved: SavedPose | None = None
        self._moves_object = False
        self._switches: list[Switch] = []

    def take_over(self) -> None:
        """Save pose and action, and take the action off unless other bones go on playing it."""
        obj = find_posable(self.armature)
        self._saved = SavedPose.capture(
            obj,
            self._bone_indices,
            moves_object=self._moves_object,
            plays_on=bool(self.collection),
            properties=tuple(switch.read(obj) for switch in self._switches),
            hides=self._list_hidden(obj),
        )
        obj.update_tag()  # the armature itself may have changed; from now on only poses do

    def _list_hidden(self, obj: bpy.types.Object) -> Sequence[bpy.types.Object]:
        """Return the objects that are hidden while something else shows the poses."""
        return ()

    def restore(self, *, keep_action: bool = False) -> None:
        """Restore what `take_over` saved, once; `keep_action` keeps and shows the current one."""
        saved = self._saved
        self._saved = None
        obj = self.armature.find()
        if saved is not None and obj is not None:
            saved.restore(obj, keep_action)

    def find_action(self) -> Handle | None:
        """Return the action that the armature plays, or played when it was taken over."""
        action = get_assigned(find_posable(self.armature))
        if action is not None:
            return Handle.from_block(action, "actions")
        return self._saved.playing.action if self._saved else None

    def compute_channels(self, pose: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Return the channels (C,), float64, of a pose (7, B), near those `before` (C,)."""
        raise NotImplementedError

    def find_carrier_moves(self, place: tuple[float, float, float]) -> list[CarrierMove]:
        """Return how keys change when all is moved on the ground, the world's origin to a place."""
        raise NotImplementedError

    def show(self, pose: np.ndarray, *, update: bool = True) -> None:
        """Put the armature into a pose (7, B).

        Without `update`, Blender has yet to evaluate the pose, as it does after a handler of a
        frame change; evaluating it there crashes Blender if relations have changed just before.
        Raises RigError if the armature was deleted, is in edit mode, or has other bones.
        """
        self._last_channels = self.compute_channels(pose, self._last_channels)
        self.show_again(update=update)

    def show_again(self, *, update: bool = True) -> None:
        """Put the armature into the last pose again, after keys or a frame change moved it."""
        obj = self._find_unchanged()
        channels = self._last_channels
        bones = obj.pose.bones
        for part in self._scatter:
            if part.partial:
                bones.foreach_get(part.name, part.buffer)
            part.buffer[part.indices] = channels[part.channels]
            bones.foreach_set(part.name, part.buffer)
        self._set_others(obj, channels)
        # foreach_set alone does not tag the dependency graph; the object is enough, for the
        # armature has not changed
        obj.update_tag(refresh={"OBJECT"})
        if update:
            self._update()

    def _find_unchanged(self) -> bpy.types.Object:
        """Return the armature; RigError if it was deleted, is in edit mode, or has other bones."""
        obj: bpy.types.Object = find_posable(self.armature)
        if len(obj.pose.bones) != self._bone_count:
            raise RigError(f"armature '{self.armature.name}' has other bones now; start again.")
        return obj

    def _set_others(self, obj: bpy.types.Object, channels: np.ndarray) -> None:
        """Set what is no transform of a bone."""
        for switch in self._switches:
            switch.set(obj)

    def _update(self) -> None:
        bpy.context.view_layer.update()

    def rename_bones(self, names: Mapping[str, str]) -> None:
        """Follow bones that were renamed, given new names by old: recordings go on."""

        def rename(track: Track) -> Track:
            path = build_bone_path(track.group)
            if not track.path.startswith(path):
                return track
            name = names[track.group]
            return replace(track, path=build_bone_path(name) + track.path[len(path) :], group=name)

        self.tracks = tuple(map(rename, self.tracks))
        self.scaled = [names[name] for name in self.scaled]

    def _assign_channels(
        self,
        obj: bpy.types.Object,
        names: Sequence[str],
        own_modes: Sequence[str] = (),
        idle: Collection[str] = (),
    ) -> None:
        """Assign channels to every property: locations first, then rotations by their modes.

        `own_modes` are the modes of posed items other than bones; `idle` bones stay at rest.
        """
        bones = obj.pose.bones
        self._bone_count = len(bones)
        self._bone_indices = np.array([bones.find(name) for name in names])
        modes = [*(bones[name].rotation_mode for name in names), *own_modes]
        self._rows, self._groups, start = len(modes), [], 3 * len(modes)
        starts = np.zeros(len(modes), np.intp)
        for mode in sorted(set(modes)):
            rows = np.array([row for row, other in enumerate(modes) if other == mode])
            size = len(REST[get_rotation_property(mode)])
            self._groups.append(_Group(mode, rows, slice(start, start + size * len(rows))))
            starts[rows] = start + size * np.arange(len(rows))
            start += size * len(rows)
        self._rotations = np.tile([1.0, 0.0, 0.0, 0.0], (self._rows, 1))
        self._locations = np.zeros((self._rows, 3))
        self._rotation_starts = starts
        self.channel_count, self.at_rest = start, np.zeros(start)
        self._build_tracks(obj, names, modes, frozenset(idle))
        scales = {name: np.array(bones[name].scale) for name in names}
        self.scaled = [n for n, scale in scales.items() if not np.allclose(scale, 1.0, atol=STILL)]
        self._last_channels = self.at_rest

    def _build_tracks(
        self,
        obj: bpy.types.Object,
        names: Sequence[str],
        modes: Sequence[str],
        idle: Collection[str],
    ) -> None:
        bones = obj.pose.bones
        shines = has_nla_tracks(obj)
        tracks: list[Track] = []
        self._tracks_by_row: list[tuple[Track, Track, str]] = []
        for row, (name, mode) in enumerate(zip(names, modes, strict=False)):
            pose = bones[name]
            path = build_bone_path(name)
            turn = get_rotation_property(mode)
            connected = obj.data.bones[name].use_connect
            moves = () if connected else find_unlocked_components(pose, "location")
            turns = find_unlocked_components(pose, "rotation")
            start = int(self._rotation_starts[row])
            rests = not shines and pose.location.length <= STILL
            away = max(map(abs, pose.matrix_basis.to_quaternion()[1:]))
            is_idle = name in idle and not shines and away <= STILL
            tracks += [
                Track(f"{path}.location", name, 3 * row, moves, REST["location"], rests),
                Track(f"{path}.{turn}", name, start, turns, REST[turn], is_idle),
            ]
            self._tracks_by_row.append((tracks[-2], tracks[-1], mode))
        owners = self._bone_indices.repeat(2).tolist()
        self._scatter = _build_scatter(tracks, owners, self._bone_count)
        self._add_tracks(tracks)

    def _add_tracks(self, tracks: Sequence[Track]) -> None:
        """Add tracks with components to set, and their values at rest."""
        self.tracks += tuple(track for track in tracks if track.free)
        for track in tracks:
            self.at_rest[track.start : track.start + len(track.rest)] = track.rest

    def _pack_channels(self, before: np.ndarray) -> np.ndarray:
        """Return the channels (C,) of rotations and locations as they stand, near those before."""
        result = np.empty(self.channel_count)
        result[: 3 * self._rows] = self._locations.ravel()
        for group in self._groups:
            near = before[group.channels].reshape(len(group.rows), -1).T
            values = to_mode_near(self._rotations[group.rows].T, group.mode, near)
            result[group.channels] = values.T.ravel()
        return result


class _Group(NamedTuple):
    """Rotations of one mode: their rows among all rotations, and their channels, row by row."""

    mode: str
    rows: np.ndarray
    channels: slice


class _Scatter(NamedTuple):
    """A property of all pose bones: values at `indices` come from `channels`, others stay."""

    name: str
    buffer: np.ndarray
    indices: np.ndarray
    channels: np.ndarray
    partial: bool


def _build_scatter(
    tracks: Sequence[Track], bone_indices: Sequence[int], bone_count: int
) -> list[_Scatter]:
    """Find for each property of bones which of its values the tracks' channels set."""
    parts: dict[str, list[tuple[int, int]]] = {}
    for track, bone in zip(tracks, bone_indices, strict=True):
        size = len(track.rest)
        prop = track.path.rpartition(".")[2]
        pairs = ((size * bone + c, track.start + c) for c in track.free)
        parts.setdefault(prop, []).extend(pairs)
    result = []
    for prop, targets in parts.items():
        if targets:
            indices, channels = np.ascontiguousarray(np.transpose(targets))
            buffer = np.zeros(len(REST[prop]) * bone_count, np.float32)
            result.append(_Scatter(prop, buffer, indices, channels, len(indices) < len(buffer)))
    return result
