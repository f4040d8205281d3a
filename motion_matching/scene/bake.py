"""A clip or take into a new action on an armature object."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ..engine.maths import quat
from ..engine.motion.clip import Clip
from ..engine.motion.resampling import resample
from . import actions, keys, splicing
from .armature import BoneMap, blender_names
from .channels import (
    OBJECT_GROUP,
    STILL,
    ObjectFrame,
    basis_matrices,
    bone_path,
    changes,
    check_connected,
    free_components,
)
from .fitting import Standing, fit, known_rest
from .keys import Track
from .plan import check_follows_keys, planned
from .root_target import RootTarget, Transform, compose, inverse
from .rotation_modes import property_of, to_mode

_PLACED = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle")
_OBJECT_SHARE = 0.25  # of the distance that fewer keys may cost, if the object moves too


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
    - With `bones`, only these are keyed, and the object with those that carry the body. What an action has `beside`
      them goes into the new one.

    Other actions, frame, mode and selection are left alone; on an error nothing is left behind. RigError where the
    armature does not fit.
    """
    clip = resample(clip, scene_fps(bpy.context.scene))
    standing = Standing.of(obj)
    skeleton = clip.skeleton.renamed(blender_names(clip.skeleton.names))
    clip = replace(clip, skeleton=known_rest(obj, standing, skeleton))
    plan = planned(clip, standing, root, root_bone, hips)
    hung = plan.clip.skeleton
    bones = set(standing.rests) if bones is None else bones
    check_follows_keys(obj, tuple(name for name in hung.names if name in bones))
    fitted = fit(standing, plan.clip.skeleton, plan.place, plan.resting)
    always = bool(
        obj.animation_data and obj.animation_data.nla_tracks
    )  # tracks below would shine through
    channels = _bone_channels(obj, fitted, plan.clip, always)
    channels += [c for bone in plan.resting for c in _rest_channels(obj, bone)]
    channels = [c for c in channels if c.group in bones]
    carries = any(
        parent < 0 and name in bones for name, parent in zip(hung.names, hung.parents, strict=True)
    )
    moving = (
        _object_channels(obj, plan.object_motion)
        if carries and plan.object_motion is not None
        else []
    )
    origin = compose(inverse(plan.place), standing.place)[1]
    masks = _masks(obj, plan.clip, fitted, channels, moving, fewer_keys, origin)
    frames = frame_start + np.arange(clip.frame_count, dtype=np.float32)
    with actions.new_action(
        name, obj, track=track, frame_start=frame_start, keep_active=keep_active
    ) as action:
        for channel in (*moving, *channels):
            values, count = channel.values, channel.values.shape[1]
            mask = masks.get(id(channel))
            at = frames[:count] if mask is None else frames[mask]
            values = values if mask is None else values[:, mask]
            actions.write_channel(action, channel.path, at, values, channel.group, channel.free)
        if beside:
            posing = {*hung.names, *plan.resting}.intersection(bones)
            posed = {f"{bone_path(bone)}.{name}" for bone in posing for name in (*_PLACED, "scale")}
            splicing.carry_over(
                beside, actions.channelbag(action), {*posed, *(_PLACED if moving else ())}
            )
    return action


def scene_fps(scene: bpy.types.Scene) -> float:
    """Frames per second of a scene."""
    return scene.render.fps / scene.render.fps_base


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


def _bone_channels(
    obj: bpy.types.Object, fitted: BoneMap, clip: Clip, always: bool
) -> list[_Channel]:
    """Rotations, locations where a bone moves or is not where it rests, and a scale of 1 for a bone that is scaled."""
    turns, shifts = basis_matrices(fitted)
    rotations = np.ascontiguousarray(
        clip.rotations.transpose(1, 2, 0), dtype=np.float32
    )  # (B, 4, F)
    result = []
    for i, name in enumerate(fitted.bones):
        pose = obj.pose.bones[name]
        count = clip.frame_count if changes(rotations[i]) else 1
        values = to_mode(turns[i] @ rotations[i, :, :count], pose.rotation_mode)
        if free := free_components(pose, "rotation"):
            path = f"{bone_path(name)}.{property_of(pose.rotation_mode)}"
            result.append(_Channel(path, name, values, free, i, pose.rotation_mode))
        count = clip.frame_count if changes(clip.positions[:, i].T) else 1
        values = (
            shifts[i] @ (clip.positions[:count, i] - fitted.rest_positions[i].astype(np.float32)).T
        )
        away = np.abs(values).max() > STILL
        if obj.data.bones[name].use_connect:
            check_connected(name, obj.name, fitted.scale * values)
        elif (free := free_components(pose, "location")) and (
            away or always or pose.location.length > STILL
        ):
            result.append(_Channel(f"{bone_path(name)}.location", name, values, free, i))
        if always or not np.allclose(np.array(pose.scale), 1.0, atol=1e-6):
            result.append(_Channel(f"{bone_path(name)}.scale", name, np.ones((3, 1)), (0, 1, 2)))
    return result


def _rest_channels(obj: bpy.types.Object, name: str) -> list[_Channel]:
    """Single keys that put a bone at rest."""
    pose = obj.pose.bones[name]
    rest = to_mode(quat.IDENTITY[:, None], pose.rotation_mode)
    parts = (
        ("rotation", property_of(pose.rotation_mode), rest),
        ("location", "location", np.zeros((3, 1))),
    )
    channels = [
        _Channel(f"{bone_path(name)}.{prop}", name, values, free_components(pose, kind))
        for kind, prop, values in parts
    ]
    return [*channels, _Channel(f"{bone_path(name)}.scale", name, np.ones((3, 1)), (0, 1, 2))]


def _object_channels(obj: bpy.types.Object, motion: Transform) -> list[_Channel]:
    """Location and rotation that put the object there in the world, as its parent and deltas are now."""
    mode = obj.rotation_mode
    rotations, locations = ObjectFrame.of(obj).own(motion)
    values = to_mode(rotations.T, mode).astype(np.float32)
    return [
        _Channel("location", OBJECT_GROUP, _short(locations.T.astype(np.float32)), (0, 1, 2)),
        _Channel(
            property_of(mode), OBJECT_GROUP, _short(values), tuple(range(len(values))), mode=mode
        ),
    ]


def _short(values: np.ndarray) -> np.ndarray:
    """The curves (C, F), or one key of them where they are still."""
    return values if changes(values) else values[:, :1]


def _masks(
    obj: bpy.types.Object,
    clip: Clip,
    fitted: BoneMap,
    channels: list[_Channel],
    moving: list[_Channel],
    distance: float,
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
    singles = [
        Track(c.bone, c.mode, np.repeat(c.values, clip.frame_count, axis=1))
        for c in posed
        if c.values.shape[1] == 1
    ]
    full = points(
        [*singles, *(Track(c.bone, c.mode, c.values) for c in posed if c.values.shape[1] > 1)]
    )
    thin = [c for c in posed if c.values.shape[1] > 1]
    tracks = [Track(c.bone, c.mode, c.values) for c in thin]
    result = {}
    moving = [c for c in moving if c.values.shape[1] > 1]
    if moving:
        # a turn of the object swings every point about its origin
        reach = float(np.linalg.norm(full - origin, axis=-1).max())
        limits = [
            0.5 * _OBJECT_SHARE * distance / (reach if c.mode else ObjectFrame.of(obj).scale)
            for c in moving
        ]
        masks = keys.thinned([Track(-1, c.mode, c.values) for c in moving], limits)
        result = {id(c): mask for c, mask in zip(moving, masks, strict=True)}
        distance *= 1.0 - _OBJECT_SHARE
    if tracks:
        shares = keys.shares_of(skeleton, tracks, full, fitted.scale)
        masks = keys.fewer_keys(tracks, points, shares, skeleton, distance)
        result |= {id(c): mask for c, mask in zip(thin, masks, strict=True)}
    return result
