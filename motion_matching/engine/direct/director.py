"""Direct a shot: search for what to play, close it so that marks are hit, play it, pin limbs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..control.settings import PerformerSettings
from ..control.take import Take
from ..database.frame_names import find_frame
from ..progress import ReportShare
from ..takes import baking
from ..takes import takes as engine_takes
from .anchors import Bounds, close_on_anchors, list_anchors
from .beam import Beam, SearchStart, ShotPlan, Wanted
from .closing import Anchor, Closed, compute_way
from .footage import Footage
from .guide import Guide, make_guide
from .jump_table import JumpTable
from .outcomes import report_shot
from .pins import find_limb, pin_limb
from .playing import play
from .reach import leave_out_unreachable
from .revising import Revision, revise
from .scaling import shrink_settings, shrink_shot
from .shot import Shot
from .shot_checks import check_shot
from .wishes import collect_wishes

TAKE_STATES, PREVIEW_STATES = 320, 80  # kept by the search
_EXTRA = 0.5  # seconds searched beyond the end, as a take may run ahead of its plan
_TRIES = 2  # times that pieces around missed marks are searched again
_AROUND = 4.0  # seconds on both sides of a missed mark
_WIDER = 3  # times as many states there


@dataclass(frozen=True)
class Directed:
    """A take of a shot, how it was planned, and what became of marks, paths and pins.

    ShotPlan, closing and guide are those of the footage's size.
    """

    take: Take
    shot: Shot
    plan: ShotPlan
    closed: Closed
    guide: Guide
    report: dict[str, Any]


@dataclass(frozen=True)
class _Task:
    """A shot as large as the footage, and what follows from it."""

    shot: Shot
    guide: Guide
    anchors: list[Anchor]
    wanted: Wanted


class Director:
    """Solves shots with one footage and its table of jumps."""

    def __init__(
        self, footage: Footage, table: JumpTable, settings: PerformerSettings | None = None
    ) -> None:
        self.footage, self.table = footage, table
        self.settings = settings or engine_takes.make_default_settings(footage.database)
        self._bounds = Bounds(footage.size, footage.pace)

    def direct(
        self, shot: Shot, states: int = TAKE_STATES, progress: ReportShare | None = None
    ) -> Directed:
        """Return the take of a shot, its feet not yet planted and its limbs not yet pinned.

        Raises SettingsError for marks that contradict each other, and for frames and limbs that
        there are not; DatabaseError for tags that no frame carries.
        """
        task = self._prepare(shot)
        plan = self._search(task, states, progress)
        closed, missed = self._close(task, plan)
        for _ in range(_TRIES if states >= TAKE_STATES else 0):
            if not missed:
                break
            better = self._search_around(task, plan, missed, states)
            tried, still = self._close(task, better)
            if len(still) < len(missed):
                plan, closed, missed = better, tried, still
        return self._play(shot, task.guide, plan, closed)

    def finish(self, directed: Directed, feet: str | None = None) -> Directed:
        """Return the same with its feet planted and its limbs pinned, and reported anew."""
        take, _ = baking.place_feet(directed.take, self.footage.database, feet)
        poses = take.poses
        for pin in directed.shot.pins:
            limb = find_limb(take.skeleton, pin.limb)
            poses = pin_limb(poses, take.skeleton, pin, limb, take.fps)
        take = replace(take, poses=poses)
        report = report_shot(take, directed.shot, directed.closed, self.footage)
        return replace(directed, take=take, report=report)

    @cached_property
    def _can_stand(self) -> bool:
        """Whether the data has standing motion."""
        return not self.footage.database.idles.holds

    def _prepare(self, shot: Shot) -> _Task:
        footage = self.footage
        check_shot(shot, footage.database, self.settings)
        settings = shrink_settings(self.settings, footage.size, footage.pace)
        small = shrink_shot(shot, footage.size, footage.pace)
        small, near = leave_out_unreachable(small, footage)
        guide = make_guide(small, footage.fps, settings, near, self._can_stand)
        wanted = collect_wishes(small, guide, footage, self.settings)
        return _Task(small, guide, list_anchors(small, guide, near), wanted)

    def _play(self, shot: Shot, guide: Guide, plan: ShotPlan, closed: Closed) -> Directed:
        desired = guide.way * [self.footage.size, self.footage.size, 1.0]
        take = play(self.footage, shot, plan, closed, self.settings, desired)
        report = report_shot(take, shot, closed, self.footage)
        return Directed(take, shot, plan, closed, guide, report)

    def _search(self, task: _Task, states: int, progress: ReportShare | None) -> ShotPlan:
        extended = task.guide.extend(round(_EXTRA * task.guide.fps))
        beam = Beam(self.footage, self.table, extended, task.wanted, states)
        report = None if progress is None else (lambda share, _: progress(share))
        return beam.search(self._find_start(task), report)

    def _find_start(self, task: _Task) -> SearchStart | None:
        """Return the frame that a shot has to begin with, if a mark asks for one."""
        for mark in task.shot.marks:
            if mark.frame is not None and round(mark.time * task.guide.fps) == 0:
                x, y, yaw = task.guide.way[0].tolist()
                return SearchStart(find_frame(self.footage.database, mark.frame), (x, y, yaw))
        return None

    def _close(self, task: _Task, plan: ShotPlan) -> tuple[Closed, list[int]]:
        way = compute_way(self.footage, plan, task.guide.way[0])
        return close_on_anchors(way, task.guide, task.anchors, self._bounds)

    def _search_around(
        self, task: _Task, plan: ShotPlan, missed: Sequence[int], states: int
    ) -> ShotPlan:
        """Return a plan that is searched again around marks that it misses."""
        guide = task.guide.tighten(missed)
        around = round(_AROUND * guide.fps)
        for first, stop in _merge([(tick - around, tick + around) for tick in missed]):
            revision = Revision(max(first, 0), min(stop, guide.tick_count - 1), _WIDER * states)
            plan = revise(self.footage, self.table, guide, task.wanted, plan, revision)
        return plan


def _merge(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, those that overlap as one."""
    result: list[tuple[int, int]] = []
    for first, stop in sorted(spans):
        if result and first <= result[-1][1]:
            result[-1] = (result[-1][0], max(stop, result[-1][1]))
        else:
            result.append((first, stop))
    return result
