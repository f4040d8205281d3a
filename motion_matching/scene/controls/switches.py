"""Switches of a control rig: custom properties that choose between FK and IK, and parents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ..blender import id_properties
from ..blender.animation.curves import build_bone_path
from .control_rig import ANY_BONE, ControlLimb, ControlRig, Switch


def list_switches(rig: ControlRig, modes: dict[str, str]) -> list[Switch]:
    """Return the switches for limbs whose `modes`, by name, are 'IK' or 'FK'."""
    chosen = [s for limb in rig.limbs for s in limb.switches.get(modes[limb.name].lower(), ())]
    return [*rig.switches, *chosen]


def choose_modes(rig: ControlRig, legs: str, arms: str) -> dict[str, str]:
    """Return 'IK' or 'FK' by limb; a limb without IK is on FK."""

    def choose(limb: ControlLimb) -> str:
        wanted = legs if limb.kind == "leg" else arms
        return wanted if limb.has_ik else "FK"

    return {limb.name: choose(limb) for limb in rig.limbs}


def find_owner(obj: bpy.types.Object, switch: Switch) -> Any:
    """Return the bone, or the object, that has a switch's property; None if there is none."""
    bones = obj.pose.bones
    owners = (*bones, obj) if switch.bone == ANY_BONE else (bones.get(switch.bone),)
    return next((o for o in owners if o is not None and id_properties.has(o, switch.name)), None)


def set_switches(obj: bpy.types.Object, switches: Sequence[Switch]) -> None:
    """Set the properties that exist, each in its own type."""
    for switch in switches:
        owner = find_owner(obj, switch)
        if owner is not None:
            owner[switch.name] = type(owner[switch.name])(switch.value)
    obj.update_tag()


def build_switch_path(owner: Any, switch: Switch) -> str:
    """Return the data path of a switch's property on its owner."""
    own = f'["{bpy.utils.escape_identifier(switch.name)}"]'
    is_bone = isinstance(owner, bpy.types.PoseBone)
    return f"{build_bone_path(owner.name)}{own}" if is_bone else own
