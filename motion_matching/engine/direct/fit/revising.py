"""Search a piece of a plan again, and keep the rest unchanged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...maths import planar
from ...progress import ReportShare
from ..footage.footage import Footage
from ..footage.jump_table import JumpTable
from ..numbers import NUMBERS
from ..search.beam import Beam, Dislike, SearchStart, ShotPlan, Wanted, get_stride
from ..search.guide import Guide
from .closing import Closed, compute_fading


class Revision(NamedTuple):
    """The ticks from `first` to `stop` to search again, and the number of states."""

    first: int
    stop: int
    states: int


class Revised(NamedTuple):
    """A plan with new ticks from `begin` to before `end`."""

    plan: ShotPlan
    begin: int
    end: int


def revise(
    data: tuple[Footage, JumpTable],
    guide: Guide,
    wanted: Wanted,
    solved: tuple[ShotPlan, Closed],
    revision: Revision,
    asked: np.ndarray,
    progress: ReportShare | None = None,
) -> Revised:
    """Return a plan with a piece searched again that joins the frames of the rest.

    It begins and ends where the closed take is then, at steps of the search: up to one later. Where
    the rest is on its way to a jump, the end is moved a little more. The guide is by ticks of the
    plan: those `asked` for (T,), by ticks of the take. `progress` may raise to cancel.
    """
    footage, table = data
    plan, closed = solved
    stride = get_stride(footage.fps)
    ticks = closed.plan_ticks
    last = len(closed.rate) - 1
    first = ticks[min(revision.first, last)] if revision.first > 0 else 0.0
    begin = math.ceil(first / stride) * stride
    wished = len(plan.frames) if revision.stop >= last else int(ticks[revision.stop])
    end = min(_find_end(footage, plan, -(-wished // stride) * stride, stride), len(plan.frames))
    tick = int(np.searchsorted(ticks, begin)) if begin else 0  # of the take there
    at = round(asked[min(tick, len(asked) - 1)])
    own = guide.extend(len(plan.frames) + stride).cut(at, at + end - begin + round(footage.fps))
    # requested frames and jumps are at their own ticks of the plan, because marks are closed
    frames = {tick - begin: frame for tick, frame in wanted.frames.items() if tick > begin}
    if end < len(plan.frames):
        away = _find_place(closed, end) - own.way[end - begin]
        away[2] = planar.wrap(away[2])
        own = own.join(away, end - begin)
        frames = {tick: frame for tick, frame in frames.items() if tick < end - begin}
        frames[end - begin] = int(plan.frames[end])
    inner = range(begin + 1, end)
    local = replace(
        wanted,
        frames=frames,
        kept={tick - begin: jump for tick, jump in wanted.kept.items() if tick in inner},
        poses={tick - begin: costs for tick, costs in wanted.poses.items() if tick in inner},
        parts=[aim._replace(tick=aim.tick - begin) for aim in wanted.parts if aim.tick in inner],
        barred=[each.shift(begin) for each in wanted.barred],
        dislikes=[Dislike(d.tick - at, d.gait, d.tags) for d in wanted.dislikes],
        gait_shares=None if wanted.gait_shares is None else wanted.gait_shares[at:],
        climbs=None if wanted.climbs is None else wanted.climbs[at:],
    )
    beam = Beam(footage, table, own, local, revision.states, -(-(end - begin) // stride))
    start = _find_state(footage, plan, _find_place(closed, begin), begin, stride)
    found = beam.search(start if begin else None, progress)
    return Revised(_splice(plan, found, begin, end), begin, end)


def _find_place(closed: Closed, plan_tick: int) -> np.ndarray:
    """Return the place (3,) of a take when it shows a tick of its plan."""
    columns = closed.places.T
    return np.array([np.interp(plan_tick, closed.plan_ticks, column) for column in columns])


def join_pieces(plan: ShotPlan, pieces: Sequence[Revised]) -> ShotPlan:
    """Replace pieces of a plan that were searched again."""
    for piece in pieces:
        begin = piece.begin
        end = piece.end
        found = ShotPlan(piece.plan.frames[begin:end], piece.plan.jumps[begin:end], 0.0)
        plan = _splice(plan, found, begin, end)
    return plan


def lay_pieces(way: np.ndarray, before: np.ndarray, pieces: Sequence[Revised]) -> np.ndarray:
    """Return a plan's way (P, 3) that, outside of its pieces, lies where it was `before` (P, 3).

    A piece never ends exactly where the old one did, and all that follows would be turned. So the
    difference is spread over the piece.
    """
    result = before[: len(way)].copy()
    for piece in pieces:
        first, last = piece.begin, min(piece.end, len(way) - 1)
        start = max(first - 1, 0)
        own = way[first : last + 1]
        at_start = _find_shift(way[start], result[start], 0.0)
        at_end = _find_shift(way[last], result[last], at_start[2])
        share = np.linspace(0.0, 1.0, last - first + 1)[:, None]
        rounds = _shift(way[last], at_end)[2] - result[last, 2]
        laid = (1.0 - share) * _shift(own, at_start) + share * _shift(own, at_end)
        result[first : last + 1] = laid
        result[last + 1 :, 2] += rounds  # whole ones
    return result


def _find_shift(own: np.ndarray, wanted: np.ndarray, near: float) -> np.ndarray:
    """Return the move and turn (3,) from one place (3,) to another, near a given turn."""
    turn = near + float(planar.wrap(wanted[2] - own[2] - near))
    return np.append(wanted[:2] - planar.rotate(own[:2], turn), turn)


def _shift(way: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Return a way (..., 3) turned about the origin, and moved."""
    places = planar.rotate(way[..., :2], shift[2]) + shift[:2]
    return np.concatenate([places, way[..., 2:] + shift[2]], axis=-1)


def _splice(plan: ShotPlan, found: ShotPlan, begin: int, end: int) -> ShotPlan:
    """Put the frames found from one tick to another into a plan."""
    frames, jumps = (
        np.concatenate([old[:begin], new[: end - begin], old[end:]])
        for old, new in ((plan.frames, found.frames), (plan.jumps, found.jumps))
    )
    for seam in (begin, end):  # a piece may begin with a jump
        if 0 < seam < len(frames):
            jumps[seam] = frames[seam] != frames[seam - 1] + 1
    return ShotPlan(frames, jumps, plan.cost + found.cost)


def _find_end(footage: Footage, plan: ShotPlan, tick: int, stride: int) -> int:
    """Return the tick, some strides from a given one, at which a piece can end: without a jump."""
    calm = round(NUMBERS.jumps_apart * footage.fps)
    while plan.jumps[max(tick - calm, 0) : tick + 1].any() and tick < len(plan.frames):
        tick += stride
    return tick


def _find_state(
    footage: Footage, plan: ShotPlan, place: np.ndarray, begin: int, stride: int
) -> SearchStart:
    """Return the state of a plan at a tick at which it could jump."""
    jumps, fading = compute_fading(footage, plan)
    x, y, yaw = place.tolist()
    frame = int(min(plan.frames[begin - 1] + 1, footage.frame_count - 1))
    last = int(np.searchsorted(jumps, begin)) - 1
    if last < 0:
        return SearchStart(frame, (x, y, yaw), begin // stride)
    since = (begin - int(jumps[last])) // stride
    vx, vy, turn = fading[last].tolist()
    return SearchStart(frame, (x, y, yaw), since, (vx, vy, turn))
