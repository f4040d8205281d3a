"""What is wrong with an armature object as a character: its scale, its front, its roots, and the roles of its bones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import bpy
import numpy as np

from ..engine.errors import RigError
from ..engine.maths import quat
from ..engine.motion import rig
from ..engine.motion.clip import Clip
from ..engine.motion.skeleton import Skeleton
from .armature import skeleton_of
from .bone_choice import chosen_bones
from .hand_path import standing
from .matrices import similarity
from .rig_fix import turn_obstacle, unscale_obstacle

_APPLIED = 1e-4  # part by which a scale may differ from one and still be none
_ASIDE = np.radians(45.0)  # a rest pose that faces further from the front than this faces elsewhere
_UPRIGHT = (
    0.5  # of the way from hips to head: how much of it goes up where a character stands at rest
)


@dataclass(frozen=True)
class Problem:
    """Two words for it, a sentence that says what is wrong and what to do, and the fix that does it, if there is a safe one.

    `fix` is "scale", "front" (by `quarters` of a turn to the left that the rest pose faces aside), "deform" or "roles";
    what is `serious` keeps a database from being built.
    """

    label: str
    sentence: str
    fix: str = ""
    serious: bool = False
    quarters: int = 0


@dataclass(frozen=True)
class RigState:
    """Bones by role, as found from names and rest pose, and what is wrong, the worst first."""

    roles: dict[str, str]
    problems: tuple[Problem, ...]


def check(obj: bpy.types.Object, choice: str | None, given: Mapping[str, str]) -> RigState:
    """How an armature object is as a character whose bones are chosen as by `skeleton_of`, with bones `given` by role."""
    scale = list(_scale_problems(obj))
    if any(problem.serious for problem in scale):
        return RigState({}, tuple(scale))
    try:
        skeleton = skeleton_of(obj, choice)
    except RigError as error:
        return RigState({}, (Problem("No Bones", str(error), serious=True),))
    roots = list(_root_problems(obj, choice, skeleton))
    try:
        roles = rig.find_roles(skeleton, (), given)
    except RigError as error:
        fixes = [("roles", choice)] * bool(given) + [("deform", "deform")] * (choice == "all")
        fix = next((name for name, bones in fixes if _has_roles(obj, bones)), "")
        return RigState({}, (Problem("Roles Missing", str(error), fix, True), *scale, *roots))
    return RigState(
        roles.to_names(skeleton), (*scale, *roots, *_front_problems(obj, skeleton, roles))
    )


def _has_roles(obj: bpy.types.Object, choice: str | None) -> bool:
    """Whether roles are found on their own among bones so chosen."""
    try:
        rig.find_roles(skeleton_of(obj, choice))
    except RigError:
        return False
    return True


def _scale_problems(obj: bpy.types.Object) -> Iterator[Problem]:
    try:
        similarity(standing(obj), obj.name)
    except RigError as error:
        own = np.array(obj.scale)
        if np.ptp(np.abs(own)) < 1e-3 * np.abs(own).max() and own.min() > 0:
            yield Problem("Uneven Scale", f"{error} It is a parent that is scaled so", serious=True)
            return
        obstacle = unscale_obstacle(obj)
        sentence = str(error).rstrip(".")
        yield Problem(
            "Uneven Scale", f"{sentence}{_no_button(obstacle)}", "" if obstacle else "scale", True
        )
        return
    if np.abs(np.array(obj.scale) - 1.0).max() > _APPLIED:
        obstacle = unscale_obstacle(obj)
        yield Problem(
            "Scale Not Applied",
            f"The object is scaled by {obj.scale[0]:.4g}. Motion is read in metres all the "
            f"same; applied, keys and tools count in metres too{_no_button(obstacle)}",
            "" if obstacle else "scale",
        )


def _no_button(obstacle: str) -> str:
    return f". There is no button for it, because {obstacle}" if obstacle else ""


def _root_problems(
    obj: bpy.types.Object, choice: str | None, skeleton: Skeleton
) -> Iterator[Problem]:
    """More than one bone without a parent: helpers beside the character, or a character in pieces."""
    roots = [skeleton.names[bone] for bone in np.flatnonzero(skeleton.parents < 0)]
    if len(roots) < 2:
        return
    named = ", ".join(f"'{name}'" for name in roots[:3]) + (" and more" if len(roots) > 3 else "")
    one_root = (
        any(bone.use_deform for bone in obj.data.bones)
        and (chosen_bones(obj, "deform")[1] < 0).sum() == 1
    )
    if one_root and choice != "deform":
        yield Problem(
            "Two Roots",
            f"{len(roots)} bones have no parent: {named}. Those that deform have one root: take "
            "these",
            "deform",
        )
    else:
        yield Problem(
            "Two Roots",
            f"{len(roots)} bones have no parent: {named}. Each follows the character by itself; "
            "parent them to one in Edit Mode, which no button does, because keys would then mean other places",
        )


def _front_problems(
    obj: bpy.types.Object, skeleton: Skeleton, roles: rig.Roles
) -> Iterator[Problem]:
    """A rest pose that does not stand, or does not face -Y."""
    rotations, positions = skeleton.rest_world()
    top = roles.spine if roles.head is None else roles.head
    way = positions[top] - positions[roles.hips]
    if top != roles.hips and way[2] < _UPRIGHT * np.linalg.norm(way):
        yield Problem(
            "Lies at Rest",
            "The rest pose does not stand upright. Motion that stands is read right all the same; "
            "turn the object until it stands, which no button does, because its actions may already stand",
        )
        return
    rest = Clip(
        obj.name, skeleton, skeleton.rest_positions[None], skeleton.rest_rotations[None], 1.0
    )
    try:
        ahead = quat.mul_vec(rotations[roles.hips], rig.hips_forward([rest], roles))
    except RigError:
        return
    aside = float(np.arctan2(ahead[0], -ahead[1]))
    if abs(aside) > _ASIDE:
        obstacle, quarters = turn_obstacle(obj), round(aside / (0.5 * np.pi)) % 4
        axis = ("-Y", "+X", "+Y", "-X")[quarters]
        yield Problem(
            "Other Front",
            f"At rest the character faces {axis} of its object, and takes set out along -Y"
            f"{_no_button(obstacle)}",
            "" if obstacle else "front",
            quarters=quarters,
        )
