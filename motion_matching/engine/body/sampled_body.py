"""Sample poses of a body: the places of its bones in some frames of clips, or at rest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..maths.rotations import quat
from ..motion.clip import Clip, crop_middles
from ..skeleton.skeleton import Skeleton
from .numbers import NUMBERS


@dataclass(frozen=True)
class SampledBody:
    """Poses in some frames of clips, or at rest, in float64 over a ground at zero.

    They are `local` rotations (F, B, 4), world `rotations` (F, B, 4) and `positions` (F, B, 3).
    `clips` are the frames taken of each clip, none at rest.
    """

    skeleton: Skeleton
    local: np.ndarray
    rotations: np.ndarray
    positions: np.ndarray
    clips: Sequence[Clip]

    @classmethod
    def from_clips(cls, skeleton: Skeleton, clips: Sequence[Clip]) -> SampledBody:
        """Sample frames from the middles of clips, or the rest pose if there are none."""
        leaves = _find_leaves(skeleton)
        cropped = crop_middles(clips, NUMBERS.sampled_clips, NUMBERS.sampled_frames)
        if not cropped:
            rotations, positions = skeleton.compute_rest_world()
            positions = positions - [0.0, 0.0, positions[leaves, 2].min()]
            local, rotations = (q.astype(np.float64) for q in (skeleton.rest_rotations, rotations))
            return cls(skeleton, local[None], rotations[None], positions[None], ())
        local, places = (
            np.concatenate([getattr(clip, name) for clip in cropped]).astype(np.float64)
            for name in ("rotations", "positions")
        )
        # all clips at once: there may be many short ones
        rotations, positions = quat.fk(local, places, skeleton.parents)
        for part in _split(positions, cropped):
            part[..., 2] -= np.percentile(part[:, leaves, 2].min(axis=1), 10)
        return cls(skeleton, local, rotations, positions, cropped)

    @cached_property
    def ends(self) -> dict[int, np.ndarray]:
        """World paths (F, 3) of the ends of chains by their last bone.

        They are those of its lowest end site, or of the bone itself.
        """
        ends = {bone: self.positions[:, bone] for bone in _find_leaves(self.skeleton)}
        lowest: dict[int, float] = {}
        for bone, offset in self.skeleton.end_sites:
            if bone in ends:
                turned = quat.mul_vec(self.rotations[:, bone], np.array(offset))
                tip = self.positions[:, bone] + turned
                height = float(np.median(tip[:, 2]))
                if height < lowest.get(bone, np.inf):
                    ends[bone] = tip
                    lowest[bone] = height
        return ends

    @cached_property
    def height(self) -> float:
        """The height of the highest bone, the median over the frames."""
        return float(np.median(self.positions[..., 2].max(axis=1)))

    @cached_property
    def floor(self) -> float:
        """The height of the ground, by the lowest ends in most frames."""
        return float(np.percentile(np.min([end[:, 2] for end in self.ends.values()], axis=0), 10))

    @cached_property
    def lengths(self) -> np.ndarray:
        """The lengths (B,) of bones from their parents."""
        return measure_bones(self.skeleton, self.positions)

    def find_velocities(self, bone: int) -> np.ndarray:
        """Return the velocities (F, 3) of a bone over the ground in m/s, zero at rest."""
        velocities = np.zeros((len(self.positions), 3))
        parts = (_split(each, self.clips) for each in (velocities, self.positions[:, bone]))
        for part, places, clip in zip(*parts, self.clips, strict=False):
            if len(places) > 1:
                part[:, :2] = np.gradient(places[:, :2], 1.0 / clip.fps, axis=0)
        return velocities

    def measure_reach(self, bone: int) -> tuple[float, list[int]]:
        """Return the length of the longest chain from a bone, and the chain."""
        reach = {bone: 0.0}
        for below in self.skeleton.get_descendants(bone):
            reach[below] = reach[int(self.skeleton.parents[below])] + float(self.lengths[below])
        last = max(reach, key=lambda one: reach[one])
        return reach[last], self.skeleton.get_path(bone, last)

    def measure_side(self, bones: Collection[int], middle: int, left: np.ndarray) -> float:
        """Return how far bones are along the ways (F, 3) to the left of another, on average."""
        offset = self.positions[:, list(bones)].mean(axis=1) - self.positions[:, middle]
        return float(np.mean(np.sum(offset * left, axis=-1)))

    def measure_way(self, above: int, foot: int) -> np.ndarray:
        """Return the lengths of the bones from below one to the end of a last one."""
        tip = np.linalg.norm(self.ends[foot] - self.positions[:, foot], axis=-1)
        return np.append(self.lengths[self.skeleton.get_path(above, foot)[1:]], np.median(tip))


def _split(frames: np.ndarray, clips: Sequence[Clip]) -> list[np.ndarray]:
    """Return views of the frames (F, ...) of each clip."""
    return np.split(frames, np.cumsum([clip.frame_count for clip in clips])[:-1])


def _find_leaves(skeleton: Skeleton) -> list[int]:
    return sorted(set(range(skeleton.bone_count)) - set(skeleton.parents.tolist()))


def measure_segments(points: np.ndarray) -> np.ndarray:
    """Return the distances (N - 1,) between points (F, N, 3) in a row, medians over the frames."""
    return np.median(np.linalg.norm(np.diff(points, axis=1), axis=-1), axis=0)


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
    for leg in (leg for leg in legs if "foot" in leg):
        heel = body.positions[:, leg["foot"]]
        toe = body.positions[:, leg["toe"]] if "toe" in leg else body.ends.get(leg["foot"], heel)
        feet.append((heel, toe))
    for ahead in (compute_planted_direction(feet) if feet else velocities, velocities):
        if np.linalg.norm(ahead, axis=-1).max() >= 0.02:
            return ahead
    return np.broadcast_to([0.0, -1.0, 0.0], velocities.shape)
