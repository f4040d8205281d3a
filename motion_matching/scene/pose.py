"""Poses onto an armature, tick by tick: what a bake writes as keys, written as the pose that is shown.

All that can be known before is worked out once. A tick then costs a handful of operations on arrays, plain floats for
the bone that carries the character, and one update.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import bpy
import numpy as np

from ..engine.errors import RigError
from ..engine.motion.clip import Clip
from ..engine.motion.skeleton import Skeleton
from .armature import blender_names
from .bone_choice import bones_in
from .channels import (
    OBJECT_GROUP,
    STILL,
    ObjectFrame,
    basis_matrices,
    bone_path,
    check_connected,
    free_components,
)
from .fitting import Standing, fit, known_rest
from .found_pose import SIZES, FoundPose
from .handle import Handle, posable
from .plan import Plan, check_follows_keys, planned
from .rigid import Rigid, over_ground, rigid, then, undo
from .root_target import RootTarget, compose, inverse
from .rotation_modes import property_of, to_mode_near

_REST = {
    "location": (0.0,) * 3,
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_euler": (0.0,) * 3,
    "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
}


@dataclass(frozen=True)
class Track:
    """A property that poses set: its curves, and where it begins among the channels.

    `free` are the components that are not locked; `rest` is what all of them are at rest. What is `optional` need not
    be recorded while it stays at rest, for there it was found.
    """

    path: str
    group: str
    start: int
    free: tuple[int, ...]
    rest: tuple[float, ...]
    optional: bool = False


class PoseWriter:
    """Writes poses (7, B) of a skeleton onto an armature, which it knows by name.

    The options are those of `bake`, and what is shown is what a bake of the same pose evaluates to. With a
    `collection`, only the bones of that bone collection are driven, and the object with those that carry the body;
    all else goes on playing its own animation. `travels` says whether what is shown moves over the ground.
    `start` (x, y, yaw) is where the armature rests, for a performer to start from. `tracks` are the properties that
    are set, for those who record them, and `scaled` the bones whose scale is undone. RigError where the armature does
    not fit.
    """

    alone = False  # it is a character that is shown

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
        standing = Standing.of(obj)
        skeleton = known_rest(obj, standing, skeleton.renamed(blender_names(skeleton.names)))
        rest = Clip(
            "rest", skeleton, skeleton.rest_positions[None], skeleton.rest_rotations[None], 1.0
        )
        plan = planned(rest, standing, root, root_bone, hips)
        chosen = bones_in(obj, collection) if collection else set(standing.rests)
        driven = [name for name in plan.clip.skeleton.names if name in chosen]
        if not driven:
            raise RigError(
                f"bone collection '{collection}' of armature '{obj.name}' has no bone of the motion; choose "
                "another, or drive all bones."
            )
        check_follows_keys(obj, tuple(driven))
        self.armature = Handle.of(obj, "objects")
        self.start = (
            *plan.place[1][:2].tolist(),
            2.0 * float(np.arctan2(plan.place[0][3], plan.place[0][0])),
        )
        self.tracks: tuple[Track, ...] = ()
        self.scaled: list[str] = []
        self.collection = collection  # other bones go on playing what they play
        hung = plan.clip.skeleton
        carries = any(
            parent < 0 and name in chosen
            for name, parent in zip(hung.names, hung.parents, strict=True)
        )
        self.travels = carries and plan.root is not RootTarget.IN_PLACE
        self._object = (
            _ObjectMotion(obj, plan, standing)
            if carries and plan.object_motion is not None
            else None
        )
        self._plan_bones(obj, standing, skeleton, plan, driven)
        self._lay_out(obj, [*driven, *(name for name in plan.resting if name in chosen)])
        self._found: FoundPose | None = None
        self._shown = self.at_rest

    # ------------------------------------------------------------ taking over and giving back

    def take_over(self) -> None:
        """Note pose and action of the armature, and take the action off, so that it moves by poses alone.

        Where only a bone collection is driven, other bones go on playing theirs. RigError where it cannot be posed.
        """
        obj = posable(self.armature)
        self._found = FoundPose.take(
            obj,
            self._numbers,
            moves_object=self._object is not None,
            plays_on=bool(self.collection),
        )
        obj.update_tag()  # the armature itself may have changed; from now on it is poses alone

    def give_back(self, *, keep_action: bool = False) -> None:
        """Bring back what `take_over` found; a second time does nothing.

        With `keep_action` the object keeps the action that it has got since, and shows it.
        """
        found, self._found = self._found, None
        obj = self.armature.find()
        if found is not None and obj is not None:
            found.restore(obj, keep_action)

    def playing(self) -> Handle | None:
        """The action that the armature plays, or played when it was taken over."""
        obj = posable(self.armature)
        action = obj.animation_data.action if obj.animation_data else None
        if action is not None:
            return Handle.of(action, "actions")
        return self._found.playing.action if self._found else None

    # ------------------------------------------------------------ each tick

    def channels(self, pose: np.ndarray, before: np.ndarray) -> np.ndarray:
        """The channels (C,), float64, of a pose (7, B), those of rotations as near as can be to the ones before (C,)."""
        known: dict[int, Rigid] = {}
        motion = over_ground(self._hanging.bone(pose, 0), self._hanging.rest)
        local = pose[:, self._sources].astype(np.float64)
        for row, name, above in self._carrying:
            local[:, row] = self._hanging.local(pose, motion, name, above, known)
        rows = local.shape[1]
        rotations, locations = self._rotations, self._locations
        rotations[:rows] = np.matmul(self._turns, local[3:].T[..., None])[..., 0]
        locations[:rows] = np.matmul(self._shifts, local[:3].T[..., None] - self._rests)[..., 0]
        for row, name in self._connected:
            check_connected(name, self.armature.name, self._scale * locations[row, :, None])
        if self._object:
            placed = self._object.own(motion)
            locations[-1], rotations[-1] = placed[:3], placed[3:]
        result = np.empty(self.channel_count)
        result[: 3 * self._rows] = locations.ravel()
        for group in self._groups:
            near = before[group.places].reshape(len(group.rows), -1).T
            result[group.places] = to_mode_near(rotations[group.rows].T, group.mode, near).T.ravel()
        return result

    def show(self, pose: np.ndarray, *, update: bool = True) -> None:
        """Put the armature into a pose (7, B). RigError where it is gone, in edit mode, or has got other bones.

        Without `update`, Blender has to evaluate the pose yet, as it does of itself after a handler of a change of
        frame; there, doing it crashes Blender when relations have changed just before.
        """
        self._shown = self.channels(pose, self._shown)
        self.show_again(update=update)

    def show_again(self, *, update: bool = True) -> None:
        """Put the armature into the last pose again, after keys or a change of frame have moved it; see `show`."""
        obj = posable(self.armature)
        bones = obj.pose.bones
        if len(bones) != self._bone_count:
            raise RigError(
                f"armature '{self.armature.name}' has got other bones meanwhile; start again."
            )
        for part in self._scatter:
            if part.partial:
                bones.foreach_get(part.name, part.buffer)
            part.buffer[part.at] = self._shown[part.channels]
            bones.foreach_set(part.name, part.buffer)
        if self._object:
            self._object.set(
                obj, self._shown[self._object.location], self._shown[self._object.rotation]
            )
        # foreach_set alone does not tell the dependency graph; a pose follows its object, and the armature has not changed
        obj.update_tag(refresh={"OBJECT"})
        if update:
            bpy.context.view_layer.update()

    def follow_names(self, names: Mapping[str, str]) -> None:
        """Bones have got other names, given by the ones before: what is recorded goes on being theirs."""
        self.tracks = tuple(
            replace(
                track,
                path=bone_path(names[track.group]) + track.path[len(bone_path(track.group)) :],
                group=names[track.group],
            )
            if track.path.startswith(bone_path(track.group))
            else track
            for track in self.tracks
        )
        self.scaled = [names[name] for name in self.scaled]

    # ------------------------------------------------------------ once

    def _plan_bones(
        self,
        obj: bpy.types.Object,
        standing: Standing,
        skeleton: Skeleton,
        plan: Plan,
        driven: Sequence[str],
    ) -> None:
        """Where the bones' local poses come from, and what makes channels of them."""
        hung = plan.clip.skeleton
        fitted = fit(standing, hung, plan.place, plan.resting)
        rows = [hung.index(name) for name in driven]
        turns, shifts = basis_matrices(fitted)
        self._turns, self._shifts = turns[rows].astype(np.float64), shifts[rows].astype(np.float64)
        self._rests, self._scale = fitted.rest_positions[rows][..., None], fitted.scale
        self._hanging = _Hanging(skeleton, plan)
        above = [hung.names[hung.parents[row]] if hung.parents[row] >= 0 else None for row in rows]
        self._sources = np.array([self._hanging.numbers.get(name, 0) for name in driven])
        self._carrying = [
            (row, name, parent)
            for row, (name, parent) in enumerate(zip(driven, above, strict=True))
            if not self._hanging.is_plain(name, parent)
        ]
        # other bones keep their distance from their parents
        self._connected = [
            (row, name) for row, name, _ in self._carrying if obj.data.bones[name].use_connect
        ]

    def _lay_out(self, obj: bpy.types.Object, names: Sequence[str]) -> None:
        """Give every property its place among the channels: locations first, then rotations by their modes."""
        bones = obj.pose.bones
        self._bone_count, self._numbers = len(bones), np.array([bones.find(name) for name in names])
        modes = [bones[name].rotation_mode for name in names] + (
            [self._object.frame.mode] if self._object else []
        )
        self._rows, self._groups, start = len(modes), [], 3 * len(modes)
        starts = np.zeros(len(modes), np.intp)
        for mode in sorted(set(modes)):
            rows, size = (
                np.array([row for row, other in enumerate(modes) if other == mode]),
                SIZES[property_of(mode)],
            )
            self._groups.append(_Group(mode, rows, slice(start, start + size * len(rows))))
            starts[rows] = start + size * np.arange(len(rows))
            start += size * len(rows)
        self._rotations, self._locations = (
            np.tile([1.0, 0.0, 0.0, 0.0], (self._rows, 1)),
            np.zeros((self._rows, 3)),
        )
        self.channel_count, self.at_rest = start, np.zeros(start)
        tracks, places, shines = (
            [],
            _Places(),
            bool(obj.animation_data and obj.animation_data.nla_tracks),
        )
        for row, (name, mode) in enumerate(zip(names, modes, strict=False)):
            pose = bones[name]
            moves = () if obj.data.bones[name].use_connect else free_components(pose, "location")
            for prop, first, free in (
                ("location", 3 * row, moves),
                (property_of(mode), int(starts[row]), free_components(pose, "rotation")),
            ):
                optional = prop == "location" and not shines and pose.location.length <= STILL
                tracks.append(
                    Track(f"{bone_path(name)}.{prop}", name, first, free, _REST[prop], optional)
                )
                places.add(prop, int(self._numbers[row]), first, free)
        if self._object:
            self._object.place(3 * len(names), int(starts[-1]))
            tracks += self._object.tracks
        self.tracks = tuple(track for track in tracks if track.free)
        self.scaled = [
            name for name in names if not np.allclose(np.array(bones[name].scale), 1.0, atol=STILL)
        ]
        for track in tracks:
            self.at_rest[track.start : track.start + len(track.rest)] = track.rest
        self._scatter = places.scatter(self._bone_count)


class _Group(NamedTuple):
    """Rotations of one mode: their rows among all rotations, and where their channels are, row by row."""

    mode: str
    rows: np.ndarray
    places: slice


class _Scatter(NamedTuple):
    """A property of all pose bones, `at` which of its values which `channels` go; `partial` if there are others."""

    name: str
    buffer: np.ndarray
    at: np.ndarray
    channels: np.ndarray
    partial: bool


class _Places:
    """Collects which value of which property each channel sets."""

    def __init__(self) -> None:
        self._at: dict[str, list[int]] = {}
        self._channels: dict[str, list[int]] = {}

    def add(self, prop: str, bone: int, first: int, free: tuple[int, ...]) -> None:
        self._at.setdefault(prop, []).extend(SIZES[prop] * bone + c for c in free)
        self._channels.setdefault(prop, []).extend(first + c for c in free)

    def scatter(self, bones: int) -> list[_Scatter]:
        return [
            _Scatter(
                prop,
                np.zeros(SIZES[prop] * bones, np.float32),
                np.array(at),
                np.array(self._channels[prop]),
                len(at) < SIZES[prop] * bones,
            )
            for prop, at in self._at.items()
            if at
        ]


class _Hanging:
    """Local poses of bones whose parent is not the one of the skeleton: those that carry, and those hung elsewhere."""

    def __init__(self, skeleton: Skeleton, plan: Plan) -> None:
        self.numbers = {name: number for number, name in enumerate(skeleton.names)}
        self._names, self._parents = skeleton.names, skeleton.parents.tolist()
        self.rest = rigid((skeleton.rest_rotations[0], skeleton.rest_positions[0]))
        self._back = rigid(inverse(plan.place))
        self._leaves_motion = plan.root in (RootTarget.OBJECT, RootTarget.IN_PLACE)
        self._root_bone = plan.root_bone
        self._root_rest = rigid(plan.root_rest) if plan.root_rest else None

    def is_plain(self, name: str, above: str | None) -> bool:
        """Whether a bone hangs on the same bone as in the skeleton, so that its local pose is the skeleton's."""
        if above is None or self._root_bone in (name, above):
            return False
        return self._names[self._parents[self.numbers[name]]] == above

    def bone(self, pose: np.ndarray, number: int) -> Rigid:
        return Rigid(*pose[:, number].tolist())

    def local(
        self, pose: np.ndarray, motion: Rigid, name: str, above: str | None, known: dict[int, Rigid]
    ) -> Rigid:
        """The pose of a bone relative to the one above it, as `carry` and `rehung` have it. `motion` is bone 0's."""
        placed = self._placed(pose, motion, name, known)
        return (
            placed
            if above is None
            else then(undo(self._placed(pose, motion, above, known)), placed)
        )

    def _placed(self, pose: np.ndarray, motion: Rigid, name: str, known: dict[int, Rigid]) -> Rigid:
        if name == self._root_bone and self._root_rest:
            return then(self._back, then(motion, self._root_rest))
        led_by = undo(motion) if self._leaves_motion else self._back
        return then(led_by, self._chain(pose, self.numbers[name], known))

    def _chain(self, pose: np.ndarray, number: int, known: dict[int, Rigid]) -> Rigid:
        """Where the skeleton has a bone in the world."""
        if number not in known:
            own, parent = self.bone(pose, number), self._parents[number]
            known[number] = own if parent < 0 else then(self._chain(pose, parent, known), own)
        return known[number]


class _ObjectMotion:
    """What moves the armature object over the ground."""

    def __init__(self, obj: bpy.types.Object, plan: Plan, standing: Standing) -> None:
        self.frame = ObjectFrame.of(obj)
        self._stands = rigid(compose(inverse(plan.place), standing.place))
        self._above = undo(rigid((self.frame.turn, self.frame.place)))
        self._undelta = undo(rigid((self.frame.delta, np.zeros(3))))
        self._shift, self._property = self.frame.shift.tolist(), property_of(self.frame.mode)

    def place(self, location: int, rotation: int) -> None:
        """Take note of where among the channels these begin."""
        size = SIZES[self._property]
        self.location, self.rotation = (
            slice(location, location + 3),
            slice(rotation, rotation + size),
        )
        self.tracks = (
            Track("location", OBJECT_GROUP, location, (0, 1, 2), _REST["location"]),
            Track(
                self._property, OBJECT_GROUP, rotation, tuple(range(size)), _REST[self._property]
            ),
        )

    def own(self, motion: Rigid) -> Rigid:
        """Location and rotation of the object when the character has moved like that; see `ObjectFrame.own`."""
        seen, scale, shift = (
            then(self._above, then(motion, self._stands)),
            self.frame.scale,
            self._shift,
        )
        turned = then(self._undelta, Rigid(0.0, 0.0, 0.0, *seen[3:]))
        return Rigid(
            seen.x / scale - shift[0],
            seen.y / scale - shift[1],
            seen.z / scale - shift[2],
            *turned[3:],
        )

    def set(self, obj: bpy.types.Object, location: np.ndarray, rotation: np.ndarray) -> None:
        obj.location = location.tolist()
        setattr(obj, self._property, rotation.tolist())
