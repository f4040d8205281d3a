"""Find poses in which a body stands, turned to face -Y: its rest pose, or frames of its motion.

A rest pose is trusted only where it stands and is symmetric. Zero poses, with all bones along one
axis, are not trusted, nor are frames of motion that many files use as rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...body.limbs import ARMS, LEGS, LimbBones
from ...maths.numeric import arctan2
from ...maths.rotations import quat
from ...motion.clip import Clip, crop_middles, join_clips
from ...motion.contacts import find_contacts
from ...motion.settings import ContactSettings
from ...skeleton.skeleton import Skeleton
from ..numbers import NUMBERS
from .frame_axes import rotate

UP = np.eye(3)[2]
AHEAD = -np.eye(3)[1]
LEFT = np.eye(3)[0]
_CONTACTS = ContactSettings()


@dataclass(frozen=True)
class StandingPoses:
    """World rotations (F, B, 4) and positions (F, B, 3) that face -Y on a ground at zero.

    `flat` are weights (F,) by limb of the frames in which its foot stands flat; they add up to 1.
    Feet not in `grounded` never stand, so that all of their frames count. `durations` (F,) are the
    seconds of frames. A body that never `stands` kneels, sits or lies.
    """

    rotations: np.ndarray
    positions: np.ndarray
    flat: Mapping[str, np.ndarray]
    grounded: frozenset[str]
    durations: np.ndarray
    is_rest: bool = False
    stands: bool = True

    def average_direction(self, bone: int, vectors: np.ndarray, limb: str = "") -> np.ndarray:
        """Return the mean (3,) of world vectors (F, 3) or (3,) in a bone's frame, where flat."""
        turned = quat.inv_mul_vec(self.rotations[:, bone], vectors)
        return self.flat[limb] @ turned if limb else turned.mean(axis=0)


def find_planted(balls: np.ndarray, fps: float, leg: float, four_legged: bool) -> np.ndarray:
    """Return when (F, L) balls (F, L, 3) of feet rest, for legs of any length `leg`."""
    size = NUMBERS.animal_leg if four_legged else NUMBERS.person_leg
    lengths = np.full(balls.shape[1], size)
    return find_contacts(balls * (size / leg), fps, _CONTACTS, lengths)


def stand_at_rest(
    skeleton: Skeleton,
    limbs: Mapping[str, LimbBones],
    hips: int,
    head: int | None,
    animal: bool,
    strict: bool = True,
) -> StandingPoses | None:
    """Return the rest pose facing -Y, if a body stands in it; turned upright if it lies.

    It has to be symmetric if `strict`, because bind poses are and steps are not.
    """
    rotations, positions = (part.astype(np.float64) for part in skeleton.compute_rest_world())
    legs = [limb for limb in limbs.values() if animal or limb.kind == "leg"]
    ways = [quat.normalize_vectors(positions[leg.end] - positions[leg.upper]) for leg in legs]
    up = quat.normalize_vectors(-np.mean(ways, axis=0))
    left = find_left(positions, limbs)
    above = quat.normalize_vectors(positions[hips if head is None else head] - positions[hips])
    hangs = (
        min(float(way @ -up) for way in ways) >= NUMBERS.legs_down
        and abs(left @ up) < NUMBERS.hips_level
    )
    if not hangs or not (animal or head is None or above @ up >= NUMBERS.head_up):
        return None
    turn = _face_ahead(left, UP if up[2] > NUMBERS.rest_upright else up)
    rotations = quat.mul(turn, rotations)
    positions = quat.mul_vec(turn, positions)
    height = float(np.ptp(positions[:, 2]))
    if strict and _measure_asymmetry(positions, limbs, hips) > NUMBERS.sides_alike * height:
        return None
    feet = [limb.end if limb.toe is None else limb.toe for limb in legs]
    low = float(positions[feet, 2].min())
    if abs(low) > NUMBERS.rest_on_ground * height:
        positions = positions - low * UP
    flat = {name: np.ones(1) for name in limbs}
    return StandingPoses(
        rotations[None], positions[None], flat, frozenset(flat), np.array([np.inf]), is_rest=True
    )


def find_left(positions: np.ndarray, limbs: Mapping[str, LimbBones]) -> np.ndarray:
    """Return unit vectors (..., 3) from the right to the left hip joint, of (..., B, 3)."""
    left, right = (positions[..., limbs[leg].upper, :] for leg in LEGS)
    return quat.normalize_vectors(left - right)


def _face_ahead(left: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Return the rotation (4,) that lays `up` along Z and `left` along X as far as it can."""
    left = quat.normalize_vectors(left - (left @ up) * up)
    return quat.inv(quat.from_matrix(np.stack([left, np.cross(up, left), up], axis=-1)))


def _measure_asymmetry(positions: np.ndarray, limbs: Mapping[str, LimbBones], hips: int) -> float:
    """Return the distance of joints (B, 3) on the left from the mirror image of the right ones."""
    apart = []
    middle = np.mean([positions[limbs[leg].upper] for leg in LEGS], axis=0)
    for one, two in (LEGS, ARMS):
        if one in limbs and two in limbs:
            for a, b in zip(limbs[one].joints, limbs[two].joints, strict=False):
                mirrored = (positions[a] - middle) * [-1.0, 1.0, 1.0]
                apart.append(float(np.linalg.norm(mirrored - (positions[b] - middle))))
    return max(apart)


def sample_motion(
    clips: Sequence[Clip], limbs: Mapping[str, LimbBones], hips: int, leg: float, animal: bool
) -> StandingPoses | None:
    """Return frames from the middles of clips that stand upright; None without frames."""
    parts = crop_middles(clips, NUMBERS.neutral_clips, NUMBERS.neutral_frames)
    if not parts:
        return None
    rotations, positions, flat = _sample_clips(parts, limbs, leg, animal)
    durations = np.concatenate([np.full(clip.frame_count, 1.0 / clip.fps) for clip in parts])
    standing = _find_standing(positions, limbs, hips, 0.0 if animal else leg)
    least = min(NUMBERS.shortest_stand, 0.5 * float(durations.sum()))
    stands = float(durations[standing].sum()) >= least
    used = standing if stands else np.full(len(standing), True)
    grounded = frozenset(name for name, weight in flat.items() if weight[used].any())
    weights = {name: _normalize(weight[used]) for name, weight in flat.items()}
    chosen = rotations[used], positions[used]
    return StandingPoses(*chosen, weights, grounded, durations[used], stands=stands)


def _find_standing(
    positions: np.ndarray, limbs: Mapping[str, LimbBones], hips: int, leg: float
) -> np.ndarray:
    """Return in which frames (F,) a body stands, by its usual height and the length of its legs."""
    legs = [limb for limb in limbs.values() if limb.kind == "leg"]
    lowest = positions[:, [limb.end for limb in legs], 2].min(axis=1)
    heights = positions[:, hips, 2] - lowest
    risen = positions[:, [limb.upper for limb in legs], 2].mean(axis=1) - lowest
    return (heights >= NUMBERS.upright * np.median(heights)) & (risen >= NUMBERS.risen * leg)


def _normalize(weights: np.ndarray) -> np.ndarray:
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1.0 / len(weights))


def _sample_clips(
    clips: Sequence[Clip], limbs: Mapping[str, LimbBones], leg: float, animal: bool
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return rotations and positions of all clips, facing -Y, and when feet are flat (F,)."""
    joined = join_clips(clips)
    local = joined.rotations.astype(np.float64), joined.positions.astype(np.float64)
    rotations, positions = quat.fk(*local, joined.skeleton.parents)
    left = find_left(positions, limbs)
    turns = quat.inv(quat.from_yaw(arctan2(left[..., 1], left[..., 0])))[:, None]
    # people do not stand on hands, and hands of animals are feet
    feet = {name: limb for name, limb in limbs.items() if animal or limb.kind == "leg"}
    balls = np.stack([_find_ball(limb, rotations, positions) for limb in feet.values()], axis=1)
    ankles = positions[:, [limb.end for limb in feet.values()]]
    shins = positions[:, [limb.lower for limb in feet.values()]] - ankles
    least = -np.inf if animal else NUMBERS.shin_upright
    upright = quat.normalize_vectors(shins)[..., 2] >= least
    cuts = np.cumsum([clip.frame_count for clip in clips])[:-1]
    split = [np.split(part, cuts) for part in (balls, ankles[..., 2], upright)]
    parts = zip(clips, split[0], split[1], split[2], strict=True)
    down = np.concatenate([_find_flat(*part, leg, animal) for part in parts])
    flat = {name: np.ones(len(rotations)) for name in limbs}
    flat |= dict(zip(feet, down.T.astype(np.float64), strict=True))
    return quat.mul(turns, rotations), quat.mul_vec(turns, positions), flat


def _find_flat(
    clip: Clip,
    balls: np.ndarray,
    heights: np.ndarray,
    upright: np.ndarray,
    leg: float,
    animal: bool,
) -> np.ndarray:
    """Return when feet are flat (F, L), from their balls (F, L, 3) and heights of ankles (F, L).

    `upright` (F, L) marks shins that can have a flat foot below: not of a body kneeling on insteps.
    """
    flat = find_planted(balls, clip.fps, leg, animal)
    for down, height, possible in zip(flat.T, heights.T, upright.T, strict=True):
        standing = down & possible
        low = standing & _find_low(down, height)
        # a body that mostly kneels holds its ankles lower than where it stands
        expected = standing & _find_low(standing, height)
        down[:] = low if low.sum() > NUMBERS.few_flat * expected.sum() else expected
    return flat


def _find_low(frames: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Return the frames (F,) in which an ankle is about as low as in the lowest."""
    if not frames.any():
        return frames
    return frames & (heights <= np.percentile(heights[frames], NUMBERS.flat_ankles))


def _find_ball(limb: LimbBones, rotations: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return where (F, 3) a limb stands: at its toe, or at the tip of its last bone."""
    if limb.toe is not None:
        return positions[:, limb.toe]
    return positions[:, limb.end] + rotate(rotations[:, limb.end], limb.tip)
