"""A simulation bone's path as the keys of an empty, for an animator to edit, and back.

The empty lies where the clip lies in the world. If the clip moves bones alone, it hangs on the
armature, so that both go along with an object that is moved, turned or scaled. Its -Y axis is where
the character faces.
"""

from __future__ import annotations

import hashlib

import bpy
import numpy as np
from mathutils import Matrix

from ...engine.errors import SettingsError
from ...engine.motion.simulation_bone import GroundTrack
from ..blender import actions, curve_poses
from ..blender.channels import OBJECT_GROUP
from ..blender.keys import KeyTrack, thin_tracks

_SIZE = 0.4  # metres: of the drawn axes


def create_path(
    obj: bpy.types.Object,
    name: str,
    track: GroundTrack,
    first: int,
    *,
    rides: bool,
    fewer_keys: float = 0.0,
) -> bpy.types.Object:
    """Create an empty with keys from frame `first` on, beside an armature object.

    If it `rides`, it hangs on the armature and stays where it is. With `fewer_keys`, keys are left
    out as long as straight lines between the others stay within that distance in metres, or half a
    degree for each centimetre of it. If this fails, nothing is left behind.
    """
    path = bpy.data.objects.new(name, None)
    try:
        path.empty_display_type, path.empty_display_size = "ARROWS", _SIZE
        # linked or overridden collections take no new objects
        own = [
            other for other in obj.users_collection if not (other.library or other.override_library)
        ]
        (*own, bpy.context.scene.collection)[0].objects.link(path)
        if rides:
            path.parent = obj
            path.matrix_parent_inverse = Matrix(
                np.linalg.inv(curve_poses.compute_static_matrix(obj)).tolist()
            )
            path.location.z = curve_poses.compute_static_matrix(obj)[2, 3]
        frames = first + np.arange(track.frame_count, dtype=np.float32)
        positions, heading = track.positions.T, track.yaw[None]
        masks = [np.ones(len(frames), dtype=bool)] * 2
        if fewer_keys > 0 and len(frames) > 2:
            turn = np.radians(0.5) * fewer_keys / 0.01
            masks = thin_tracks(
                [KeyTrack(0, "", positions), KeyTrack(0, "", heading)], [fewer_keys, turn]
            )
        with actions.create_action(name, path) as action:
            actions.write_channel(
                action, "location", frames[masks[0]], positions[:, masks[0]], OBJECT_GROUP
            )
            turned = np.concatenate([np.zeros((2, masks[1].sum())), heading[:, masks[1]]])
            actions.write_channel(
                action, "rotation_euler", frames[masks[1]], turned, OBJECT_GROUP, components=(2,)
            )
    except BaseException:
        bpy.data.objects.remove(path)
        raise
    return path


def remove_path(path: bpy.types.Object) -> None:
    """Remove an empty from the file, with its action if nothing else uses that."""
    action = path.animation_data.action if path.animation_data else None
    bpy.data.objects.remove(path)
    if action and action.users == action.use_fake_user:
        bpy.data.actions.remove(action)


def read_path(path: bpy.types.Object, obj: bpy.types.Object, first: int, count: int) -> GroundTrack:
    """Read the path that an empty's keys give the simulation bone of a source, from a frame on.

    Raises SettingsError if the empty has no keys for these frames, or is moved by more than its
    keys.
    """
    low, high = _find_keyed_range(path)
    if low > first or high < first + count - 1:
        raise SettingsError(
            f"The path '{path.name}' has keys from frame {low} to {high}, and its source is taken "
            "from "
            f"{first} to {first + count - 1}; key it at both ends, or go back to the computed path."
        )
    channels = curve_poses.Channels(actions.get_assigned_curves(path), range(first, first + count))
    matrices = _compute_carrier_matrix(path, obj) @ curve_poses.compute_object_matrices(
        path, channels
    )
    matrices = np.broadcast_to(matrices, (count, 4, 4))
    yaw = np.unwrap(np.arctan2(-matrices[:, 0, 1], matrices[:, 1, 1]))
    return GroundTrack(matrices[:, :2, 3].astype(np.float64), yaw)


def compute_fingerprint(path: bpy.types.Object, obj: bpy.types.Object) -> str:
    """Return a digest of what makes a difference to the path that is read from an empty.

    Raises SettingsError as `read_path` does.
    """
    low, high = _find_keyed_range(path)
    channels = curve_poses.Channels(actions.get_assigned_curves(path), range(low, high + 1))
    matrices = curve_poses.compute_object_matrices(path, channels).astype(np.float32)
    digest = hashlib.blake2b(matrices.tobytes(), digest_size=16)
    carrier = (
        np.array(path.matrix_parent_inverse)
        if _is_on_armature(path)
        else _compute_carrier_matrix(path, obj)
    )
    digest.update(np.round(carrier, 5).tobytes() + np.array([low, high]).tobytes())
    return digest.hexdigest()


def _find_keyed_range(path: bpy.types.Object) -> tuple[int, int]:
    """Return the first and last whole frame of an empty's keys.

    Raises SettingsError if keys alone do not say where it is.
    """
    where = f"The path '{path.name}'"
    curves = [
        curve
        for curve in actions.get_assigned_curves(path)
        if curve.data_path.startswith(("location", "rotation"))
    ]
    if not curves:
        raise SettingsError(
            f"{where} has no keys; assign its action to it again, or go back to the computed path."
        )
    constrained = any(not constraint.mute for constraint in path.constraints)
    animated_parent = path.parent and not _is_on_armature(path) and path.parent.animation_data
    if (
        constrained
        or path.animation_data.drivers
        or path.animation_data.nla_tracks
        or animated_parent
    ):
        raise SettingsError(
            f"{where} is moved by more than its keys; bake that into them (Object > Animation > "
            "Bake Action), and take it off."
        )
    return actions.compute_frame_range(path.animation_data.action, curves)


def _is_on_armature(path: bpy.types.Object) -> bool:
    return (
        path.parent is not None and path.parent.type == "ARMATURE" and path.parent_type == "OBJECT"
    )


def _compute_carrier_matrix(path: bpy.types.Object, obj: bpy.types.Object) -> np.ndarray:
    """Return what an empty's own channels are relative to (4, 4).

    One that rides does so on the armature of its source.
    """
    if not _is_on_armature(path):
        return curve_poses.compute_parent_matrix(path)
    return curve_poses.compute_static_matrix(obj) @ np.array(path.matrix_parent_inverse)
