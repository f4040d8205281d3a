"""Mending an armature object so that all that plays on it stays where it is: its scale applied, its front turned to -Y.

Both hand a part of the object's own matrix down to the bones: what stood there before as M stands there as M A^-1 with
bones moved by A. Keys of bones are measured from their rest, so a turn leaves them as they are and an even scale
multiplies those of locations.
"""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix

from ..engine.errors import RigError
from ..engine.maths import quat
from . import actions
from .armature import rest_frame

# constraints that hold no length, or only ones that Blender measures anew
_WITHOUT_LENGTHS = {
    "COPY_LOCATION",
    "COPY_ROTATION",
    "COPY_SCALE",
    "COPY_TRANSFORMS",
    "IK",
    "DAMPED_TRACK",
    "LOCKED_TRACK",
    "TRACK_TO",
    "LIMIT_ROTATION",
    "LIMIT_SCALE",
    "MAINTAIN_VOLUME",
    "ARMATURE",
    "SPLINE_IK",
}

_TAKING_SCALES = {
    "CHILD_OF",
    "COPY_SCALE",
    "COPY_TRANSFORMS",
    "ARMATURE",
    "TRANSFORM",
}  # of their targets


def unscale_obstacle(obj: bpy.types.Object) -> str:
    """Why an object's scale cannot be applied so that all that plays on it stays, as in "its actions scale the object"."""
    if obstacle := _obstacle(obj, "scale"):
        return obstacle
    scale = np.array(obj.scale)
    if scale.min() <= 0.0:
        return "it is mirrored or flat"
    uneven = np.ptp(scale) > 1e-4 * scale.max()
    playing = actions.actions_of(obj)
    if uneven and playing:
        return f"bones that turn in actions such as '{playing[0].name}' would then be stretched in other directions"
    others = [other for other in bpy.data.objects if other.type == "ARMATURE" and other != obj]
    for action in playing:
        twin = next((other for other in others if action in actions.actions_of(other)), None)
        if twin:
            return f"action '{action.name}' may be one of '{twin.name}', whose bones have the same names"
        if action.library:
            return f"action '{action.name}' is linked from another file"
        if any(curve.modifiers or len(curve.sampled_points) for curve in _locations(action)):
            return f"action '{action.name}' has curves with modifiers or samples"
    for bone in obj.pose.bones:
        for constraint in bone.constraints:
            if constraint.type not in _WITHOUT_LENGTHS:
                return f"the constraint '{constraint.name}' of bone '{bone.name}' holds lengths"
    follower = next(
        (other for other in bpy.data.objects if other != obj and _takes_scale_of(other, obj)), None
    )
    if follower:
        return f"'{follower.name}' takes its scale over by a constraint"
    drivers = obj.animation_data.drivers if obj.animation_data else ()
    if any(".location" in driver.data_path for driver in drivers):
        return "drivers move its bones"
    return ""


def _takes_scale_of(other: bpy.types.Object, obj: bpy.types.Object) -> bool:
    """Whether constraints of an object or of its bones hand the scale of an armature, or of its bones, on to it."""
    owners = (other, *(other.pose.bones if other.pose else ()))
    found = [c for owner in owners for c in owner.constraints if c.type in _TAKING_SCALES]
    return any(
        target == obj
        for c in found
        for target in ([one.target for one in c.targets] if c.type == "ARMATURE" else [c.target])
    )


def turn_obstacle(obj: bpy.types.Object) -> str:
    """Why a rest pose cannot be turned so that all that plays on it stays."""
    return _obstacle(obj, "rotation")


def _obstacle(obj: bpy.types.Object, channel: str) -> str:
    """What stands against handing down a part of the object's matrix that this channel holds."""
    if obj.library or obj.override_library or obj.data.library:
        return "it is linked from another file"
    if obj.data.users > 1:
        return f"{obj.data.users} objects share its bones"
    own = [(action, actions.slot_for(action, obj)) for action in actions.actions_of(obj)]
    for action, slot in (*own, *actions.played_by(obj)):
        if any(curve.data_path.startswith(channel) for curve in actions.curves_of(action, slot)):
            return f"action '{action.name}' keys the object's {channel}"
    owner = obj.animation_data
    if owner and any(driver.data_path.startswith(channel) for driver in owner.drivers):
        return f"a driver sets the object's {channel}"
    constraint = next((constraint for constraint in obj.constraints if not constraint.mute), None)
    if constraint:
        return f"its constraint '{constraint.name}' places it"
    if np.any(np.array(obj.delta_scale) != 1.0):
        return "it has a delta scale"
    return ""


def apply_scale(obj: bpy.types.Object) -> None:
    """Apply an object's scale: bones, their locations, and the keys of these in all its actions take it over.

    RigError where that is not safe.
    """
    if obstacle := unscale_obstacle(obj):
        raise RigError(f"The scale of armature '{obj.name}' cannot be applied, because {obstacle}.")
    scale = np.array(obj.scale)
    _hand_down(obj, Matrix.Diagonal((*scale.tolist(), 1.0)))
    even = float(scale.mean())
    for bone in obj.pose.bones:
        bone.location = even * bone.location
    for action in actions.actions_of(obj):
        for curve in _locations(action):
            _multiply(curve, even)


def turn_front(obj: bpy.types.Object, quarters: int) -> None:
    """Turn the rest pose by quarters of a turn to the right, and the object to the left, about where up is at rest.

    RigError where that is not safe.
    """
    if obstacle := turn_obstacle(obj):
        raise RigError(
            f"The rest pose of armature '{obj.name}' cannot be turned, because {obstacle}."
        )
    tilt = Matrix(quat.to_matrix(rest_frame(obj)[0]).tolist()).to_4x4()
    _hand_down(obj, tilt.inverted() @ Matrix.Rotation(-0.5 * np.pi * quarters, 4, "Z") @ tilt)


def _hand_down(obj: bpy.types.Object, part: Matrix) -> None:
    """Transform the bones by a matrix A and the object by A^-1 before that; its children stay where they are."""
    is_scale = bool(np.abs(np.array(part.to_scale()) - 1.0).max() > 1e-5)
    obj.data.transform(part)
    obj.data.update_tag()  # else Blender goes on posing the bones as they rested before
    obj.matrix_basis = obj.matrix_basis @ part.inverted()
    if is_scale:
        obj.scale = (1.0, 1.0, 1.0)  # without what rounding leaves
    for child in obj.children:
        # a bone hands down a turned rest by itself, and never a scale
        if is_scale or child.parent_type != "BONE":
            child.matrix_parent_inverse = part @ child.matrix_parent_inverse


def _locations(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    """The curves of an action, in all its slots, that move bones from their rest, muted ones as well."""
    return [
        curve
        for bag in actions.channelbags(action)
        for curve in bag.fcurves
        if actions.bone_of(curve.data_path) is not None and curve.data_path.endswith(".location")
    ]


def _multiply(curve: bpy.types.FCurve, factor: float) -> None:
    for part in ("co", "handle_left", "handle_right"):
        numbers = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
        curve.keyframe_points.foreach_get(part, numbers)
        numbers[1::2] *= factor
        curve.keyframe_points.foreach_set(part, numbers)
    curve.update()
