"""Report by how much each mark is missed and why, measured from the poses of a take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..control.rollout import Take
from ..database.frame_names import find_frame, format_frame
from ..maths import planar
from .conduct import Conduct
from .footage.footage import Footage
from .limbs.body_parts import find_bone, name_part
from .limbs.mark_poses import measure_pose
from .limbs.palms import measure_palm
from .numbers import NUMBERS
from .obstacles.obstruction import Obstruction
from .obstacles.routing import find_route
from .search.reach import compute_reach, find_before
from .shot.mark import GOALS, Mark
from .shot.shot import Shot


@dataclass(frozen=True)
class MarkMeasures:
    """Data from which outcomes of marks are measured; the shot has only the leading marks."""

    take: Take
    shot: Shot
    footage: Footage
    conduct: Conduct
    obstruction: Obstruction | None = None

    @property
    def _size(self) -> float:
        return self.footage.scale.length

    def report(self, mark: Mark) -> dict[str, Any]:
        """Return the outcome of a mark as JSON data."""
        tick = self._find_tick(mark.time)
        result: dict[str, Any] = {"time": mark.time}
        result |= {"place_error": None, "facing_error": None, "time_error": 0.0, "reason": ""}
        problems: list[str] = []
        for name in GOALS:  # each that has a measure of its name
            measure = getattr(self, f"_report_{name}", None)
            if measure and getattr(mark, name) is not None:
                problems += measure(mark, tick, result)
        if mark.leads:
            problems += self._list_of_way(mark, tick)
        return result | conclude(problems)

    def _find_tick(self, time: float) -> int:
        return min(round(time * self.take.fps), self.take.frame_count - 1)

    def _report_position(self, mark: Mark, tick: int, result: dict[str, Any]) -> list[str]:
        distances, problem = self._measure_place(mark, tick)
        away = float(distances.max())
        result["place_error"] = round_off(away)
        if away <= mark.tolerance:
            return []
        if not mark.leads:
            return [
                f"the {name_part(mark)} stays {away:.2f} m away, beyond its reach; let the mark "
                "lead the character, or put another one nearer to it"
            ]
        result["time_error"] = self._find_pass(mark, tick)
        if distances[0] <= mark.tolerance:  # and then it leaves
            return [problem]
        blocked = self._explain_obstacle(mark, away)
        return [blocked or problem or self._explain_place(mark, away)]

    def _report_facing(self, mark: Mark, tick: int, result: dict[str, Any]) -> list[str]:
        assert mark.facing is not None
        turned = abs(planar.wrap(float(self.take.character[tick, 2]) - mark.facing))
        result["facing_error"] = round_off(turned)
        if turned <= mark.facing_tolerance:
            return []
        return [
            f"the heading is {np.degrees(turned):.0f}° off; give more time to turn, or add clips "
            "that turn as much"
        ]

    def _report_frame(self, mark: Mark, tick: int, result: dict[str, Any]) -> list[str]:
        assert mark.frame is not None
        take = self.take
        frame = find_frame(self.footage.world, mark.frame)
        shown = np.abs(take.frames[max(tick - 1, 0) : tick + 2].astype(int) - frame).min()
        result["shown"] = format_frame(self.footage.world, int(take.frames[tick]))
        if shown <= 1:
            return []
        where = np.flatnonzero(take.frames == frame)
        nearest = where[np.argmin(np.abs(where - tick))] - tick if len(where) else None
        result["time_error"] = None if nearest is None else round_off(nearest / take.fps)
        return [f"'{mark.frame}' is not shown then; leave more time around it"]

    def _report_pose(self, mark: Mark, _tick: int, result: dict[str, Any]) -> list[str]:
        away, bone = measure_pose(self.take, mark, self.footage.world)
        result["pose_error"] = round_off(away)
        if away <= mark.pose_tolerance:
            return []
        return [
            f"the bone '{bone}' is {away:.2f} m from its place in the pose; hold the mark for a "
            "second, let the pose take longer to fade in, or move the mark to where both feet can "
            "stand as in the pose"
        ]

    def _report_palm(self, mark: Mark, _tick: int, result: dict[str, Any]) -> list[str]:
        away, problem = measure_palm(self.take, mark)
        result["palm_error"] = None if away is None else round_off(away)
        is_elsewhere = result["place_error"] > NUMBERS.too_short * self._size
        return [] if not problem or (is_elsewhere and away is not None) else [problem]

    def _list_of_way(self, mark: Mark, tick: int) -> list[str]:
        """List faults since the mark before, and faults in the stance of a hold."""
        first, last = self._find_before(mark), self._find_tick(mark.time + mark.hold)
        problems = self.conduct.list_problems(min(first + 1, tick), last)
        if mark.hold and (moved := self.conduct.find_step(tick, last)):
            problems.append(
                f"a foot goes {moved:.2f} m while the character is to stand still; give more time "
                "to stop, hold it for less time, or add clips that stand still"
            )
        return problems

    def _find_before(self, mark: Mark) -> int:
        """Return the tick at which the mark before ends, or the first of the take."""
        ends = [other.time + other.hold for other in self.shot.marks if other.time < mark.time]
        return self._find_tick(max(ends, default=0.0))

    def _measure_place(self, mark: Mark, tick: int) -> tuple[np.ndarray, str]:
        """Return the distances (K,) from a mark, of limbs while it is held, and a reason of theirs.

        Heights of hips are reported by poses.
        """
        last = self._find_tick(mark.time + mark.hold) if mark.is_limb else tick
        places = self._find_places(mark)[tick : last + 1]
        aside = np.linalg.norm(places[:, :2] - mark.position, axis=1)
        has_height = mark.height is not None and mark.is_limb
        above = np.abs(places[:, 2] - (mark.height if has_height else places[:, 2]))
        away = np.hypot(aside, above)
        most = float(away.max())
        name = name_part(mark)
        near = NUMBERS.too_short * self._size
        if away[0] <= mark.tolerance < most:
            return away, (
                f"the {name} is up to {most:.2f} m from its mark while that is held; hold it for "
                "less time, or add clips that stand still"
            )
        if above[0] > 0.0 and (above[0] > aside[0] or away[0] < near):
            return away, (
                f"the {name} stays {away[0]:.2f} m away from its mark, beyond its reach; give the "
                "mark another height, or the character a pose"
            )
        return away, ""

    def _find_places(self, mark: Mark) -> np.ndarray:
        """Return where (T, 3) the part of a mark, or the character, is in the take."""
        if not mark.is_of_part:
            return self.take.character
        bone = find_bone(self.footage.world, mark.part)
        return self.take.skeleton.compute_bone_positions([bone], self.take.poses)[:, 0]

    def _find_pass(self, mark: Mark, tick: int) -> float:
        """Return how much later the take passes nearest to a mark, in seconds."""
        around = round(NUMBERS.passed_around * self.take.fps)
        first = max(tick - around, 0)
        away = self._find_places(mark)[first : tick + around + 1, :2] - mark.position
        nearest = int(np.argmin(np.linalg.norm(away, axis=1)))
        return round_off((first + nearest - tick) / self.take.fps)

    def _explain_obstacle(self, mark: Mark, away: float) -> str:
        """Say by how much an obstacle keeps the character from a mark, if one does."""
        if self.obstruction is None or mark.position is None:
            return ""
        goal = np.array(mark.position, float)
        name = name_part(mark)
        start = self.take.character[self._find_before(mark), :2]
        if not mark.is_limb and not find_route(start, goal, self.obstruction).complete:
            gap = 2.0 * self.obstruction.radius
            return (
                f"a wall is in the way: the {name} is {away:.2f} m short; leave a gap of more than "
                f"{gap:.1f} m, or move the mark"
            )
        over = float(self.obstruction.measure_distances(goal[None])[0])
        if not mark.is_limb or over > NUMBERS.leant_over * self._size or self._is_far(mark):
            return ""
        stands = self.take.poses[self._find_tick(mark.time), 2, :1].astype(np.float64)
        surface = float(self.obstruction.find_surfaces(goal[None], stands, 0.0)[0])
        deep = -np.inf if mark.height is None else surface - mark.height
        if deep > mark.tolerance:
            return (
                f"the mark is {deep:.2f} m inside an obstacle, which the {name} does not enter; "
                "move the mark to its surface"
            )
        return (
            f"an obstacle is in the way: the {name} is {away:.2f} m short; move the mark nearer to "
            "where one can stand beside it"
        )

    def _is_far(self, mark: Mark) -> bool:
        """Return whether no motion reaches a mark in the available time."""
        place, seconds = find_before(self.shot, mark)
        if seconds <= 0.0 or mark.position is None:
            return False
        wanted = float(np.hypot(mark.position[0] - place[0], mark.position[1] - place[1]))
        reach = compute_reach(self.footage, self.footage.scale.to_body(seconds, "s"))
        return wanted > NUMBERS.too_fast * reach.metres * self._size

    def _explain_place(self, mark: Mark, away: float) -> str:
        """Say why a place is missed: the nearest motion in the data, and the remedy."""
        assert mark.position is not None
        place, seconds = find_before(self.shot, mark)
        text = f"the mark is missed by {away:.2f} m"
        if mark.is_of_part:
            text = f"the {name_part(mark)} misses its mark by {away:.2f} m"
        if seconds <= 0.0 and mark.is_of_part:
            return f"{text}: another mark has the character elsewhere then; move one to the other"
        if seconds <= 0.0:
            return f"{text}: another one is at the same time; move one of them"
        if self._is_far(mark):
            wanted = float(np.hypot(mark.position[0] - place[0], mark.position[1] - place[1]))
            metres, frame = compute_reach(self.footage, self.footage.scale.to_body(seconds, "s"))
            clip = format_frame(self.footage.world, frame)
            return (
                f"{text}: no motion goes {wanted:.1f} m in {seconds:.1f} s; the fastest, at "
                f"{clip}, goes {metres * self._size:.1f} m; give more time, or capture "
                "faster motion"
            )
        what = f" that brings the {name_part(mark)} there," if mark.is_of_part else " there"
        return (
            f"{text}: the data has no way{what} in {seconds:.1f} s that starts, turns and ends as "
            "asked; move the mark, or give it another time or heading"
        )


def conclude(problems: list[str]) -> dict[str, Any]:
    """Return whether something was reached, and why not as one sentence."""
    text = "; ".join(problems)
    return {"reached": not problems, "reason": text and f"{text[0].upper()}{text[1:]}."}


def round_off(value: Any) -> float:
    """Return a number as reports have it."""
    return round(float(value), 4)
