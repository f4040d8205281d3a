"""Search a piece of a plan again, and leave the rest of it as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .beam import Beam, Dislike, SearchStart, ShotPlan, Wanted, get_stride
from .closing import compute_fading, compute_way
from .footage import Footage
from .guide import Guide
from .jump_table import JumpTable

_LOOK = 1.0  # seconds of the guide that are seen beyond the end
_CALM = 0.3  # seconds without a jump before the end


class Revision(NamedTuple):
    """The ticks from `first` to `stop` that are searched again, and with how many states."""

    first: int
    stop: int
    states: int


class Revised(NamedTuple):
    """A plan, of which the ticks from `begin` to before `end` are new."""

    plan: ShotPlan
    begin: int
    end: int


def revise(
    footage: Footage,
    table: JumpTable,
    guide: Guide,
    wanted: Wanted,
    plan: ShotPlan,
    revision: Revision,
) -> Revised:
    """Return a plan whose piece is searched again; it joins the frames of the rest.

    Where the rest is on its way to a jump, the end is moved a little later.
    """
    stride = get_stride(footage.fps)
    first = revision.first // stride
    stop = _find_end(footage, plan, -(-revision.stop // stride), stride)
    begin, end = first * stride, min(stop * stride, len(plan.frames))
    whole = end >= len(plan.frames)
    way = compute_way(footage, plan, guide.way[0])
    extended = guide.extend(max(len(plan.frames) - guide.tick_count, 0))
    own = extended.cut(begin, end + round(_LOOK * guide.fps))
    if not whole:
        own = own.join(way[end] - extended.way[min(end, extended.tick_count - 1)], end - begin)
    frames = {tick - begin: at for tick, at in wanted.frames.items() if begin < tick < end}
    if not whole:
        frames[end - begin] = int(plan.frames[end])
    local = replace(
        wanted,
        frames=frames,
        dislikes=[Dislike(d.tick - begin, d.gait, d.tags) for d in wanted.dislikes],
        gait_shares=None if wanted.gait_shares is None else wanted.gait_shares[begin:],
        no_jumps=None if wanted.no_jumps is None else wanted.no_jumps[begin:],
    )
    steps = -(-(end - begin) // stride)
    beam = Beam(footage, table, own, local, revision.states, steps)
    found = beam.search(_find_state(footage, plan, way, begin, stride) if begin else None)
    return Revised(_splice(plan, found, begin, end), begin, end)


def _splice(plan: ShotPlan, found: ShotPlan, begin: int, end: int) -> ShotPlan:
    """Return a plan with what was found from one tick to another."""
    parts = plan.frames[:begin], found.frames[: end - begin], plan.frames[end:]
    jumps = np.concatenate([plan.jumps[:begin], found.jumps[: end - begin], plan.jumps[end:]])
    frames = np.concatenate(parts)
    for seam in (begin, end):  # a piece may begin with a jump
        if 0 < seam < len(frames):
            jumps[seam] = frames[seam] != frames[seam - 1] + 1
    return ShotPlan(frames, jumps, plan.cost + found.cost)


def _find_end(footage: Footage, plan: ShotPlan, step: int, stride: int) -> int:
    """Return the step from the given one on at which a piece can end: not just after a jump."""
    calm = round(_CALM * footage.fps)
    while step * stride < len(plan.frames):
        tick = step * stride
        if not plan.jumps[max(tick - calm, 0) : tick + 1].any():
            return step
        step += 1
    return step


def _find_state(
    footage: Footage, plan: ShotPlan, way: np.ndarray, begin: int, stride: int
) -> SearchStart:
    """Return the state of a plan at a tick at which it could jump."""
    jumps, fading = compute_fading(footage, plan)
    before = np.flatnonzero(jumps < begin)
    frame = int(min(plan.frames[begin - 1] + 1, footage.frame_count - 1))
    x, y, yaw = way[begin].tolist()
    if not len(before):
        return SearchStart(frame, (x, y, yaw), begin // stride)
    last = before[-1]
    since = (begin - int(jumps[last])) // stride
    vx, vy, turn = fading[last].tolist()
    return SearchStart(frame, (x, y, yaw), since, (vx, vy, turn))
