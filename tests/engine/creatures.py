"""Creatures of unusual build whose limbs swing: legs, claws and forelegs that end at the wrist."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.skeleton import Skeleton

Place = tuple[float, float, float]


class Bone(NamedTuple):
    """A bone whose head is `offset` from that of `parent`; {} in names is for the side.

    `site` is its end site. Bones that bend do so one way, others swing.
    """

    name: str
    parent: str
    offset: Place
    site: Place | None = None
    bends: bool = False


# six legs on the pelvis and two raised claws of which one is longer, without a head
CRAB = (
    Bone("Pelvis", "", (0.0, 0.0, 0.4)),
    *(
        bone
        for pair, y in enumerate((-0.3, 0.0, 0.3))
        for bone in (
            Bone(f"Leg_{{}}_{pair}1", "Pelvis", (0.1, y, 0.0)),
            Bone(f"Leg_{{}}_{pair}2", f"Leg_{{}}_{pair}1", (0.25, 0.0, 0.2), None, True),
            Bone(f"Leg_{{}}_{pair}3", f"Leg_{{}}_{pair}2", (0.2, 0.0, -0.2)),
            Bone(f"Leg_{{}}_{pair}4", f"Leg_{{}}_{pair}3", (0.05, 0.0, -0.35), (0, 0, -0.05)),
        )
    ),
    Bone("Claw_{}_1", "Pelvis", (0.08, -0.35, 0.05)),
    Bone("Claw_{}_2", "Claw_{}_1", (0.1, -0.2, 0.2), None, True),
    Bone("Claw_{}_3", "Claw_{}_2", (0.0, -0.05, 0.25), (0.0, -0.04, 0.12)),
)

# an animal whose paws are missing: its wrists end 26 cm above the ground, and their sites aside
NO_PAWS = (
    Bone("Hips", "", (0.0, 0.0, 1.47)),
    Bone("Spine", "Hips", (0.0, -0.4, 0.02)),
    Bone("Spine1", "Spine", (0.0, -0.5, 0.05)),
    Bone("Neck", "Spine1", (0.0, -0.3, 0.25)),
    Bone("Head", "Neck", (0.0, -0.4, 0.1), (0.0, -0.4, 0.05)),
    Bone("{}_Clavicle", "Neck", (0.15, -0.05, -0.1)),
    Bone("{}_UpperArm", "{}_Clavicle", (0.08, -0.2, -0.35)),
    Bone("{}_Forearm", "{}_UpperArm", (0.0, 0.12, -0.45), None, True),
    Bone("{}_Hand", "{}_Forearm", (0.0, -0.04, -0.63), (-0.5, 0.0, 0.0)),
    Bone("{}_Thigh", "Hips", (0.24, 0.0, 0.0)),
    Bone("{}_Calf", "{}_Thigh", (0.02, -0.1, -0.72), None, True),
    Bone("{}_Foot", "{}_Calf", (0.0, 0.2, -0.56)),
    Bone("{}_Toe", "{}_Foot", (0.0, -0.2, -0.19), (0.0, 0.0, 0.28)),
)


def make_creature(bones: tuple[Bone, ...], frames: int = 90, fps: float = 30.0) -> Clip:
    """Make a clip of a creature that stands and swings its bones by a few degrees."""
    names: list[str] = []
    parents: list[int] = []
    offsets: list[Place] = []
    sites: list[tuple[int, Place]] = []
    angles: list[np.ndarray] = []
    swing = np.radians(3.0) * np.sin(2.0 * np.pi * np.arange(frames) / fps)
    for bone in bones:
        for side, sign in (("L", 1.0), ("R", -1.0)) if "{}" in bone.name else (("", 1.0),):
            parents.append(names.index(bone.parent.format(side)) if bone.parent else -1)
            names.append(bone.name.format(side))
            offsets.append((sign * bone.offset[0], *bone.offset[1:]))
            # no two limbs are quite alike
            taller = 0.02 if names[-1] == "Claw_R_3" else 0.0
            offsets[-1] = (*offsets[-1][:2], offsets[-1][2] + taller)
            if bone.site is not None:
                sites.append((len(names) - 1, (sign * bone.site[0], *bone.site[1:])))
            angles.append(-np.abs(swing) if bone.bends else swing * bool(bone.parent))
    rest = np.array(offsets, np.float32)
    still = np.tile(quat.IDENTITY, (len(names), 1)).astype(np.float32)
    skeleton = Skeleton(tuple(names), np.array(parents), rest, still, tuple(sites))
    turns = quat.from_angle_axis(np.stack(angles, axis=1), np.array([1.0, 0.0, 0.0]))
    positions = np.broadcast_to(rest, (frames, *rest.shape)).copy()
    return Clip("creature", skeleton, positions, turns.astype(np.float32), fps)
