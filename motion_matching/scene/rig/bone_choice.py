"""Choose the bones of an armature that form a character's skeleton: all, or deform bones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

import bpy
import numpy as np

from ...engine.errors import RigError

_DEFORM = "DEF-"  # Rigify's prefixes: DEF-thigh.L follows ORG-thigh.L
_FOLLOWED = "ORG-"


def choose_bones(
    obj: bpy.types.Object, choice: str | None = None
) -> tuple[tuple[str, ...], np.ndarray]:
    """Return names and parents (B,) of the skeleton's bones, parents before their children.

    "all" takes every bone. "deform" takes deform bones, each below its nearest chosen ancestor, and
    bones that join them if they would fall apart; the DEF- bone that follows one of Rigify's ORG-
    bones stands for it. None means "deform" for a control rig, which has constraints and bones that
    deform nothing, else "all". Raises RigError if nothing is left.
    """
    bones = obj.data.bones
    if choice is None:
        has_both = len({bone.use_deform for bone in bones}) == 2
        is_control_rig = has_both and any(bone.constraints for bone in obj.pose.bones)
        choice = "deform" if is_control_rig else "all"
    chosen = {bone.name for bone in bones if choice == "all" or bone.use_deform}
    if not chosen:
        raise RigError(
            f"armature '{obj.name}' has no {'deform bones' if len(bones) else 'bones'}; "
            f"{'take all its bones' if len(bones) else 'choose another'}."
        )
    parents = _find_parents(bones, chosen)
    while (joint := _find_joining_bone(bones, parents)) is not None:
        chosen.add(joint)
        parents = _find_parents(bones, chosen)
    order = _sort_depth_first(parents)
    indices = {name: index for index, name in enumerate(order)}
    return tuple(order), np.array([indices.get(parents[name] or "", -1) for name in order])


def get_collection_bones(obj: bpy.types.Object, collection: str) -> frozenset[str]:
    """Return the bones in a bone collection and those below it; raise RigError without it."""
    match = obj.data.collections_all.get(collection)
    if match is None:
        raise RigError(
            f"armature '{obj.name}' has no bone collection '{collection}'; choose another, or all "
            "bones."
        )
    return frozenset(bone.name for bone in match.bones_recursive)


def select_bones(obj: bpy.types.Object, names: Collection[str]) -> None:
    """Select these bones of an armature object alone; the first of them becomes active."""
    for bone in obj.pose.bones:
        holder: Any = bone if hasattr(bone, "select") else bone.bone  # before Blender 5.0
        holder.select = bone.name in names
    chosen = next((bone for bone in obj.data.bones if bone.name in names), None)
    if chosen is not None:
        obj.data.bones.active = chosen


def _find_parents(bones: bpy.types.ArmatureBones, chosen: set[str]) -> dict[str, str | None]:
    """Return, in Blender's order, the parent of each chosen bone among the chosen ones."""
    result: dict[str, str | None] = {}
    for bone in bones:
        if bone.name not in chosen:
            continue
        result[bone.name] = None
        for above in (bone.name for bone in bone.parent_recursive):
            stand_in = above if above in chosen else _DEFORM + above.removeprefix(_FOLLOWED)
            # a bone may not end up below itself
            chain = (stand_in, *find_ancestors(result, stand_in))
            if stand_in in chosen and bone.name not in chain:
                result[bone.name] = stand_in
                break
    return result


def find_ancestors(parents: dict[str, str | None], name: str) -> list[str]:
    """Return the bones above one, from its parent up, as far as they are known."""
    chain = []
    while (above := parents.get(name)) is not None:
        chain.append(above)
        name = above
    return chain


def _find_joining_bone(
    bones: bpy.types.ArmatureBones, parents: dict[str, str | None]
) -> str | None:
    """Return the lowest bone, not chosen so far, that would join two or more roots."""
    roots = [name for name, parent in parents.items() if parent is None]
    counts = Counter(bone.name for name in roots for bone in bones[name].parent_recursive)
    shared = sorted(name for name, count in counts.items() if count > 1 and name not in parents)
    return max(shared, key=lambda name: len(bones[name].parent_recursive), default=None)


def _sort_depth_first(parents: dict[str, str | None]) -> list[str]:
    """Return bones, each followed by all that hang on it, siblings in Blender's order."""
    below: dict[str | None, list[str]] = {}
    for name, parent in parents.items():
        below.setdefault(parent, []).append(name)
    order = []
    waiting = below.get(None, [])[::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += below.get(order[-1], [])[::-1]
    return order
