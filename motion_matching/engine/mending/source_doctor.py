"""Find frames that no body can have moved through, and mend them before they are in a database.

Exporters write a T-pose as the first frame, captures lose frames or get stuck, and cut clips leap.
A frame counts as alien by physics and by the rest of its clip: by how far the whole body moves in
one frame, against the prediction by the frames on both sides.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..maths.along_time import find_runs
from ..maths.rotations import quat
from ..motion.clip import Clip
from ..motion.conforming import find_sliding_bones
from .numbers import NUMBERS


class Finding(NamedTuple):
    """Wrong frames of a clip from `start` up to `stop`, and their `mend`.

    The kinds are "alien" (at an end, unlike all others), "glitch" (the same within the clip),
    "leap" (a cut before `start`), "frozen", "repeated" (a few) and "stepped" (all of the clip).
    Mends are "cut" (left out), "fill" (interpolated), "split" (no motion leads over it), and "" if
    it is only reported.
    """

    kind: str
    start: int
    stop: int
    mend: str
    metres: float = 0.0


def examine(clip: Clip) -> list[Finding]:
    """Return the findings in the frames of a clip, in order."""
    if clip.frame_count < 4:
        return []
    steps = measure_steps(clip)
    frozen = _find_frozen(steps, clip.fps)
    if any(finding.kind == "stepped" for finding in frozen):
        return frozen
    filled = [finding for finding in frozen if finding.mend == "fill"]
    if filled:
        clip = fill(clip, filled)
        steps = measure_steps(clip)
    found = frozen + _find_aliens(clip, steps)
    return sorted(found, key=lambda finding: (finding.start, finding.stop))


def mend(clip: Clip, findings: Sequence[Finding]) -> list[tuple[int, Clip]]:
    """Return the remaining pieces of a clip, each with its first frame in the clip."""
    filled = [finding for finding in findings if finding.mend == "fill"]
    whole = fill(clip, filled) if filled else clip
    used = np.ones(clip.frame_count, bool)
    splits = {0, clip.frame_count}
    for finding in findings:
        if finding.mend == "cut":
            used[finding.start : finding.stop] = False
        elif finding.mend == "split":
            splits.add(finding.start)
    edges = sorted(splits)
    pieces = [
        (int(first) + start, int(last) + start)
        for start, stop in itertools.pairwise(edges)
        for first, last in find_runs(used[start:stop])
    ]
    if pieces == [(0, clip.frame_count)]:
        return [(0, whole)]
    return [(first, whole.crop(first, last)) for first, last in pieces]


def fill(clip: Clip, findings: Sequence[Finding]) -> Clip:
    """Return a clip with frames in findings interpolated between the frames beside them."""
    positions = clip.positions.copy()
    rotations = clip.rotations.copy()
    for finding in findings:
        before = finding.start - 1
        after = finding.stop
        share = np.linspace(0.0, 1.0, after - before + 1)[1:-1, None, None]
        lines = clip.positions[[before, after]].astype(np.float64)
        turns = clip.rotations[[before, after]].astype(np.float64)
        positions[finding.start : after] = lines[0] + share * (lines[1] - lines[0])
        same = np.where(np.sum(turns[0] * turns[1], axis=-1, keepdims=True) < 0, -1.0, 1.0)
        mixed = turns[0] + share * (same * turns[1] - turns[0])
        rotations[finding.start : after] = quat.normalize(mixed)
    return replace(clip, positions=positions, rotations=quat.unroll(rotations).astype(np.float32))


# ---------------------------------------------------------------- leaps


def _find_aliens(clip: Clip, steps: BodySteps) -> list[Finding]:
    """Return the leaps of a clip, and short runs of alien frames between two leaps."""
    leaps = _find_leaps(steps, clip.fps)
    count = clip.frame_count
    if not len(leaps):
        return []
    if len(leaps) > max(NUMBERS.leaps_anyway, NUMBERS.leaps_a_second * clip.duration):
        return [Finding("stepped", 0, count, "")]
    edges = [0, *(leaps + 1).tolist(), count]
    shortest = NUMBERS.short_end * clip.fps
    lengths = np.diff(edges)
    is_motion = lengths > min(shortest, lengths.max() - 1)
    kept = np.flatnonzero(is_motion)
    if lengths[kept].sum() < count / 2:
        return [Finding("stepped", 0, count, "")]
    found = []
    for start, stop in ((0, edges[kept[0]]), (edges[kept[-1] + 1], count)):
        if start < stop:  # pieces at an end of the clip
            at = stop - 1 if start == 0 else start - 1
            found.append(Finding("alien", start, stop, "cut", float(steps.steps[at])))
    for one, two in zip(kept[:-1].tolist(), kept[1:].tolist(), strict=True):
        start, stop = edges[one + 1], edges[two]
        far = steps.measure_distance(clip, start - 1, stop)
        if start == stop:
            found.append(Finding("leap", start, start, "split", far))
            continue
        usual = (stop - start + 1) * steps.get_usual(start, stop)
        joins = far < NUMBERS.leap_distance * steps.size + usual
        short = stop - start <= max(NUMBERS.filled_gap * clip.fps, 1)
        deed = "fill" if joins and short else "cut"
        found.append(Finding("glitch", start, stop, deed, float(steps.steps[start - 1])))
    return found


def _find_leaps(steps: BodySteps, fps: float) -> np.ndarray:
    """Return the frames (K,) from which no body gets to the next.

    The smaller change of its velocity, before or after, counts: a blow changes it once, a leap
    twice.
    """
    changes = np.minimum(np.append(np.inf, steps.changes), np.append(steps.changes, np.inf))
    least = max(
        NUMBERS.leap_distance * steps.size,
        NUMBERS.leap_acceleration / fps**2,
        NUMBERS.leap_contrast * np.percentile(changes, NUMBERS.common_steps),
    )
    return np.flatnonzero(changes > least)


# ---------------------------------------------------------------- frozen motion


def _find_frozen(steps: BodySteps, fps: float) -> list[Finding]:
    """Return the frames that repeat the one before them while the body moves."""
    way = steps.steps
    least = NUMBERS.moving_speed * np.sqrt(steps.size / NUMBERS.person_size) / fps
    still = way < NUMBERS.still * least
    found = []
    for first, last in find_runs(still).tolist():  # nearly no motion
        if first == 0 or last == len(way):
            continue
        before = way[first - 1]
        after = way[last]
        if min(before, after) < least or way[first:last].max() > NUMBERS.still * min(before, after):
            continue
        next_step = way[last + 1] if last + 1 < len(way) else before
        joins = after / (last - first + 1) < 2.0 * max(before, next_step)
        is_short = last - first <= max(NUMBERS.filled_gap * fps, 1)
        kind = ("repeated", "fill") if is_short and joins else ("frozen", "cut")
        found.append(Finding(kind[0], first + 1, last + 1, kind[1], float(after)))
    repeated = sum(finding.stop - finding.start for finding in found)
    if repeated > NUMBERS.frozen * len(way):
        return [Finding("stepped", 0, len(way) + 1, "")]
    return found


# ---------------------------------------------------------------- steps


@dataclass(frozen=True)
class BodySteps:
    """Ways of a body in metres, the root mean square over its bones weighted by length.

    `steps` (F - 1,) lead from a frame to the next, `changes` (F - 2,) are differences of
    consecutive steps. The `size` of the body is its extent in most frames. `weights` (B,) of bones
    add up to 1.
    """

    steps: np.ndarray
    changes: np.ndarray
    size: float
    weights: np.ndarray

    def measure_distance(self, clip: Clip, one: int, two: int) -> float:
        """Return how far the body is from one frame to another."""
        pair = [one, two]
        _, points = quat.fk(clip.rotations[pair], clip.positions[pair], clip.skeleton.parents)
        return float(_average(points[1] - points[0], self.weights))

    def get_usual(self, start: int, stop: int) -> float:
        """Return the longer of the usual steps within some frames before and after a range."""
        before = self.steps[max(start - 5, 0) : max(start - 1, 1)]
        after = self.steps[min(stop, len(self.steps) - 1) : stop + 4]
        return float(max(np.median(before), np.median(after)))


def measure_steps(clip: Clip) -> BodySteps:
    """Measure the steps of a clip of two frames or more."""
    weights, size = _weigh_bones(clip)
    steps = []
    changes = []
    for start in range(0, clip.frame_count - 1, NUMBERS.frames_at_once):
        part = clip.crop(max(start - 1, 0), start + NUMBERS.frames_at_once + 1)
        ways = np.diff(part.compute_world()[1].astype(np.float64), axis=0)
        steps.append(_average(ways[1 if start else 0 :], weights))
        changes.append(_average(np.diff(ways, axis=0), weights))
    return BodySteps(np.concatenate(steps), np.concatenate(changes), size, weights)


def _weigh_bones(clip: Clip) -> tuple[np.ndarray, float]:
    """Return weights (B,) of bones by length, zero if they slide, and the body's size in m."""
    sample = slice(None, None, max(clip.frame_count // NUMBERS.size_frames, 1))
    positions = clip.positions[sample]
    rotations = clip.rotations[sample]
    lengths = np.linalg.norm(np.median(positions, axis=0), axis=-1).astype(np.float64)
    lengths[find_sliding_bones(clip)] = 0.0
    if not lengths.any():  # bones without parents, such as controls
        lengths[:] = 1.0
    _, points = quat.fk(rotations, positions, clip.skeleton.parents)
    extents = np.linalg.norm(np.ptp(points[:, lengths > 0.0], axis=1), axis=-1)
    return lengths / lengths.sum(), float(np.median(extents))


def _average(ways: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the root mean squares (...) of ways (..., B, 3) of weighted bones (B,)."""
    return np.sqrt(np.sum(ways**2, axis=-1) @ weights)
