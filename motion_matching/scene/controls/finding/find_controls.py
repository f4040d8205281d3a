"""The preset that describes the controls of a rig; without one, found by trying each free one.

A deform bone belongs to the control that turns it, and all that hangs on it, as one, and moves the
fewest others. IK counts only where its constraint says which controls it has and a trial agrees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ....engine.errors import RigError
from ....engine.files import presets
from ....engine.skeleton.bone_names import join_quoted, split_side
from ....engine.skeleton.skeleton import Skeleton
from ...blender.evaluation.evaluation import EvaluationCopy
from ...blender.id_properties import Switch
from ...rig.armature import check_armature
from ..bake_controls import check_editable
from ..control_rig import ControlLimb, ControlRig
from ..deform import read_skeleton_of
from .trials import Outcome, Trials

_UNBOUNDED = 1e5  # limits beyond are none
_MOST = 400  # controls that are tried at most
_ALL = 0.95  # of the deform bones: what moves as many moves the body
_NEAR = 0.02  # of the size: joints that are nearer are the same
_LOW = 0.25  # of the height: limbs that end below it are legs
_FOLLOWS = 0.1  # of a shift: how far the end of an IK limb may be off it


def find_control_rig(obj: bpy.types.Object) -> ControlRig | None:
    """Return what describes an armature's controls; None if keys on its bones move it.

    That is a preset, or what is found by moving controls, if bones that deform follow constraints:
    this takes a second or two. Raises RigError if the best known rig lacks controls.
    """
    if rig := match_control_rig(obj):
        return rig
    deform = {bone.name for bone in obj.data.bones if bone.use_deform}
    has_controls = 0 < len(deform) < len(obj.data.bones)
    return find_controls(obj) if has_controls and deform & set(list_followers(obj)) else None


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


def list_followers(obj: bpy.types.Object) -> tuple[str, ...]:
    """Return the bones that follow a constraint."""
    return tuple(bone.name for bone in obj.pose.bones if _is_held(bone))


def _is_held(bone: bpy.types.PoseBone, free: str = "") -> bool:
    """Return whether a constraint acts on a bone, but for those of a type that leaves it free."""
    return any(not c.mute and c.influence > 0.0 and c.type != free for c in bone.constraints)


def find_controls(obj: bpy.types.Object) -> ControlRig:
    """Find the controls of an armature's deform bones, by trying; `found` says what was found.

    The armature stays as it is. Raises RigError if nothing moves its deform bones.
    """
    check_editable(obj)
    skeleton = read_deform_skeleton(obj)
    with EvaluationCopy(obj) as copy:
        trials = Trials(copy, skeleton.names)
        names = list_candidates(trials.body)
        outcomes = {name: trials.turn(name) for name in names}
        switches, before = find_switches(trials, outcomes)
        if switches:
            trials.set_switches(switches)
            outcomes = {name: trials.turn(name) for name in names}
        below = [np.array([i, *skeleton.get_descendants(i)]) for i in range(skeleton.bone_count)]
        chosen = choose_controls(trials, outcomes, below)
        body = choose_body(trials, outcomes)
        if body is None or not chosen:
            raise RigError(
                f"no control of armature '{obj.name}' moves its deform bones as a whole; give a "
                "preset of its controls, or bake the deform bones."
            )
        limbs = tuple(_find_limbs(trials, chosen, switches, before))
    return _describe(skeleton.names, body, chosen, switches, limbs)


def list_candidates(obj: bpy.types.Object) -> list[str]:
    """Return the bones that an animator turns: free, and with a shape if any bone has one."""
    bones = [bone for bone in obj.pose.bones if not any(bone.lock_rotation)]
    bones = [bone for bone in bones if not _is_held(bone, free="LIMIT_ROTATION")]
    shaped = [bone for bone in bones if bone.custom_shape]
    if not shaped and not any(bone.constraints for bone in obj.pose.bones):
        return [bone.name for bone in bones][:_MOST]
    chosen = shaped or [bone for bone in bones if not bone.bone.use_deform]
    return [bone.name for bone in chosen][:_MOST]


def find_switches(
    trials: Trials, outcomes: Mapping[str, Outcome]
) -> tuple[list[Switch], list[Switch]]:
    """Find the properties that choose between FK and IK; return their values for FK and for IK.

    Controls of the other kind move nothing. All of them are turned at once, and each
    property from 0 to 1 is set to its other end. FK is where controls turn bones and few others.
    """
    inert = [name for name, outcome in outcomes.items() if not outcome.moved.any()]
    if not inert:
        return [], []
    trials.turn_all(inert)
    effects = [(switch, trials.find_effect(switch)) for switch in _list_properties(trials.body)]
    trials.clear(inert)
    effects = [(switch, bones) for switch, bones in effects if bones.any()]
    flipped = [switch for switch, _ in effects]
    own = [switch.read(trials.body) for switch in flipped]
    trials.set_switches(flipped)
    costs = _count_moved([trials.turn(name) for name in outcomes])
    trials.set_switches(own)
    before = _count_moved(list(outcomes.values()))
    better = [costs[bones].sum() < before[bones].sum() for _, bones in effects]
    pairs = [(b, a) if flip else (a, b) for a, b, flip in zip(own, flipped, better, strict=True)]
    return [fk for fk, _ in pairs], [ik for _, ik in pairs]


def _count_moved(outcomes: list[Outcome]) -> np.ndarray:
    """Return for each deform bone (B,) how many move with the control that turns it and fewest."""
    turned = np.stack([outcome.turned for outcome in outcomes])
    moved = np.array([outcome.moved.sum() for outcome in outcomes])
    return np.where(turned, moved[:, None], turned.shape[1]).min(axis=0)


def _list_properties(obj: bpy.types.Object) -> Iterator[Switch]:
    """Yield properties of bones that are 0 or 1 and have no other range, at the other end."""
    bones: Any = obj.pose.bones
    for bone in bones:
        for name in bone.keys():  # noqa: SIM118
            value = bone[name]
            if isinstance(value, bool | int | float) and value in (0, 1):
                is_flag = isinstance(value, bool)
                ui = {} if is_flag else bone.id_properties_ui(name).as_dict()
                low, high = ui.get("min", 0), ui.get("max", 1)
                if (low >= 0 or low < -_UNBOUNDED) and (high <= 1 or high > _UNBOUNDED):
                    yield Switch(bone.name, name, 1.0 - value)


def choose_controls(
    trials: Trials, outcomes: Mapping[str, Outcome], below: list[np.ndarray]
) -> dict[str, str]:
    """Return the control of each deform bone that has one, by deform bone.

    It turns the bone, best together with all that hangs on it, and moves as few others as may be.
    `below` are the indices of each deform bone and all that hang on it. A control that fits several
    in a line goes to the first one.
    """
    result: dict[str, str] = {}
    for index, bone in enumerate(trials.deform):
        hanging: np.ndarray = np.isin(np.arange(len(trials.deform)), below[index])
        costs = {
            name: (int((o.moved & ~hanging).sum() + (~o.turned & hanging).sum()), away)
            for name, o in outcomes.items()
            if o.turned[index]
            for away in [float(np.linalg.norm(trials.get_head(name) - trials.get_head(bone)))]
        }
        best = min(costs, key=costs.__getitem__, default="")
        if best and best not in result.values():
            result[bone] = best
    return result


def choose_body(trials: Trials, outcomes: Mapping[str, Outcome]) -> tuple[str, str] | None:
    """Return the control that moves all of the body, and the deform bone nearest to it."""
    whole = [name for name, outcome in outcomes.items() if outcome.turned.mean() > _ALL]
    whole = [name for name in whole if _can_move(trials.body.pose.bones[name])]
    if not whole:
        return None
    root = trials.get_head(trials.deform[0])
    best = min(whole, key=lambda n: float(np.linalg.norm(trials.get_head(n) - root)))
    at = trials.get_head(best)
    near = min(trials.deform, key=lambda bone: float(np.linalg.norm(trials.get_head(bone) - at)))
    return best, near


def _can_move(bone: bpy.types.PoseBone) -> bool:
    return not any(bone.lock_location) and not (bone.parent and bone.bone.use_connect)


@dataclass(frozen=True)
class _Solver:
    """The controls of an IK constraint, and the joints of its chain, (3,) each."""

    ik: str
    pole: str
    joints: tuple[np.ndarray, np.ndarray, np.ndarray]


def _list_solvers(trials: Trials) -> Iterator[_Solver]:
    """Yield IK constraints of two bones with a pole, whose controls are free bones."""
    bones: Any = trials.body.pose.bones
    for bone in bones:
        for constraint in bone.constraints:
            if constraint.type != "IK" or constraint.chain_count != 2 or not bone.parent:
                continue
            ik = _find_control(trials.body, constraint.subtarget)
            pole = _find_control(trials.body, constraint.pole_subtarget)
            if ik and pole:
                joints = (bone.parent.bone.head_local, bone.bone.head_local, bone.bone.tail_local)
                yield _Solver(ik, pole, tuple(np.array(joint) for joint in joints))  # type: ignore[arg-type]


def _find_control(obj: bpy.types.Object, name: str) -> str:
    """Return the free bone that a target is, or hangs on, or copies."""
    seen: set[str] = set()
    bone: Any = obj.pose.bones.get(name)
    while bone is not None and bone.name not in seen:
        seen.add(bone.name)
        if not all(bone.lock_location) and (bone.custom_shape or not bone.constraints):
            return str(bone.name)
        copies = [
            c.subtarget for c in bone.constraints if c.type in ("COPY_LOCATION", "COPY_TRANSFORMS")
        ]
        bone = obj.pose.bones.get(copies[-1]) if copies else bone.parent
    return ""


def _find_limbs(
    trials: Trials, chosen: Mapping[str, str], switches: list[Switch], before: list[Switch]
) -> Iterator[ControlLimb]:
    """Yield limbs with IK whose controls work when tried."""
    low = min(trials.get_head(bone)[2] for bone in trials.deform)
    high = max(trials.get_head(bone)[2] for bone in trials.deform)
    trials.set_switches(before)
    for solver in _list_solvers(trials):
        bones = [_find_at(trials, joint, chosen) for joint in solver.joints]
        if "" in bones or len(set(bones)) < 3 or not _confirm(trials, solver, bones):
            continue
        height = (trials.get_head(bones[2])[2] - low) / max(high - low, 1e-9)
        own = _choose_switches(trials, switches, before, bones, chosen)
        if own is None:
            continue
        kind = "leg" if height < _LOW else "arm"
        side = split_side(bones[2], trials.deform)[1]
        name = f"{kind}.{side}" if side else f"{kind} of {bones[2]}"
        fk = tuple(chosen[bone] for bone in bones)
        yield ControlLimb(name, kind, fk, tuple(bones), solver.ik, solver.pole, switches=own)
    trials.set_switches(switches)


def _find_at(trials: Trials, joint: np.ndarray, chosen: Mapping[str, str]) -> str:
    """Return the deform bone with a control that starts at a joint, or ""."""
    near = [b for b in chosen if np.linalg.norm(trials.get_head(b) - joint) < _NEAR * trials.size]
    return near[0] if len(near) == 1 else ""


def _confirm(trials: Trials, solver: _Solver, bones: list[str]) -> bool:
    """Return whether the end of a limb follows its IK control, and its middle alone the pole."""
    upper, middle, end = (trials.deform.index(bone) for bone in bones)
    hip, _, ankle = solver.joints
    away = 0.1 * (hip - ankle)
    pulled = trials.shift(solver.ik, away)
    aside = np.cross(hip - ankle, trials.get_head(solver.pole) - ankle)
    bent = trials.shift(solver.pole, 0.5 * aside / max(float(np.linalg.norm(hip - ankle)), 1e-9))
    length = float(np.linalg.norm(away))
    follows = np.linalg.norm(pulled.shifts[end] - away) < _FOLLOWS * length
    rests = np.linalg.norm(pulled.shifts[upper]) < _FOLLOWS * length
    stays = np.linalg.norm(bent.shifts[end]) < _FOLLOWS * length
    return bool(follows and rests and stays and bent.moved[[upper, middle]].any())


def _choose_switches(
    trials: Trials,
    switches: list[Switch],
    before: list[Switch],
    bones: list[str],
    chosen: Mapping[str, str],
) -> dict[str, tuple[Switch, ...]] | None:
    """Return which switches put a limb on FK and on IK, or None if that is not clear."""
    at = [trials.deform.index(bone) for bone in bones]
    trials.turn_all([chosen[bone] for bone in bones])
    own = [i for i, switch in enumerate(switches) if trials.find_effect(switch)[at].any()]
    trials.clear([chosen[bone] for bone in bones])
    if len(own) != 1:
        return None
    return {"fk": (switches[own[0]],), "ik": (before[own[0]],)}


def _describe(
    names: tuple[str, ...],
    body: tuple[str, str],
    chosen: Mapping[str, str],
    switches: list[Switch],
    limbs: tuple[ControlLimb, ...],
) -> ControlRig:
    control, root = body
    in_limbs = {bone for limb in limbs for bone in limb.bones}
    follow = {c: b for b, c in chosen.items() if c != control and b not in in_limbs}
    of_limbs = {switch for limb in limbs for group in limb.switches.values() for switch in group}
    always = tuple(
        s for s in switches if not any((s.bone, s.name) == (o.bone, o.name) for o in of_limbs)
    )
    found = [f"Found the controls of {len(chosen)} of {len(names)} deform bones by moving them."]
    if switches:
        listed = join_quoted([f"{s.bone}: {s.name}" for s in switches[:4]])
        found.append(f"Switches between FK and IK: {listed}.")
    kinds = join_quoted([limb.name for limb in limbs])
    found.append(f"IK is certain for {kinds}." if limbs else "No IK is certain, so limbs use FK.")
    return ControlRig(
        "controls found by trying",
        place={control: root},
        follow=follow,
        limbs=limbs,
        switches=always,
        found=tuple(found),
    )


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
