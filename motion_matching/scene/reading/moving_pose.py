"""Poses of a performer from an armature as it plays: the inverse of what a pose writer writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...engine.body.toe_ends import measure_leg_lengths
from ...engine.database.database import Database
from ...engine.maths.numeric import arctan2
from ...engine.maths.planar import wrap
from ...engine.maths.rotations import quat
from ...engine.motion.clip import Clip
from ...engine.motion.contacts import ContactSettings, find_contacts
from ...engine.motion.simulation_bone import SIMULATION_BONE_NAME, compute_raw_track
from ...engine.performance.start_state import GroundPlace, StartState, build_start_state
from ..blender.animation import actions, curve_poses
from ..blender.evaluation.evaluation import EvaluationCopy
from ..blender.transforms.transforms import (
    Transform,
    compose,
    compute_local_poses,
    decompose_similarity,
    invert,
    to_frames,
)
from ..rig.plan import build_plan, make_rest_clip
from ..rig.root_target import RootTarget

# metres, radians, and metres per second by which a carrier may differ from the body that it carries
_APART = 0.5
_TURNED = 1.2
_SLOWER = 0.7
_AT_REST = 1e-5  # of the elements of a matrix
_FASTEST = 1.5  # times as fast as the data, beyond which the character has leapt


class ShownPose(NamedTuple):
    """The shown pose of an armature: its name, matrices of bones, and its own in the world."""

    name: str
    bones: dict[str, np.ndarray]
    world: np.ndarray


def read_shown(obj: bpy.types.Object) -> ShownPose:
    """Return what an armature shows now: posed by hand, keyed or not."""
    bpy.context.view_layer.update()
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bones = {bone.name: np.array(bone.matrix) for bone in evaluated.pose.bones}
    return ShownPose(obj.name, bones, np.array(evaluated.matrix_world))


class PoseReader:
    """Reads poses (F, 7, B) of a database's skeleton, bone 0 in the world, from an armature.

    The options are as for `bake`. `root` describes bone 0, as in `StartState`. Raises
    RigError if the armature does not fit.
    """

    def __init__(
        self,
        obj: bpy.types.Object,
        database: Database,
        *,
        root: RootTarget | None = None,
        root_bone: str = "",
    ) -> None:
        skeleton = database.skeleton
        hips = database.role_names["hips"]
        plan = build_plan(obj, make_rest_clip(skeleton), root, root_bone, hips)
        self._plan = plan
        self._database = database
        self._names = plan.clip.skeleton.names
        self._after = dict(zip(self._names, plan.fit().after, strict=True))
        self._stand = _to_ground(plan.alignment)

    def read(
        self,
        obj: bpy.types.Object,
        frames: Sequence[float],
        action: bpy.types.Action | None = None,
    ) -> np.ndarray:
        """Return the poses that an armature plays at some frames, or would by an action alone."""
        return self._place(*self._evaluate(obj, frames, action), obj.name)

    def read_shown(self, shown: ShownPose) -> np.ndarray:
        """Return the pose (1, 7, B) of what an armature showed."""
        matrices = np.array([shown.bones[name] for name in self._names])
        parents = np.full(len(self._names), -1)
        rotations, positions = compute_local_poses(matrices[None], parents)
        return self._place(rotations, positions, shown.world[None], shown.name)

    def _place(
        self, rotations: np.ndarray, positions: np.ndarray, worlds: np.ndarray, label: str
    ) -> np.ndarray:
        """Return poses of rotations (F, B, 4) and heads (F, B, 3) in an armature with a label."""
        stand = decompose_similarity(worlds, label)
        turns, shifts, scales = (part[:, None] for part in stand)
        heads = quat.mul_vec(turns, scales[..., None] * positions.astype(np.float64)) + shifts
        turned = quat.mul(turns, rotations.astype(np.float64))
        moved = {name: (turned[:, i], heads[:, i]) for i, name in enumerate(self._names)}
        return self._build_poses(moved, stand[:2], len(worlds))

    def read_start(
        self,
        obj: bpy.types.Object,
        frame: float,
        step: float,
        action: bpy.types.Action | None = None,
        *,
        at_end: bool = False,
    ) -> tuple[GroundPlace, StartState]:
        """Return place and state at a frame, with the velocity there; a tick is `step` frames long.

        `at_end`: nothing is known of what comes after the frame.
        """
        poses = self.read(obj, (frame - step, frame, frame if at_end else frame + step), action)
        fastest = _FASTEST * float(np.hypot(*self._database.root_motion[:, :2].T).max())
        root, placed = self.place_root(poses)
        names = self._database.skeleton.names
        fps = self._database.fps
        return build_start_state(names, placed, fps, root=root, fastest=fastest)

    def show(self, poses: np.ndarray) -> np.ndarray:
        """Return poses (F, 7, B) with bone 0 where an armature that shows them has it.

        That is its place if it stays there, and the body's if the hips carry the motion.
        """
        if self._plan.root is RootTarget.IN_PLACE:
            x, y, yaw = self._stand
            result = poses.copy()
            result[:, :, 0] = [x, y, 0.0, *quat.from_yaw(np.array(yaw))]
            return result
        if self._plan.root is RootTarget.HIPS and not self._plays_root:
            return _reroot(poses, self._find_body_track(poses), self._database.skeleton.parents)
        return poses

    def find_contacts(self, poses: np.ndarray) -> np.ndarray:
        """Return when the toes (F, L) of poses (F, 7, B) stand, as in the database."""
        database = self._database
        _, positions = quat.compute_world(poses, database.skeleton.parents)
        toes = positions[:, [leg.toe for leg in database.roles.legs]]
        settings = ContactSettings(**database.settings["contacts"])
        lengths = measure_leg_lengths(positions, database.roles)
        return find_contacts(toes, database.fps, settings, lengths)

    def place_root(self, poses: np.ndarray) -> tuple[str, np.ndarray]:
        """Return what is known of bone 0, and the poses with bone 0 where the body has it if not.

        A carrier counts unless the body goes its own way, as on an object that stands still while
        the hips walk away from it.
        """
        target = self._plan.root
        if target is RootTarget.IN_PLACE:
            return "placed", poses
        body = self._find_body_track(poses)
        if target is not RootTarget.HIPS or self._plays_root:
            own = np.stack(_to_ground((poses[:, 3:, 0], poses[:, :3, 0])), axis=-1)
            away = own - body
            fast = np.linalg.norm(np.diff(away[:, :2], axis=0), axis=-1) * self._database.fps
            turned = np.abs(wrap(away[:, 2])).max()
            near = np.linalg.norm(away[:, :2], axis=-1).max() < _APART
            if near and turned < _TURNED and fast.max(initial=0.0) < _SLOWER:
                return "carried", poses
        return "free", _reroot(poses, body, self._database.skeleton.parents)

    @property
    def _plays_root(self) -> bool:
        """Return whether the armature has bone 0 itself."""
        return self._plan.source.names[0] in self._after

    def _evaluate(
        self,
        obj: bpy.types.Object,
        frames: Sequence[float],
        action: bpy.types.Action | None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rotations (F, B, 4) and heads (F, B, 3) in the armature, and worlds (F, 4, 4)."""
        names = tuple(self._names)
        parents = np.full(len(names), -1)
        if action is not None:
            curves = actions.get_active_curves(action, actions.find_slot(action, obj))
            channels = curve_poses.Channels(curves, frames)
            if not curve_poses.find_obstacle(obj, channels, names):
                body = curve_poses.StaticArmature.from_object(obj, names)
                parts = curve_poses.compute_poses(body, channels, names, parents)
                worlds = np.broadcast_to(parts[2], (len(frames), 4, 4))
                return parts[0], parts[1], worlds
        with EvaluationCopy(obj) as copy:
            if action is not None:
                copy.clear_pose()
                copy.play(action, actions.find_slot(action, obj))
            return copy.evaluate(frames, names, parents)

    def _build_poses(self, moved: dict[str, Transform], world: Transform, count: int) -> np.ndarray:
        """Return poses of bones' world rotations and heads (F, …); others ride at rest."""
        plan = self._plan
        skeleton = self._database.skeleton
        source = plan.source.names  # the skeleton's, as the armature calls them
        joints: list[Transform] = []
        for bone, name in enumerate(source):
            if name in moved and name != plan.root_bone:
                turned, heads = moved[name]
                joint = quat.mul_inv(turned, self._after[name]), heads
                if plan.root is RootTarget.IN_PLACE:
                    joint = compose(self._lift, joint)
                joints.append(joint)
            elif bone == 0:
                joints.append(self._find_root(moved, world, count))
            else:
                rest = skeleton.rest_rotations[bone], skeleton.rest_positions[bone]
                at_rest = tuple(part.astype(np.float64)[None] for part in rest)
                joints.append(compose(joints[int(skeleton.parents[bone])], at_rest))
        rotations, positions = (np.stack(part, axis=1) for part in zip(*joints, strict=True))
        turns, shifts = quat.ik(quat.normalize(rotations), positions, skeleton.parents)
        local = np.concatenate([shifts, turns], axis=-1).transpose(0, 2, 1)
        return np.ascontiguousarray(local)

    @property
    def _lift(self) -> Transform:
        """Return the shift that puts a fixed armature onto the ground of the performance."""
        return quat.IDENTITY[None], -np.array([[0.0, 0.0, self._plan.alignment[1][2]]])

    def _find_root(self, moved: dict[str, Transform], world: Transform, count: int) -> Transform:
        """Return bone 0 (F) on the ground, as its carrier has it; at the origin if unknown."""
        plan = self._plan
        x, y, yaw = (np.full(count, value) for value in (0.0, 0.0, 0.0))
        if plan.root is RootTarget.OBJECT:
            x, y, yaw = _to_ground(compose(world, to_frames(invert(plan.object_rest))))
        elif plan.root is RootTarget.BONE and plan.root_bone and plan.root_rest:
            rest = to_frames(invert(plan.root_rest))
            x, y, yaw = _to_ground(compose(moved[plan.root_bone], rest))
        elif plan.root is RootTarget.IN_PLACE:
            x, y, yaw = (np.full(count, value) for value in self._stand)
        return quat.from_yaw(yaw), np.stack([x, y, np.zeros(count)], axis=-1)

    def _find_body_track(self, poses: np.ndarray) -> np.ndarray:
        """Return the path (F, 3) on the ground that spine and hips give."""
        database = self._database
        local = poses.transpose(0, 2, 1)
        clip = Clip("body", database.skeleton, local[..., :3], local[..., 3:], database.fps)
        roles = database.roles
        forward = np.array(database.hips_forward)
        return compute_raw_track(clip, roles.hips, roles.spine, forward).rows


def is_at_rest(obj: bpy.types.Object, *, has_controls: bool = False) -> bool:
    """Return whether an armature was never posed and plays nothing: then it has no pose to keep.

    Drivers may pose it, unless it is a rig that `has_controls`.
    """
    data = obj.animation_data
    if data and (data.action or (data.use_nla and data.nla_tracks)):
        return False
    if data and data.drivers and not has_controls:
        return False
    basis = np.array([bone.matrix_basis for bone in obj.pose.bones])
    return bool(np.abs(basis - np.eye(4)).max(initial=0.0) < _AT_REST)


def read_path_start(
    action: bpy.types.Action, frame: float, step: float, fps: float, *, at_end: bool = False
) -> tuple[GroundPlace, StartState]:
    """Return place and state of a steered path at a frame; see `PoseReader.read_start`."""
    curves = {(c.data_path, c.array_index): c for c in actions.get_channelbag(action).fcurves}
    poses = np.zeros((3, 7, 1))
    for row, at in enumerate((frame - step, frame, frame if at_end else frame + step)):
        for axis in (0, 1):
            if curve := curves.get(("location", axis)):
                poses[row, axis, 0] = curve.evaluate(at)
        turn = curves.get(("rotation_euler", 2))
        poses[row, 3:, 0] = quat.from_yaw(np.array(turn.evaluate(at) if turn else 0.0))
    return build_start_state((SIMULATION_BONE_NAME,), poses, fps)


def _to_ground(transform: Transform) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x, y and yaw of rotations (…, 4) and positions (…, 3)."""
    turns, positions = transform
    yaw = 2.0 * arctan2(turns[..., 3], turns[..., 0])
    return positions[..., 0], positions[..., 1], yaw


def _reroot(poses: np.ndarray, track: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """Return the same poses in the world with bone 0 on a track (F, 3)."""
    rotations, positions = quat.compute_world(poses, parents)
    positions[:, 0] = np.column_stack([track[:, :2], np.zeros(len(track))])
    rotations[:, 0] = quat.from_yaw(track[:, 2])
    turns, shifts = quat.ik(rotations, positions, parents)
    return np.concatenate([shifts, turns], axis=-1).transpose(0, 2, 1)
