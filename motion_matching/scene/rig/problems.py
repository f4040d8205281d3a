"""Find problems of an armature object as a character: scale, front, roots, or roles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ...engine.body import rig
from ...engine.errors import RigError
from ...engine.maths.rotations import quat
from ...engine.skeleton.skeleton import Skeleton
from ..blender.animation import actions
from ..blender.animation.curve_poses import compute_static_matrix
from ..blender.animation.curves import parse_bone_name, read_keys
from ..blender.transforms.transforms import decompose_similarity
from .armature import compute_rest_frame, read_skeleton
from .bone_choice import choose_bones
from .plan import make_rest_clip

_APPLIED = 1e-4  # a scale that differs less from one counts as applied
_ASIDE = np.radians(45.0)  # a rest pose that faces farther from the front than this faces aside
_UPRIGHT = 0.5  # how much of the way from hips to head goes up, for a character that stands
# constraints that hold no length, or only ones that Blender measures anew
_COPYING = {"COPY_LOCATION", "COPY_ROTATION", "COPY_SCALE", "COPY_TRANSFORMS", "ARMATURE"}
_TRACKING = {"IK", "SPLINE_IK", "DAMPED_TRACK", "LOCKED_TRACK", "TRACK_TO"}
_WITHOUT_LENGTHS = _COPYING | _TRACKING | {"LIMIT_ROTATION", "LIMIT_SCALE", "MAINTAIN_VOLUME"}
# constraints that take over the scale of their targets
_TAKING_SCALES = {"CHILD_OF", "COPY_SCALE", "COPY_TRANSFORMS", "ARMATURE", "TRANSFORM"}


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
        label = "Uneven Scale"
        sentence = str(error).rstrip(".")
        handled = False
    else:
        if np.abs(own - 1.0).max() <= _APPLIED:
            return
        label = "Scale Not Applied"
        handled = True
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
    try:
        forward = rig.find_hips_forward([make_rest_clip(skeleton)], roles)
    except RigError:
        return
    ahead = quat.mul_vec(rotations[roles.hips], forward)
    aside = float(np.arctan2(ahead[0], -ahead[1]))
    if abs(aside) > _ASIDE:
        obstacle = find_turn_obstacle(obj)
        quarters = round(aside / (0.5 * np.pi)) % 4
        axis = ("-Y", "+X", "+Y", "-X")[quarters]
        sentence = f"At rest the character faces {axis} of its object; takes start along -Y"
        sentence += _explain_missing_button(obstacle)
        yield Problem("Other Front", sentence, "" if obstacle else "front", quarters=quarters)


def find_scale_obstacle(obj: bpy.types.Object) -> str:
    """Return why an object's scale cannot be applied without changing its motion, or ""."""
    if obstacle := _find_obstacle(obj, "scale"):
        return obstacle
    scale = np.array(obj.scale)
    if scale.min() <= 0.0:
        return "it is mirrored or flat"
    uneven = np.ptp(scale) > 1e-4 * scale.max()
    playing = actions.find_actions(obj)
    if uneven and playing:
        return (
            f"bones that rotate in actions such as '{playing[0].name}' would be stretched "
            "differently"
        )
    others = [other for other in bpy.data.objects if other != obj]
    armatures = [other for other in others if other.type == "ARMATURE"]
    for action in playing:
        what = f"action '{action.name}'"
        twin = next((other for other in armatures if action in actions.find_actions(other)), None)
        if twin:
            return f"{what} may be one of '{twin.name}', whose bones have the same names"
        if action.library:
            return f"{what} is linked from another file"
        curves = _find_location_curves(action)
        if any(curve.modifiers or len(curve.sampled_points) for curve in curves):
            return f"{what} has curves with modifiers or samples"
    for bone in obj.pose.bones:
        for constraint in bone.constraints:
            if constraint.type not in _WITHOUT_LENGTHS:
                return f"the constraint '{constraint.name}' of bone '{bone.name}' holds lengths"
    follower = next((other for other in others if _inherits_scale(other, obj)), None)
    if follower:
        return f"'{follower.name}' copies its scale by a constraint"
    if any(".location" in driver.data_path for driver in actions.get_drivers(obj)):
        return "drivers move its bones"
    return ""


def _inherits_scale(other: bpy.types.Object, obj: bpy.types.Object) -> bool:
    """Return whether constraints of an object or its bones take over the scale of an armature."""
    owners = (other, *(other.pose.bones if other.pose else ()))
    taking: list[Any] = [c for one in owners for c in one.constraints if c.type in _TAKING_SCALES]
    holders = [holder for c in taking for holder in (c.targets if c.type == "ARMATURE" else (c,))]
    return any(holder.target == obj for holder in holders)


def find_turn_obstacle(obj: bpy.types.Object) -> str:
    """Return why a rest pose cannot be turned without changing its motion, or ""."""
    return _find_obstacle(obj, "rotation")


def _find_obstacle(obj: bpy.types.Object, channel: str) -> str:
    """Return what keeps the part of the object's matrix in this channel from being handed down."""
    if obj.library or obj.override_library or obj.data.library:
        return "it is linked from another file"
    if obj.data.users > 1:
        return f"{obj.data.users} objects share its bones"
    own = [(action, actions.find_slot(action, obj)) for action in actions.find_actions(obj)]
    for action, slot in (*own, *actions.get_played_actions(obj)):
        curves = actions.get_active_curves(action, slot)
        if any(curve.data_path.startswith(channel) for curve in curves):
            return f"action '{action.name}' keys the object's {channel}"
    if any(driver.data_path.startswith(channel) for driver in actions.get_drivers(obj)):
        return f"a driver sets the object's {channel}"
    constraint = next((constraint for constraint in obj.constraints if not constraint.mute), None)
    if constraint:
        return f"its constraint '{constraint.name}' places it"
    if np.any(np.array(obj.delta_scale) != 1.0):
        return "it has a delta scale"
    return ""


def apply_scale(obj: bpy.types.Object) -> None:
    """Apply an object's scale to its bones and keys; raise RigError if that is not safe."""
    if obstacle := find_scale_obstacle(obj):
        raise RigError(f"The scale of armature '{obj.name}' cannot be applied, because {obstacle}.")
    scale = np.array(obj.scale)
    _transfer_to_bones(obj, Matrix.Diagonal((*scale.tolist(), 1.0)))
    even = float(scale.mean())
    for bone in obj.pose.bones:
        bone.location = even * bone.location
    for action in actions.find_actions(obj):
        for curve in _find_location_curves(action):
            for part in ("co", "handle_left", "handle_right"):
                numbers = read_keys(curve, part) * np.array([1.0, even], np.float32)
                curve.keyframe_points.foreach_set(part, numbers.ravel())
            curve.update()


def turn_front(obj: bpy.types.Object, quarters: int) -> None:
    """Turn the rest pose right by quarters, the object left; raise RigError if that is not safe."""
    if obstacle := find_turn_obstacle(obj):
        raise RigError(f"The rest pose of '{obj.name}' cannot be turned, because {obstacle}.")
    tilt = Matrix(quat.to_matrix(compute_rest_frame(obj)[0]).tolist()).to_4x4()
    turn = Matrix.Rotation(-0.5 * np.pi * quarters, 4, "Z")
    _transfer_to_bones(obj, tilt.inverted() @ turn @ tilt)


def _transfer_to_bones(obj: bpy.types.Object, part: Matrix) -> None:
    """Transform the bones by a matrix A, and the object first by A^-1; children stay in place."""
    is_scale = bool(np.abs(np.array(part.to_scale()) - 1.0).max() > 1e-5)
    obj.data.transform(part)
    obj.data.update_tag()  # else Blender still poses the bones from their old rest
    obj.matrix_basis = obj.matrix_basis @ part.inverted()
    if is_scale:
        obj.scale = (1.0, 1.0, 1.0)  # exactly one, without rounding
    for child in obj.children:
        # a bone parent hands down a turned rest by itself, but never a scale
        if is_scale or child.parent_type != "BONE":
            child.matrix_parent_inverse = part @ child.matrix_parent_inverse


def _find_location_curves(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    """Return the curves in all slots of an action that move bones off their rest, muted too."""
    curves = [curve for bag in actions.get_channelbags(action) for curve in bag.fcurves]
    at_end = [curve for curve in curves if curve.data_path.endswith(".location")]
    return [curve for curve in at_end if parse_bone_name(curve.data_path) is not None]
