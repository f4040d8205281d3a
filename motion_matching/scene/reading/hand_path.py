"""Write a simulation bone's path as keys of an empty, for an animator to edit, and read it back.

The empty lies where the clip lies in the world, with -Y ahead. If the clip moves bones alone, it
hangs on the armature, so that both go along with an object that is moved, turned or scaled.
"""

from __future__ import annotations

import hashlib
from functools import partial

import bpy
import numpy as np
from mathutils import Matrix

from ...engine.errors import SettingsError
from ...engine.maths.numeric import arctan2
from ...engine.motion.simulation_bone import GroundTrack
from ..blender import id_properties, removal
from ..blender.animation import actions, curve_poses
from ..blender.animation.keys import KeyTrack, thin_tracks
from ..blender.evaluation.channels import OBJECT_GROUP

_SIZE = 0.4  # metres: of the drawn axes
_MADE = "motion_matching_made"  # custom property of an empty made here: the action made with it


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

    If it `rides`, it hangs on the armature. `fewer_keys` is how far straight lines between keys may
    stray in metres, with half a degree for each centimetre of it. If this fails, nothing is left
    behind.
    """
    path = bpy.data.objects.new(name, None)
    try:
        path.empty_display_type = "ARROWS"
        path.empty_display_size = _SIZE
        # linked or overridden collections take no new objects
        own = [one for one in obj.users_collection if not (one.library or one.override_library)]
        (*own, bpy.context.scene.collection)[0].objects.link(path)
        if rides:
            carrier = curve_poses.compute_static_matrix(obj)
            path.parent = obj
            path.matrix_parent_inverse = Matrix(np.linalg.inv(carrier).tolist())
            path.location.z = carrier[2, 3]
        frames = first + np.arange(track.frame_count, dtype=np.float32)
        positions = track.positions.T
        heading = track.yaw[None]
        moves = turns = np.ones(len(frames), dtype=bool)
        if fewer_keys > 0 and len(frames) > 2:
            tracks = [KeyTrack(0, "", positions), KeyTrack(0, "", heading)]
            moves, turns = thin_tracks(tracks, [fewer_keys, np.radians(0.5) * fewer_keys / 0.01])
        euler = np.pad(heading, ((2, 0), (0, 0)))
        with actions.create_action(name, path) as action:
            write = partial(actions.write_channel, action, group=OBJECT_GROUP)
            write("location", frames[moves], positions[:, moves])
            write("rotation_euler", frames[turns], euler[:, turns], components=(2,))
        path[_MADE] = action
    except BaseException:
        bpy.data.objects.remove(path)
        raise
    return path


def remove_path(path: bpy.types.Object, is_own: bool) -> bool:
    """Remove an empty of `create_path` with its action; return whether it is gone.

    Unless it `is_own`, it is one by its mark. An object of the user's stays, and so does an empty
    that something else uses. Its action stays if it is the user's, or is used or kept.
    """
    is_own = is_own or id_properties.has(path, _MADE)
    if path.type != "EMPTY" or not is_own or removal.is_needed(path):
        return False
    made = id_properties.read(path, _MADE)
    played = actions.get_assigned(path)
    bpy.data.objects.remove(path)
    if isinstance(made, bpy.types.Action) and not removal.is_needed(made):
        if played == made:
            played = None
        bpy.data.actions.remove(made)
    actions.keep_in_file(played)
    return True


def read_path(path: bpy.types.Object, obj: bpy.types.Object, first: int, count: int) -> GroundTrack:
    """Read the path that an empty's keys give the simulation bone of a source, from a frame on.

    Raises SettingsError without keys for these frames, or if more than its keys moves the empty.
    """
    low, high = _find_keyed_range(path)
    last = first + count - 1
    if low > first or high < last:
        raise SettingsError(
            f"The path '{path.name}' has keys from frame {low} to {high}, and its source is taken "
            f"from {first} to {last}; key it at both ends, or go back to the computed path."
        )
    own = _compute_own_matrices(path, first, last)
    matrices = np.broadcast_to(_compute_carrier_matrix(path, obj) @ own, (count, 4, 4))
    yaw = np.unwrap(arctan2(-matrices[:, 0, 1], matrices[:, 1, 1]))
    return GroundTrack(matrices[:, :2, 3].astype(np.float64), yaw)


def compute_fingerprint(path: bpy.types.Object, obj: bpy.types.Object) -> str:
    """Digest what `read_path` reads from an empty, and raise SettingsError as that does."""
    low, high = _find_keyed_range(path)
    matrices = _compute_own_matrices(path, low, high).astype(np.float32)
    rides = _is_on_armature(path)
    carrier = path.matrix_parent_inverse if rides else _compute_carrier_matrix(path, obj)
    digest = hashlib.blake2b(matrices.tobytes(), digest_size=16)
    digest.update(np.round(np.array(carrier), 5).tobytes() + np.array([low, high]).tobytes())
    return digest.hexdigest()


def _compute_own_matrices(path: bpy.types.Object, first: int, last: int) -> np.ndarray:
    channels = curve_poses.Channels(actions.get_assigned_curves(path), range(first, last + 1))
    return curve_poses.compute_object_matrices(path, channels)


def _find_keyed_range(path: bpy.types.Object) -> tuple[int, int]:
    """Return the first and last whole frame of keys; raise SettingsError if more moves it."""
    where = f"The path '{path.name}'"
    parts = ("location", "rotation")
    curves = [c for c in actions.get_assigned_curves(path) if c.data_path.startswith(parts)]
    if not curves:
        raise SettingsError(
            f"{where} has no keys; assign its action to it again, or go back to the computed path."
        )
    data = path.animation_data
    parent = None if _is_on_armature(path) else path.parent
    constrained = any(not constraint.mute for constraint in path.constraints)
    if constrained or data.drivers or data.nla_tracks or (parent and parent.animation_data):
        raise SettingsError(
            f"{where} is moved by more than its keys; bake it (Object > Animation > Bake Action), "
            "and remove the rest."
        )
    return actions.compute_frame_range(data.action, curves)


def _is_on_armature(path: bpy.types.Object) -> bool:
    parent = path.parent
    return parent is not None and parent.type == "ARMATURE" and path.parent_type == "OBJECT"


def _compute_carrier_matrix(path: bpy.types.Object, obj: bpy.types.Object) -> np.ndarray:
    """Return the space of an empty's own channels (4, 4): its parent, or the source's."""
    if not _is_on_armature(path):
        return curve_poses.compute_parent_matrix(path)
    return curve_poses.compute_static_matrix(obj) @ np.array(path.matrix_parent_inverse)
