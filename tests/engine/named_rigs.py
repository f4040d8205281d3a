"""Characters with the bone names that programs give, and what else is in such rigs: helpers, twist
bones, tips and bones above the hips.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from motion_matching.engine.skeleton.skeleton import Skeleton
from tests.engine.characters import (
    FINGERS,
    Chain,
    Character,
    Proportions,
    build_character,
    place_joints,
)

_ARM = ("collar", "upper_arm", "forearm", "hand")
_LEG = ("thigh", "shin", "foot", "toe")
_NEXT = {
    "collar": "upper_arm",
    "upper_arm": "forearm",
    "forearm": "hand",
    "hand": "hand_tip",
    "thigh": "shin",
    "shin": "foot",
    "foot": "toe",
    "toe": "toe_tip",
}


@dataclass(frozen=True)
class Names:
    """Bone names of a rig; {} is for the side.

    Parts of limbs are separated by commas, the bones that a part is split into by spaces, and '~'
    is a space in a name.
    `fingers` hold <f> and <n>, counted from `first`. `above_arms` is the bone that collars hang on
    if it is not the chest, and `above_legs` a bone between hips and thighs. `extra` bones have no
    role: name, parent, and the points from and to which they reach.
    """

    hips: str
    spine: str
    neck: str
    head: str
    arm: str
    leg: str
    sides: tuple[str, str] = ("L", "R")
    root: str = ""
    above_arms: str = ""
    above_legs: str = ""
    fingers: str = ""
    finger_words: tuple[str, ...] = FINGERS
    palm: str = ""
    first: int = 1
    extra: tuple[tuple[str, str, str, str], ...] = ()
    unit: float = 1.0


NAMES = {
    "VRM": Names(
        "J_Bip_C_Hips",
        "J_Bip_C_Spine J_Bip_C_Chest J_Bip_C_UpperChest",
        "J_Bip_C_Neck",
        "J_Bip_C_Head",
        "J_Bip_{}_Shoulder,J_Bip_{}_UpperArm,J_Bip_{}_LowerArm,J_Bip_{}_Hand",
        "J_Bip_{}_UpperLeg,J_Bip_{}_LowerLeg,J_Bip_{}_Foot,J_Bip_{}_ToeBase",
        root="Root",
        fingers="J_Bip_{}_<f><n>",
        finger_words=("Thumb", "Index", "Middle", "Ring", "Little"),
        extra=(
            ("J_Sec_{}_Bust1", "J_Bip_C_UpperChest", "collar", "upper_arm"),
            ("J_Sec_Hair1_01 J_Sec_Hair2_01", "J_Bip_C_Head", "top", "hips"),
            ("J_Adj_{}_FaceEye", "J_Bip_C_Head", "eye", "brow"),
        ),
    ),
    "Auto-Rig Pro": Names(
        "root.x",
        "spine_01.x spine_02.x spine_03.x",
        "neck.x",
        "head.x",
        "shoulder.{},arm_stretch.{},forearm_stretch.{},hand.{}",
        "thigh_stretch.{},leg_stretch.{},foot.{},toes_01.{}",
        ("l", "r"),
        fingers="<f><n>.{}",
        palm="<f>1_base.{}",
        extra=(
            ("arm_twist.{}", "arm_stretch.{}", "upper_arm", "forearm"),
            ("forearm_twist.{}", "forearm_stretch.{}", "forearm", "hand"),
            ("thigh_twist.{}", "thigh_stretch.{}", "thigh", "shin"),
            ("leg_twist.{}", "leg_stretch.{}", "shin", "foot"),
        ),
    ),
    "Character Creator": Names(
        "CC_Base_Hip",
        "CC_Base_Waist CC_Base_Spine01 CC_Base_Spine02",
        "CC_Base_NeckTwist01 CC_Base_NeckTwist02",
        "CC_Base_Head",
        "CC_Base_{}_Clavicle,CC_Base_{}_Upperarm,CC_Base_{}_Forearm,CC_Base_{}_Hand",
        "CC_Base_{}_Thigh,CC_Base_{}_Calf,CC_Base_{}_Foot,CC_Base_{}_ToeBase",
        root="CC_Base_BoneRoot",
        above_legs="CC_Base_Pelvis",
        fingers="CC_Base_{}_<f><n>",
        finger_words=("Thumb", "Index", "Mid", "Ring", "Pinky"),
        unit=100.0,
        extra=(
            (
                "CC_Base_{}_UpperarmTwist01 CC_Base_{}_UpperarmTwist02",
                "CC_Base_{}_Upperarm",
                "upper_arm",
                "forearm",
            ),
            ("CC_Base_{}_ElbowShareBone", "CC_Base_{}_Upperarm", "forearm", "forearm"),
            ("CC_Base_{}_ThighTwist01", "CC_Base_{}_Thigh", "thigh", "shin"),
            ("CC_Base_{}_KneeShareBone", "CC_Base_{}_Thigh", "shin", "shin"),
            ("CC_Base_{}_ToeBaseShareBone", "CC_Base_{}_Foot", "toe", "toe_tip"),
            ("CC_Base_{}_BigToe1", "CC_Base_{}_ToeBaseShareBone", "toe", "toe_tip"),
            ("CC_Base_FacialBone", "CC_Base_Head", "head", "brow"),
            ("CC_Base_JawRoot", "CC_Base_FacialBone", "jaw", "chin"),
            ("CC_Base_{}_Eye", "CC_Base_FacialBone", "eye", "brow"),
        ),
    ),
    "3ds Max Biped": Names(
        "Bip01~Pelvis",
        "Bip01~Spine Bip01~Spine1 Bip01~Spine2",
        "Bip01~Neck",
        "Bip01~Head",
        "Bip01~{}~Clavicle,Bip01~{}~UpperArm,Bip01~{}~Forearm,Bip01~{}~Hand",
        "Bip01~{}~Thigh,Bip01~{}~Calf,Bip01~{}~Foot,Bip01~{}~Toe0",
        root="Bip01",
        above_arms="Bip01~Neck",
        fingers="Bip01~{}~Finger<f><n>",
        finger_words=("0", "1", "2", "3", "4"),
        first=0,
        extra=(
            ("Bip01~HeadNub", "Bip01~Head", "top", "top"),
            ("Bip01~{}~ForeTwist", "Bip01~{}~Forearm", "forearm", "hand"),
            ("Bip01~{}~Toe0Nub", "Bip01~{}~Toe0", "toe_tip", "toe_tip"),
            ("Bip01~Footsteps", "Bip01", "ground", "toe"),
        ),
    ),
    "Daz": Names(
        "hip",
        "abdomenLower abdomenUpper chestLower chestUpper",
        "neckLower neckUpper",
        "head",
        "{}Collar,{}ShldrBend {}ShldrTwist,{}ForearmBend {}ForearmTwist,{}Hand",
        "{}ThighBend {}ThighTwist,{}Shin,{}Foot {}Metatarsals,{}Toe",
        ("l", "r"),
        above_legs="pelvis",
        fingers="{}<f><n>",
        finger_words=("Thumb", "Index", "Mid", "Ring", "Pinky"),
        palm="{}Carpal<n>",
        extra=(
            ("{}Pectoral", "chestLower", "collar", "upper_arm"),
            ("{}Eye", "head", "eye", "brow"),
            ("lowerJaw", "head", "jaw", "chin"),
        ),
    ),
    "Valve": Names(
        "ValveBiped.Bip01_Pelvis",
        "ValveBiped.Bip01_Spine ValveBiped.Bip01_Spine1 ValveBiped.Bip01_Spine4",
        "ValveBiped.Bip01_Neck1",
        "ValveBiped.Bip01_Head1",
        "ValveBiped.Bip01_{}_Clavicle,ValveBiped.Bip01_{}_UpperArm,ValveBiped.Bip01_{}_Forearm,"
        "ValveBiped.Bip01_{}_Hand",
        "ValveBiped.Bip01_{}_Thigh,ValveBiped.Bip01_{}_Calf,ValveBiped.Bip01_{}_Foot,"
        "ValveBiped.Bip01_{}_Toe0",
        fingers="ValveBiped.Bip01_{}_Finger<f><n>",
        finger_words=("0", "1", "2", "3", "4"),
        first=0,
        extra=(("ValveBiped.Anim_Attachment_{}H", "ValveBiped.Bip01_{}_Hand", "hand", "hand_tip"),),
    ),
    "SMPL": Names(
        "Pelvis",
        "Spine1 Spine2 Spine3",
        "Neck",
        "Head",
        "{}_Collar,{}_Shoulder,{}_Elbow,{}_Wrist {}_Hand",
        "{}_Hip,{}_Knee,{}_Ankle,{}_Foot",
    ),
    "CMU": Names(
        "root",
        "lowerback upperback thorax",
        "lowerneck upperneck",
        "head",
        "{}clavicle,{}humerus,{}radius,{}wrist {}hand",
        "{}femur,{}tibia,{}foot,{}toes",
        ("l", "r"),
        above_legs="{}hipjoint",
        extra=(
            ("{}fingers", "{}hand", "middle", "middle_tip"),
            ("{}thumb", "{}wrist", "thumb", "thumb_tip"),
        ),
    ),
    "Biovision": Names(
        "Hips",
        "Chest Chest2 Chest3 Chest4",
        "Neck",
        "Head",
        "{}Collar,{}Shoulder,{}Elbow,{}Wrist",
        "{}Hip,{}Knee,{}Ankle,{}Toe",
        ("Left", "Right"),
    ),
    "Kinect": Names(
        "SpineBase",
        "SpineMid SpineShoulder",
        "Neck",
        "Head",
        ",Shoulder{},Elbow{},Wrist{} Hand{}",
        "Hip{},Knee{},Ankle{},Foot{}",
        ("Left", "Right"),
    ),
    "Second Life": Names(
        "mPelvis",
        "mTorso mChest",
        "mNeck",
        "mHead",
        "mCollar{},mShoulder{},mElbow{},mWrist{}",
        "mHip{},mKnee{},mAnkle{},mFoot{}",
        ("Left", "Right"),
        extra=(("mSkull", "mHead", "top", "top"), ("mEye{}", "mHead", "eye", "brow")),
    ),
    "HumanIK": Names(
        "Bob:Hips",
        "Bob:Spine Bob:Spine1 Bob:Spine2 Bob:Spine3",
        "Bob:Neck Bob:Neck1",
        "Bob:Head",
        "Bob:{}Shoulder,Bob:{}Arm,Bob:{}ForeArm,Bob:{}Hand",
        "Bob:{}UpLeg,Bob:{}Leg,Bob:{}Foot,Bob:{}ToeBase",
        ("Left", "Right"),
        root="Bob:Reference",
        fingers="Bob:{}Hand<f><n>",
        palm="Bob:{}InHand<f>",
        finger_words=("Thumb", "Index", "Middle", "Ring", "Pinky"),
        extra=(
            ("Bob:{}ArmRoll", "Bob:{}Arm", "upper_arm", "forearm"),
            ("Bob:{}UpLegRoll", "Bob:{}UpLeg", "thigh", "shin"),
        ),
    ),
    "Unity": Names(
        "Hips",
        "Spine Chest",
        "Neck",
        "Head",
        "{}~shoulder,{}~arm,{}~elbow,{}~wrist",
        "{}~leg,{}~knee,{}~ankle,{}~toe",
        ("Left", "Right"),
        root="Armature",
        fingers="<f><n>_{}",
        finger_words=("Thumb", "IndexFinger", "MiddleFinger", "RingFinger", "LittleFinger"),
    ),
    "Advanced Skeleton": Names(
        "Root_M",
        "Spine1_M Spine2_M Chest_M",
        "Neck_M",
        "Head_M",
        "Scapula_{},Shoulder_{} ShoulderPart1_{},Elbow_{} ElbowPart1_{},Wrist_{}",
        "Hip_{} HipPart1_{},Knee_{} KneePart1_{},Ankle_{},Toes_{}",
        fingers="<f>Finger<n>_{}",
        finger_words=("Thumb", "Index", "Middle", "Ring", "Pinky"),
        extra=(
            ("ToesEnd_{}", "Toes_{}", "toe_tip", "toe_tip"),
            ("HeadEnd_M", "Head_M", "top", "top"),
        ),
    ),
    "studio": Names(
        "c_pelvis_jnt",
        "c_spine01_jnt c_spine02_jnt c_chest_jnt",
        "c_neck01_jnt",
        "c_head_jnt",
        "{}_clav_jnt,{}_upArm_jnt,{}_lowArm_jnt,{}_hand_jnt",
        "{}_upLeg_jnt,{}_lowLeg_jnt,{}_foot_jnt,{}_ball_jnt",
        ("l", "r"),
        root="world_jnt",
        fingers="{}_<f><n>_jnt",
    ),
    "MakeHuman": Names(
        "root",
        "spine05 spine04 spine03 spine02 spine01",
        "neck01 neck02 neck03",
        "head",
        "clavicle.{} shoulder01.{},upperarm01.{} upperarm02.{},lowerarm01.{} lowerarm02.{},wrist.{}",
        "upperleg01.{} upperleg02.{},lowerleg01.{} lowerleg02.{},foot.{},toe1-1.{} toe1-2.{}",
        above_legs="pelvis.{}",
        fingers="finger<f>-<n>.{}",
        palm="metacarpal<n>.{}",
        finger_words=("1", "2", "3", "4", "5"),
        extra=(
            ("toe2-1.{} toe2-2.{}", "foot.{}", "toe", "toe_tip"),
            ("breast.{}", "spine02", "collar", "upper_arm"),
            ("jaw", "head", "jaw", "chin"),
            ("eye.{}", "head", "eye", "brow"),
        ),
    ),
}


def make_named(name: str, body: Proportions | None = None, arm_angle: float = 45.0) -> Character:
    """Make a character with the bone names of a program."""
    names = NAMES[name]
    points = place_joints(body or Proportions(), arm_angle)
    chains = _list_trunk(names)
    chest = names.spine.split()[-1]
    chains += _list_limb(names.arm, _ARM, names.above_arms or chest)
    chains += _list_leg(names)
    hand = names.arm.split(",")[-1].split()[-1]
    for number, word in enumerate(names.finger_words if names.fingers else ()):
        chains += _list_finger(names, number, word, hand)
    chains += [Chain("", bone, start, end, above) for bone, above, start, end in names.extra]
    made = build_character(chains, points, sides=names.sides, unit=names.unit)
    if names.above_legs and "{}" not in names.above_legs:
        made.roles["hips"] += (names.above_legs,)  # a pelvis that carries the legs alone
    # names with spaces are split there, so that they are written with '~'
    spaced = made.skeleton.with_names(tuple(n.replace("~", " ") for n in made.skeleton.names))
    roles = {role: tuple(n.replace("~", " ") for n in bones) for role, bones in made.roles.items()}
    return replace(made, skeleton=spaced, roles=roles)


def rename(character: Character, pattern: str) -> Character:
    """Give all bones names that say nothing; `pattern` holds {} for a number."""
    bones = character.skeleton.names
    # numbers in another order than that of the bones
    new = {bone: pattern.format(7 * n % 1009) for n, bone in enumerate(bones)}
    roles = {role: tuple(new[bone] for bone in chain) for role, chain in character.roles.items()}
    skeleton = character.skeleton.with_names(tuple(new[bone] for bone in bones))
    return replace(character, skeleton=skeleton, roles=roles)


def leave_out(character: Character, names: Collection[str]) -> Character:
    """Leave bones out, with those below them."""
    skeleton = character.skeleton
    gone = {skeleton.index(name) for name in names}
    kept = [b for b in range(skeleton.bone_count) if gone.isdisjoint(skeleton.get_chain_to_root(b))]
    number = {bone: index for index, bone in enumerate(kept)}
    smaller = Skeleton(
        tuple(skeleton.names[bone] for bone in kept),
        np.array([number.get(int(skeleton.parents[bone]), -1) for bone in kept]),
        skeleton.rest_positions[kept],
        skeleton.rest_rotations[kept],
        tuple((number[bone], end) for bone, end in skeleton.end_sites if bone in number),
    )
    roles = {
        role: chain for role, chain in character.roles.items() if set(chain) <= set(smaller.names)
    }
    return replace(character, skeleton=smaller, roles=roles)


def _list_trunk(names: Names) -> list[Chain]:
    rows = [
        ("root", names.root, "ground", "hips"),
        ("hips", names.hips, "hips", "waist"),
        ("spine", names.spine, "waist", "neck"),
        ("neck", names.neck, "neck", "head"),
        ("head", names.head, "head", "top"),
    ]
    chains, parent = [], ""
    for role, bones, start, end in rows:
        if bones:
            chains.append(Chain(role, bones, start, end, parent))
            parent = bones.split()[-1]
    return chains


def _list_limb(limb: str, parts: tuple[str, ...], parent: str) -> list[Chain]:
    chains = []
    for part, bones in zip(parts, limb.split(","), strict=True):
        if bones:
            chains.append(Chain(part, bones, part, _NEXT[part], parent))
            parent = bones.split()[-1]
    return chains


def _list_leg(names: Names) -> list[Chain]:
    if not names.above_legs:
        return _list_limb(names.leg, _LEG, names.hips)
    start, end = ("hip_joint", "thigh") if "{}" in names.above_legs else ("hips", "hip_joint")
    joint = Chain("", names.above_legs, start, end, names.hips)
    return [joint, *_list_limb(names.leg, _LEG, names.above_legs)]


def _list_finger(names: Names, number: int, word: str, hand: str) -> list[Chain]:
    """Return a finger of three bones, below one in the palm if the rig has these."""
    finger, chains = FINGERS[number], []
    if names.palm and number:
        palm = names.palm.replace("<f>", word).replace("<n>", str(number))
        chains.append(Chain("", palm, "hand", finger, hand))
        hand = palm
    counts = [str(names.first + n) if names.first + n else "" for n in range(3)]
    bones = " ".join(names.fingers.replace("<f>", word).replace("<n>", n) for n in counts)
    return [*chains, Chain(finger, bones, finger, f"{finger}_tip", hand)]
