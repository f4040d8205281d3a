"""Report on a shot: by how much marks and paths are missed, and why."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..control.rollout import Take
from ..database.frame_names import find_frame, format_frame
from ..maths import planar
from .conduct import Conduct
from .fit.closing import Closed
from .footage.footage import Footage
from .footage.jump_table import JumpTable, find_runner_up
from .mark_outcomes import MarkMeasures, conclude, round_off
from .numbers import NUMBERS
from .obstacles.obstruction import Obstruction
from .search.beam import ShotPlan
from .search.guide import sample_path
from .search.side_steps import is_short_of_side_steps
from .shot.shot import KeptJump, Shot, Tempo, TimedPath


def report_shot(
    take: Take,
    shot: Shot,
    plan: ShotPlan,
    closed: Closed,
    data: tuple[Footage, JumpTable],
    obstruction: Obstruction | None = None,
) -> dict[str, Any]:
    """Return the outcome of each mark and path as JSON data: metres, radians, seconds.

    All of it is measured from the poses of the take, including collisions on the way, and in the
    units of the world, as take and shot are.
    """
    footage, table = data
    lead = footage.scale.to_world(np.linalg.norm(closed.lead, axis=1).max(), "m/s")
    turn = footage.scale.to_world(np.abs(closed.turn).max(), "rad/s")
    conduct = Conduct(take, shot, footage, obstruction)
    marks = MarkMeasures(take, shot.leading, footage, conduct, obstruction)
    told = {
        "marks": [marks.report(mark) for mark in shot.marks],
        "paths": [report_path(take, path, conduct, footage) for path in shot.paths],
        "tempos": [_report_tempo(tempo, closed, take.fps) for tempo in shot.tempos],
        "kept": [_report_kept(take, plan, closed, jump, footage) for jump in shot.kept],
    }
    outcomes = [each for kind in told.values() for each in kind]
    return {
        **told,
        "reached": sum(each["reached"] for each in outcomes),
        "asked": len(outcomes),
        **conduct.to_json(),
        "jumps": _list_jumps(take, plan, closed, footage, table),
        "lead_max": round_off(lead),
        "turn_max": round_off(turn),
        "rate_min": round_off(closed.rate.min()),
        "rate_max": round_off(closed.rate.max()),
    }


def _list_jumps(
    take: Take, plan: ShotPlan, closed: Closed, footage: Footage, table: JumpTable
) -> list[dict[str, Any]]:
    """Return each jump: second, frames, price in metre-seconds, and the cheapest other one."""
    result = []
    database = footage.database
    at = np.flatnonzero(plan.jumps)
    ticks = np.searchsorted(np.floor(closed.plan_ticks + 1e-6), at)
    pairs = np.column_stack([plan.frames[at - 1], plan.frames[at]])
    for tick, (left, to) in zip(ticks.tolist(), pairs.tolist(), strict=True):
        if tick >= take.frame_count:
            break
        price = float(take.prices[tick])
        source = min(left + 1, footage.frame_count - 1)
        found = find_runner_up(footage, table, source, to)
        jump = {
            "second": round_off(tick / take.fps),
            "from": format_frame(database, left),
            "to": format_frame(database, to),
            "price": None if np.isnan(price) else round(price, 5),
            "runner_up": None,
        }
        if found is not None:
            other = format_frame(database, found[0])
            jump["runner_up"] = {"to": other, "dearer": round(found[1], 5)}
        result.append(jump)
    return result


def report_path(
    take: Take,
    path: TimedPath,
    conduct: Conduct | None = None,
    footage: Footage | None = None,
) -> dict[str, Any]:
    """Return the distance of a take from a path while it lasts, and its body's faults meanwhile."""
    first = int(np.ceil(path.times[0] * take.fps - 1e-6))
    last = min(int(path.times[-1] * take.fps + 1e-6), take.frame_count - 1)
    ticks = np.arange(first, max(last, first) + 1)
    away = take.character[ticks] - sample_path(path, ticks / take.fps)
    far = np.linalg.norm(away[:, :2], axis=1)
    turned = np.abs(planar.wrap(away[:, 2]))
    mean = float(far.mean())
    most = float(far.max())
    usual = float(np.percentile(far, 95))
    facing = float(np.percentile(turned, 95))
    problems = []
    advice = "slow it down, or make its turns wider"
    if footage is not None and is_short_of_side_steps(path, footage):
        advice = (
            "it goes sideways, and there are hardly any side steps that fast: add clips of them"
        )
    limits = (NUMBERS.path_mean, NUMBERS.path_usual, NUMBERS.path_most)
    if np.any(np.greater((mean, usual, most), limits)):
        problems.append(
            f"the path is missed by {mean:.2f} m on average and {most:.2f} m at most; {advice}"
        )
    if facing > NUMBERS.path_facing:
        text = f"the heading is up to {np.degrees(facing):.0f}° off in 95 % of it"
        problems.append(text if problems else f"{text}; {advice}")
    problems += conduct.list_problems(first, last) if conduct else []
    return {
        "start": path.times[0],
        "stop": path.times[-1],
        "place_error": round_off(mean),
        "place_error_p95": round_off(usual),
        "place_error_max": round_off(most),
        "facing_error": round_off(facing),
        "time_error": 0.0,
        **conclude(problems),
    }


def _report_tempo(tempo: Tempo, closed: Closed, fps: float) -> dict[str, Any]:
    """Return the average speed at which a range is played."""
    first = round(tempo.start * fps)
    stop = round(tempo.stop * fps)
    rate = float(closed.rate[first : max(stop, first + 1)].mean())
    problems = []
    if (rate - 1.0) * (tempo.rate - 1.0) < NUMBERS.tempo_met * (tempo.rate - 1.0) ** 2:
        problems.append(
            f"the motion from {tempo.start:g} s to {tempo.stop:g} s is played {rate:.2f} times as "
            "fast, because the marks in it leave no more; move them, or make the range longer"
        )
    ends = {"start": tempo.start, "stop": tempo.stop, "rate": round_off(rate)}
    return ends | conclude(problems)


def _report_kept(
    take: Take, plan: ShotPlan, closed: Closed, jump: KeptJump, footage: Footage
) -> dict[str, Any]:
    """Return whether a take has a kept jump."""
    left, to = (find_frame(footage.database, frame) for frame in (jump.source, jump.target))
    at = np.flatnonzero(plan.jumps[1:]) + 1
    at = at[(plan.frames[at - 1] == left) & (plan.frames[at] == to)]
    ticks = np.searchsorted(np.floor(closed.plan_ticks + 1e-6), at)
    late = (ticks / take.fps - jump.time).tolist()
    nearest = min(late, key=abs, default=None)
    problems = []
    if nearest is None or abs(nearest) > NUMBERS.kept_ticks / take.fps:
        problems.append(
            f"the jump to '{jump.target}' is not made at {jump.time:g} s, because what is asked "
            "for around it leaves no time; move that, or unpin the jump"
        )
    ends = {"time": jump.time, "from": jump.source, "to": jump.target}
    told = {"time_error": None if nearest is None else round_off(nearest)}
    return ends | told | conclude(problems)
