"""Synthetic rigs: a walking body with the bone names of common rigs, and any axes, order of
siblings and names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.skeleton import Skeleton

# joint places of a standing body that faces -Y, in metres; those of the left side
CENTRE = {
    "hips": (0.0, 0.0, 0.95),
    "chest": (0.0, 0.02, 1.35),
    "neck": (0.0, 0.03, 1.5),
    "neck2": (0.0, 0.02, 1.55),
    "head": (0.0, 0.0, 1.6),
    "top": (0.0, -0.01, 1.8),
}
LEFT = {
    "joint": (0.01, 0.0, 0.95),
    "thigh": (0.09, 0.0, 0.92),
    "thigh2": (0.09, -0.005, 0.71),
    "shin": (0.09, -0.01, 0.5),
    "shin2": (0.09, 0.01, 0.295),
    "foot": (0.09, 0.03, 0.09),
    "toe": (0.1, -0.1, 0.03),
    "toe_tip": (0.1, -0.18, 0.02),
    "clavicle": (0.04, 0.0, 1.45),
    "arm": (0.17, 0.02, 1.45),
    "forearm": (0.42, 0.03, 1.4),
    "hand": (0.66, 0.0, 1.36),
}
TIPS = {"head": (0.0, -0.01, 1.8), "toe": LEFT["toe_tip"], "hand": (0.84, -0.01, 1.34)}
ARM = ("clavicle", "arm", "forearm", "hand")
LEG = ("thigh", "shin", "foot", "toe")


@dataclass(frozen=True)
class Naming:
    """Bone names of a rig; those of limbs hold {} for the side. `leg` and `arm` are (place, name)
    from the top.
    """

    sides: tuple[str, str]
    hips: str
    spine: tuple[str, ...]
    neck: tuple[str, ...]
    head: str
    arm: tuple[str, ...]
    leg: tuple[str, ...]
    leg_places: tuple[str, ...] = LEG
    root: str | None = None
    extra: tuple[tuple[str, str, tuple[float, float, float]], ...] = ()


def _prefix(prefix: str, names: str) -> tuple[str, ...]:
    return tuple(prefix + name for name in names.split())


NAMINGS = {
    "Mixamo": Naming(
        ("Left", "Right"),
        "mixamorig:Hips",
        _prefix("mixamorig:", "Spine Spine1 Spine2"),
        ("mixamorig:Neck",),
        "mixamorig:Head",
        _prefix("mixamorig:{}", "Shoulder Arm ForeArm Hand"),
        _prefix("mixamorig:{}", "UpLeg Leg Foot ToeBase Toe_End"),
        (*LEG, "toe_tip"),
        extra=(("mixamorig:HeadTop_End", "mixamorig:Head", CENTRE["top"]),),
    ),
    "LAFAN1": Naming(
        ("Left", "Right"),
        "Hips",
        ("Spine", "Spine1", "Spine2"),
        ("Neck",),
        "Head",
        _prefix("{}", "Shoulder Arm ForeArm Hand"),
        _prefix("{}", "UpLeg Leg Foot Toe"),
    ),
    "Bandai-Namco": Naming(
        ("L", "R"),
        "Hips",
        ("Spine", "Chest"),
        ("Neck",),
        "Head",
        ("Shoulder_{}", "UpperArm_{}", "LowerArm_{}", "Hand_{}"),
        ("UpperLeg_{}", "LowerLeg_{}", "Foot_{}", "Toes_{}"),
        root="joint_Root",
    ),
    "CMU BVH": Naming(
        ("L", "R"),
        "Hips",
        ("LowerBack", "Spine", "Spine1"),
        ("Neck", "Neck1"),
        "Head",
        ("{}eftShoulder", "{}eftArm", "{}eftForeArm", "{}eftHand"),
        ("{}HipJoint", "{}eftUpLeg", "{}eftLeg", "{}eftFoot", "{}eftToeBase"),
        ("joint", *LEG),
    ),
    "CMU ASF": Naming(
        ("l", "r"),
        "root",
        ("lowerback", "upperback", "thorax"),
        ("lowerneck", "upperneck"),
        "head",
        ("{}clavicle", "{}humerus", "{}radius", "{}hand"),
        ("{}hipjoint", "{}femur", "{}tibia", "{}foot", "{}toes"),
        ("joint", *LEG),
    ),
    "Rokoko": Naming(
        ("Left", "Right"),
        "Hips",
        ("Spine1", "Spine2", "Spine3", "Spine4"),
        ("Neck",),
        "Head",
        _prefix("{}", "Shoulder Arm ForeArm Hand"),
        _prefix("{}", "Thigh Shin Foot Toe"),
    ),
    "Xsens": Naming(
        ("Left", "Right"),
        "Pelvis",
        ("L5", "L3", "T12", "T8"),
        ("Neck",),
        "Head",
        _prefix("{}", "Shoulder UpperArm ForeArm Hand"),
        _prefix("{}", "UpperLeg LowerLeg Foot Toe"),
    ),
    "Unreal": Naming(
        ("l", "r"),
        "pelvis",
        ("spine_01", "spine_02", "spine_03"),
        ("neck_01",),
        "head",
        ("clavicle_{}", "upperarm_{}", "lowerarm_{}", "hand_{}"),
        ("thigh_{}", "calf_{}", "foot_{}", "ball_{}"),
        root="root",
        extra=(
            ("ik_foot_root", "root", (0.0, 0.0, 0.0)),
            ("ik_foot_l", "ik_foot_root", (0.1, 0.03, 0.09)),
            ("ik_foot_r", "ik_foot_root", (-0.1, 0.03, 0.09)),
            ("thigh_twist_01_l", "thigh_l", (0.09, 0.0, 0.7)),
            ("thigh_twist_01_r", "thigh_r", (-0.09, 0.0, 0.7)),
        ),
    ),
    "Rigify": Naming(
        ("L", "R"),
        "DEF-spine",
        ("DEF-spine.001", "DEF-spine.002", "DEF-spine.003"),
        ("DEF-spine.004", "DEF-spine.005"),
        "DEF-spine.006",
        ("DEF-shoulder.{}", "DEF-upper_arm.{}", "DEF-forearm.{}", "DEF-hand.{}"),
        (
            "DEF-thigh.{}",
            "DEF-thigh.{}.001",
            "DEF-shin.{}",
            "DEF-shin.{}.001",
            "DEF-foot.{}",
            "DEF-toe.{}",
        ),
        ("thigh", "thigh2", "shin", "shin2", "foot", "toe"),
        extra=(
            ("DEF-pelvis.L", "DEF-spine", (0.02, 0.0, 0.96)),
            ("DEF-pelvis.R", "DEF-spine", (-0.02, 0.0, 0.96)),
        ),
    ),
    "MotionBuilder": Naming(
        ("Left", "Right"),
        "Character1:Hips",
        _prefix("Character1:", "Spine Spine1 Spine2"),
        ("Character1:Neck",),
        "Character1:Head",
        _prefix("Character1:{}", "Shoulder Arm ForeArm Hand"),
        _prefix("Character1:{}", "UpLeg Leg Foot ToeBase"),
        root="Character1:Reference",
    ),
}


def make_walk(
    name: str = "LAFAN1",
    frames: int = 120,
    fps: float = 30.0,
    speed: float = 1.2,
    lean: float = 0.0,
) -> Clip:
    """Make a walk along -Y (backwards for a negative speed) on the named rig, with rest axes along
    the world's.

    `lean` in radians tilts the pelvis forwards and leaves the legs and the back as they are.
    """
    naming = NAMINGS[name]
    places = _place_bones(naming)
    skeleton = _build_skeleton(places, _place_tips(naming))
    phase = 2.0 * np.pi * 0.9 * np.arange(frames) / fps * (1.0 if speed >= 0.0 else -1.0)
    swings: dict[str, np.ndarray] = {
        naming.hips: np.full(frames, -lean),
        naming.head: 0.2 * np.sin(0.7 * phase),
    }
    swings |= {
        bone: np.full(frames, lean) for bone, (parent, _) in places.items() if parent == naming.hips
    }
    for bone, swing in _swing_limbs(naming, phase).items():
        swings[bone] = swings.get(bone, 0.0) + swing
    twists = {naming.hips: 0.1 * np.sin(phase), naming.spine[-1]: -0.15 * np.sin(phase)}
    return _animate(name, skeleton, swings, twists, naming.hips, speed, fps)


def list_roles(name: str) -> dict[str, str]:
    """Return the names of the bones of `make_walk(name)` by role."""
    naming = NAMINGS[name]
    roles = {"hips": naming.hips, "spine": naming.spine[-1], "head": naming.head}
    if naming.root:
        roles["root"] = naming.root
    for word, side in (("left", 0), ("right", 1)):
        limb = dict(
            zip(naming.leg_places, (_side(naming, part, side) for part in naming.leg), strict=True)
        )
        roles |= {f"{word}_{part}": limb[part] for part in LEG}
    return roles


def list_pairs(name: str) -> dict[str, str]:
    """Return counterparts by bone name."""
    naming = NAMINGS[name]
    result = {}
    for part in (*naming.leg, *naming.arm):
        left, right = _side(naming, part, 0), _side(naming, part, 1)
        result |= {left: right, right: left}
    extra = [bone for bone, _, place in naming.extra if place[0] != 0.0]
    for left, right in zip(extra[::2], extra[1::2], strict=True):
        result |= {left: right, right: left}
    return {bone: result.get(bone, bone) for bone in _place_bones(naming)}


def make_dog(frames: int = 120, fps: float = 30.0, tail: float = 0.4) -> Clip:
    """Make a walking animal with four legs and a tail that ends at the height `tail`; the pelvis is
    the root.
    """
    places: dict[str, tuple[str | None, tuple[float, float, float]]] = {
        "pelvis": (None, (0.0, 0.3, 0.6)),
        "back": ("pelvis", (0.0, 0.0, 0.62)),
        "withers": ("back", (0.0, -0.3, 0.6)),
        "neck": ("withers", (0.0, -0.4, 0.7)),
        "skull": ("neck", (0.0, -0.5, 0.85)),
        "tail": ("pelvis", (0.0, 0.4, 0.6)),
        "tail2": ("tail", (0.0, 0.6, 0.5)),
    }
    tips = {"skull": (0.0, -0.65, 0.85), "tail2": (0.0, 0.75, tail)}
    swings: dict[str, np.ndarray] = {}
    phase = 2.0 * np.pi * 0.9 * np.arange(frames) / fps
    for end, fork, y, shift in (("hind", "pelvis", 0.3, 0.0), ("fore", "withers", -0.3, np.pi / 2)):
        for side, x in (("l", 0.1), ("r", -0.1)):
            chain = [(x, y, 0.55), (x, y - 0.03, 0.32), (x, y + 0.02, 0.1), (x, y - 0.05, 0.02)]
            names = [f"{end}_{part}_{side}" for part in LEG]
            for bone, parent, place in zip(names, [fork, *names], chain, strict=False):
                places[bone] = (parent, place)
            tips[names[-1]] = (x, y - 0.1, 0.01)
            angle = phase + shift + (0.0 if side == "l" else np.pi)
            swings |= {
                names[0]: 0.25 * np.sin(angle),
                names[1]: 0.3 * np.maximum(np.cos(angle), 0.0) - 0.05,
            }
    swings["skull"] = 0.1 * np.sin(phase)
    return _animate("dog", _build_skeleton(places, tips), swings, {}, "pelvis", 0.7, fps)


def remove_bones(clip: Clip, names: set[str], end_sites: bool = True) -> Clip:
    """Remove bones and all below them, and optionally all end sites."""
    skeleton, keep = clip.skeleton, []
    for bone, parent in enumerate(skeleton.parents):
        if skeleton.names[bone] not in names and (parent < 0 or int(parent) in keep):
            keep.append(bone)
    place = {bone: i for i, bone in enumerate(keep)}
    smaller = Skeleton(
        tuple(skeleton.names[bone] for bone in keep),
        np.array([place.get(int(skeleton.parents[bone]), -1) for bone in keep]),
        skeleton.rest_positions[keep],
        skeleton.rest_rotations[keep],
        tuple((place[bone], tip) for bone, tip in skeleton.end_sites if bone in place)
        if end_sites
        else (),
    )
    return replace(
        clip, skeleton=smaller, positions=clip.positions[:, keep], rotations=clip.rotations[:, keep]
    )


def rename_bones(clip: Clip) -> Clip:
    """Name the bones b0 to bn."""
    return replace(
        clip,
        skeleton=clip.skeleton.with_names(tuple(f"b{i}" for i in range(clip.skeleton.bone_count))),
    )


def shuffle_siblings(clip: Clip, rng: np.random.Generator) -> tuple[Clip, np.ndarray]:
    """Reorder siblings; return the clip and the old index (B,) of each new bone."""
    skeleton, order = clip.skeleton, []
    stack = [int(bone) for bone in np.flatnonzero(skeleton.parents < 0)]
    while stack:
        order.append(stack.pop())
        stack += list(rng.permutation(skeleton.get_children(order[-1])))
    order = [int(bone) for bone in order]
    place = {bone: i for i, bone in enumerate(order)} | {-1: -1}
    other = Skeleton(
        tuple(skeleton.names[bone] for bone in order),
        np.array([place[int(skeleton.parents[bone])] for bone in order]),
        skeleton.rest_positions[order],
        skeleton.rest_rotations[order],
        tuple((place[bone], tip) for bone, tip in skeleton.end_sites),
    )
    moved = replace(
        clip, skeleton=other, positions=clip.positions[:, order], rotations=clip.rotations[:, order]
    )
    return moved, np.array(order)


def roll_axes(clip: Clip, rolls: np.ndarray, keep_rest: bool = True) -> Clip:
    """Turn each bone's axes by `rolls` (B, 4) in its own frame, keeping the motion.

    Without `keep_rest`, rest rotations are the identity, as in BVH files, so that the rest pose is
    no pose of a body.
    """
    skeleton = clip.skeleton
    rotations, positions = clip.compute_world()
    local, offsets = quat.ik(
        quat.mul(rotations, rolls), positions.astype(np.float64), skeleton.parents
    )
    rest, places = skeleton.compute_rest_world()
    rest_local, rest_offsets = quat.ik(
        quat.mul(rest, rolls), places.astype(np.float64), skeleton.parents
    )
    if not keep_rest:
        rest_local = np.tile(quat.IDENTITY, (skeleton.bone_count, 1))
    tips = tuple(
        (bone, tuple(quat.inv_mul_vec(rolls[bone], np.array(tip))))
        for bone, tip in skeleton.end_sites
    )
    other = replace(
        skeleton,
        rest_positions=rest_offsets.astype(np.float32),
        rest_rotations=rest_local.astype(np.float32),
        end_sites=tips,
    )
    return replace(
        clip,
        skeleton=other,
        positions=offsets.astype(np.float32),
        rotations=quat.unroll(local).astype(np.float32),
    )


def make_random_rolls(count: int, rng: np.random.Generator) -> np.ndarray:
    return quat.normalize(rng.normal(size=(count, 4)))


def make_aligned_rolls(count: int, rng: np.random.Generator) -> np.ndarray:
    """Make rolls (B, 4) that exchange and flip axes, as those of mocap rigs do."""
    quarter = np.sqrt(0.5)
    turns = np.array(
        [[1, 0, 0, 0], [quarter, quarter, 0, 0], [quarter, 0, quarter, 0], [quarter, 0, 0, quarter]]
    )
    return quat.mul(turns[rng.integers(4, size=count)], turns[rng.integers(4, size=count)])


def anonymize(clip: Clip, seed: int = 0, keep_rest: bool = False) -> tuple[Clip, np.ndarray]:
    """Name bones b0 to bn, shuffle siblings and roll axes; return the clip and the old index of
    each new bone.
    """
    rng = np.random.default_rng(seed)
    other, order = shuffle_siblings(clip, rng)
    return rename_bones(roll_axes(other, make_random_rolls(len(order), rng), keep_rest)), order


def _side(naming: Naming, part: str, side: int) -> str:
    name = part.format(naming.sides[side])
    return name.replace(
        "Reft", "Right"
    )  # so that CMU's 'LHipJoint' and 'LeftUpLeg' come from one letter


def _mirror(place: tuple[float, float, float], side: int) -> tuple[float, float, float]:
    return (place[0] * (1 - 2 * side), place[1], place[2])


def _place_bones(naming: Naming) -> dict[str, tuple[str | None, tuple[float, float, float]]]:
    """Return parents and world places by bone name."""
    places: dict[str, tuple[str | None, tuple[float, float, float]]] = {}
    if naming.root:
        places[naming.root] = (None, (0.0, 0.0, 0.0))
    places[naming.hips] = (naming.root, CENTRE["hips"])
    above = naming.hips
    for i, bone in enumerate(naming.spine):
        share = (i + 1) / len(naming.spine)
        place = (1 - share) * np.array(CENTRE["hips"]) + share * np.array(CENTRE["chest"])
        places[bone], above = (
            (above, tuple(place + np.array([0.0, 0.02 * np.sin(np.pi * share), 0.0]))),
            bone,
        )
    upper = ("neck", "neck2")[: len(naming.neck)]
    for bone, place in zip((*naming.neck, naming.head), (*upper, "head"), strict=True):
        places[bone], above = (above, CENTRE[place]), bone
    for side in (0, 1):
        for parts, where, start in (
            (naming.leg, naming.leg_places, naming.hips),
            (naming.arm, ARM, naming.spine[-1]),
        ):
            above = start
            for part, place in zip(parts, where, strict=True):
                bone = _side(naming, part, side)
                places[bone], above = (above, _mirror(LEFT[place], side)), bone
    return places | {bone: (parent, place) for bone, parent, place in naming.extra}


def _place_tips(naming: Naming) -> dict[str, tuple[float, float, float]]:
    tips = {} if naming.hips == "mixamorig:Hips" else {naming.head: TIPS["head"]}
    for side in (0, 1):
        tips[_side(naming, naming.arm[-1], side)] = _mirror(TIPS["hand"], side)
        if naming.leg_places[-1] == "toe":
            tips[_side(naming, naming.leg[-1], side)] = _mirror(TIPS["toe"], side)
    return tips


def _swing_limbs(naming: Naming, phase: np.ndarray) -> dict[str, np.ndarray]:
    """Return angles (F,) about the lateral axis by bone: legs alternate, knees bend, arms swing
    against the legs.
    """
    swings = {}
    for side in (0, 1):
        angle = phase + np.pi * side
        bend = 0.5 * np.maximum(np.cos(angle + 0.3), 0.0) + 0.05
        by_place = {
            "thigh": -0.25 * np.sin(angle),
            "shin": bend,
            "foot": -0.5 * bend,
            "toe": -0.1 * bend,
        }
        for part, place in zip(naming.leg, naming.leg_places, strict=True):
            if place in by_place:
                swings[_side(naming, part, side)] = by_place[place]
        swings[_side(naming, naming.arm[1], side)] = 0.3 * np.sin(angle) + 0.1
        swings[_side(naming, naming.arm[2], side)] = -0.2 - 0.2 * np.maximum(np.sin(angle), 0.0)
        swings[_side(naming, naming.arm[3], side)] = 0.1 * np.cos(angle)
    return swings


def _build_skeleton(
    places: Mapping[str, tuple[str | None, tuple[float, float, float]]],
    tips: Mapping[str, tuple[float, float, float]],
) -> Skeleton:
    names = tuple(places)
    parents = np.array([names.index(parent) if parent else -1 for parent, _ in places.values()])
    world = np.array([place for _, place in places.values()])
    offsets = world - np.where(parents[:, None] >= 0, world[parents], 0.0)
    ends = tuple(
        (names.index(bone), tuple(np.array(tip) - world[names.index(bone)]))
        for bone, tip in tips.items()
    )
    return Skeleton(
        names,
        parents,
        offsets.astype(np.float32),
        np.tile(quat.IDENTITY, (len(names), 1)).astype(np.float32),
        ends,
    )


def _animate(
    name: str,
    skeleton: Skeleton,
    swings: Mapping[str, np.ndarray],
    twists: Mapping[str, np.ndarray],
    hips: str,
    speed: float,
    fps: float,
) -> Clip:
    """Make a clip from angles (F,) about the lateral and the vertical axis, with the hips moving
    along -Y.
    """
    frames = len(next(iter(swings.values())))
    rotations = np.tile(quat.IDENTITY, (frames, skeleton.bone_count, 1))
    positions = np.tile(skeleton.rest_positions.astype(np.float64), (frames, 1, 1))
    for bone, angle in twists.items():
        rotations[:, skeleton.index(bone)] = quat.from_yaw(angle)
    for bone, angle in swings.items():
        i = skeleton.index(bone)
        rotations[:, i] = quat.mul(
            rotations[:, i], quat.from_angle_axis(angle, np.array([1.0, 0.0, 0.0]))
        )
    time = np.arange(frames) / fps
    positions[:, skeleton.index(hips)] += np.stack(
        [0.02 * np.sin(5 * time), -speed * time, 0.01 * np.cos(11 * time)], 1
    )
    return Clip(name, skeleton, positions.astype(np.float32), rotations.astype(np.float32), fps)


def measure_heading(rotations: np.ndarray, forward: np.ndarray) -> np.ndarray:
    """Return the heading (...) in radians about Z of a bone-local forward axis: 0 faces -Y."""
    direction = quat.mul_vec(rotations, np.broadcast_to(forward, (*rotations.shape[:-1], 3)))
    return np.arctan2(direction[..., 0], -direction[..., 1])
