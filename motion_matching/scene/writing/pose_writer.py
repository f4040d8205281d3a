"""Poses on an armature, tick by tick: what a bake writes as keys, shown as the pose.

What can be known before is computed once. A tick then costs a handful of array operations, plain
floats for the bone that carries the character, and one update.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import bpy
import numpy as np

from ...engine.errors import RigError
from ...engine.maths import quat
from ...engine.motion.clip import Clip
from ...engine.motion.skeleton import Skeleton
from ..blender.actions import has_nla_tracks
from ..blender.channels import (
    OBJECT_GROUP,
    STILL,
    ObjectFrame,
    check_connected,
    find_unlocked_components,
)
from ..blender.curves import build_bone_path
from ..blender.handle import Handle, find_posable
from ..blender.rotation_modes import get_rotation_property, to_mode_near
from ..blender.transforms import REST, Transform, compose, invert
from ..rig.bone_choice import get_collection_bones
from ..rig.plan import Plan, build_plan, check_follows_keys
from ..rig.root_target import RootTarget
from .rigid import Rigid, compose_rigid, extract_ground_motion, invert_rigid, to_rigid
from .saved_pose import SavedPose


@dataclass(frozen=True)
class Track:
    """A property that poses set: its curves, and where it starts among the channels.

    `free` are the components that are not locked; `rest` is what all of them are at rest. An
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
    """How the keys of what carries a character change when it is moved and turned on the ground.

    Rotations are multiplied by `turn` (4,) from the left; locations by `linear` (4,), a rotation,
    and then `shift` (3,) is added.
    """

    location: Track
    rotation: Track
    mode: str
    turn: np.ndarray
    linear: np.ndarray
    shift: np.ndarray


class PoseWriter:
    """Writes poses (7, B) of a skeleton onto an armature, which it knows by name.

    The options are those of `bake`, and a bake of the same pose evaluates to what is shown. With a
    `collection`, only the bones of that bone collection are driven, and the object with those that
    carry the body; the rest goes on playing its own animation. `travels` says whether what is shown
    moves over the ground. `start` (x, y, yaw) is where the armature rests, for a performer to start
    from. `tracks` are the properties that are set, and `scaled` the bones whose scale is reset.
    Raises RigError if the armature does not fit.
    """

    alone = False  # it shows a character

    def __init__(
        self,
        obj: bpy.types.Object,
        skeleton: Skeleton,
        *,
        root: RootTarget | None = None,
        root_bone: str = "",
        hips: str | None = None,
        collection: str = "",
    ) -> None:
        rest_pose = skeleton.rest_positions[None], skeleton.rest_rotations[None]
        rest = Clip("rest", skeleton, *rest_pose, 1.0)
        plan = build_plan(obj, rest, root, root_bone, hips)
        chosen = get_collection_bones(obj, collection) if collection else set(plan.standing.rests)
        driven = [name for name in plan.clip.skeleton.names if name in chosen]
        if not driven:
            raise RigError(
                f"bone collection '{collection}' of armature '{obj.name}' has no bone of the "
                "motion; choose another, or drive all bones."
            )
        check_follows_keys(obj, tuple(driven))
        self.armature = Handle.from_block(obj, "objects")
        (w, _, _, z), (x, y, _) = (part.tolist() for part in plan.alignment)
        self.start = x, y, 2.0 * float(np.arctan2(z, w))
        self.tracks: tuple[Track, ...] = ()
        self.scaled: list[str] = []
        self.collection = collection  # other bones go on playing theirs
        carries = plan.is_carried_by(chosen)
        self.travels = carries and plan.root is not RootTarget.IN_PLACE
        self._object: _ObjectMotion | None = None
        if carries and plan.object_motion is not None:
            self._object = _ObjectMotion(obj, plan)
        self._plan_bones(obj, plan, driven)
        self._assign_channels(obj, [*driven, *(name for name in plan.resting if name in chosen)])
        self._saved: SavedPose | None = None
        self._last_channels = self.at_rest

    def take_over(self) -> None:
        """Save pose and action, and take the action off unless other bones go on playing it."""
        obj, plays_on = find_posable(self.armature), bool(self.collection)
        self._saved = SavedPose.capture(
            obj, self._bone_indices, moves_object=self._object is not None, plays_on=plays_on
        )
        obj.update_tag()  # the armature itself may have changed; from now on only poses do

    def restore(self, *, keep_action: bool = False) -> None:
        """Restore what `take_over` saved, once; `keep_action` keeps and shows the current one."""
        saved, self._saved = self._saved, None
        obj = self.armature.find()
        if saved is not None and obj is not None:
            saved.restore(obj, keep_action)

    def find_action(self) -> Handle | None:
        """Return the action that the armature plays, or played when it was taken over."""
        obj = find_posable(self.armature)
        action = obj.animation_data.action if obj.animation_data else None
        if action is not None:
            return Handle.from_block(action, "actions")
        return self._saved.playing.action if self._saved else None

    def compute_channels(self, pose: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Return the channels (C,), float64, of a pose (7, B), near those `before` (C,)."""
        known: dict[int, Rigid] = {}
        motion = extract_ground_motion(self._reparented.get_bone(pose, 0), self._reparented.rest)
        local = pose[:, self._sources].astype(np.float64)
        for row, name, above in self._carrying:
            local[:, row] = self._reparented.compute_local(pose, motion, name, above, known)
        rows = local.shape[1]
        rotations, locations = self._rotations, self._locations
        rotations[:rows] = np.matmul(self._turns, local[3:].T[..., None])[..., 0]
        locations[:rows] = np.matmul(self._shifts, local[:3].T[..., None] - self._rests)[..., 0]
        for row, name in self._connected:
            check_connected(name, self.armature.name, self._scale * locations[row, :, None])
        if self._object:
            own = self._object.compute_channels(motion)
            locations[-1], rotations[-1] = own[:3], own[3:]
        result = np.empty(self.channel_count)
        result[: 3 * self._rows] = locations.ravel()
        for group in self._groups:
            near = before[group.channels].reshape(len(group.rows), -1).T
            values = to_mode_near(rotations[group.rows].T, group.mode, near)
            result[group.channels] = values.T.ravel()
        return result

    def find_carrier_moves(self, place: tuple[float, float, float]) -> list[CarrierMove]:
        """Return how keys change when all is moved on the ground, the world's origin to a place."""
        x, y, yaw = place
        moved = quat.from_yaw(np.array(yaw)), np.array([x, y, 0.0])
        if not self.travels:
            return []
        if self._object:
            location, rotation, mode = self._tracks_by_row[-1]
            return [CarrierMove(location, rotation, mode, *self._object.compute_move(moved))]
        back = invert(self._alignment)
        turn, shift = compose(back, compose(moved, self._alignment))
        moves = []
        for row, before in self._roots:
            rest = self._rests[row, :, 0]
            own = quat.mul_inv(quat.mul(before, turn), before)
            away = quat.mul_vec(turn, rest) + shift - rest
            away = quat.mul_vec(before, away) / self._scale
            moves.append(CarrierMove(*self._tracks_by_row[row], own, own, away))
        return moves

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
        obj, channels = find_posable(self.armature), self._last_channels
        bones = obj.pose.bones
        if len(bones) != self._bone_count:
            raise RigError(f"armature '{self.armature.name}' has other bones now; start again.")
        for part in self._scatter:
            if part.partial:
                bones.foreach_get(part.name, part.buffer)
            part.buffer[part.indices] = channels[part.channels]
            bones.foreach_set(part.name, part.buffer)
        if self._object:
            self._object.set(obj, channels)
        # foreach_set alone does not tag the dependency graph; the object is enough, for the
        # armature has not changed
        obj.update_tag(refresh={"OBJECT"})
        if update:
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

    def _plan_bones(self, obj: bpy.types.Object, plan: Plan, driven: Sequence[str]) -> None:
        """Find where the bones' local poses come from, and what makes channels of them."""
        hung, fitted = plan.clip.skeleton, plan.fit()
        rows = [hung.index(name) for name in driven]
        turns, shifts = fitted.compute_basis_matrices()
        self._turns, self._shifts = turns[rows].astype(np.float64), shifts[rows].astype(np.float64)
        self._rests, self._scale = fitted.rest_positions[rows][..., None], fitted.scale
        bones = self._reparented = _ReparentedBones(plan)
        above = [hung.names[parent] if parent >= 0 else None for parent in hung.parents[rows]]
        self._sources = np.array([bones.indices.get(name, 0) for name in driven])
        self._carrying = [
            (row, name, parent)
            for row, (name, parent) in enumerate(zip(driven, above, strict=True))
            if not bones.has_same_parent(name, parent)
        ]
        # bones that go with the character, unless the object does, and how their keys are turned
        self._alignment = plan.alignment
        self._roots = [
            (row, fitted.before[index].astype(np.float64))
            for row, (index, name) in enumerate(zip(rows, above, strict=True))
            if name is None
        ]
        # other bones keep their distance from their parents
        self._connected = [
            (row, name) for row, name, _ in self._carrying if obj.data.bones[name].use_connect
        ]

    def _assign_channels(self, obj: bpy.types.Object, names: Sequence[str]) -> None:
        """Assign channels to every property: locations first, then rotations by their modes."""
        bones = obj.pose.bones
        self._bone_count = len(bones)
        self._bone_indices = np.array([bones.find(name) for name in names])
        modes: list[str] = [bones[name].rotation_mode for name in names]
        if self._object:
            modes.append(self._object.frame.mode)
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
        self.channel_count, self.at_rest = start, np.zeros(start)
        shines = has_nla_tracks(obj)
        tracks: list[Track] = []
        self._tracks_by_row: list[tuple[Track, Track, str]] = []
        for row, (name, mode) in enumerate(zip(names, modes, strict=False)):
            pose, path, turn = bones[name], build_bone_path(name), get_rotation_property(mode)
            connected = obj.data.bones[name].use_connect
            moves = () if connected else find_unlocked_components(pose, "location")
            turns = find_unlocked_components(pose, "rotation")
            rests = not shines and pose.location.length <= STILL
            tracks += [
                Track(f"{path}.location", name, 3 * row, moves, REST["location"], rests),
                Track(f"{path}.{turn}", name, int(starts[row]), turns, REST[turn]),
            ]
            self._tracks_by_row.append((tracks[-2], tracks[-1], mode))
        owners = self._bone_indices.repeat(2).tolist()
        self._scatter = _build_scatter(tracks, owners, self._bone_count)
        if self._object:
            tracks += self._object.assign_channels(3 * len(names), int(starts[-1]))
            self._tracks_by_row.append((tracks[-2], tracks[-1], modes[-1]))
        self.tracks = tuple(track for track in tracks if track.free)
        scales = {name: np.array(bones[name].scale) for name in names}
        self.scaled = [n for n, scale in scales.items() if not np.allclose(scale, 1.0, atol=STILL)]
        for track in tracks:
            self.at_rest[track.start : track.start + len(track.rest)] = track.rest


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
        size, prop = len(track.rest), track.path.rpartition(".")[2]
        pairs = ((size * bone + c, track.start + c) for c in track.free)
        parts.setdefault(prop, []).extend(pairs)
    result = []
    for prop, targets in parts.items():
        if targets:
            indices, channels = np.ascontiguousarray(np.transpose(targets))
            buffer = np.zeros(len(REST[prop]) * bone_count, np.float32)
            result.append(_Scatter(prop, buffer, indices, channels, len(indices) < len(buffer)))
    return result


class _ReparentedBones:
    """Local poses of bones that carry the character or have another parent than in the skeleton."""

    def __init__(self, plan: Plan) -> None:
        skeleton = plan.source
        self.indices = {name: number for number, name in enumerate(skeleton.names)}
        self._names, self._parents = skeleton.names, skeleton.parents.tolist()
        self.rest = to_rigid((skeleton.rest_rotations[0], skeleton.rest_positions[0]))
        self._back = to_rigid(invert(plan.alignment))
        self._leaves_motion = plan.root in (RootTarget.OBJECT, RootTarget.IN_PLACE)
        self._root_bone = plan.root_bone
        self._root_rest = to_rigid(plan.root_rest) if plan.root_rest else None

    def has_same_parent(self, name: str, above: str | None) -> bool:
        """Return whether a bone hangs on the same bone as in the skeleton."""
        if above is None or self._root_bone in (name, above):
            return False
        return self._names[self._parents[self.indices[name]]] == above

    def get_bone(self, pose: np.ndarray, number: int) -> Rigid:
        return Rigid(*pose[:, number].tolist())

    def compute_local(
        self, pose: np.ndarray, motion: Rigid, name: str, above: str | None, known: dict[int, Rigid]
    ) -> Rigid:
        """Return a bone's pose in the one above, as `reparent` does; `motion` is that of bone 0."""
        result = self._compute_shown(pose, motion, name, known)
        if above is None:
            return result
        return compose_rigid(invert_rigid(self._compute_shown(pose, motion, above, known)), result)

    def _compute_shown(
        self, pose: np.ndarray, motion: Rigid, name: str, known: dict[int, Rigid]
    ) -> Rigid:
        if name == self._root_bone and self._root_rest:
            return compose_rigid(self._back, compose_rigid(motion, self._root_rest))
        led_by = invert_rigid(motion) if self._leaves_motion else self._back
        return compose_rigid(led_by, self._compute_world(pose, self.indices[name], known))

    def _compute_world(self, pose: np.ndarray, number: int, known: dict[int, Rigid]) -> Rigid:
        """Return where the skeleton has a bone in the world."""
        if number not in known:
            own, parent = self.get_bone(pose, number), self._parents[number]
            if parent >= 0:
                own = compose_rigid(self._compute_world(pose, parent, known), own)
            known[number] = own
        return known[number]


class _ObjectMotion:
    """What moves the armature object over the ground."""

    def __init__(self, obj: bpy.types.Object, plan: Plan) -> None:
        self.frame = ObjectFrame.from_object(obj)
        self._stands = to_rigid(plan.object_rest)
        self._above = invert_rigid(to_rigid((self.frame.turn, self.frame.position)))
        self._undelta = invert_rigid(to_rigid((self.frame.delta, np.zeros(3))))
        self._shift = self.frame.shift.tolist()
        self._property = get_rotation_property(self.frame.mode)

    def assign_channels(self, location: int, rotation: int) -> tuple[Track, Track]:
        """Store where these start among the channels, and return their tracks."""
        rest = REST[self._property]
        self._location = slice(location, location + 3)
        self._rotation = slice(rotation, rotation + len(rest))
        return (
            Track("location", OBJECT_GROUP, location, (0, 1, 2), REST["location"]),
            Track(self._property, OBJECT_GROUP, rotation, tuple(range(len(rest))), rest),
        )

    def compute_channels(self, motion: Rigid) -> Rigid:
        """Do what `ObjectFrame.compute_channels` does, in plain floats."""
        seen = compose_rigid(self._above, compose_rigid(motion, self._stands))
        scale, (x, y, z) = self.frame.scale, self._shift
        turned = compose_rigid(self._undelta, Rigid(0.0, 0.0, 0.0, *seen[3:]))
        return Rigid(seen.x / scale - x, seen.y / scale - y, seen.z / scale - z, *turned[3:])

    def compute_move(self, moved: Transform) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return turn, linear and shift of `CarrierMove`, as the world moves."""
        frame = self.frame
        above = frame.turn, frame.position
        turn, shift = compose(invert(above), compose(moved, above))
        own = quat.mul(quat.inv_mul(frame.delta, turn), frame.delta)
        return own, turn, quat.mul_vec(turn, frame.shift) + shift / frame.scale - frame.shift

    def set(self, obj: bpy.types.Object, channels: np.ndarray) -> None:
        """Put the object where the channels say."""
        obj.location = channels[self._location].tolist()
        setattr(obj, self._property, channels[self._rotation].tolist())
