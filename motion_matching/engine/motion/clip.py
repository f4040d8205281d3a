"""Hold a piece of motion on a skeleton."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isclose, isfinite

import numpy as np

from ..errors import MotionDataError, SettingsError
from ..maths.rotations import quat
from ..skeleton.skeleton import Skeleton

MOST_POSES = 50_000_000  # frames times bones of a clip, which take some 4 GB while it is read


def check_size(name: str, frames: int, bones: int, cause: str) -> None:
    """Raise MotionDataError, with the likely `cause`, if a clip would not fit into memory."""
    if frames * bones > MOST_POSES:
        raise MotionDataError(
            f"'{name}' would have {frames} frames of {bones} bones, too many for the memory; "
            f"{cause}"
        )


@dataclass(frozen=True)
class Clip:
    """Frames of local bone transforms: `positions` (F, B, 3) in metres and `rotations` (F, B, 4).

    Rotations are unit quaternions kept on one hemisphere along time. Arrays are float32.
    """

    name: str
    skeleton: Skeleton
    positions: np.ndarray
    rotations: np.ndarray
    fps: float
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shape = (len(self.positions), self.skeleton.bone_count)
        if self.positions.shape != (*shape, 3) or self.rotations.shape != (*shape, 4):
            needs = f"positions {(*shape, 3)} and rotations {(*shape, 4)}"
            raise ValueError(f"clip '{self.name}' needs {needs}")

    @property
    def frame_count(self) -> int:
        return len(self.positions)

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return max(self.frame_count - 1, 0) / self.fps

    def compute_world(self) -> tuple[np.ndarray, np.ndarray]:
        """Return world rotations (F, B, 4) and positions (F, B, 3)."""
        return quat.fk(self.rotations, self.positions, self.skeleton.parents)

    def crop(self, start: int, stop: int) -> Clip:
        """Return the frames start <= f < stop."""
        part = slice(start, stop)
        return replace(self, positions=self.positions[part], rotations=self.rotations[part])


def join_clips(clips: Sequence[Clip]) -> Clip:
    """Join clips of one skeleton and rate end to end, under the name of the first."""
    positions = np.concatenate([clip.positions for clip in clips])
    rotations = np.concatenate([clip.rotations for clip in clips])
    return replace(clips[0], positions=positions, rotations=rotations)


def join_chains(clips: Sequence[Clip], bones: Sequence[int]) -> tuple[Clip, list[int]]:
    """Join only some bones of clips and those above them; return the indices of the bones there."""
    skeleton = clips[0].skeleton
    kept = sorted({above for bone in bones for above in skeleton.get_chain_to_root(bone)})
    places = {bone: place for place, bone in enumerate(kept)}
    chains = Skeleton(
        tuple(skeleton.names[bone] for bone in kept),
        np.array([places.get(above, -1) for above in skeleton.parents[kept].tolist()]),
        skeleton.rest_positions[kept],
        skeleton.rest_rotations[kept],
    )
    positions = np.concatenate([clip.positions[:, kept] for clip in clips])
    rotations = np.concatenate([clip.rotations[:, kept] for clip in clips])
    joined = replace(clips[0], skeleton=chains, positions=positions, rotations=rotations)
    return joined, [places[bone] for bone in bones]


def crop_middles(clips: Sequence[Clip], most_clips: int, frames: int, least: int = 2) -> list[Clip]:
    """Return the middles of some of the clips with frames: `frames` in all, `least` of each."""
    chosen = [clip for clip in clips if clip.frame_count]
    chosen = chosen[:: max(1, len(chosen) // most_clips)]
    share = max(least, frames // max(1, len(chosen)))
    starts = [max(0, (clip.frame_count - share) // 2) for clip in chosen]
    return [clip.crop(start, start + share) for clip, start in zip(chosen, starts, strict=True)]


def resample(clip: Clip, fps: float, speed: float = 1.0) -> Clip:
    """Return the clip at `fps` frames per second, played `speed` times as fast.

    Positions and the components of unrolled rotations follow cubic splines through all frames. The
    first frame stays the first and no frame lies beyond the last, so the duration (divided by
    `speed`) is preserved to within a frame. If no frame changes, the arrays are the clip's own.
    Raises SettingsError for a rate or speed that is not a positive number, and MotionDataError for
    more frames than memory holds.
    """
    for value, what in ((fps, "frame rate"), (speed, "speed")):
        if not (isfinite(value) and value > 0):
            raise SettingsError(f"The {what} must be a positive number, not {value}")
    step = speed * clip.fps / fps  # in frames of the clip
    if isclose(step, 1.0, rel_tol=1e-6) or clip.frame_count < 2:
        return replace(clip, fps=fps)
    last = clip.frame_count - 1
    # at a rate such as 29.97 rounding puts the last frame a hair beyond the end
    count = int(last / step + 1e-6) + 1
    cause = f"it lasts {last / clip.fps:.4g} s, so its frame time may be wrong: correct or crop it"
    check_size(clip.name, count, clip.skeleton.bone_count, cause)
    times = np.minimum(np.arange(count) * step, last)
    positions = _sample_spline(clip.positions, times).astype(np.float32)
    rotations = quat.normalize(_sample_spline(quat.unroll(clip.rotations), times))
    rotations = quat.unroll(rotations).astype(np.float32)
    return replace(clip, positions=positions, rotations=rotations, fps=fps)


def find_common_rate(rates: Iterable[float]) -> float:
    """Return the most frequent frame rate, the highest of several; ValueError if there is none."""
    counts = Counter(rates)
    return max(counts, key=lambda rate: (counts[rate], rate))


def _sample_spline(frames: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return float64 values (T, ...) at `times` in frames of the spline through `frames`."""
    from scipy.interpolate import CubicSpline  # loads in 0.2 s

    return CubicSpline(np.arange(len(frames)), frames.astype(np.float64), axis=0)(times)
