"""Find frames that no body can have moved through, and mend them before they are in a database.

Exporters write a T-pose as the first frame, captures lose frames or get stuck, and cut clips leap.
A frame counts as alien by physics and by the rest of its clip: how far the whole body moves in one
frame, where the frames on both sides foretell another way.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..maths.along_time import find_runs
from ..maths.rotations import quat
from ..motion.clip import Clip
from .body_steps import BodySteps, measure_steps

# a leap is farther than each of these; measured from what the frames on both sides foretell
_LEAP_DISTANCE = 0.06  # of the size of the body: clean captures stay below 0.03 from 30 to 120 fps
_LEAP_ACCELERATION = 80.0  # m/s² of the whole body, 8 times a fall's; captured runs have 40
_LEAP_CONTRAST = 5.0  # times the upper quartile of the clip: motion of one kind varies by 2 to 4
_UPPER_QUARTILE = 75
_END_SECONDS = 0.25  # a piece before the first or after the last leap that is as short is no motion
_GAP_SECONDS = 0.1  # frames that are lost for so long are filled: a body goes on nearly straight
_LEAPS_PER_SECOND = 2.0  # more are how a clip is animated, in steps, and no fault in it
_LEAP_COUNT = 4  # leaps that a clip of any length may have
# frozen motion
_MOVING_SPEED = 0.5  # m/s of the whole body of people's size before and after it; idling is slower
_STILL_SHARE = 0.02  # of the steps before and after; repeated frames differ by rounding alone
_FROZEN_SHARE = 0.2  # share of a clip; more are poses that are held on purpose
_PERSON_SIZE = 1.7  # metres, to which speeds are scaled


class Finding(NamedTuple):
    """Frames from `start` up to `stop` of a clip that are wrong, and the `mend` that they get.

    The kinds are "alien" (at an end, unlike all others), "glitch" (the same within the clip),
    "leap" (a cut before `start`), "frozen", "repeated" (a few) and "stepped" (all of the clip).
    Mends are "cut" (left out), "fill" (interpolated), "split" (no motion leads over it), and "" if
    it is only told.
    """

    kind: str
    start: int
    stop: int
    mend: str
    metres: float = 0.0


def examine(clip: Clip) -> list[Finding]:
    """Return what is wrong with the frames of a clip, in their order."""
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
    """Return the pieces of a clip that are left, each with its first frame in the clip."""
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
    """Return a clip whose frames in findings are interpolated between those beside them."""
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    for finding in findings:
        before, after = finding.start - 1, finding.stop
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
    """Return the leaps of a clip, and the frames between two that are too few for motion."""
    leaps = _find_leaps(steps, clip.fps)
    count = clip.frame_count
    if not len(leaps):
        return []
    if len(leaps) > max(_LEAP_COUNT, _LEAPS_PER_SECOND * clip.duration):
        return [Finding("stepped", 0, count, "")]
    edges = [0, *(leaps + 1).tolist(), count]
    shortest = _END_SECONDS * clip.fps
    lengths = np.diff(edges)
    is_motion = lengths > min(shortest, lengths.max() - 1)
    kept = np.flatnonzero(is_motion)
    if lengths[kept].sum() < count / 2:
        return [Finding("stepped", 0, count, "")]
    found = [
        _describe_end(edges, steps, 0, int(kept[0])),
        _describe_end(edges, steps, int(kept[-1]) + 1, len(lengths)),
    ]
    for one, two in zip(kept[:-1].tolist(), kept[1:].tolist(), strict=True):
        start, stop = edges[one + 1], edges[two]
        far = steps.measure_distance(clip, start - 1, stop)
        if start == stop:
            found.append(Finding("leap", start, start, "split", far))
            continue
        joins = far < _LEAP_DISTANCE * steps.size + (stop - start + 1) * steps.get_usual(
            start, stop
        )
        short = stop - start <= max(_GAP_SECONDS * clip.fps, 1)
        way = float(steps.steps[start - 1])
        if joins and short:
            found.append(Finding("glitch", start, stop, "fill", way))
        else:
            found.append(Finding("glitch", start, stop, "cut", way))
    return [finding for finding in found if finding]


def _describe_end(edges: list[int], steps: BodySteps, first: int, last: int) -> Finding | None:
    """Return the pieces from `first` up to `last` at an end of a clip as alien frames, if any."""
    if first == last:
        return None
    start, stop = edges[first], edges[last]
    at = stop - 1 if start == 0 else start - 1
    return Finding("alien", start, stop, "cut", float(steps.steps[at]))


def _find_leaps(steps: BodySteps, fps: float) -> np.ndarray:
    """Return the frames (K,) from which no body gets to the next.

    What counts is the smaller change of its velocity, before or after: a blow changes it once, a
    leap twice.
    """
    ends = np.full(1, np.inf)
    changes = np.minimum(
        np.concatenate([ends, steps.changes]), np.concatenate([steps.changes, ends])
    )
    least = max(
        _LEAP_DISTANCE * steps.size,
        _LEAP_ACCELERATION / fps**2,
        _LEAP_CONTRAST * np.percentile(changes, _UPPER_QUARTILE),
    )
    return np.flatnonzero(changes > least)


# ---------------------------------------------------------------- frozen motion


def _find_frozen(steps: BodySteps, fps: float) -> list[Finding]:
    """Return the frames that repeat the one before them while the body moves."""
    way = steps.steps
    least = _MOVING_SPEED * np.sqrt(steps.size / _PERSON_SIZE) / fps
    still = way < _STILL_SHARE * least
    found = []
    for first, last in find_runs(still).tolist():  # steps that are none
        if first == 0 or last == len(way):
            continue
        before, after = way[first - 1], way[last]
        if min(before, after) < least or way[first:last].max() > _STILL_SHARE * min(before, after):
            continue
        next_step = way[last + 1] if last + 1 < len(way) else before
        joins = after / (last - first + 1) < 2.0 * max(before, next_step)
        if last - first <= max(_GAP_SECONDS * fps, 1) and joins:
            found.append(Finding("repeated", first + 1, last + 1, "fill", float(after)))
        else:
            found.append(Finding("frozen", first + 1, last + 1, "cut", float(after)))
    repeated = sum(finding.stop - finding.start for finding in found)
    if repeated > _FROZEN_SHARE * len(way):
        return [Finding("stepped", 0, len(way) + 1, "")]
    return found
