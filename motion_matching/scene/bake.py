"""A clip or take into a new action on an armature object."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ..engine.errors import RigError
from ..engine.maths import quat
from ..engine.motion.clip import Clip
from ..engine.motion.resampling import resample
from ..engine.motion.skeleton import Skeleton
from . import actions, keys
from .armature import CHOOSE, BoneMap, blender_names
from .evaluation import world_matrix
from .fitting import Standing, fit, known_rest, place_of
from .keys import Track
from .root_target import RootTarget, Transform, carriers_of, carry, compose, inverse, rehung
from .rotation_modes import from_mode, property_of, to_mode

STILL = 1e-6  # metres, or components of a rotation: what changes less gets a single key, or none
OBJECT_GROUP = "Object Transforms"  # Blender's name
_OBJECT_SHARE = 0.25  # of the distance that fewer keys may cost, if the object moves too
_DISCONNECTED = 1e-3  # metres


def bake(
    clip: Clip, obj: bpy.types.Object, *, name: str, frame_start: int = 1,
    root: RootTarget | None = None, root_bone: str = "", hips: str | None = None,
    fewer_keys: float = 0.0, track: str | None = None, keep_active: bool = False,
) -> bpy.types.Action:
    """Bake a clip into a new action for an armature object; the clip's first frame falls on `frame_start`.

    The skeleton's bones are those of the armature that have their names, and both must rest alike, wherever the
    object stands. What bones do in the clip they then do in the world, at the scene's frame rate.

    - `root` says what carries the character over the ground: the object, the bone `root_bone`, the hips, or nothing.
      None leaves everything to the clip's own bones where the armature has them all, else to the first bone above
      the hips that it has, else to the object. `hips` names them, where the clip does not tell by itself.
    - Bones rotate in their own rotation modes. Locked channels and bones the clip lacks get no keys; one that stays
      gets a single key, or none where it would make no difference.
    - `fewer_keys` is how far, in metres, any bone's head or tail may be from its place, in exchange for fewer keys.
    - The action is assigned to the object, or put onto a new NLA track of the name `track`. In the second case the
      active action is no longer played unless it is to `keep_active`.

    Other actions, frame, mode and selection are left alone; on an error nothing is left behind. RigError where the
    armature does not fit.
    """
    clip = resample(clip, scene_fps(bpy.context.scene))
    standing = Standing.of(obj)
    skeleton = clip.skeleton.renamed(blender_names(clip.skeleton.names))
    clip = replace(clip, skeleton=known_rest(obj, standing, skeleton))
    plan = _planned(clip, standing, root, root_bone, hips)
    _check_bones(obj, plan.clip.skeleton.names)
    fitted = fit(standing, plan.clip.skeleton, plan.place, plan.resting)
    always = bool(obj.animation_data and obj.animation_data.nla_tracks)  # tracks below would shine through
    channels = _bone_channels(obj, fitted, plan.clip, always)
    channels += [c for bone in plan.resting for c in _rest_channels(obj, bone)]
    moving = [] if plan.object_motion is None else _object_channels(obj, plan.object_motion)
    origin = compose(inverse(plan.place), standing.place)[1]
    masks = _masks(obj, plan.clip, fitted, channels, moving, fewer_keys, origin)
    frames = frame_start + np.arange(clip.frame_count, dtype=np.float32)
    with actions.new_action(name, obj, track=track, frame_start=frame_start, keep_active=keep_active) as action:
        for channel in (*moving, *channels):
            values, count = channel.values, channel.values.shape[1]
            mask = masks.get(id(channel))
            at = frames[:count] if mask is None else frames[mask]
            values = values if mask is None else values[:, mask]
            actions.write_channel(action, channel.path, at, values, channel.group, channel.free)
    return action


def scene_fps(scene: bpy.types.Scene) -> float:
    """Frames per second of a scene."""
    return scene.render.fps / scene.render.fps_base


# ---------------------------------------------------------------- what goes where


@dataclass(frozen=True)
class _Plan:
    """The clip as the armature's bones hang, bones that stay at rest, and the object's motion in the world."""

    clip: Clip
    place: Transform
    resting: list[str]
    object_motion: Transform | None


def _planned(clip: Clip, standing: Standing, root: RootTarget | None, root_bone: str, hips: str | None) -> _Plan:
    carriers = carriers_of(clip, hips)
    names = clip.skeleton.names
    missing = [n for b, n in enumerate(names) if n not in standing.rests and b not in carriers]
    if missing:
        raise RigError(f"armature '{standing.name}' has no bone '{missing[0]}'; {CHOOSE}")
    place = place_of(standing, clip.skeleton)
    present = [names[b] for b in carriers if names[b] in standing.rests]
    if root is None:
        if len(present) == len(carriers):
            carriers, present, root = [], [], RootTarget.HIPS  # the clip's own roots keep what is theirs
        else:
            root = RootTarget.BONE if present else RootTarget.OBJECT
    bone = None
    if root is RootTarget.BONE:
        bone = _root_bone(standing, clip.skeleton, carriers, root_bone or next(iter(present), ""))
    below = frozenset(n for n in names if bone and n in standing.rests and bone in standing.above(n))
    at_rest = compose(inverse(place), standing.rests[bone]) if bone else None
    carried = carry(clip, carriers, root, place, (bone, at_rest) if bone and at_rest else None, below)
    moved = carried.clip.skeleton.names
    order = [name for name in standing.rests if name in moved]  # Blender lists parents before children
    parents = [next((order.index(n) for n in standing.above(name) if n in moved), -1) for name in order]
    motion = carried.object_motion
    if motion is not None:
        motion = compose(motion, compose(inverse(place), standing.place))
    return _Plan(rehung(carried.clip, order, parents), place, [n for n in present if n != bone], motion)


def _root_bone(standing: Standing, skeleton: Skeleton, carriers: list[int], bone: str) -> str:
    """The root bone, checked: it must be there, carry the body, and not be a part of it."""
    what = f"root bone '{bone}' of armature '{standing.name}'"
    if not bone:
        raise RigError(f"armature '{standing.name}' has no bone of the motion above the hips; name the root bone.")
    if bone not in standing.rests:
        raise RigError(f"{what} does not exist; name one of its bones.")
    body = [name for b, name in enumerate(skeleton.names) if b not in carriers]
    if bone in body:
        raise RigError(f"{what} is a part of the body; name a bone above it, or leave the motion in the hips.")
    if not any(bone in standing.above(name) for name in body):
        raise RigError(f"{what} has no bone of the motion below it; name one that carries the hips.")
    return bone


def _check_bones(obj: bpy.types.Object, names: tuple[str, ...]) -> None:
    """RigError for bones that would not follow their keys."""
    for name in names:
        bone, pose = obj.data.bones[name], obj.pose.bones[name]
        what = f"bone '{name}' of armature '{obj.name}'"
        if not bone.use_inherit_rotation or not bone.use_local_location:
            raise RigError(f"{what} does not inherit rotation, or has no local location, and cannot be keyed as the motion "
                           "wants it; switch both on in the bone's Relations.")
        follows = next((c for c in pose.constraints if not c.mute and c.influence > 0), None)
        if follows is not None:
            raise RigError(f"{what} follows its constraint '{follows.name}' rather than keys; mute it, or bake onto an "
                           "armature without constraints.")


# ---------------------------------------------------------------- curves


@dataclass(frozen=True, eq=False)
class _Channel:
    """Curves of a property: `values` (C, F), or (C, 1) for a single key; `free` are the components to be keyed.

    `bone` is its place among the fitted bones, -1 for the object; `mode` is that of a `keys.Track`.
    """

    path: str
    group: str
    values: np.ndarray
    free: tuple[int, ...]
    bone: int = -1
    mode: str = ""


def _bone_channels(obj: bpy.types.Object, fitted: BoneMap, clip: Clip, always: bool) -> list[_Channel]:
    """Rotations, locations where a bone moves or is not where it rests, and a scale of 1 for a bone that is scaled."""
    turns, shifts = _basis_matrices(fitted)
    rotations = np.ascontiguousarray(clip.rotations.transpose(1, 2, 0), dtype=np.float32)  # (B, 4, F)
    result = []
    for i, name in enumerate(fitted.bones):
        pose = obj.pose.bones[name]
        count = clip.frame_count if _changes(rotations[i]) else 1
        values = to_mode(turns[i] @ rotations[i, :, :count], pose.rotation_mode)
        if free := _free(pose, "rotation"):
            path = f"{_path(name)}.{property_of(pose.rotation_mode)}"
            result.append(_Channel(path, name, values, free, i, pose.rotation_mode))
        count = clip.frame_count if _changes(clip.positions[:, i].T) else 1
        values = shifts[i] @ (clip.positions[:count, i] - fitted.rest_positions[i].astype(np.float32)).T
        away = np.abs(values).max() > STILL
        if obj.data.bones[name].use_connect:
            _check_connected(obj, name, fitted.scale * values)
        elif (free := _free(pose, "location")) and (away or always or pose.location.length > STILL):
            result.append(_Channel(f"{_path(name)}.location", name, values, free, i))
        if always or not np.allclose(np.array(pose.scale), 1.0, atol=1e-6):
            result.append(_Channel(f"{_path(name)}.scale", name, np.ones((3, 1)), (0, 1, 2)))
    return result


def _rest_channels(obj: bpy.types.Object, name: str) -> list[_Channel]:
    """Single keys that put a bone at rest."""
    pose = obj.pose.bones[name]
    rest = to_mode(quat.IDENTITY[:, None], pose.rotation_mode)
    parts = (("rotation", property_of(pose.rotation_mode), rest), ("location", "location", np.zeros((3, 1))))
    channels = [_Channel(f"{_path(name)}.{prop}", name, values, _free(pose, kind)) for kind, prop, values in parts]
    return [*channels, _Channel(f"{_path(name)}.scale", name, np.ones((3, 1)), (0, 1, 2))]


def _object_channels(obj: bpy.types.Object, motion: Transform) -> list[_Channel]:
    """Location and rotation that put the object there in the world, as its parent and deltas are now."""
    basis = np.array(obj.matrix_basis, dtype=np.float64)
    above, scale = _parent_of(obj)
    turn = quat.from_matrix(above[:3, :3] / scale)
    rotations = quat.inv_mul(turn, motion[0])
    locations = quat.inv_mul_vec(turn, motion[1] - above[:3, 3]) / scale
    mode = obj.rotation_mode
    own: Any = getattr(obj, property_of(mode))
    own = from_mode(np.array(own, dtype=np.float64)[:, None], mode)[0]
    scaled = basis[:3, :3] / np.cbrt(np.linalg.det(basis[:3, :3]))
    delta = quat.mul_inv(quat.from_matrix(scaled), own)
    values = to_mode(quat.inv_mul(delta, rotations).T, mode).astype(np.float32)
    shift = (locations - (basis[:3, 3] - np.array(obj.location))).T.astype(np.float32)
    return [
        _Channel("location", OBJECT_GROUP, _short(shift), (0, 1, 2)),
        _Channel(property_of(mode), OBJECT_GROUP, _short(values), tuple(range(len(values))), mode=mode),
    ]


def _parent_of(obj: bpy.types.Object) -> tuple[np.ndarray, float]:
    """The matrix (4, 4) of all that moves an object but its own channels, as it is now, and its scale."""
    above = world_matrix(obj) @ np.linalg.inv(np.array(obj.matrix_basis, dtype=np.float64))
    return above, float(np.cbrt(np.linalg.det(above[:3, :3])))


def _basis_matrices(fitted: BoneMap) -> tuple[np.ndarray, np.ndarray]:
    """What makes basis quaternions (B, 4, 4) of local ones, and basis locations (B, 3, 3) of shifts from rest."""
    units = np.eye(4)[:, None]
    turns = np.moveaxis(quat.mul(quat.mul(fitted.before, units), fitted.after), 0, -1)
    shifts = quat.to_matrix(fitted.before) / fitted.scale
    return turns.astype(np.float32), shifts.astype(np.float32)


def _changes(values: np.ndarray) -> bool:
    """Whether any of the curves (C, F) is more than still."""
    middle = values[:, len(values[0]) // 2]
    return bool(np.abs(middle - values[:, 0]).max() > STILL or np.ptp(values, axis=-1).max() > STILL)


def _short(values: np.ndarray) -> np.ndarray:
    """The curves (C, F), or one key of them where they are still."""
    return values if _changes(values) else values[:, :1]


def _check_connected(obj: bpy.types.Object, name: str, away: np.ndarray) -> None:
    if np.max(np.linalg.norm(away, axis=0)) > _DISCONNECTED:
        raise RigError(f"bone '{name}' of armature '{obj.name}' is connected to its parent, but the motion moves it away; "
                       "switch Connected off in the bone's Relations.")


def _free(pose: bpy.types.PoseBone, kind: str) -> tuple[int, ...]:
    """Components of a location or rotation that are not locked; a rotation by quaternions or axis is one thing."""
    if kind == "location":
        return tuple(i for i in range(3) if not pose.lock_location[i])
    free = tuple(i for i in range(3) if not pose.lock_rotation[i])
    return tuple(range(4)) if free and pose.rotation_mode in ("QUATERNION", "AXIS_ANGLE") else free


def _path(bone: str) -> str:
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"]'


def _masks(
    obj: bpy.types.Object, clip: Clip, fitted: BoneMap, channels: list[_Channel], moving: list[_Channel], distance: float,
    origin: np.ndarray,
) -> dict[int, np.ndarray]:
    """Which frames keep their keys, by the id of the channel; of the others all do. The object rests at `origin` (3,)."""
    if not distance or clip.frame_count < 3:
        return {}
    skeleton = clip.skeleton
    lengths = np.array([fitted.scale * obj.data.bones[name].length for name in fitted.bones])
    tails = quat.mul_vec(fitted.after, lengths[:, None] * np.array([0.0, 1.0, 0.0]))
    points = keys.points_of(skeleton, fitted, tails, clip.frame_count)
    posed = [c for c in channels if c.bone >= 0]
    singles = [Track(c.bone, c.mode, np.repeat(c.values, clip.frame_count, axis=1)) for c in posed if c.values.shape[1] == 1]
    full = points([*singles, *(Track(c.bone, c.mode, c.values) for c in posed if c.values.shape[1] > 1)])
    thin = [c for c in posed if c.values.shape[1] > 1]
    tracks = [Track(c.bone, c.mode, c.values) for c in thin]
    result = {}
    moving = [c for c in moving if c.values.shape[1] > 1]
    if moving:
        # a turn of the object swings every point about its origin
        reach = float(np.linalg.norm(full - origin, axis=-1).max())
        limits = [0.5 * _OBJECT_SHARE * distance / (reach if c.mode else _parent_of(obj)[1]) for c in moving]
        masks = keys.thinned([Track(-1, c.mode, c.values) for c in moving], limits)
        result = {id(c): mask for c, mask in zip(moving, masks, strict=True)}
        distance *= 1.0 - _OBJECT_SHARE
    if tracks:
        shares = keys.shares_of(skeleton, tracks, full, fitted.scale)
        masks = keys.fewer_keys(tracks, points, shares, skeleton, distance)
        result |= {id(c): mask for c, mask in zip(thin, masks, strict=True)}
    return result
