"""Find the preset that describes an armature's controls."""

from __future__ import annotations

import bpy

from ....engine.errors import RigError
from ....engine.files import presets
from ....engine.skeleton.bone_names import join_quoted
from ....engine.skeleton.skeleton import Skeleton
from ...rig.armature import check_armature
from ..control_rig import ControlRig
from ..deform import read_skeleton_of


def match_control_rig(obj: bpy.types.Object) -> ControlRig | None:
    """Return the preset that fits an armature, without what is optional and missing, or None.

    Of several that fit, the one that needs most wins. Raises RigError if the best known rig lacks
    controls that it needs for a character.
    """
    check_armature(obj)
    names = {bone.name for bone in obj.data.bones}
    known = [ControlRig.from_preset(name) for name in presets.list_names("controls")]
    fitting = [rig for rig in known if names.issuperset(rig.needs)]
    if not fitting:
        return None
    best = max(fitting, key=lambda rig: len(rig.needs))
    if missing := best.find_missing(names):
        raise RigError(
            f"armature '{obj.name}' is a rig of the kind {best.label}, but it has no "
            f"{join_quoted(missing[:3])}; generate the rig again, or give a preset of its own."
        )
    return best.keep_existing(names)


def read_deform_skeleton(obj: bpy.types.Object) -> Skeleton:
    """Read the skeleton that takes and retargeted clips are made for: the deform bones.

    It stands upright, in metres. Raises RigError if nothing deforms.
    """
    return read_skeleton_of(obj, match_control_rig(obj) or ControlRig("none"))
