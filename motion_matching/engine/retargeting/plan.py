"""Prepare the parts of retargeting that are the same for all clips of two bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..body.limbs import ARMS, LEGS
from ..maths.rotations import quat
from .anatomy import Anatomy
from .bone_matches import Match, match_bones
from .frames.partial_pose import Link, find_links
from .settings import RetargetSettings

_LIMBS = ("collar", "upper_arm", "forearm", "hand", "fore_toe", "thigh", "shin", "foot", "toe")
_LEGS = ("thigh", "shin")


@dataclass(frozen=True)
class RetargetPlan:
    """The bodies, their ratio of size, and the bones that turn.

    `scale` is the target's size as a multiple of the source's, and `travel` (3,) its distance for
    each metre of the source along X, Y and Z. `constants` (N, 4) lead from the source's bones to
    bones that each follow a single one. `root` is the target's bone above the hips if it moves.
    Offsets (4,) are turns by bone in its anatomical frame: `held` for parts that the feet depend
    on, `added` for all others, whose children follow.
    """

    source: Anatomy
    target: Anatomy
    settings: RetargetSettings
    scale: float
    travel: np.ndarray
    matches: tuple[Match, ...]
    constants: np.ndarray
    links: Mapping[int, Link]
    limbs: tuple[str, ...]
    root: int | None
    held: Mapping[int, np.ndarray]
    added: Mapping[int, np.ndarray]

    @classmethod
    def from_bodies(
        cls, source: Anatomy, target: Anatomy, settings: RetargetSettings
    ) -> RetargetPlan:
        """Match the bones of two bodies."""
        matches = match_bones(source, target)
        root = _find_root(source, target, settings)
        posed = [match.bone for match in matches] + ([] if root is None else [root])
        for leg in [] if target.roles.four_legged else LEGS:
            # toes that the source lacks stay level while the foot stands on its ball
            toe, other = (body.limbs[leg].bones.toe for body in (target, source))
            posed += [toe] if toe is not None and other is None else []
        size = compute_size(source, target)
        travel = settings.scale or compute_travel(source, target)
        held, added = _find_offsets(target, settings)
        constants = []
        for match in matches:
            if match.share == 0.0:
                frame = quat.mul(source.frames[match.first], held.get(match.bone, quat.IDENTITY))
                constants.append(quat.mul_inv(frame, target.frames[match.bone]))
        return cls(
            source,
            target,
            settings,
            size,
            np.array([travel, travel, size]),
            tuple(matches),
            np.array(constants),
            find_links(target.usual, posed),
            tuple(name for name in target.limbs if name in source.limbs),
            root,
            held,
            added,
        )


def compute_size(source: Anatomy, target: Anatomy) -> float:
    """Return the target's height of hips as a multiple of the source's, by lengths of legs."""
    if not (source.roles.four_legged and target.roles.four_legged):
        return target.leg / source.leg
    return compute_limb_scale(source, target, LEGS)


def compute_travel(source: Anatomy, target: Anatomy) -> float:
    """Return the metres that the target goes for each metre of the source.

    Steps of animals are a compromise between their hind legs and their forelegs.
    """
    size = compute_size(source, target)
    feet = list_shared_feet(source, target)
    if not set(ARMS) <= set(feet):
        return size
    return float(np.sqrt(size * compute_limb_scale(source, target, ARMS)))


def list_shared_feet(source: Anatomy, target: Anatomy) -> list[str]:
    """Return the limbs that both bodies stand on."""
    bodies = (source, target)
    names = [name for name in target.limbs if name in source.limbs]
    return [name for name in names if all(body.limbs[name].ball is not None for body in bodies)]


def compute_limb_scale(source: Anatomy, target: Anatomy, names: tuple[str, ...]) -> float:
    """Return the ratio of the heights of two bodies above limbs that stand alike.

    The mean stance of both is used, so that retargeting back has the inverse ratio.
    """
    stances = [0.5 * (source.limbs[name].stance + target.limbs[name].stance) for name in names]
    heights = [
        sum(np.dot(body.limbs[n].lengths, s) for n, s in zip(names, stances, strict=True))
        for body in (source, target)
    ]
    return float(heights[1] / heights[0])


def _find_root(source: Anatomy, target: Anatomy, settings: RetargetSettings) -> int | None:
    """Return the target's topmost bone above the hips, if there is one that moves."""
    roots, ours = (body.roles.chains.get("root", ()) for body in (target, source))
    moves = {"rest": False, "source": bool(ours), "ground": True}[settings.fit_root]
    return roots[0] if roots and moves else None


def _find_offsets(
    target: Anatomy, settings: RetargetSettings
) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
    held: dict[int, np.ndarray] = {}
    added: dict[int, np.ndarray] = {}
    for role, angles in settings.offsets.items():
        part = role.removeprefix("left_").removeprefix("right_")
        chain = [bone for bone in target.roles.chains.get(role, ()) if bone in target.frames]
        if part in _LIMBS:
            chain = chain[:1]  # the others of a segment rest in it
        degrees = np.array(angles, float) / max(1, len(chain))
        is_pinned = settings.foot_ik and part in _LEGS
        if is_pinned:
            degrees *= [0.0, 1.0, 0.0]  # pinned legs can only turn about themselves
        turn = quat.from_euler(np.radians(degrees), "xyz")
        for bone in chain:
            (held if is_pinned or part in ("hips", "foot") else added)[bone] = turn
    return held, added
