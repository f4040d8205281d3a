"""Find problems of an armature object as a character: scale, front, roots, or roles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import bpy
import numpy as np

from ...engine.body import rig
from ...engine.errors import RigError
from ...engine.maths import quat
from ...engine.motion.clip import Clip
from ...engine.motion.skeleton import Skeleton
from ..blender.curve_poses import compute_static_matrix
from ..blender.transforms import decompose_similarity
from .armature import read_skeleton
from .bone_choice import choose_bones
from .rig_fix import find_scale_obstacle, find_turn_obstacle

_APPLIED = 1e-4  # a scale that differs less from one counts as applied
_ASIDE = np.radians(45.0)  # a rest pose that faces farther from the front than this faces aside
_UPRIGHT = 0.5  # how much of the way from hips to head goes up, for a character that stands


@dataclass(frozen=True)
class Problem:
    """A problem in two words, a sentence that says what to do, and a safe fix if there is one.

    `fix` is "scale", "front" (the rest pose faces aside, by `quarters` of a turn to the left),
    "deform" or "roles". A `serious` problem keeps a database from being built; a `handled` one
    needs no warning.
    """

    label: str
    sentence: str
    fix: str = ""
    serious: bool = False
    quarters: int = 0
    handled: bool = False


@dataclass(frozen=True)
class RigState:
    """Bones by role, found from names and rest pose, and the problems, the worst first."""

    roles: dict[str, str]
    problems: tuple[Problem, ...]

    @property
    def worst(self) -> Problem | None:
        """Return the worst problem that is not handled, if there is one."""
        return next((problem for problem in self.problems if not problem.handled), None)


def check_rig(obj: bpy.types.Object, choice: str | None, given: Mapping[str, str]) -> RigState:
    """Check an armature object as a character, with bones chosen by `choice` and roles `given`."""
    scale = list(_find_scale_problems(obj))
    if any(problem.serious for problem in scale):
        return RigState({}, tuple(scale))
    try:
        skeleton = read_skeleton(obj, choice)
    except RigError as error:
        return RigState({}, (Problem("No Bones", str(error), serious=True),))
    problems = [*scale, *_find_root_problems(obj, choice, skeleton)]
    try:
        roles = rig.find_roles(skeleton, (), given)
    except RigError as error:
        fixes = [("roles", choice)] * bool(given) + [("deform", "deform")] * (choice == "all")
        fix = next((name for name, bones in fixes if _has_roles(obj, bones)), "")
        return RigState({}, (Problem("Roles Missing", str(error), fix, True), *problems))
    front = _find_front_problems(obj, skeleton, roles)
    return RigState(roles.to_names(skeleton), (*problems, *front))


def _has_roles(obj: bpy.types.Object, choice: str | None) -> bool:
    """Return whether roles are found on their own among bones so chosen."""
    try:
        rig.find_roles(read_skeleton(obj, choice))
    except RigError:
        return False
    return True


def _find_scale_problems(obj: bpy.types.Object) -> Iterator[Problem]:
    own = np.array(obj.scale)
    try:
        decompose_similarity(compute_static_matrix(obj), obj.name)
    except RigError as error:
        if np.ptp(np.abs(own)) < 1e-3 * np.abs(own).max() and own.min() > 0:
            yield Problem("Uneven Scale", f"{error} A parent object has this scale", serious=True)
            return
        label, sentence, handled = "Uneven Scale", str(error).rstrip("."), False
    else:
        if np.abs(own - 1.0).max() <= _APPLIED:
            return
        label, handled = "Scale Not Applied", True
        sentence = "Handled automatically. Apply the scale if you want keys in metres"
    obstacle = find_scale_obstacle(obj)
    sentence += _explain_missing_button(obstacle)
    fix = "" if obstacle else "scale"
    yield Problem(label, sentence, fix, serious=not handled, handled=handled)


def _explain_missing_button(obstacle: str) -> str:
    return f". There is no button for it, because {obstacle}" if obstacle else ""


def _find_root_problems(
    obj: bpy.types.Object, choice: str | None, skeleton: Skeleton
) -> Iterator[Problem]:
    """Find more than one bone without a parent: helpers beside the character, or loose pieces."""
    roots = [skeleton.names[bone] for bone in np.flatnonzero(skeleton.parents < 0)]
    if len(roots) < 2:
        return
    named = ", ".join(f"'{name}'" for name in roots[:3]) + (" and more" if len(roots) > 3 else "")
    have_no_parent = f"{len(roots)} bones have no parent: {named}"
    deforms = any(bone.use_deform for bone in obj.data.bones)
    if choice != "deform" and deforms and (choose_bones(obj, "deform")[1] < 0).sum() == 1:
        sentence = f"{have_no_parent}. The deform bones have one root: use only these"
        yield Problem("Two Roots", sentence, "deform")
        return
    yield Problem(
        "Two Roots",
        f"{have_no_parent}. Each moves separately; parent them to one bone in Edit Mode. Then "
        "check their actions: keys are now relative to the parent, and may need changes",
    )


def _find_front_problems(
    obj: bpy.types.Object, skeleton: Skeleton, roles: rig.Roles
) -> Iterator[Problem]:
    """Find a rest pose that does not stand, or does not face -Y."""
    rotations, positions = skeleton.compute_rest_world()
    top = roles.spine if roles.head is None else roles.head
    way = positions[top] - positions[roles.hips]
    if top != roles.hips and way[2] < _UPRIGHT * np.linalg.norm(way):
        yield Problem(
            "Lies at Rest",
            "The rest pose lies down. This is fine if the character stands in its actions. If it "
            "lies there, too, rotate the object until it stands",
        )
        return
    rest_pose = skeleton.rest_positions[None], skeleton.rest_rotations[None]
    rest = Clip(obj.name, skeleton, *rest_pose, 1.0)
    try:
        ahead = quat.mul_vec(rotations[roles.hips], rig.find_hips_forward([rest], roles))
    except RigError:
        return
    aside = float(np.arctan2(ahead[0], -ahead[1]))
    if abs(aside) > _ASIDE:
        obstacle, quarters = find_turn_obstacle(obj), round(aside / (0.5 * np.pi)) % 4
        axis = ("-Y", "+X", "+Y", "-X")[quarters]
        sentence = f"At rest the character faces {axis} of its object; takes start along -Y"
        sentence += _explain_missing_button(obstacle)
        yield Problem("Other Front", sentence, "" if obstacle else "front", quarters=quarters)
