"""Which of the deform bones of Rigify's generated rigs are which parts of a body."""

from __future__ import annotations

from tests.engine import characters

_SIDES = (("left", "L"), ("right", "R"))

HUMAN_TRUNK = {
    "hips": ["spine"],
    "spine": ["spine.001", "spine.002", "spine.003"],
    "neck": ["spine.004", "spine.005"],
    "head": ["spine.006"],
}
WOLF_TRUNK = {
    "hips": ["spine.004", "spine.005"],
    "spine": ["spine.006", "spine.007", "spine.008"],
    "neck": ["spine.009", "spine.010"],
    "head": ["spine.011"],
}
HORSE_TRUNK = {
    "hips": ["spine.001", "spine.002"],
    "spine": ["spine.003", "spine.004", "spine.005"],
    "neck": ["spine.006", "neck.001", "neck.002", "neck.003", "neck.004"],
    "head": ["head"],
}
HUMAN_LIMBS = {
    "collar": "shoulder",
    "upper_arm": "upper_arm upper_arm.001",
    "forearm": "forearm forearm.001",
    "hand": "hand",
    "thigh": "thigh thigh.001",
    "shin": "shin shin.001",
    "foot": "foot",
    "toe": "toe",
}
FINGERS = {
    finger: " ".join(f"{prefix}{finger}.{number:02d}" for number in (1, 2, 3))
    for finger, prefix in (("thumb", ""), *((f, "f_") for f in characters.FINGERS[1:]))
}
WOLF_LIMBS = {
    "collar": "shoulder",
    "upper_arm": "front_thigh front_thigh.001",
    "forearm": "front_shin front_shin.001",
    "hand": "front_foot front_foot.001",
    "fore_toe": "front_toe",
    "thigh": "thigh thigh.001",
    "shin": "shin shin.001",
    "foot": "foot foot.001",
    "toe": "toe",
}
CAT_LIMBS = HUMAN_LIMBS | {
    "hand": "hand hand.001",
    "fore_toe": "f_toe",
    "foot": "foot foot.001",
    "toe": "r_toe",
}
HORSE_LIMBS = {
    "collar": "shoulder",
    "upper_arm": "upper_arm upper_arm.001",
    "forearm": "forearm forearm.001",
    "hand": "forefoot forefoot.001",
    "fore_toe": "f_toe",
    "thigh": "thigh thigh.001",
    "shin": "lower_leg lower_leg.001",
    "foot": "hind_foot hind_foot.001",
    "toe": "r_toe r_hoof",
}


RIGS = {
    "basic_human": (HUMAN_TRUNK, HUMAN_LIMBS),
    "human": (HUMAN_TRUNK, HUMAN_LIMBS | FINGERS),
    "basic_quadruped": (WOLF_TRUNK, WOLF_LIMBS),
    "wolf": (WOLF_TRUNK, WOLF_LIMBS),
    "horse": (HORSE_TRUNK, HORSE_LIMBS),
    "cat": (HUMAN_TRUNK, CAT_LIMBS),
}


def list_bones(kind: str) -> dict[str, list[str]]:
    """Return the names of the deform bones by role of the rig of a metarig, such as 'wolf'."""
    trunk, limbs = RIGS[kind]
    bones = {role: [f"DEF-{name}" for name in names] for role, names in trunk.items()}
    for side, letter in _SIDES:
        for part, names in limbs.items():
            bones[f"{side}_{part}"] = [f"DEF-{_add_side(n, letter)}" for n in names.split()]
    return bones


def _add_side(name: str, letter: str) -> str:
    """Return 'thigh.L.001' for 'thigh.001', and 'f_index.01.L' for 'f_index.01'."""
    core, _, number = name.rpartition(".")
    return f"{core}.{letter}.{number}" if len(number) == 3 and core else f"{name}.{letter}"
