"""List the bone names of published rigs, as plain tables.

Names are written as `NamedBones` reads them: in lower-case letters and digits, without namespace,
side and a program's own prefix. A part of several bones in a line lists them from top to bottom. A
new rig is a new line here; bodies without a table are found by shape.
"""

from __future__ import annotations

from typing import NamedTuple

CENTRE_PARTS = ("hips", "neck", "head")
ARM_PARTS = ("collar", "upper_arm", "forearm", "hand", "fore_toe")
LEG_PARTS = ("thigh", "shin", "foot", "toe")


class PublishedRig(NamedTuple):
    """Names by part, separated by commas: `CENTRE_PARTS`, `ARM_PARTS` and `LEG_PARTS`.

    The arms of an animal are its forelegs.
    """

    centre: str
    arm: str
    leg: str
    is_animal: bool = False


RIGS = {
    # Mixamo, MotionBuilder, HumanIK, LAFAN1 and CMU's BVH files
    "Mixamo": PublishedRig(
        "hips pelvis, neck, head",
        "shoulder, arm, forearm, hand",
        "upleg, leg, foot, toebase toe",
    ),
    "Rokoko": PublishedRig(
        "hips, neck, head", "shoulder, arm, forearm, hand", "thigh, shin, foot, toe"
    ),
    "Xsens": PublishedRig(
        "pelvis, neck, head",
        "shoulder, upperarm, forearm, hand",
        "upperleg, lowerleg, foot, toe",
    ),
    # and Unity's avatars and Bandai-Namco's files
    "VRM": PublishedRig(
        "hips, neck, head",
        "shoulder, upperarm, lowerarm, hand",
        "upperleg, lowerleg, foot, toebase toes",
    ),
    "CMU": PublishedRig(
        "root, lowerneck, head", "clavicle, humerus, radius, wrist hand", "femur, tibia, foot, toes"
    ),
    "Unreal": PublishedRig(
        "pelvis, neck01, head", "clavicle, upperarm, lowerarm, hand", "thigh, calf, foot, ball"
    ),
    # and Valve's
    "3ds Max Biped": PublishedRig(
        "pelvis, neck neck1, head head1",
        "clavicle, upperarm, forearm, hand",
        "thigh, calf, foot, toe0 toe",
    ),
    "Character Creator": PublishedRig(
        "hip, necktwist01, head", "clavicle, upperarm, forearm, hand", "thigh, calf, foot, toebase"
    ),
    # Blender's own: Rigify's people and cats, and its meta-rigs
    "Rigify": PublishedRig(
        "hips, neck spine004, head skull spine006",
        "shoulder, upperarm, forearm, hand, ftoe",
        "thigh, shin, foot, toe rtoe",
    ),
    "Rigify's wolf": PublishedRig(
        "spine005, spine009 neck001, spine011 head",
        "shoulder, frontthigh forethigh, frontshin foreshin, frontfoot forefoot, fronttoe foretoe",
        "thigh hindthigh, shin hindshin, foot hindfoot, toe hindtoe",
        is_animal=True,
    ),
    "Rigify's horse": PublishedRig(
        "spine002, neck001, head",
        "shoulder, upperarm, forearm, forefoot, ftoe",
        "thigh, lowerleg, hindfoot, rtoe",
        is_animal=True,
    ),
    "MakeHuman": PublishedRig(
        ", neck01, head",
        "clavicle shoulder01, upperarm01, lowerarm01, wrist",
        "upperleg01, lowerleg01, foot, toe11",
    ),
    # and Kinect, Second Life, Advanced Skeleton and Biovision's files
    "SMPL": PublishedRig(
        "pelvis hips, neck, head",
        "collar scapula, shoulder, elbow, wrist hand",
        "hip, knee, ankle, foot toe toes",
    ),
    "DAZ": PublishedRig(
        "hip, neck necklower, head",
        "collar, shldr shldrbend, forearm forearmbend, hand",
        "thigh thighbend, shin, foot, toe",
    ),
    "Auto-Rig Pro": PublishedRig(
        "root, neck, head",
        "shoulder, armstretch, forearmstretch, hand",
        "thighstretch, legstretch, foot, toes01",
    ),
    # abbreviations that studios use
    "studios": PublishedRig(
        "pelvis, neck01, head", "clav, uparm, lowarm, hand", "upleg, lowleg, foot, ball"
    ),
    "Cats": PublishedRig(
        "hips, neck, head", "shoulder, arm, elbow, wrist", "leg, knee, ankle, toe"
    ),
}


def list_parts(rig: PublishedRig) -> dict[str, str]:
    """Return the part of a body by the name of a bone; parts of limbs begin with '_'."""
    result = dict(_read(rig.centre, CENTRE_PARTS))
    for limb, parts in ((rig.arm, ARM_PARTS), (rig.leg, LEG_PARTS)):
        result |= {name: f"_{part}" for name, part in _read(limb, parts)}
    return result


def _read(text: str, parts: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return (name, part) for the names of parts that commas separate."""
    listed = zip(text.split(","), parts, strict=False)
    return [(name, part) for names, part in listed for name in names.split()]
