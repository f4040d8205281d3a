"""Change the speed of a plan over ranges, and convert a shot to the time of its plan.

The search plays frames at their own rate. So its goals are converted to the time of the plan, in
which a range to be played slower is shorter.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...maths.easing import smoothstep
from ..numbers import NUMBERS
from ..search.guide import Guide
from ..shot.shot import Shot


def compute_rates(shot: Shot, fps: float, count: int) -> np.ndarray:
    """Return the rate (T,) at which to play a plan at each tick; 1 is the data's own rate."""
    t = np.arange(count) / fps
    rates = np.ones(count)
    for tempo in shot.tempos:
        ease = min(NUMBERS.tempo_ease, 0.5 * (tempo.stop - tempo.start))
        inside = np.minimum(t - tempo.start, tempo.stop - t)
        rates += (tempo.rate - 1.0) * smoothstep(inside / ease)
    return rates


def put_on_plan(shot: Shot, guide: Guide) -> Shot:
    """Return a shot with its marks and jumps at the times of its plan."""
    if not shot.tempos:
        return shot
    ticks = np.arange(guide.tick_count)

    def move(seconds: float) -> float:
        tick = min(seconds * guide.fps, float(ticks[-1]))
        return float(np.interp(tick, ticks, guide.plan_ticks)) / guide.fps

    marks = []
    for mark in shot.marks:
        time = move(mark.time)
        marks.append(replace(mark, time=time, hold=move(mark.time + mark.hold) - time))
    return replace(
        shot,
        marks=tuple(marks),
        forbidden=tuple(
            replace(jump, start=move(jump.start), stop=move(jump.stop)) for jump in shot.forbidden
        ),
        kept=tuple(replace(jump, time=move(jump.time)) for jump in shot.kept),
    )
