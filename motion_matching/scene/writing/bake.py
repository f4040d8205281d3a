"""Bake a clip or take into a new action on an armature object."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TypedDict

import bpy
import numpy as np

from ...engine.maths.rotations import quat
from ...engine.motion.clip import Clip, resample
from ...engine.skeleton.skeleton import Skeleton
from ..blender.animation import actions, keys
from ..blender.animation.curves import build_bone_path
from ..blender.animation.keys import KeyTrack
from ..blender.evaluation.channels import (
    OBJECT_GROUP,
    STILL,
    Channel,
    ObjectFrame,
    build_rest_channels,
    build_scale_channel,
    check_connected,
    find_unlocked_components,
    has_motion,
    shorten,
)
from ..blender.transforms.rotation_modes import from_mode, get_rotation_property, to_mode
from ..blender.transforms.transforms import REST, ROTATIONS, Y_AXIS, Transform
from ..rig.armature import BoneMap
from ..rig.fitting import ArmatureState
from ..rig.plan import Plan, build_plan, check_follows_keys
from ..rig.root_target import RootTarget, take_off_carrying
from . import splicing

Mark = Callable[[bpy.types.Action, int], None]  # puts markers onto an action that starts on a frame
_OBJECT_SHARE = 0.25  # the object's part, if it moves, of the distance that fewer keys may cost
_NOISE = 2.0**-30  # of quaternions and lengths: a billionth


class BakeOptions(TypedDict, total=False):
    """Options of `bake` that writing a file hands on."""

    root: RootTarget | None
    root_bone: str
    hips: str | None
    fewer_keys: float
    track: str | None


def bake(
    clip: Clip,
    obj: bpy.types.Object,
    *,
    name: str,
    frame_start: int = 1,
    root: RootTarget | None = None,
    root_bone: str = "",
    hips: str | None = None,
    fewer_keys: float = 0.0,
    track: str | None = None,
    keep_active: bool = False,
    bones: Collection[str] | None = None,
    beside: bpy.types.Action | None = None,
    standing: ArmatureState | None = None,
) -> bpy.types.Action:
    """Bake a clip into a new action for an armature object; it starts at `frame_start`.

    Bones are matched by name, and both must have the same rest pose, wherever the object stands. In
    the world, bones then do what they do in the clip, even while its parent or a constraint moves
    the object.

    - `root` says what carries the character over the ground: the object, the bone `root_bone`,
      the hips, or nothing. None leaves it to the clip's own bones if the armature has them all,
      else to the first bone above the `hips` that it has, else to the object.
    - Bones rotate in their own rotation modes. Locked channels and bones the clip lacks get no
      keys; a channel that stays gets a single key, or none if it would make no difference.
    - `fewer_keys` is how far, in metres, any bone's head or tail may stray, for fewer keys.
    - The action is assigned, or put onto a new NLA track of the name `track`; then the active
      action is no longer played unless `keep_active`.
    - With `bones`, only these are keyed, and the object with those that carry the body. What an
      action has `beside` them goes into the new one.
    - `standing` is how the armature stands, which is read from it if it is not known.

    Other actions, frame, mode and selection stay as they are; on an error nothing is left behind.
    Raises RigError if the armature does not fit.
    """
    clip = resample(clip, actions.get_scene_fps(bpy.context.scene))
    standing = standing or ArmatureState.from_object(obj)
    clip = take_off_carrying(clip, obj, standing.transform, frame_start)
    plan = build_plan(obj, clip, root, root_bone, hips, standing)
    names = plan.clip.skeleton.names
    bones = set(plan.standing.rests) if bones is None else bones
    check_follows_keys(obj, tuple(name for name in names if name in bones))
    fitted = plan.fit()
    channels = _build_bone_channels(obj, fitted, plan.clip)
    for bone in plan.resting:
        channels += [*build_rest_channels(obj.pose.bones[bone]), build_scale_channel(bone)]
    channels = [c for c in channels if c.group in bones]
    moving = []
    if plan.object_motion is not None and plan.is_carried_by(bones):
        moving = _build_object_channels(obj, plan.object_motion, plan.standing.world)
    masks = _compute_key_masks(obj, plan, fitted, channels, moving, fewer_keys)
    frames = frame_start + np.arange(clip.frame_count, dtype=np.float32)
    with actions.create_action(
        name, obj, track=track, frame_start=frame_start, keep_active=keep_active
    ) as action:
        for channel in (*moving, *channels):
            mask = masks.get(id(channel), slice(channel.values.shape[1]))
            at = frames[mask]
            values = clear_noise(channel.values[:, mask])
            actions.write_channel(action, channel.path, at, values, channel.group, channel.free)
        if beside:
            paths = [build_bone_path(b) for b in (*names, *plan.resting) if b in bones]
            replaced = {f"{path}.{name}" for path in paths for name in REST}
            if moving:
                replaced |= {"location", *ROTATIONS}
            splicing.copy_other_keys(beside, actions.get_channelbag(action), replaced)
    return action


def clear_noise(values: np.ndarray) -> np.ndarray:
    """Return values to a billionth: what rounding leaves of smaller ones differs by bake."""
    return np.rint(values / _NOISE) * _NOISE + 0.0  # no zero is negative


def _build_bone_channels(obj: bpy.types.Object, fitted: BoneMap, clip: Clip) -> list[Channel]:
    """Build rotations, locations of bones off their rest, and a scale of 1 of those scaled now.

    Before NLA tracks, which would show through, all bones get all.
    """
    always = actions.has_nla_tracks(obj)
    turns, shifts = fitted.compute_basis_matrices()
    # (B, 4, F)
    rotations = np.ascontiguousarray(clip.rotations.transpose(1, 2, 0), dtype=np.float32)
    result = []
    for i, name in enumerate(fitted.bones):
        pose = obj.pose.bones[name]
        path = build_bone_path(name)
        mode = pose.rotation_mode
        count = clip.frame_count if has_motion(rotations[i]) else 1
        values = to_mode(turns[i] @ rotations[i, :, :count], mode)
        if free := find_unlocked_components(pose, "rotation"):
            prop = get_rotation_property(mode)
            result.append(Channel(i, mode, values, f"{path}.{prop}", name, free))
        count = clip.frame_count if has_motion(clip.positions[:, i].T) else 1
        rest = fitted.rest_positions[i].astype(np.float32)
        values = shifts[i] @ (clip.positions[:count, i] - rest).T
        shifted = np.abs(values).max() > STILL or pose.location.length > STILL
        if obj.data.bones[name].use_connect:
            check_connected(name, obj.name, fitted.scale * values)
        elif (free := find_unlocked_components(pose, "location")) and (shifted or always):
            result.append(Channel(i, "", values, f"{path}.location", name, free))
        if always or not np.allclose(np.array(pose.scale), 1.0, atol=1e-6):
            result.append(build_scale_channel(name))
    return result


def _build_object_channels(
    obj: bpy.types.Object, motion: Transform, world: np.ndarray
) -> list[Channel]:
    """Build location and rotation for the object's world motion, as its parent and deltas are.

    These have it where `world` (4, 4) is.
    """
    mode = obj.rotation_mode
    rotations, locations = ObjectFrame.from_object(obj, world).compute_channels(motion)
    parts = (
        ("", "location", locations.T.astype(np.float32)),
        (mode, get_rotation_property(mode), to_mode(rotations.T, mode).astype(np.float32)),
    )
    return [
        Channel(-1, kind, shorten(values), path, OBJECT_GROUP, tuple(range(len(values))))
        for kind, path, values in parts
    ]


def _compute_key_masks(
    obj: bpy.types.Object,
    plan: Plan,
    fitted: BoneMap,
    channels: list[Channel],
    moving: list[Channel],
    distance: float,
) -> dict[int, np.ndarray]:
    """Choose which frames keep their keys, by the id of the channel; others keep all."""
    count = plan.clip.frame_count
    skeleton = plan.clip.skeleton
    if not distance or count < 3:
        return {}
    lengths = np.array([fitted.scale * obj.data.bones[name].length for name in fitted.bones])
    tails = quat.mul_vec(fitted.after, lengths[:, None] * Y_AXIS)
    compute_points = _make_points_function(skeleton, fitted, tails, count)
    posed = [c for c in channels if c.bone >= 0]
    tracks = [c for c in posed if c.moves]
    singles = [c for c in posed if not c.moves]
    still = [replace(c, values=np.repeat(c.values, count, axis=1)) for c in singles]
    full = compute_points([*still, *tracks])
    result = {}
    moving = [c for c in moving if c.moves]
    if moving:
        # a turn of the object swings every point about its origin
        reach = float(np.linalg.norm(full - plan.object_rest[1], axis=-1).max())
        scale = ObjectFrame.from_object(obj, plan.standing.world).scale
        limits = [0.5 * _OBJECT_SHARE * distance / (reach if c.mode else scale) for c in moving]
        masks = keys.thin_tracks(moving, limits)
        result = {id(c): mask for c, mask in zip(moving, masks, strict=True)}
        distance *= 1.0 - _OBJECT_SHARE
    if tracks:
        shares = keys.compute_error_shares(skeleton, tracks, full, fitted.scale)
        masks = keys.reduce_keys(tracks, compute_points, shares, skeleton, distance)
        result |= {id(c): mask for c, mask in zip(tracks, masks, strict=True)}
    return result


def _make_points_function(
    skeleton: Skeleton, bones: BoneMap, tails: np.ndarray, frames: int
) -> keys.ComputePoints:
    """Return a function that poses a skeleton by tracks, the same each time; other bones rest.

    `tails` (B, 3) are in the bones' own frames, in metres.
    """
    rotations = np.tile(quat.IDENTITY.astype(np.float32), (frames, skeleton.bone_count, 1))
    locations = np.zeros((frames, skeleton.bone_count, 3), np.float32)
    single = replace(
        bones,
        before=bones.before.astype(np.float32),
        after=bones.after.astype(np.float32),
        rest_positions=bones.rest_positions.astype(np.float32),
    )

    def compute_points(tracks: Sequence[KeyTrack]) -> np.ndarray:
        for track in tracks:
            if track.mode:
                rotations[:, track.bone] = from_mode(track.values, track.mode)
            else:
                locations[:, track.bone] = track.values.T
        turned, heads = quat.fk(*single.from_basis(rotations, locations), skeleton.parents)
        return np.stack([heads, heads + quat.mul_vec(turned, tails.astype(np.float32))], axis=1)

    return compute_points
