"""List the anchors of a take, measure how far a plan misses them, and give up unreachable ones."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...maths import planar
from ...maths.along_time import find_runs
from ..limbs.body_parts import find_leaders
from ..numbers import NUMBERS
from ..search.beam import get_stride
from ..search.guide import Guide
from ..shot.mark import CHARACTER
from ..shot.shot import Shot
from .closing import Anchor, Closed, close


class GivenUp(NamedTuple):
    """The parts of an anchor that cannot be held."""

    place: bool
    yaw: bool


def list_anchors(shot: Shot, guide: Guide, near: frozenset[int]) -> list[Anchor]:
    """Return the anchors in order of ticks; the first is the start.

    Marks that are only approached (indices in `near`), and parts that others lead, give none. Kept
    jumps are searched at whole steps, but anchored at their own tick.
    """
    fps = guide.fps
    last = guide.tick_count - 1
    x, y, yaw = guide.way[0].tolist()
    anchors = [Anchor(0, (x, y), yaw)]
    plan_ticks = guide.plan_ticks
    free = near | set(find_leaders(shot))
    for i, mark in enumerate(shot.marks):
        place = None if i in free else mark.position
        part = "" if mark.part == CHARACTER else mark.part
        tick = min(round(mark.time * fps), last)
        if (place, mark.facing, mark.frame) != (None, None, None) and tick > 0:
            plan_tick = None if mark.frame is None else float(round(plan_ticks[tick]))
            anchors.append(Anchor(tick, place, mark.facing, plan_tick, part=part))
        end = min(round((mark.time + mark.hold) * fps), last)
        if mark.hold and place is not None and end > tick:
            anchors.append(Anchor(end, place, loose=True, part=part))
    stride = get_stride(fps)
    for jump in shot.kept:
        tick = round(jump.time * fps)
        step = round(round(plan_ticks[tick]) / stride)
        anchors.append(Anchor(tick, plan_tick=float(step * stride)))
    return sorted(anchors, key=lambda anchor: anchor.tick)


def close_on_anchors(
    way: np.ndarray,
    guide: Guide,
    anchors: Sequence[Anchor],
    origin: float = 0.0,
    laid: np.ndarray | None = None,
) -> tuple[Closed, list[int]]:
    """Close a way from where it is laid; also return the ticks of the anchors given up.

    Those would need too large corrections; the worst come first.
    """
    along = guide.put_on_take(way if laid is None else laid)
    ticks = origin + guide.plan_ticks
    kept = _leave_out_far(anchors, along, ticks, guide.fps)
    for _ in range(NUMBERS.closing_passes):
        closed = close(way, guide, kept, origin, laid)
        worst = _find_worst(kept, closed, _measure_misses(kept, along, ticks))
        if not worst:
            break
        kept = [_give_up(each, worst[i]) if i in worst else each for i, each in enumerate(kept)]
    else:
        closed = close(way, guide, kept, origin, laid)
    return closed, [a.tick for a, b in zip(anchors, kept, strict=True) if a != b]


def _find_worst(
    anchors: Sequence[Anchor], closed: Closed, misses: np.ndarray
) -> dict[int, GivenUp]:
    """Return what to give up, by anchor: the farthest (2, A) where corrections are too large."""
    ends = [*(anchor.tick for anchor in anchors), len(closed.rate)]
    flags = np.array([_exceed(closed, a, b) for a, b in itertools.pairwise(ends)])
    worst: tuple[set[int], set[int]] = (set(), set())  # in place, and in heading
    for flags_of_axis, missed, of_axis in zip(flags.T, misses, worst, strict=True):
        for first, stop in find_runs(flags_of_axis).tolist():
            beside = np.arange(max(first, 1), min(stop + 1, len(anchors)))
            if len(beside) and missed[beside].max() > 0.0:
                of_axis.add(int(beside[np.argmax(missed[beside])]))
    return {k: GivenUp(k in worst[0], k in worst[1]) for k in worst[0] | worst[1]}


def _exceed(closed: Closed, first: int, stop: int) -> GivenUp:
    """Return whether corrections of place, and of heading, are too large in a span of ticks."""
    span = slice(first, max(stop, first + 1))
    lead = np.linalg.norm(closed.lead[span], axis=1).max()
    rate = closed.rate[span]
    turn = np.abs(closed.turn[span]).max()
    moved = (
        lead > NUMBERS.largest_lead
        or rate.min() < NUMBERS.least_rate
        or rate.max() > NUMBERS.largest_rate
    )
    return GivenUp(bool(moved), bool(turn > NUMBERS.largest_turn))


def _give_up(anchor: Anchor, given_up: GivenUp) -> Anchor:
    """Return an anchor without what is given up.

    A part's place also fixes the heading: if a heading that is not set apart is given up, so is the
    place.
    """
    turns = anchor.track is not None and anchor.yaw is None and given_up.yaw
    return anchor._replace(
        place=None if given_up.place or turns else anchor.place,
        yaw=None if given_up.yaw else anchor.yaw,
    )


def _leave_out_far(
    anchors: Sequence[Anchor], way: np.ndarray, ticks: np.ndarray, fps: float
) -> list[Anchor]:
    """Return anchors without the places that a plan does not come near to."""
    away = _measure_misses(anchors, way, ticks)[0]
    result = [anchors[0]]
    before = anchors[0].tick
    for anchor, far in zip(anchors[1:], away[1:].tolist(), strict=True):
        span = way[before : anchor.tick + 1, :2]
        gone = float(np.linalg.norm(np.diff(span, axis=0), axis=1).sum())
        most = NUMBERS.hopeless + NUMBERS.largest_lead * len(span) / fps
        most += (NUMBERS.largest_rate - 1.0) * gone
        result.append(_give_up(anchor, GivenUp(far > most, False)))
        before = anchor.tick
    return result


def _measure_misses(anchors: Sequence[Anchor], way: np.ndarray, ticks: np.ndarray) -> np.ndarray:
    """Return how far (2, A) a way is from each anchor in metres, and in radians, before closing.

    The way is by ticks of the take, which show the ticks (T,) of the plan. Places are measured from
    the anchor before, so earlier drift does not count.
    """
    result = np.zeros((2, len(anchors)))
    drift: np.ndarray = np.zeros(2)
    for i, anchor in enumerate(anchors):
        at = way[min(anchor.tick, len(way) - 1)]
        if anchor.place is not None:
            away = at[:2] - np.array(anchor.place)
            if anchor.track is not None:
                away = anchor.track.find_place(np.append(at, ticks[anchor.tick])) - anchor.place
            result[0, i] = float(np.linalg.norm(away - drift))
            result[1, i] = 0.0 if anchor.track is None else result[0, i] / NUMBERS.part_arm
            drift = away
        if anchor.yaw is not None:
            result[1, i] = abs(planar.wrap(float(at[2]) - anchor.yaw))
    return result
