"""IK chains that may stretch: Blender's solver then shortens limbs, and knees miss their place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy

from ....engine.skeleton.bone_names import join_quoted
from ..check_baked import Deviation


def find_stretching_bones(obj: bpy.types.Object) -> list[str]:
    """Return the bones with an IK Stretch in the chains of an armature's IK constraints."""
    found: dict[str, None] = {}
    for bone in obj.pose.bones:
        constraints: list[Any] = list(bone.constraints)
        for constraint in constraints:
            if constraint.type == "IK":
                count = constraint.chain_count or len(bone.parent_recursive) + 1
                found |= dict.fromkeys(b.name for b in [bone, *bone.parent_recursive][:count])
    return [name for name in found if obj.pose.bones[name].ik_stretch > 0.0]


def set_ik_stretch_off(obj: bpy.types.Object) -> list[str]:
    """Set IK Stretch to zero in all chains, and return the bones that had some."""
    names = find_stretching_bones(obj)
    for name in names:
        obj.pose.bones[name].ik_stretch = 0.0
    return names


def explain_deviations(
    obj: bpy.types.Object,
    deviations: Mapping[str, Deviation],
    distance: float = 0.01,
    degrees: float = 2.0,
) -> str:
    """Return a sentence if deform bones are off by more than a distance or an angle, else "".

    It names the worst bone and what is likely to move it.
    """
    off = {
        name: max(deviation.cm / (100.0 * distance), deviation.degrees / degrees)
        for name, deviation in deviations.items()
    }
    worst = max(off, key=off.__getitem__, default="")
    if not worst or off[worst] <= 1.0:
        return ""
    start = (
        f"Bone '{worst}' of '{obj.name}' is off by {deviations[worst].cm:.1f} cm and "
        f"{deviations[worst].degrees:.1f} degrees"
    )
    if stretching := find_stretching_bones(obj):
        return (
            f"{start}: the IK of this rig may shorten limbs, by the IK Stretch of "
            f"{join_quoted(stretching[:2])}; switch IK Stretch off for exact knees."
        )
    return f"{start}; mute the constraint, driver or dependency cycle that moves it."
