"""Control rigs as animators have them: Rigify's own, and rigs made here with other rigs' names."""

from __future__ import annotations

from functools import cache

import bpy
import numpy as np
from mathutils import Vector

from building.locomotion.humanoid import build_humanoid_skeleton
from building.locomotion.locomotion import Move, perform
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.progress import run_to_end
from motion_matching.engine.retargeting.bodies import RetargetBody
from motion_matching.engine.skeleton.skeleton import Skeleton
from motion_matching.scene.controls.bake_controls import ControlSettings, solve_bake_steps
from motion_matching.scene.controls.control_rig import ControlRig
from motion_matching.scene.rig.armature import create_armature
from tests.scene.rigify import create_rigify_rig
from tests.scene.rigs import edit_bones

LEG, ARM = ("UpLeg", "Leg", "Foot", "Toe"), ("Arm", "ForeArm", "Hand")


def create_rigify_human(kind: str = "basic_human") -> bpy.types.Object:
    """Return Rigify's own rig, active in the current scene."""
    rig = create_rigify_rig(kind)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    return rig


@cache
def make_walk(fps: float = 30.0, stop: int = 90) -> Clip:
    """Make a walk with a curve, on the skeleton of the generated motion, from before it starts."""
    moves = [Move(1.5, 1.3), Move(1.5, 1.3, turn=30.0)]
    return perform("walk", moves, fps, np.random.default_rng(3)).crop(
        round(0.8 * fps), round(0.8 * fps) + round(stop * fps / 30.0)
    )


def retarget_walk(skeleton: Skeleton) -> Clip:
    walk = make_walk()
    return (
        RetargetBody(walk.skeleton, [walk]).make_retargeter(RetargetBody(skeleton)).retarget(walk)
    )


def create_named_rig(
    deform: dict[str, str],
    fk: dict[str, str],
    ik: dict[str, tuple[str, str, str]],
    switch: tuple[str, float],
    body: str,
    flat: bool = False,
) -> bpy.types.Object:
    """Create a person whose deform bones and controls have given names, by the demo's bone names.

    `ik` are end, pole and toe controls by limb, such as 'LeftLeg'; `switch` is the name of the
    property on the end control that says how much IK there is, and the value at which it is full.
    If `flat`, no deform bone hangs on another one.
    """
    skeleton = build_humanoid_skeleton()
    obj = create_armature(skeleton, "rig")
    names = list(skeleton.names)

    def change(bones: bpy.types.ArmatureEditBones) -> None:
        for name in names:  # knees and elbows bent a little, as rigs rest
            if name.endswith(("UpLeg", "ForeArm")):
                back = 0.01 if name.endswith("ForeArm") else -0.01
                move = bones[name].head if name.endswith("ForeArm") else bones[name].tail
                move.y += back
                other = bones[name].parent if name.endswith("ForeArm") else None
                if other:
                    other.tail = bones[name].head
                else:
                    bones[name.replace("UpLeg", "Leg")].head = bones[name].tail
        root = bones.new("root")
        root.head, root.tail = (0, 0, 0), (0, 0.3, 0)
        pelvis = bones.new(body)
        pelvis.head, pelvis.tail = bones[names[0]].head, bones[names[0]].tail
        pelvis.roll, pelvis.parent = bones[names[0]].roll, root
        for name in names:
            _copy(bones, name, fk[name])
        for name in names:
            above = bones[name].parent
            bones[fk[name]].parent = bones[fk[above.name]] if above else pelvis
        for limb, (end, pole, toe) in ik.items():
            _add_ik_bones(bones, limb, fk, end, pole, toe)
        for name in names:
            if flat or not bones[name].parent:
                bones[name].parent = root
            bones[name].name = deform[name]

    edit_bones(obj, change)
    for bone in obj.data.bones:
        bone.use_deform = bone.name in deform.values()
    for name in names:
        _follow(obj, deform[name], fk[name])
    for limb, controls in ik.items():
        _add_ik(obj, limb, deform, controls, switch)
    return obj


def _copy(bones: bpy.types.ArmatureEditBones, name: str, new: str) -> None:
    bone, other = bones.new(new), bones[name]
    bone.head, bone.tail, bone.roll = other.head, other.tail, other.roll


def _get_chain(limb: str) -> list[str]:
    side = limb.removesuffix("Leg").removesuffix("Arm")
    return [side + part for part in (LEG if limb.endswith("Leg") else ARM)]


def _add_ik_bones(
    bones: bpy.types.ArmatureEditBones, limb: str, fk: dict[str, str], end: str, pole: str, toe: str
) -> None:
    upper, lower, last, *more = _get_chain(limb)
    for name in (upper, lower):
        _copy(bones, name, f"mch_{name}")
    bones[f"mch_{upper}"].parent = bones[fk[upper]].parent
    bones[f"mch_{lower}"].parent = bones[f"mch_{upper}"]
    _copy(bones, last, end)
    bones[end].parent = bones["root"]
    knee = bones[lower].head
    target = bones.new(pole)
    ahead = Vector((0, -0.5 if more else 0.5, 0))
    target.head, target.tail, target.parent = knee + ahead, knee + 1.2 * ahead, bones["root"]
    if more:
        _copy(bones, more[0], toe)
        bones[toe].parent = bones[end]


def _follow(obj: bpy.types.Object, bone: str, target: str) -> bpy.types.Constraint:
    constraint = obj.pose.bones[bone].constraints.new("COPY_TRANSFORMS")
    constraint.target, constraint.subtarget = obj, target
    return constraint


def _add_ik(
    obj: bpy.types.Object,
    limb: str,
    deform: dict[str, str],
    controls: tuple[str, str, str],
    switch: tuple[str, float],
) -> None:
    upper, lower, last, *more = _get_chain(limb)
    end, pole, toe = controls
    obj.pose.bones[end][switch[0]] = 1.0 - switch[1]
    solver = obj.pose.bones[f"mch_{lower}"].constraints.new("IK")
    solver.target, solver.subtarget, solver.chain_count = obj, end, 2
    solver.pole_target, solver.pole_subtarget = obj, pole
    solver.pole_angle = _find_pole_angle(obj, f"mch_{upper}", pole)
    pairs = [(upper, f"mch_{upper}"), (lower, f"mch_{lower}"), (last, end)]
    for name, target in [*pairs, *((name, toe) for name in more)]:
        driver = _follow(obj, deform[name], target).driver_add("influence").driver
        driver.type = "SCRIPTED"
        driver.expression = "on" if switch[1] == 1.0 else "1 - on"
        variable = driver.variables.new()
        variable.name = "on"
        variable.targets[0].id = obj
        variable.targets[0].data_path = f'pose.bones["{end}"]["{switch[0]}"]'


def _find_pole_angle(obj: bpy.types.Object, upper: str, pole: str) -> float:
    """Return the angle at which a chain rests as it is: that of the pole about the upper bone."""
    bone, ahead = obj.data.bones[upper], obj.data.bones[pole].head_local
    local = bone.matrix_local.inverted() @ ahead
    return float(np.arctan2(local.z, local.x))


def name_auto_rig_pro() -> bpy.types.Object:
    """Create a rig with the published bone names of Auto-Rig Pro."""
    deform, fk = {}, {}
    middle = ("root", "spine_01", "spine_02", "spine_03", "neck", "head")
    for name, part in zip(
        ("Hips", "Spine", "Chest", "UpperChest", "Neck", "Head"), middle, strict=True
    ):
        deform[name], fk[name] = f"{part}.x", f"c_{part}.x"
    ik = {}
    for side, s in (("Left", "l"), ("Right", "r")):
        limbs = {
            "Shoulder": ("shoulder", "c_shoulder"),
            "Arm": ("arm_stretch", "c_arm_fk"),
            "ForeArm": ("forearm_stretch", "c_forearm_fk"),
            "Hand": ("hand", "c_hand_fk"),
            "UpLeg": ("thigh_stretch", "c_thigh_fk"),
            "Leg": ("leg_stretch", "c_leg_fk"),
            "Foot": ("foot", "c_foot_fk"),
            "Toe": ("toes_01", "c_toes_fk"),
        }
        for part, (bone, control) in limbs.items():
            deform[side + part], fk[side + part] = f"{bone}.{s}", f"{control}.{s}"
        ik[f"{side}Leg"] = (f"c_foot_ik.{s}", f"c_leg_pole.{s}", f"c_toes_ik.{s}")
        ik[f"{side}Arm"] = (f"c_hand_ik.{s}", f"c_arms_pole.{s}", "")
    return create_named_rig(deform, fk, ik, ("ik_fk_switch", 0.0), "c_root_master.x", flat=True)


def name_unreal() -> bpy.types.Object:
    """Create a rig with the published names of Unreal's mannequin and of its controls."""
    deform, fk = {}, {}
    middle = ("pelvis", "spine_01", "spine_02", "spine_03", "neck_01", "head")
    for name, part in zip(
        ("Hips", "Spine", "Chest", "UpperChest", "Neck", "Head"), middle, strict=True
    ):
        deform[name], fk[name] = part, f"{part}_ctrl".replace("pelvis", "hips")
    ik = {}
    for side, s in (("Left", "l"), ("Right", "r")):
        for part, bone in (
            ("Shoulder", "clavicle"),
            ("Arm", "upperarm"),
            ("ForeArm", "lowerarm"),
            ("Hand", "hand"),
            ("UpLeg", "thigh"),
            ("Leg", "calf"),
            ("Foot", "foot"),
            ("Toe", "ball"),
        ):
            own = "" if part == "Shoulder" else "_fk"
            deform[side + part], fk[side + part] = f"{bone}_{s}", f"{bone}_{s}{own}_ctrl"
        ik[f"{side}Leg"] = (f"foot_{s}_ik_ctrl", f"leg_{s}_pv_ik_ctrl", f"ball_{s}_ik_ctrl")
        ik[f"{side}Arm"] = (f"hand_{s}_ik_ctrl", f"arm_{s}_pv_ik_ctrl", "")
    obj = create_named_rig(deform, fk, ik, ("fk_ik_switch", 1.0), "body_ctrl")
    for side in "lr":  # Unreal has a switch of its own for each limb
        for limb, end in (("leg", "foot"), ("arm", "hand")):
            _rename_switch(
                obj, f"{end}_{side}_ik_ctrl", "fk_ik_switch", f"{limb}_{side}_fk_ik_switch"
            )
    return obj


def name_studio() -> bpy.types.Object:
    """Create a studio's own rig, with names that no preset knows."""
    names = build_humanoid_skeleton().names
    ik = {f"{s}Leg": (f"{s}Step", f"{s}Knee", f"{s}Tip") for s in ("Left", "Right")}
    deform, fk = {n: f"skin {n}" for n in names}, {n: f"ctl {n}" for n in names}
    return create_named_rig(deform, fk, ik, ("follow_floor", 1.0), "ctl body")


def _rename_switch(obj: bpy.types.Object, bone: str, old: str, new: str) -> None:
    obj.pose.bones[bone][new] = obj.pose.bones[bone][old]
    del obj.pose.bones[bone][old]
    path = f'pose.bones["{bone}"]["{old}"]'
    for curve in obj.animation_data.drivers:
        for variable in curve.driver.variables:
            target = variable.targets[0]
            if target.data_path == path:
                target.data_path = f'pose.bones["{bone}"]["{new}"]'


def bake_controls(
    obj: bpy.types.Object,
    rig: ControlRig,
    clip: Clip,
    settings: ControlSettings | None = None,
    start_frame: int = 1,
    action_name: str = "Controls",
    *,
    track: str | None = None,
) -> bpy.types.Action:
    """Solve a clip for an armature's controls, and write it, at once."""
    write = run_to_end(solve_bake_steps(obj, rig, clip, settings, start_frame))
    return write(action_name, track)
