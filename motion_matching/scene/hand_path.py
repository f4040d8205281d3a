"""A simulation bone that an animator edits: its path through a source as the keys of an empty, and back.

The empty lies where the clip lies in the world. Where the clip moves bones alone it hangs on the armature, so that both
go along with an object that is moved, turned or scaled. Its -Y axis is where the character faces.
"""

from __future__ import annotations

import hashlib

import bpy
import numpy as np
from mathutils import Matrix

from ..engine.errors import SettingsError
from ..engine.motion.simulation_bone import GroundTrack
from . import actions, curve_poses
from .channels import OBJECT_GROUP
from .keys import Track, thinned

_SIZE = 0.4  # metres of the axes that are drawn


def create_path(
    obj: bpy.types.Object,
    name: str,
    track: GroundTrack,
    first: int,
    *,
    rides: bool,
    fewer_keys: float = 0.0,
) -> bpy.types.Object:
    """A new empty with keys on the frames from `first` on, beside an armature object; nothing is left where that fails.

    Where it `rides`, it hangs on the armature and stays where it is. With `fewer_keys`, keys are left out as far as
    straight lines between the others stay within that distance in metres, or half a degree for each centimetre of it.
    """
    path = bpy.data.objects.new(name, None)
    try:
        path.empty_display_type, path.empty_display_size = "ARROWS", _SIZE
        # what is linked or overridden takes in no objects
        own = [one for one in obj.users_collection if not (one.library or one.override_library)]
        (*own, bpy.context.scene.collection)[0].objects.link(path)
        if rides:
            path.parent = obj
            path.matrix_parent_inverse = Matrix(np.linalg.inv(standing(obj)).tolist())
            path.location.z = standing(obj)[2, 3]
        frames = first + np.arange(track.frame_count, dtype=np.float32)
        place, heading = track.positions.T, track.yaw[None]
        kept = [np.ones(len(frames), dtype=bool)] * 2
        if fewer_keys > 0 and len(frames) > 2:
            turn = np.radians(0.5) * fewer_keys / 0.01
            kept = thinned([Track(0, "", place), Track(0, "", heading)], [fewer_keys, turn])
        with actions.new_action(name, path) as action:
            actions.write_channel(
                action, "location", frames[kept[0]], place[:, kept[0]], OBJECT_GROUP
            )
            turned = np.concatenate([np.zeros((2, kept[1].sum())), heading[:, kept[1]]])
            actions.write_channel(
                action, "rotation_euler", frames[kept[1]], turned, OBJECT_GROUP, components=(2,)
            )
    except BaseException:
        bpy.data.objects.remove(path)
        raise
    return path


def standing(obj: bpy.types.Object) -> np.ndarray:
    """Where an object is in the world (4, 4) while no action moves it."""
    return curve_poses.above(obj) @ np.array(obj.matrix_basis)


def remove_path(path: bpy.types.Object) -> None:
    """Take an empty out of the file, with its action where nothing else uses that."""
    action = path.animation_data.action if path.animation_data else None
    bpy.data.objects.remove(path)
    if action and action.users == action.use_fake_user:
        bpy.data.actions.remove(action)


def read_path(path: bpy.types.Object, obj: bpy.types.Object, first: int, count: int) -> GroundTrack:
    """The path that an empty's keys have the simulation bone of an armature's source take, from a frame on.

    SettingsError where the empty has no keys for these frames, or is moved by more than its keys.
    """
    low, high = _keyed(path)
    if low > first or high < first + count - 1:
        raise SettingsError(
            f"The path '{path.name}' has keys from frame {low} to {high}, and its source is taken from "
            f"{first} to {first + count - 1}; key it at both ends, or go back to the computed path."
        )
    channels = curve_poses.Channels(actions.assigned_curves(path), range(first, first + count))
    matrices = _carrier(path, obj) @ curve_poses.own_matrices(path, channels)
    matrices = np.broadcast_to(matrices, (count, 4, 4))
    yaw = np.unwrap(np.arctan2(-matrices[:, 0, 1], matrices[:, 1, 1]))
    return GroundTrack(matrices[:, :2, 3].astype(np.float64), yaw)


def fingerprint(path: bpy.types.Object, obj: bpy.types.Object) -> str:
    """What of an empty makes a difference to the path that is read. SettingsError as for `read_path`."""
    low, high = _keyed(path)
    channels = curve_poses.Channels(actions.assigned_curves(path), range(low, high + 1))
    told = hashlib.blake2b(
        curve_poses.own_matrices(path, channels).astype(np.float32).tobytes(), digest_size=16
    )
    carried = np.array(path.matrix_parent_inverse) if _rides(path) else _carrier(path, obj)
    told.update(np.round(carried, 5).tobytes() + np.array([low, high]).tobytes())
    return told.hexdigest()


def _keyed(path: bpy.types.Object) -> tuple[int, int]:
    """First and last whole frame of an empty's keys. SettingsError where keys alone do not say where it is."""
    where = f"The path '{path.name}'"
    curves = [
        curve
        for curve in actions.assigned_curves(path)
        if curve.data_path.startswith(("location", "rotation"))
    ]
    if not curves:
        raise SettingsError(
            f"{where} has no keys; assign its action to it again, or go back to the computed path."
        )
    constrained = any(not constraint.mute for constraint in path.constraints)
    animated_parent = path.parent and not _rides(path) and path.parent.animation_data
    if (
        constrained
        or path.animation_data.drivers
        or path.animation_data.nla_tracks
        or animated_parent
    ):
        raise SettingsError(
            f"{where} is moved by more than its keys; bake that into them (Object > Animation > Bake "
            "Action), and take it off."
        )
    return actions.frame_range(path.animation_data.action, curves)


def _rides(path: bpy.types.Object) -> bool:
    return (
        path.parent is not None and path.parent.type == "ARMATURE" and path.parent_type == "OBJECT"
    )


def _carrier(path: bpy.types.Object, obj: bpy.types.Object) -> np.ndarray:
    """What an empty's own channels are relative to (4, 4); one that rides does so on the armature whose source it is for."""
    return (
        standing(obj) @ np.array(path.matrix_parent_inverse)
        if _rides(path)
        else curve_poses.above(path)
    )
