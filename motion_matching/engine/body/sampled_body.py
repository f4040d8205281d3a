"""Sample poses of a body: the places of its bones in some frames of clips, or at rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..maths.rotations import quat
from ..motion.clip import Clip
from ..skeleton.skeleton import Skeleton
from .numbers import NUMBERS


def sample_frames(
    skeleton: Skeleton, clips: Sequence[Clip], anchor: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sample frames from the middles of clips, or the rest pose if there are none, in float64.

    Returns local rotations (F, B, 4), world positions (F, B, 3) above a ground at zero, world
    rotations (F, B, 4) and the ground velocity (F, 3) of bone `anchor` in m/s.
    """
    leaves = _find_leaves(skeleton)
    chosen = [clip for clip in clips if clip.frame_count]
    if not chosen:
        rotations, positions = skeleton.compute_rest_world()
        positions = positions - [0.0, 0.0, positions[leaves, 2].min()]
        local = np.asarray(skeleton.rest_rotations, dtype=np.float64)
        return local[None], positions[None], rotations[None].astype(np.float64), np.zeros((1, 3))
    cropped = crop_middles(chosen)
    local, places = (
        np.concatenate([getattr(clip, name) for clip in cropped]).astype(np.float64)
        for name in ("rotations", "positions")
    )
    # all clips at once: there may be many short ones
    rotations, positions = quat.fk(local, places, skeleton.parents)
    for part in _split(positions, cropped):
        part[..., 2] -= np.percentile(part[:, leaves, 2].min(axis=1), 10)
    return local, positions, rotations, find_velocities(positions[:, anchor], cropped)


def sample_few_positions(skeleton: Skeleton, clips: Sequence[Clip]) -> np.ndarray:
    """Return world positions (F, B, 3) in a few frames of clips, or at rest without clips."""
    few = [clip for clip in clips if clip.frame_count][: NUMBERS.length_clips]
    if not few:
        return skeleton.compute_rest_world()[1][None]
    steps = [-(-clip.frame_count // NUMBERS.length_frames) for clip in few]
    places, turns = (
        np.concatenate([getattr(c, name)[::step] for c, step in zip(few, steps, strict=True)])
        for name in ("positions", "rotations")
    )
    return quat.fk(turns, places, skeleton.parents)[1]


def crop_middles(clips: Sequence[Clip]) -> list[Clip]:
    """Return the middles of some of the clips, no more frames than are needed."""
    chosen = clips[:: max(1, len(clips) // NUMBERS.sampled_clips)]
    share = max(2, NUMBERS.sampled_frames // len(chosen))
    starts = [max(0, (clip.frame_count - share) // 2) for clip in chosen]
    return [clip.crop(start, start + share) for clip, start in zip(chosen, starts, strict=True)]


def _split(frames: np.ndarray, clips: Sequence[Clip]) -> list[np.ndarray]:
    """Return views of the frames (F, ...) of each clip."""
    return np.split(frames, np.cumsum([clip.frame_count for clip in clips])[:-1])


def find_velocities(positions: np.ndarray, clips: Sequence[Clip]) -> np.ndarray:
    """Return the velocities (F, 3) over the ground of positions (F, 3) in clips end to end."""
    velocities = np.zeros((len(positions), 3))
    for part, places, clip in zip(
        _split(velocities, clips), _split(positions, clips), clips, strict=True
    ):
        if len(places) > 1:
            part[:, :2] = np.gradient(places[:, :2], 1.0 / clip.fps, axis=0)
    return velocities


def _find_leaves(skeleton: Skeleton) -> list[int]:
    return sorted(set(range(skeleton.bone_count)) - set(skeleton.parents.tolist()))


@dataclass(frozen=True)
class SampledBody:
    """Sampled poses: `local` rotations (F, B, 4), world `positions` (F, B, 3) and a height.

    `ends` are the world paths (F, 3) of the ends of chains by their last bone: of its lowest end
    site, or of the bone itself.
    """

    skeleton: Skeleton
    local: np.ndarray
    positions: np.ndarray
    ends: dict[int, np.ndarray]
    height: float

    @classmethod
    def from_clips(cls, skeleton: Skeleton, clips: Sequence[Clip]) -> SampledBody:
        local, positions, rotations, _ = sample_frames(skeleton, clips)
        ends = {bone: positions[:, bone] for bone in _find_leaves(skeleton)}
        lowest: dict[int, float] = {}
        for bone, offset in skeleton.end_sites:
            if bone in ends:
                tip = positions[:, bone] + quat.mul_vec(rotations[:, bone], np.array(offset))
                height = float(np.median(tip[:, 2]))
                if height < lowest.get(bone, np.inf):
                    ends[bone], lowest[bone] = tip, height
        height = float(np.median(positions[..., 2].max(axis=1)))
        return cls(skeleton, local, positions, ends, height)

    @cached_property
    def floor(self) -> float:
        """The height of the ground, by the lowest ends in most frames."""
        return float(np.percentile(np.min([end[:, 2] for end in self.ends.values()], axis=0), 10))

    @cached_property
    def lengths(self) -> np.ndarray:
        """The lengths (B,) of bones from their parents."""
        return measure_bones(self.skeleton, self.positions)


def measure_bones(skeleton: Skeleton, positions: np.ndarray) -> np.ndarray:
    """Return the distances (B,) of bones from their parents, the medians over the frames."""
    from_parent = positions - positions[:, np.maximum(skeleton.parents, 0)]
    return np.median(np.linalg.norm(from_parent, axis=-1), axis=0)


def compute_planted_direction(feet: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the sum (F, 3) on the ground of the ways from heel to toe, (F, 3) each, of feet down.

    Feet in the air are ignored: those of a runner point down and backward.
    """
    ahead = np.zeros_like(feet[0][1])
    for heel, toe in feet:
        down = toe[:, 2] <= np.percentile(toe[:, 2], 40)
        ahead += (toe - heel) * down[:, None] * np.array([1.0, 1.0, 0.0])
    return ahead


def estimate_facing(
    body: SampledBody, legs: Sequence[dict[str, int]], velocities: np.ndarray
) -> np.ndarray:
    """Return where the character faces (F, 3): by its toes, its travel, or along Blender's -Y."""
    feet = []
    for leg in legs:
        if "foot" in leg:
            heel = body.positions[:, leg["foot"]]
            toe = (
                body.positions[:, leg["toe"]] if "toe" in leg else body.ends.get(leg["foot"], heel)
            )
            feet.append((heel, toe))
    for ahead in (compute_planted_direction(feet) if feet else velocities, velocities):
        if np.linalg.norm(ahead, axis=-1).max() >= 0.02:
            return ahead
    return np.broadcast_to([0.0, -1.0, 0.0], velocities.shape)
