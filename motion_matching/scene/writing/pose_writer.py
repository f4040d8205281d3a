"""Poses on an armature, tick by tick: what a bake writes as keys, shown as the pose.

What can be known before is computed once. A tick then costs a handful of array operations, plain
floats for the bone that carries the character, and one update.
"""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ...engine.errors import RigError
from ...engine.maths.rotations import quat
from ...engine.skeleton.skeleton import Skeleton
from ..blender.evaluation.channels import OBJECT_GROUP, ObjectFrame, check_connected
from ..blender.transforms.rotation_modes import get_rotation_property
from ..blender.transforms.transforms import REST, Transform, invert, place_on_ground, see_from
from ..rig.bone_choice import get_collection_bones
from ..rig.plan import Plan, build_plan, check_follows_keys, make_rest_clip
from ..rig.root_target import RootTarget
from .channel_writer import CarrierMove, ChannelWriter, Track
from .rigid import Rigid, compose_rigid, extract_ground_motion, invert_rigid, to_rigid


class PoseWriter(ChannelWriter):
    """Writes poses (7, B) of a skeleton onto an armature, which it knows by name.

    The options are as for `bake`, and a bake of the same pose evaluates to what is shown. With a
    `collection`, only the bones of that bone collection are driven, and the object if they carry
    the body; the rest keeps playing its own animation. Raises RigError if the armature does not
    fit.
    """

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
        plan = build_plan(obj, make_rest_clip(skeleton), root, root_bone, hips)
        chosen = get_collection_bones(obj, collection) if collection else set(plan.standing.rests)
        driven = [name for name in plan.clip.skeleton.names if name in chosen]
        if not driven:
            raise RigError(
                f"bone collection '{collection}' of armature '{obj.name}' has no bone of the "
                "motion; choose another, or drive all bones."
            )
        check_follows_keys(obj, tuple(driven))
        super().__init__(obj, collection)
        (w, _, _, z), (x, y, _) = (part.tolist() for part in plan.alignment)
        self.start = x, y, 2.0 * float(np.arctan2(z, w))
        carries = plan.is_carried_by(chosen)
        self.travels = carries and plan.root is not RootTarget.IN_PLACE
        self._object: _ObjectMotion | None = None
        if carries and plan.object_motion is not None:
            self._object = _ObjectMotion(obj, plan)
            self._moves_object = True
        self._plan_bones(obj, plan, driven)
        names = [*driven, *(name for name in plan.resting if name in chosen)]
        modes = [self._object.frame.mode] if self._object else []
        self._assign_channels(obj, names, modes)
        if self._object:
            start = int(self._rotation_starts[-1])
            tracks = self._object.assign_channels(3 * len(names), start)
            self._tracks_by_row.append((*tracks, modes[-1]))
            self._add_tracks(tracks)

    def compute_channels(self, pose: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Return the channels (C,), float64, of a pose (7, B), near those `before` (C,)."""
        known: dict[int, Rigid] = {}
        motion = extract_ground_motion(Rigid(*pose[:, 0].tolist()), self._reparented.rest)
        local = pose[:, self._sources].astype(np.float64)
        for row, name, above in self._carrying:
            local[:, row] = self._reparented.compute_local(pose, motion, name, above, known)
        rows = local.shape[1]
        rotations = self._rotations
        locations = self._locations
        rotations[:rows] = np.matmul(self._turns, local[3:].T[..., None])[..., 0]
        locations[:rows] = np.matmul(self._shifts, local[:3].T[..., None] - self._rests)[..., 0]
        for row, name in self._connected:
            check_connected(name, self.armature.name, self._scale * locations[row, :, None])
        if self._object:
            own = self._object.compute_channels(motion)
            locations[-1] = own[:3]
            rotations[-1] = own[3:]
        return self._pack_channels(before)

    def find_carrier_moves(self, place: tuple[float, float, float]) -> list[CarrierMove]:
        """Return how keys change when all is moved on the ground, the world's origin to a place."""
        if not self.travels:
            return []
        moved = place_on_ground(place)
        if self._object:
            return [CarrierMove(*self._tracks_by_row[-1], *self._object.compute_move(moved))]
        turn, shift = see_from(self._alignment, moved)
        moves = []
        for row, before in self._roots:
            rest = self._rests[row, :, 0]
            own = quat.mul_inv(quat.mul(before, turn), before)
            away = quat.mul_vec(turn, rest) + shift - rest
            away = quat.mul_vec(before, away) / self._scale
            moves.append(CarrierMove(*self._tracks_by_row[row], own, own, away))
        return moves

    def _set_others(self, obj: bpy.types.Object, channels: np.ndarray) -> None:
        if self._object:
            self._object.set(obj, channels)

    def _plan_bones(self, obj: bpy.types.Object, plan: Plan, driven: Sequence[str]) -> None:
        """Find where the bones' local poses come from, and what makes channels of them."""
        hung = plan.clip.skeleton
        fitted = plan.fit()
        rows = [hung.index(name) for name in driven]
        turns, shifts = fitted.compute_basis_matrices()
        self._turns, self._shifts = turns[rows].astype(np.float64), shifts[rows].astype(np.float64)
        self._rests = fitted.rest_positions[rows][..., None]
        self._scale = fitted.scale
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
            own = Rigid(*pose[:, number].tolist())
            parent = self._parents[number]
            if parent >= 0:
                own = compose_rigid(self._compute_world(pose, parent, known), own)
            known[number] = own
        return known[number]


class _ObjectMotion:
    """Moves the armature object over the ground."""

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
        scale = self.frame.scale
        (x, y, z) = self._shift
        turned = compose_rigid(self._undelta, Rigid(0.0, 0.0, 0.0, *seen[3:]))
        return Rigid(seen.x / scale - x, seen.y / scale - y, seen.z / scale - z, *turned[3:])

    def compute_move(self, moved: Transform) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return turn, linear and shift of `CarrierMove`, as the world moves."""
        frame = self.frame
        turn, shift = see_from((frame.turn, frame.position), moved)
        own = quat.mul(quat.inv_mul(frame.delta, turn), frame.delta)
        return own, turn, quat.mul_vec(turn, frame.shift) + shift / frame.scale - frame.shift

    def set(self, obj: bpy.types.Object, channels: np.ndarray) -> None:
        """Put the object where the channels say."""
        obj.location = channels[self._location].tolist()
        setattr(obj, self._property, channels[self._rotation].tolist())
