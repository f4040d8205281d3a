"""Characters to bring motion onto, and two more skeletons that motion comes on, without Blender.

Each has its own names, rest pose, bone axes, counts of bones and proportions, and says which bones
have which role. Motion on the CMU-like and on the 77-joint skeleton is that of a humanoid clip: the
joints that both share are in the same places in every frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.skeleton import Skeleton

SIDES = ("left", "right")
FINGERS = ("thumb", "index", "middle", "ring", "pinky")


class Proportions(NamedTuple):
    """Lengths as multiples of those of a plain adult, 1.75 m tall."""

    size: float = 1.0
    legs: float = 1.0
    torso: float = 1.0
    arms: float = 1.0
    shoulders: float = 1.0
    hips: float = 1.0
    feet: float = 1.0


class Chain(NamedTuple):
    """Bones in a line from one point to another; {} in names is for the side.

    `parent` is the bone above the first. Without a role they are twist bones or helpers.
    """

    role: str
    names: str
    start: str
    end: str
    parent: str


@dataclass(frozen=True)
class Character:
    """A skeleton with the names of its bones by role, top to bottom."""

    skeleton: Skeleton
    roles: dict[str, tuple[str, ...]]
    four_legged: bool = False

    def list_chains(self) -> dict[str, tuple[int, ...]]:
        """Return bone indices by role."""
        return {
            role: tuple(self.skeleton.index(name) for name in names)
            for role, names in self.roles.items()
        }


def place_joints(body: Proportions, arm_angle: float) -> dict[str, np.ndarray]:
    """Return points of a body that faces -Y; those of limbs are on the left.

    Arms hang by `arm_angle` degrees below the horizontal.
    """
    ankle = 0.08
    hip = ankle + 0.84 * body.legs
    raised = hip - 0.92
    points = {
        "ground": (0.0, 0.0, 0.0),
        "hips": (0.0, 0.0, 0.96 + raised),
        "waist": (0.0, -0.005, 1.06 + raised),
        "thigh": (0.09 * body.hips, 0.0, hip),
        "hip_joint": (0.02, 0.0, 0.95 + raised),
        "shin": (0.09 * body.hips, -0.012, ankle + 0.42 * body.legs),
        "foot": (0.09 * body.hips, 0.025, ankle),
        "toe": (0.09 * body.hips + 0.01, 0.025 - 0.135 * body.feet, 0.02),
        "toe_tip": (0.09 * body.hips + 0.01, 0.025 - 0.21 * body.feet, 0.015),
    }
    for name, y, z in (
        ("neck", 0.03, 1.47),
        ("head", 0.01, 1.57),
        ("top", 0.0, 1.75),
        ("brow", -0.09, 1.66),
        ("jaw", -0.02, 1.59),
        ("chin", -0.09, 1.54),
    ):
        points[name] = (0.0, y, hip + body.torso * (z - 0.92))
    shoulder = hip + body.torso * 0.51
    points["eye"] = (0.03, -0.07, hip + body.torso * 0.74)
    points["collar"] = (0.025 * body.shoulders, 0.0, shoulder)
    points["upper_arm"] = (0.17 * body.shoulders, 0.02, shoulder)
    angle = np.radians(arm_angle)
    turn = quat.from_angle_axis(angle, np.array([0.0, 1.0, 0.0]))
    arm = {"forearm": (0.28, 0.012, 0.0), "hand": (0.53, 0.0, 0.0), "hand_tip": (0.62, -0.005, 0.0)}
    for number, finger in enumerate(FINGERS[1:]):
        y, reach = -0.03 + 0.022 * number, 0.075 - 0.008 * abs(number - 1)
        arm |= {finger: (0.62, y, 0.0), f"{finger}_tip": (0.62 + reach, y, -0.008)}
    arm |= {"thumb": (0.56, -0.03, -0.01), "thumb_tip": (0.62, -0.085, -0.02)}
    for name, offset in arm.items():
        points[name] = points["upper_arm"] + quat.mul_vec(turn, body.arms * np.array(offset))
    return {name: body.size * np.array(point) for name, point in points.items()}


def build_character(
    chains: Sequence[Chain],
    points: dict[str, np.ndarray],
    *,
    sides: tuple[str, str] = ("l", "r"),
    axes: str = "along",
    unit: float = 1.0,
    four_legged: bool = False,
) -> Character:
    """Build a character; `axes` are 'world', 'along' (Y along bones) or 'across' (X along bones).

    Lengths are multiplied by `unit`, as if they were centimetres.
    """
    names: list[str] = []
    parents: list[int] = []
    heads: list[np.ndarray] = []
    tails: list[np.ndarray] = []
    roles: dict[str, tuple[str, ...]] = {}
    for chain in chains:
        for side in (0, 1) if "{}" in chain.names else (None,):
            bones = [
                name.format(*sides[side or 0 : (side or 0) + 1]) for name in chain.names.split()
            ]
            mirror = np.array([-1.0 if side else 1.0, 1.0, 1.0])
            start, end = points[chain.start] * mirror, points[chain.end] * mirror
            parent = chain.parent.format(sides[side or 0])
            for number, bone in enumerate(bones):
                ways = [start + (end - start) * k / len(bones) for k in (number, number + 1)]
                parents.append(names.index(parent) if parent else -1)
                names.append(bone)
                heads.append(unit * ways[0])
                tails.append(unit * ways[1])
                parent = bone
            if chain.role:
                role = chain.role if side is None else f"{SIDES[side]}_{chain.role}"
                roles[role] = tuple(bones)
    turns = _turn_bones(np.array(heads), np.array(tails), axes)
    skeleton = _assemble(names, parents, np.array(heads), np.array(tails), turns)
    return Character(skeleton, roles, four_legged)


def _turn_bones(heads: np.ndarray, tails: np.ndarray, axes: str) -> np.ndarray:
    """Return world rotations (B, 4) of bones from their ends (B, 3)."""
    if axes == "world":
        return np.tile(quat.IDENTITY, (len(heads), 1))
    along = quat.normalize_vectors(tails - heads)
    helper = np.where(np.abs(along[:, 1:2]) < 0.9, [[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]])
    across = quat.normalize_vectors(np.cross(along, helper))
    third = np.cross(across, along)
    columns = [across, along, third] if axes == "along" else [along, -across, third]
    return quat.from_matrix(np.stack(columns, axis=-1))


def _assemble(
    names: Sequence[str],
    parents: Sequence[int],
    heads: np.ndarray,
    tails: np.ndarray,
    turns: np.ndarray,
) -> Skeleton:
    local, offsets = quat.ik(turns, heads, np.array(parents))
    leaves = sorted(set(range(len(names))) - set(parents))
    sites = quat.inv_mul_vec(turns, tails - heads)
    return Skeleton(
        tuple(names),
        np.array(parents),
        offsets.astype(np.float32),
        local.astype(np.float32),
        tuple((bone, tuple(map(float, sites[bone]))) for bone in leaves),
    )


def _add_fingers(pattern: str, hand: str, count: int = 3) -> list[Chain]:
    """Return five fingers; `pattern` holds {finger} and {number}, from 1."""
    return [
        Chain(
            finger,
            " ".join(
                pattern.replace("<f>", finger).replace("<n>", str(n + 1)) for n in range(count)
            ),
            finger,
            f"{finger}_tip",
            hand,
        )
        for finger in FINGERS
    ]


def _list_limbs(prefix: str, limbs: str, chest: str, hips: str) -> list[Chain]:
    """Return arms and legs of one bone a part, from names split by spaces: collar to hand, thigh
    to toe.
    """
    names = [prefix + name for name in limbs.split()]
    parts = ["collar", "upper_arm", "forearm", "hand", "hand_tip"]
    result, parent = [], chest
    for number, part in enumerate(parts[:-1]):
        result.append(Chain(part, names[number], part, parts[number + 1], parent))
        parent = names[number]
    parts, parent = ["thigh", "shin", "foot", "toe", "toe_tip"], hips
    for number, part in enumerate(parts[:-1]):
        if len(names) <= 4 + number:
            break
        result.append(Chain(part, names[4 + number], part, parts[number + 1], parent))
        parent = names[4 + number]
    return result


def make_mixamo() -> Character:
    """Make a T-pose in centimetres with fingers and Mixamo's names."""
    p = "mixamorig:"
    limbs = "{}Shoulder {}Arm {}ForeArm {}Hand {}UpLeg {}Leg {}Foot {}ToeBase"
    chains = [
        Chain("hips", f"{p}Hips", "hips", "waist", ""),
        Chain("spine", f"{p}Spine {p}Spine1 {p}Spine2", "waist", "neck", f"{p}Hips"),
        Chain("neck", f"{p}Neck", "neck", "head", f"{p}Spine2"),
        Chain("head", f"{p}Head", "head", "top", f"{p}Neck"),
        *_list_limbs(p, limbs, f"{p}Spine2", f"{p}Hips"),
    ]
    for chain in _add_fingers(p + "{}Hand<f><n>", p + "{}Hand"):
        cased = chain.names.replace(chain.role, chain.role.title())
        chains.append(chain._replace(names=cased))
    joints = place_joints(Proportions(), 0.0)
    return build_character(chains, joints, sides=("Left", "Right"), unit=100.0)


def make_unreal() -> Character:
    """Make a 45 degree A-pose with Y across limbs, twist leaves, a root, and Unreal's names."""
    limbs = "clavicle_{} upperarm_{} lowerarm_{} hand_{} thigh_{} calf_{} foot_{} ball_{}"
    chains = [
        Chain("root", "root", "ground", "hips", ""),
        Chain("hips", "pelvis", "hips", "waist", "root"),
        Chain("spine", "spine_01 spine_02 spine_03 spine_04 spine_05", "waist", "neck", "pelvis"),
        Chain("neck", "neck_01 neck_02", "neck", "head", "spine_05"),
        Chain("head", "head", "head", "top", "neck_02"),
        *_list_limbs("", limbs, "spine_05", "pelvis"),
        Chain("", "upperarm_twist_01_{}", "upper_arm", "forearm", "upperarm_{}"),
        Chain("", "lowerarm_twist_01_{}", "forearm", "hand", "lowerarm_{}"),
        Chain("", "thigh_twist_01_{}", "thigh", "shin", "thigh_{}"),
        Chain("", "calf_twist_01_{}", "shin", "foot", "calf_{}"),
        *_add_fingers("<f>_0<n>_{}", "hand_{}"),
        Chain("", "ik_foot_root", "ground", "toe_tip", "root"),
        Chain("", "ik_foot_{}", "foot", "toe", "ik_foot_root"),
    ]
    body = Proportions(1.03, legs=1.03, shoulders=1.08, hips=0.95, feet=1.05)
    return build_character(chains, place_joints(body, 45.0), axes="across")


def make_mpfb() -> Character:
    """Make a 42 degree A-pose with limbs split in two, three neck bones, fingers and MPFB's names."""
    hand = "wrist.{}"
    chains = [
        Chain("root", "root", "ground", "hips", ""),
        Chain("hips", "spine05", "hips", "waist", "root"),
        Chain("spine", "spine04 spine03 spine02 spine01", "waist", "neck", "spine05"),
        Chain("neck", "neck01 neck02 neck03", "neck", "head", "spine01"),
        Chain("head", "head", "head", "top", "neck03"),
        Chain("collar", "clavicle.{} shoulder01.{}", "collar", "upper_arm", "spine01"),
        Chain("upper_arm", "upperarm01.{} upperarm02.{}", "upper_arm", "forearm", "shoulder01.{}"),
        Chain("forearm", "lowerarm01.{} lowerarm02.{}", "forearm", "hand", "upperarm02.{}"),
        Chain("hand", hand, "hand", "hand_tip", "lowerarm02.{}"),
        Chain("", "pelvis.{}", "hip_joint", "thigh", "spine05"),
        Chain("thigh", "upperleg01.{} upperleg02.{}", "thigh", "shin", "pelvis.{}"),
        Chain("shin", "lowerleg01.{} lowerleg02.{}", "shin", "foot", "upperleg02.{}"),
        Chain("foot", "foot.{}", "foot", "toe", "lowerleg02.{}"),
        Chain("toe", "toe1-1.{} toe1-2.{}", "toe", "toe_tip", "foot.{}"),
    ]
    for number, chain in enumerate(_add_fingers("finger<f>-<n>.{}", hand)):
        names = chain.names.replace(chain.role, str(number + 1))
        chains.append(chain._replace(names=names))
    body = Proportions(0.97, torso=0.98, arms=1.03, hips=1.1, feet=0.95)
    return build_character(chains, place_joints(body, 42.0), sides=("L", "R"))


_PLAIN = "shoulder.{} upper_arm.{} forearm.{} hand.{} thigh.{} shin.{} foot.{} toe.{}"


def make_plain(body: Proportions, arm_angle: float = 50.0, axes: str = "along") -> Character:
    """Make a character of any proportions with Blender's usual names."""
    chains = [
        Chain("hips", "hips", "hips", "waist", ""),
        Chain("spine", "spine chest", "waist", "neck", "hips"),
        Chain("neck", "neck", "neck", "head", "chest"),
        Chain("head", "head", "head", "top", "neck"),
        *_list_limbs("", _PLAIN, "chest", "hips"),
    ]
    return build_character(chains, place_joints(body, arm_angle), sides=("L", "R"), axes=axes)


def make_child() -> Character:
    """Make a child: legs of 0.6 times an adult's, and three quarters of its size."""
    return make_plain(Proportions(0.75, legs=0.6))


def make_giant() -> Character:
    return make_plain(Proportions(1.6))


def make_no_toes() -> Character:
    """Make a 60 degree A-pose without toes, with twist leaves and names that say nothing."""
    chains = [
        Chain("hips", "b00", "hips", "waist", ""),
        Chain("spine", "b01 b02 b03 b04 b05 b06", "waist", "neck", "b00"),
        Chain("neck", "b07", "neck", "head", "b06"),
        Chain("head", "b08", "head", "top", "b07"),
        *_list_limbs("", "c1{} c2{} c3{} c4{} d1{} d2{} d3{}", "b06", "b00"),
        Chain("", "e1{}", "upper_arm", "forearm", "c2{}"),
        Chain("", "e2{}", "thigh", "shin", "d1{}"),
    ]
    joints = place_joints(Proportions(torso=1.06), 60.0)
    return build_character(chains, joints, sides=("a", "b"))


def make_quadruped(forelegs: float = 1.0) -> Character:
    """Make a four-legged animal with long forelegs, paws, shoulder blades and a tail.

    Its front is as high as its `forelegs` are long, as multiples of the usual length.
    """
    points = {
        "ground": (0.0, 0.0, 0.0),
        "hips": (0.0, 0.42, 0.72),
        "loin": (0.0, 0.3, 0.76),
        "withers": (0.0, -0.2, 0.8),
        "nape": (0.0, -0.3, 0.86),
        "head": (0.0, -0.48, 1.04),
        "nose": (0.0, -0.72, 0.98),
        "tail": (0.0, 0.5, 0.74),
        "tail_tip": (0.0, 0.95, 0.5),
        "thigh": (0.1, 0.42, 0.68),
        "shin": (0.1, 0.33, 0.42),
        "foot": (0.1, 0.52, 0.18),
        "toe": (0.1, 0.46, 0.03),
        "toe_tip": (0.1, 0.38, 0.01),
        "collar": (0.07, -0.17, 0.84),
        "upper_arm": (0.1, -0.27, 0.62),
        "forearm": (0.1, -0.17, 0.42),
        "hand": (0.1, -0.19, 0.14),
        "fore_toe": (0.1, -0.21, 0.03),
        "fore_tip": (0.1, -0.29, 0.01),
    }
    chains = [
        Chain("root", "root", "ground", "hips", ""),
        Chain("hips", "pelvis", "hips", "loin", "root"),
        Chain("spine", "spine.001 spine.002 spine.003", "loin", "withers", "pelvis"),
        Chain("neck", "neck.001 neck.002", "nape", "head", "spine.003"),
        Chain("head", "head", "head", "nose", "neck.002"),
        Chain("", "tail.001 tail.002 tail.003 tail.004", "tail", "tail_tip", "pelvis"),
        Chain("thigh", "thigh.{}", "thigh", "shin", "pelvis"),
        Chain("shin", "shin.{}", "shin", "foot", "thigh.{}"),
        Chain("foot", "foot.{}", "foot", "toe", "shin.{}"),
        Chain("toe", "toe.{}", "toe", "toe_tip", "foot.{}"),
        Chain("collar", "scapula.{}", "collar", "upper_arm", "spine.003"),
        Chain("upper_arm", "front_thigh.{}", "upper_arm", "forearm", "scapula.{}"),
        Chain("forearm", "front_shin.{}", "forearm", "hand", "front_thigh.{}"),
        Chain("hand", "front_foot.{}", "hand", "fore_toe", "front_shin.{}"),
        Chain("fore_toe", "front_toe.{}", "fore_toe", "fore_tip", "front_foot.{}"),
    ]
    places = {name: np.array(point) for name, point in points.items()}
    raised = (forelegs - 1.0) * places["upper_arm"][2]
    for name in ("upper_arm", "forearm", "hand"):
        places[name][2] *= forelegs
    for name in ("withers", "nape", "head", "nose", "collar"):
        places[name][2] += raised
    return build_character(chains, places, sides=("L", "R"), four_legged=True)


HUMANOID_ROLES = {
    "hips": ("Hips",),
    "spine": ("Spine", "Chest", "UpperChest"),
    "neck": ("Neck",),
    "head": ("Head",),
} | {
    f"{side}_{part}": (side.title() + name,)
    for side in SIDES
    for part, name in zip(
        ("collar", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe"),
        ["Shoulder", "Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot", "Toe"],
        strict=True,
    )
}
# of the dog of `animals`, whose shoulder blades hang below its chest
DOG_ROLES = {
    "hips": ("Hips",),
    "spine": ("Spine", "Spine1"),
    "neck": ("Neck",),
    "head": ("Head",),
} | {
    f"{side}_{part}": (side.title() + name,)
    for side in SIDES
    for part, name in zip(
        ("thigh", "shin", "foot", "collar", "upper_arm", "forearm", "hand"),
        ["UpLeg", "Leg", "Foot", "Shoulder", "Arm", "ForeArm", "Hand"],
        strict=True,
    )
}

# bones of the CMU-like skeleton: name, parent, the humanoid's bone that carries it, its share of
# the way from there to the humanoid's next bone, and its role
_CMU_TRUNK = """
Hips - Hips 0 - hips
LowerBack Hips Hips 0.3 Spine spine
Spine LowerBack Spine 0.1 Chest spine
Spine1 Spine UpperChest 0 - spine
Neck Spine1 Neck 0 - neck
Neck1 Neck Neck 0.5 Head neck
Head Neck1 Head 0 - head
"""
_CMU_SIDE = """
+HipJoint Hips Hips 0.15 *UpLeg -
*UpLeg +HipJoint *UpLeg 0 - thigh
*Leg *UpLeg *Leg 0 - shin
*Foot *Leg *Foot 0 - foot
*ToeBase *Foot *Toe 0 - toe
*Shoulder Spine1 *Shoulder 0 - collar
*Arm *Shoulder *Arm 0 - upper_arm
*ForeArm *Arm *ForeArm 0 - forearm
*Hand *ForeArm *Hand 0 - hand
*FingerBase *Hand *Hand 0.09 x -
*HandIndex1 *FingerBase *Hand 0.12 x -
+Thumb *Hand *Hand 0.03 thumb -
"""
_MANY_TRUNK = """
Root - Hips 0 ground root
Pelvis Root Hips 0 - hips
SpineA Pelvis Spine 0 - spine
SpineB SpineA Chest 0 - spine
SpineC SpineB Chest 0.5 UpperChest spine
SpineD SpineC UpperChest 0 - spine
NeckA SpineD Neck 0 - neck
NeckB NeckA Neck 0.6 Head neck
Skull NeckB Head 0 - head
Jaw Skull Head 0.02 face -
Chin Jaw Head 0.08 face -
"""
_MANY_SIDE = """
Eye.+ Skull Head 0.09 face -
Thigh.+ Pelvis *UpLeg 0 - thigh
Shin.+ Thigh.+ *Leg 0 - shin
Foot.+ Shin.+ *Foot 0 - foot
Toe.+ Foot.+ *Toe 0 - toe
Collar.+ SpineD *Shoulder 0 - collar
UpperArm.+ Collar.+ *Arm 0 - upper_arm
Forearm.+ UpperArm.+ *ForeArm 0 - forearm
Hand.+ Forearm.+ *Hand 0 - hand
"""


def make_cmu_like(clip: Clip) -> tuple[Clip, Character]:
    """Put a clip of the generated humanoid on 31 bones with CMU's names."""
    rows = _fill_sides(_CMU_TRUNK, _CMU_SIDE)
    return _carry(clip, rows, {})


def make_many_joints(clip: Clip) -> tuple[Clip, Character]:
    """Put a clip of the generated humanoid on 77 joints with a root, fingers that curl, and a face.

    The motion lies on the root bone: the pelvis stays above it.
    """
    rows = _fill_sides(_MANY_TRUNK, _MANY_SIDE)
    curls: dict[str, np.ndarray] = {}
    time = np.arange(clip.frame_count) / clip.fps
    for side, letter in zip(SIDES, "LR", strict=True):
        for number, finger in enumerate(FINGERS):
            parent = f"Hand.{letter}"
            for part in range(5 if finger != "thumb" else 4):
                name = f"{finger.title()}{part}.{letter}"
                at = 0.03 * (part + 1) if finger != "thumb" else 0.02 * (part + 1)
                role = f"{side}_{finger}" if part else ""
                rows.append((name, parent, f"{side.title()}Hand", at, finger, role))
                parent = name
                if part:
                    curls[name] = 0.25 + 0.25 * np.sin(2.0 * time + number)
    return _carry(clip, rows, curls)


def _fill_sides(trunk: str, side: str) -> list[tuple[str, str, str, float, str, str]]:
    rows = []
    for text, words in ((trunk, (("", ""),)), (side, (("Left", "L"), ("Right", "R")))):
        for word, letter in words:
            for line in text.strip().splitlines():
                cells = line.replace("*", word).replace("+", letter).split()
                role = "" if cells[5] == "-" else cells[5]
                if role and word:
                    role = f"{word.lower()}_{role}"
                rows.append((*cells[:3], float(cells[3]), cells[4], role))
    return rows


def _carry(
    clip: Clip,
    rows: Sequence[tuple[str, str, str, float, str, str]],
    curls: dict[str, np.ndarray],
) -> tuple[Clip, Character]:
    """Let the bones of a humanoid clip carry new ones, as `rows` say; `curls` (F,) bend fingers.

    Rest rotations are the identity and the rest pose is the humanoid's T-pose, as in BVH files.
    """
    names = [row[0] for row in rows]
    parents = np.array([names.index(row[1]) if row[1] != "-" else -1 for row in rows])
    rest = clip.skeleton.compute_rest_world()[1].astype(np.float64)
    rotations, positions = (part.astype(np.float64) for part in clip.compute_world())
    carriers = [clip.skeleton.index(row[2]) for row in rows]
    places = np.array([_place(clip.skeleton, rest, row) for row in rows])
    offsets = places - rest[carriers]
    worlds = rotations[:, carriers]
    heads = positions[:, carriers] + quat.mul_vec(
        worlds, np.broadcast_to(offsets, (*worlds.shape[:2], 3))
    )
    if rows[0][4] == "ground":
        heads[:, 0] = heads[:, 1] * [1.0, 1.0, 0.0]
        worlds[:, 0] = quat.IDENTITY
    local, moved = quat.ik(worlds, heads, parents)
    for name, angle in curls.items():
        sign = 1.0 if name.endswith("L") else -1.0
        bone = names.index(name)
        local[:, bone] = quat.from_angle_axis(sign * angle, np.array([0.0, 1.0, 0.0]))
    rest_offsets = places - np.where(parents[:, None] >= 0, places[parents], 0.0)
    still = np.tile(quat.IDENTITY, (len(names), 1)).astype(np.float32)
    sites = tuple(
        (names.index(row[0]), site)
        for row in rows
        for bone, site in clip.skeleton.end_sites
        if clip.skeleton.names[bone] == row[2] and row[5].endswith(("head", "toe", "hand"))
    )
    skeleton = Skeleton(tuple(names), parents, rest_offsets.astype(np.float32), still, sites)
    roles: dict[str, tuple[str, ...]] = {}
    for row in rows:
        if row[5]:
            roles[row[5]] = (*roles.get(row[5], ()), row[0])
    result = replace(
        clip,
        skeleton=skeleton,
        positions=moved.astype(np.float32),
        rotations=quat.unroll(local).astype(np.float32),
    )
    return result, Character(skeleton, roles)


def _place(
    skeleton: Skeleton, rest: np.ndarray, row: tuple[str, str, str, float, str, str]
) -> np.ndarray:
    """Return where (3,) the bone of a row is in the humanoid's rest pose."""
    name, carrier, share, toward = row[0], row[2], row[3], row[4]
    place, sign = rest[skeleton.index(carrier)], -1.0 if carrier.startswith("Right") else 1.0
    if toward == "ground":
        return place * [1.0, 1.0, 0.0]
    if toward == "face":
        aside = {"L": 0.03, "R": -0.03}.get(name[-1] if "." in name else "", 0.0)
        return np.add(place, [aside, -0.08, share])
    if toward == "thumb":
        return np.add(place, [sign * share, -0.03 - share, 0.0])
    if toward in FINGERS:
        return np.add(place, [sign * share, -0.02 * (2 - FINGERS.index(toward)), 0.0])
    if toward == "x":
        return np.add(place, [sign * share, 0.0, 0.0])
    if toward == "-":
        return place
    return place + share * (rest[skeleton.index(toward)] - place)


TARGETS = {
    "mixamo": make_mixamo,
    "unreal": make_unreal,
    "mpfb": make_mpfb,
    "child": make_child,
    "giant": make_giant,
    "no toes": make_no_toes,
}
