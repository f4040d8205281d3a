"""What became of a shot: how far marks, paths and pins are missed, and why."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..control.take import Take
from ..database.frame_names import find_frame, format_frame
from ..maths import planar
from .beam import ShotPlan
from .closing import Closed
from .footage import Footage
from .guide import sample_path
from .jump_table import JumpTable, find_runner_up
from .parts import find_bone, name_part
from .pins import find_limb, measure_pin
from .poses import measure_pose
from .reach import compute_reach, find_before
from .shot import KeptJump, Mark, Pin, Shot, Tempo, TimedPath

_AROUND = 1.0  # seconds around a mark in which it may be passed
_PATH_MEAN, _PATH_USUAL, _PATH_MOST = 0.01, 0.025, 0.1  # metres: mean, in 95 %, and at most
_PATH_FACING = np.radians(9.0)  # in 95 %
_PIN = 0.01  # metres
_STRETCHED = 0.1  # metres up to which a limb that misses its height is just too short
_TEMPO = 0.5  # share of a change of tempo from which on it is met
_KEPT = 1.5  # ticks by which a jump that is kept may be earlier or later
_CLOSE = 0.9  # share of the data's fastest from which on a way is too fast


def report_shot(
    take: Take, shot: Shot, plan: ShotPlan, closed: Closed, data: tuple[Footage, JumpTable]
) -> dict[str, Any]:
    """Return what became of each mark, path and pin, as JSON data: metres, radians, seconds."""
    footage, table = data
    size, pace = footage.size, footage.pace
    lead = np.linalg.norm(closed.lead, axis=1).max() * size / pace
    told = {
        "marks": [_report_mark(take, shot, mark, footage) for mark in shot.marks],
        "paths": [report_path(take, path) for path in shot.paths],
        "pins": [_report_pin(take, pin) for pin in shot.pins],
        "tempos": [_report_tempo(tempo, closed, take.fps) for tempo in shot.tempos],
        "kept": [_report_kept(take, plan, closed, jump, footage) for jump in shot.kept],
    }
    outcomes = [each for kind in told.values() for each in kind]
    return {
        **told,
        "reached": sum(each["reached"] for each in outcomes),
        "asked": len(outcomes),
        "jumps": _list_jumps(take, plan, closed, footage, table),
        "lead_max": _round(lead),
        "turn_max": _round(np.abs(closed.turn).max() / pace),
        "rate_min": _round(closed.rate.min()),
        "rate_max": _round(closed.rate.max()),
    }


def _list_jumps(
    take: Take, plan: ShotPlan, closed: Closed, footage: Footage, table: JumpTable
) -> list[dict[str, Any]]:
    """Return each jump: its second, from and to which frame, and its price in metre-seconds.

    And the runner-up by what jumps cost the director: where it leads, and how much `dearer` it is.
    """
    result = []
    low = np.floor(closed.plan_ticks + 1e-6)
    for at in np.flatnonzero(plan.jumps).tolist():
        tick = int(np.searchsorted(low, at))
        if tick >= take.frame_count:
            break
        left, to = (format_frame(footage.database, int(plan.frames[k])) for k in (at - 1, at))
        price = float(take.prices[tick])
        told = None if np.isnan(price) else round(price, 5)
        jump = {"second": _round(tick / take.fps), "from": left, "to": to, "price": told}
        result.append(jump | {"runner_up": _find_runner_up(plan, at, footage, table)})
    return result


def _find_runner_up(
    plan: ShotPlan, at: int, footage: Footage, table: JumpTable
) -> dict[str, Any] | None:
    """Return the cheapest other jump at a tick of a plan, and how much dearer it is."""
    source = min(int(plan.frames[at - 1]) + 1, footage.frame_count - 1)
    found = find_runner_up(footage, table, source, int(plan.frames[at]))
    if found is None:
        return None
    return {"to": format_frame(footage.database, found[0]), "dearer": round(found[1], 5)}


def _report_mark(take: Take, shot: Shot, mark: Mark, footage: Footage) -> dict[str, Any]:
    tick = min(round(mark.time * take.fps), take.frame_count - 1)
    x, y, yaw = take.character[tick].tolist()
    result: dict[str, Any] = {"time": mark.time}
    result |= {"place_error": None, "facing_error": None, "time_error": 0.0, "reason": ""}
    problems = []
    if mark.position is not None:
        if mark.is_of_part:
            away, problem = _measure_part(take, mark, tick, footage)
        else:
            away = float(np.hypot(x - mark.position[0], y - mark.position[1]))
            problem = ""
        result["place_error"] = _round(away)
        if away > mark.tolerance:
            result["time_error"] = _find_pass(take, mark, tick, footage)
            problems.append(problem or _explain_place(shot, mark, away, footage))
    if mark.facing is not None:
        turned = abs(planar.wrap(yaw - mark.facing))
        result["facing_error"] = _round(turned)
        if turned > mark.facing_tolerance:
            problems.append(
                f"the heading is {np.degrees(turned):.0f}° off; give more time to turn, or add "
                "clips that turn as much"
            )
    if mark.frame is not None:
        frame = find_frame(footage.database, mark.frame)
        shown = np.abs(take.frames[max(tick - 1, 0) : tick + 2].astype(int) - frame).min()
        result["shown"] = format_frame(footage.database, int(take.frames[tick]))
        if shown > 1:
            where = np.flatnonzero(take.frames == frame)
            nearest = where[np.argmin(np.abs(where - tick))] - tick if len(where) else None
            result["time_error"] = None if nearest is None else _round(nearest / take.fps)
            problems.append(f"'{mark.frame}' is not shown then; leave more time around it")
    if mark.pose is not None:
        away, bone = measure_pose(take, mark, footage.database)
        result["pose_error"] = _round(away)
        if away > mark.pose_tolerance:
            problems.append(
                f"the bone '{bone}' is {away:.2f} m from its place in the pose; hold the mark for "
                "a second, let the pose take longer to fade in, or move the mark to where both "
                "feet can stand as in the pose"
            )
    return result | _conclude(problems)


def _conclude(problems: list[str]) -> dict[str, Any]:
    """Return whether something was reached, and why not as one sentence."""
    text = "; ".join(problems)
    return {"reached": not problems, "reason": text and f"{text[0].upper()}{text[1:]}."}


def _measure_part(take: Take, mark: Mark, tick: int, footage: Footage) -> tuple[float, str]:
    """Return how far a mark's part is from there, a limb also in a hold, and why if it is known.

    Heights of hips are told as those of poses.
    """
    last = min(round((mark.time + mark.hold) * take.fps), take.frame_count - 1)
    places = _find_places(take, mark, footage)[tick : last + 1 if mark.is_limb else tick + 1]
    aside = np.linalg.norm(places[:, :2] - mark.position, axis=1)
    has_height = mark.height is not None and mark.is_limb
    above = np.abs(places[:, 2] - (mark.height if has_height else places[:, 2]))
    away = np.hypot(aside, above)
    most, name, near = float(away.max()), name_part(mark), _STRETCHED * footage.size
    if away[0] <= mark.tolerance < most:
        return most, (
            f"the {name} is up to {most:.2f} m from its mark while that is held; hold it for less "
            "time, or add clips that stand still"
        )
    if above[0] > 0.0 and (above[0] > aside[0] or away[0] < near):
        return most, (
            f"the {name} stays {away[0]:.2f} m away from its mark, beyond its reach; give the mark "
            "another height, or the character a pose"
        )
    return most, ""


def _find_places(take: Take, mark: Mark, footage: Footage) -> np.ndarray:
    """Return where (T, 3) the part of a mark is in a take."""
    bone = find_bone(footage.database, mark.part)
    return take.skeleton.compute_bone_positions([bone], take.poses)[:, 0]


def _find_pass(take: Take, mark: Mark, tick: int, footage: Footage) -> float:
    """Return how much later a take passes nearest to a mark, in seconds."""
    around = round(_AROUND * take.fps)
    first = max(tick - around, 0)
    places = _find_places(take, mark, footage) if mark.is_of_part else take.character
    away = places[first : tick + around + 1, :2] - mark.position
    nearest = int(np.argmin(np.linalg.norm(away, axis=1)))
    return _round((first + nearest - tick) / take.fps)


def _explain_place(shot: Shot, mark: Mark, away: float, footage: Footage) -> str:
    """Say why a place is missed: the data's motion that comes nearest, and what to do."""
    assert mark.position is not None
    place, seconds = find_before(shot, mark)
    wanted = float(np.hypot(mark.position[0] - place[0], mark.position[1] - place[1]))
    text = f"the mark is missed by {away:.2f} m"
    if mark.is_of_part:
        text = f"the {name_part(mark)} misses its mark by {away:.2f} m"
    if seconds <= 0.0 and mark.is_of_part:
        return f"{text}: another mark has the character elsewhere then; move one to the other"
    if seconds <= 0.0:
        return f"{text}: another one is at the same time; move one of them"
    metres, frame = compute_reach(footage, seconds / footage.pace)
    most, clip = metres * footage.size, format_frame(footage.database, frame)
    if wanted > _CLOSE * most:
        return (
            f"{text}: no motion goes {wanted:.1f} m in {seconds:.1f} s; the fastest, at {clip}, "
            f"goes {most:.1f} m; give more time, or capture faster motion"
        )
    what = f" that brings the {name_part(mark)} there," if mark.is_of_part else " there"
    return (
        f"{text}: the data has no way{what} in {seconds:.1f} s that starts, turns and ends as "
        "asked; move the mark, or give it another time or heading"
    )


def report_path(take: Take, path: TimedPath) -> dict[str, Any]:
    """Return how far a take is from a path while it lasts."""
    first = int(np.ceil(path.times[0] * take.fps - 1e-6))
    last = min(int(path.times[-1] * take.fps + 1e-6), take.frame_count - 1)
    ticks = np.arange(first, max(last, first) + 1)
    away = take.character[ticks] - sample_path(path, ticks / take.fps)
    far = np.linalg.norm(away[:, :2], axis=1)
    turned = np.abs(planar.wrap(away[:, 2]))
    usual, facing = float(np.percentile(far, 95)), float(np.percentile(turned, 95))
    problems = []
    if far.mean() > _PATH_MEAN or usual > _PATH_USUAL or far.max() > _PATH_MOST:
        problems.append(
            f"the path is missed by {far.mean():.2f} m on average and {far.max():.2f} m at most; "
            "slow it down, or make its turns wider"
        )
    if facing > _PATH_FACING:
        problems.append(f"the heading is up to {np.degrees(facing):.0f}° off in 95 % of it")
    return {
        "start": path.times[0],
        "stop": path.times[-1],
        "place_error": _round(far.mean()),
        "place_error_p95": _round(usual),
        "place_error_max": _round(far.max()),
        "facing_error": _round(facing),
        "time_error": 0.0,
        **_conclude(problems),
    }


def _report_pin(take: Take, pin: Pin) -> dict[str, Any]:
    limb = find_limb(take.skeleton, pin.limb)
    away = measure_pin(take.poses, take.skeleton, pin, limb, take.fps)
    problems = []
    if away > _PIN:
        name = pin.limb.replace("_", " ")
        problems.append(
            f"the {name} stays {away:.2f} m away, beyond its reach; put a mark nearer to the point"
        )
    return {
        "limb": pin.limb,
        "start": pin.start,
        "stop": pin.stop,
        "place_error": _round(away),
        "facing_error": None,
        "time_error": 0.0,
        **_conclude(problems),
    }


def _report_tempo(tempo: Tempo, closed: Closed, fps: float) -> dict[str, Any]:
    """Return how fast a range is played on average."""
    first, stop = round(tempo.start * fps), round(tempo.stop * fps)
    rate = float(closed.rate[first : max(stop, first + 1)].mean())
    problems = []
    if (rate - 1.0) * (tempo.rate - 1.0) < _TEMPO * (tempo.rate - 1.0) ** 2:
        problems.append(
            f"the motion from {tempo.start:g} s to {tempo.stop:g} s is played {rate:.2f} times as "
            "fast, because the marks in it leave no more; move them, or make the range longer"
        )
    ends = {"start": tempo.start, "stop": tempo.stop, "rate": _round(rate)}
    return ends | _conclude(problems)


def _report_kept(
    take: Take, plan: ShotPlan, closed: Closed, jump: KeptJump, footage: Footage
) -> dict[str, Any]:
    """Return whether a jump that has to be is in a take."""
    left, to = (find_frame(footage.database, frame) for frame in (jump.source, jump.target))
    at = np.flatnonzero(plan.jumps[1:]) + 1
    at = at[(plan.frames[at - 1] == left) & (plan.frames[at] == to)]
    ticks = np.searchsorted(np.floor(closed.plan_ticks + 1e-6), at)
    late = (ticks / take.fps - jump.time).tolist()
    nearest = min(late, key=abs, default=None)
    problems = []
    if nearest is None or abs(nearest) > _KEPT / take.fps:
        problems.append(
            f"the jump to '{jump.target}' is not made at {jump.time:g} s, because what is asked "
            "for around it leaves no time; move that, or unpin the jump"
        )
    ends = {"time": jump.time, "from": jump.source, "to": jump.target}
    told = {"time_error": None if nearest is None else _round(nearest)}
    return ends | told | _conclude(problems)


def _round(value: Any) -> float:
    return round(float(value), 4)
