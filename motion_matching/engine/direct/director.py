"""Direct a shot: search for frames, close their path on the marks, play it, and bend limbs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..control.rollout import Take, join
from ..database.frame_names import find_frame
from ..errors import SettingsError
from ..facts.idles import find_idle_runs
from ..ground.ground import FLAT
from ..maths import planar
from ..performance.settings import PerformerSettings
from ..progress import ReportShare
from ..takes import takes as engine_takes
from ..takes.baking import to_body_units
from .fit.closing import Anchor, Closed, compute_way
from .fit.exact_places import close_on_anchors, list_anchors
from .fit.revising import Revised, Revision, join_pieces, lay_pieces, revise
from .fit.tempo import compute_rates, put_on_plan
from .footage.footage import Footage
from .footage.jump_table import JumpTable
from .limbs.body_parts import place_roots, pose_hips, put_on_level, put_parts_back
from .limbs.limb_marks import is_leg, reach_marks
from .limbs.mark_poses import lay_poses, list_poses, plant_feet
from .limbs.standing_places import stand_beside
from .numbers import NUMBERS
from .objective import COSTS
from .obstacles.obstruction import Obstruction
from .obstacles.routing import stop_before_obstacles
from .outcomes import report_shot
from .play.part_tracks import follow_take, has_parts, track_parts
from .play.playing import make_performance, play
from .play.seams import put_piece
from .search.beam import Beam, SearchStart, ShotPlan, Wanted
from .search.frame_costs import collect_wishes
from .search.guide import Guide, make_guide
from .search.reach import find_conflict, free_mark, leave_out_unreachable
from .shot.shot import Piece, Shot
from .shot_checks import check_shot
from .sketch import Sketch, find_changed_span

_Told = TypeVar("_Told")  # further result of a closing
TAKE_STATES = NUMBERS.take_states
PREVIEW_STATES = NUMBERS.preview_states


class _Attempt(NamedTuple):
    """A repeated search around missed marks: factor of states, and `Wanted.most_turned`."""

    wider: int
    most_turned: float


_ATTEMPTS = tuple(map(_Attempt, NUMBERS.wider, COSTS.most_heading_again))


@dataclass(frozen=True)
class Directed:
    """A take of a shot with its plan and the outcome of each mark and path.

    Plan, closing and guide are in body units.
    """

    take: Take
    shot: Shot
    plan: ShotPlan
    closed: Closed
    guide: Guide
    report: dict[str, Any]


@dataclass(frozen=True)
class _Task:
    """A shot on level ground, what follows from it, and the shot `asked` for, in body units."""

    shot: Shot
    asked: Shot
    guide: Guide
    plan_guide: Guide  # by ticks of the plan
    anchors: list[Anchor]
    wanted: Wanted


class _Solution(NamedTuple):
    """A closed plan, the ticks of the marks it misses, and where its way (P, 3) is laid."""

    plan: ShotPlan
    closed: Closed
    missed: list[int]
    way: np.ndarray


class Director:
    """Solves shots with one footage and its table of jumps.

    What it takes and returns is in the units of the world; in between, all is in body units.
    """

    def __init__(
        self, footage: Footage, table: JumpTable, settings: PerformerSettings | None = None
    ) -> None:
        self.footage = footage
        self.table = table
        self.settings = settings or engine_takes.make_default_settings(footage.world)
        self._settings = footage.scale.to_body(self.settings)

    def direct(
        self, shot: Shot, states: int = TAKE_STATES, progress: ReportShare | None = None
    ) -> Directed:
        """Return the take of a shot, its feet not yet planted and its limbs not yet bent.

        Raises SettingsError for marks that contradict each other, and for unknown frames and limbs;
        DatabaseError for tags that no frame carries.
        """
        task = self._prepare(self._enter(shot))
        solved = self._solve(task, states, progress)
        if states >= TAKE_STATES and len(solved.missed) > 1:
            task, solved = self._settle_conflict(task, solved, states)
        take = self._play_freely(task.asked, task.guide, solved.plan, solved.closed)
        return self._conclude(take, shot, solved.plan, solved.closed, task.guide)

    def _solve(self, task: _Task, states: int, progress: ReportShare | None = None) -> _Solution:
        """Search and close a shot, then search again around missed marks."""
        solved = self._close(task, self._search(task, states, progress))
        for attempt in _ATTEMPTS if states >= TAKE_STATES else ():
            if solved.missed:
                solved = self._try_again(task, solved, attempt, states)
        return solved

    def _enter(self, shot: Shot) -> Shot:
        """Check a shot, and return it in body units."""
        check_shot(shot, self.footage.world, self.settings)
        return shot.to_body_units(self.footage.scale)

    def _leave(self, take: Take, shot: Shot) -> Take:
        """Return the take of a shot in the units of the world."""
        world = self.footage.world
        if world.scale.is_of_people:
            return take
        take = world.scale.to_world(take)
        wishes = take.desired_velocity, take.desired_yaw, world.fps
        return replace(
            take,
            skeleton=world.skeleton,
            fps=world.fps,
            performance=make_performance(shot, *wishes, self.settings),
            settings=self.settings.to_dict(),
        )

    def _conclude(
        self, take: Take, shot: Shot, plan: ShotPlan, closed: Closed, guide: Guide
    ) -> Directed:
        """Return a take in body units as that of a shot, with a report."""
        take = self._leave(take, shot)
        return Directed(take, shot, plan, closed, guide, self._report(take, shot, plan, closed))

    def _settle_conflict(
        self, task: _Task, solved: _Solution, states: int
    ) -> tuple[_Task, _Solution]:
        """Return the solution without one of two missed marks, if there is no time for both."""
        best = (task, solved, len(solved.missed))
        shot = task.asked
        for i in find_conflict(shot, solved.missed, self.footage.database.fps):
            freed = self._prepare(free_mark(shot, i))
            again = self._solve(freed, states)
            if len(again.missed) + 1 < best[2]:
                best = freed, again, len(again.missed) + 1
            if not again.missed:
                break
        return best[0], best[1]

    def sketch(
        self,
        shot: Shot,
        before: Sketch | None = None,
        states: int = PREVIEW_STATES,
        progress: ReportShare | None = None,
    ) -> Sketch:
        """Return where a take of a shot would go; this is much faster than the take itself.

        If only marks differ from the sketch `before`, it is kept except for the seconds around
        them. Raises as `direct`.
        """
        task = self._prepare(self._enter(shot))
        span = None if before is None else find_changed_span(before.shot, shot)
        if before is None or span is None:
            plan = self._search(task, states, progress)
            closed = self._close(task, plan).closed
            return self._measure_sketch(shot, task, plan, closed, (0.0, shot.seconds))
        if span[0] == span[1]:
            return self._measure_sketch(shot, task, before.plan, before.closed, span)
        first, stop = (round(each * self.footage.world.fps) for each in span)
        revision = Revision(first, stop, states)
        revised = self._revise(task, (before.plan, before.closed), revision, progress)
        closed, _ = self._close_piece(task, revised, before.closed)
        return self._measure_sketch(shot, task, revised.plan, closed, span)

    def _measure_sketch(
        self,
        shot: Shot,
        task: _Task,
        plan: ShotPlan,
        closed: Closed,
        span: tuple[float, float],
    ) -> Sketch:
        """Return a sketch with the outcome of its marks except poses, which depend on feet."""
        free, asked = (
            replace(each, marks=tuple(replace(mark, pose=None) for mark in each.marks))
            for each in (shot, task.asked)
        )
        take = self._play_freely(asked, task.guide, plan, closed)
        around = _find_obstruction(asked, self._settings)
        take = reach_marks(take, asked.marks, self.footage.database, obstruction=around)
        report = self._report(self._leave(take, free), free, plan, closed)
        return Sketch(shot, plan, closed, span, report)

    def make(
        self,
        shot: Shot,
        feet: str | None = None,
        states: int = TAKE_STATES,
        progress: ReportShare | None = None,
    ) -> Directed:
        """Return the finished take of a shot with all its pieces. Raises as `direct`."""
        done = self.finish(self.direct(replace(shot, pieces=()), states, progress), feet)
        for piece in shot.pieces:
            span = piece.start, piece.stop
            asked = replace(piece.shot, floor=shot.floor)
            done = self.direct_again(done, *span, asked, feet=feet, states=states)
        return done

    def finish(self, directed: Directed, feet: str | None = None) -> Directed:
        """Plant the feet of a take, bring its limbs to their marks, and report on it again."""
        footage = self.footage
        shot = directed.shot
        asked = shot.to_body_units(footage.scale)
        take = self._plant(to_body_units(directed.take, footage.scale), asked, feet)
        around = _find_obstruction(asked, self._settings)
        take = reach_marks(take, pose_hips(asked).marks, footage.database, obstruction=around)
        return self._conclude(take, shot, directed.plan, directed.closed, directed.guide)

    def _plant(self, take: Take, shot: Shot, feet: str | None = None) -> Take:
        """Return the take of a shot with its feet planted."""
        database = self.footage.database
        return plant_feet(take, list_poses(take, pose_hips(shot).marks, database), database, feet)

    def direct_again(
        self,
        done: Directed,
        start: float,
        stop: float,
        shot: Shot | None = None,
        *,
        feet: str | None = None,
        states: int = TAKE_STATES,
    ) -> Directed:
        """Return a finished take whose motion from `start` to `stop`, in seconds, is directed anew.

        Outside of it nothing changes, to the bit. The new piece ends up to a second later where the
        take is just jumping. A `shot` of the same length may ask for other things meanwhile.
        Raises SettingsError as `direct`, and if the piece is too short or the length differs.
        """
        shot = replace(shot or done.shot.current, pieces=(), floor=done.shot.floor)
        task = self._prepare(self._enter(shot))
        _check_piece(task.guide, done.guide, start, stop, shot.seconds)
        if shot.tempos != done.shot.current.tempos:
            raise SettingsError(
                "A piece cannot be slower or faster than it was, as the rest would be moved in "
                "time; direct all of the shot again."
            )
        fps = self.footage.world.fps
        span = Revision(round(start * fps), min(round(stop * fps), done.take.frame_count), states)
        revised = self._revise(task, (done.plan, done.closed), span)
        closed, ticks = self._close_piece(task, revised, done.closed)
        take = self._play_piece(done, shot, task, revised.plan, closed, ticks, feet)
        report = self._report(take, shot, revised.plan, closed)
        whole = replace(done.shot, pieces=(*done.shot.pieces, Piece(start, stop, shot)))
        return Directed(take, whole, revised.plan, closed, task.guide, report)

    def _revise(
        self,
        task: _Task,
        solved: tuple[ShotPlan, Closed],
        revision: Revision,
        progress: ReportShare | None = None,
    ) -> Revised:
        """Return a plan whose ticks of a revision are searched again."""
        asked = task.guide.plan_ticks
        data = (self.footage, self.table)
        return revise(data, task.plan_guide, task.wanted, solved, revision, asked, progress)

    def _close_piece(
        self, task: _Task, revised: Revised, closed: Closed
    ) -> tuple[Closed, tuple[int, int]]:
        """Return a closing whose ticks of a revision are new, and the first and after the last."""
        return self._close_parts(
            task, revised.plan, lambda anchors: self._close_on(task, anchors, revised, closed)
        )

    def _close_parts(
        self,
        task: _Task,
        plan: ShotPlan,
        close: Callable[[Sequence[Anchor]], tuple[Closed, _Told]],
    ) -> tuple[Closed, _Told]:
        """Close on anchors that follow the parts of each closing; return the result of `close`."""
        anchors: Sequence[Anchor] = track_parts(task.anchors, plan, self.footage, self._settings)
        result = close(anchors)
        for _ in range(NUMBERS.part_closings if has_parts(anchors) else 0):
            anchors = self._follow(task, anchors, plan, result[0])
            result = close(anchors)
        return result

    def _close_on(
        self, task: _Task, wanted: Sequence[Anchor], revised: Revised, closed: Closed
    ) -> tuple[Closed, tuple[int, int]]:
        """Return the solution closed once on the given anchors."""
        begin_and_end = revised.begin, revised.end
        first, last = (int(np.searchsorted(closed.plan_ticks, at)) for at in begin_and_end)
        count = len(closed.rate)
        lead = NUMBERS.pinned_ticks
        low, high = max(first - lead, 0), min(last + lead, count)
        ticks = closed.plan_ticks
        origin = int(ticks[low])
        way = compute_way(self.footage, revised.plan, task.guide.way[0])
        way = way[origin : int(ticks[high - 1]) + round(NUMBERS.extra * self.footage.fps) + 2]
        turn = closed.places[low, 2] - way[0, 2]
        places = planar.rotate(way[:, :2] - way[0, :2], turn) + closed.places[low, :2]
        aligned = np.column_stack([places, way[:, 2] + turn])
        fixed = [*range(low, first), *range(last, high)]
        anchors = [
            Anchor(
                tick - low,
                (float(closed.places[tick, 0]), float(closed.places[tick, 1])),
                float(closed.places[tick, 2]),
                float(ticks[tick] - origin),
            )
            for tick in fixed
        ]
        for anchor in wanted:
            if first <= anchor.tick < last:
                at = None if anchor.plan_tick is None else anchor.plan_tick - origin
                track = anchor.track and anchor.track.cut(origin)
                anchors.append(anchor._replace(tick=anchor.tick - low, plan_tick=at, track=track))
        anchors.sort(key=lambda anchor: anchor.tick)
        guide = task.guide.cut(low, high)
        own = float(ticks[low] - origin)
        piece, _ = close_on_anchors(aligned, guide, anchors, own)
        columns = []
        for old, new in zip(closed, piece, strict=True):
            joined = old.copy()
            joined[first:last] = new[first - low : last - low]
            columns.append(joined)
        columns[1][first:last] += origin
        return Closed(*columns), (first, last)

    def _play_piece(
        self,
        done: Directed,
        shot: Shot,
        task: _Task,
        plan: ShotPlan,
        closed: Closed,
        span: tuple[int, int],
        feet: str | None,
    ) -> Take:
        """Return the take with the new ticks of a span, played together with their surroundings."""
        first, last = span
        count = done.take.frame_count
        around = round(NUMBERS.play_context * self.footage.fps)
        low, high = max(first - around, 0), min(last + around, count)
        origin = int(closed.plan_ticks[low])
        own = ShotPlan(plan.frames[origin:], plan.jumps[origin:].copy(), plan.cost)
        own.jumps[0] = False
        cut = Closed(*(column[low:high] for column in closed))
        cut = cut._replace(plan_ticks=cut.plan_ticks - origin)
        asked = task.asked
        desired = task.guide.way[low:high]
        piece = play(self.footage, asked, own, cut, self._settings, desired)
        begins = low / piece.fps
        database = self.footage.database
        marks = pose_hips(asked).marks
        blocked = _find_obstruction(asked, self._settings)
        poses = list_poses(piece, marks, database, begins)
        piece = plant_feet(lay_poses(piece, poses), poses, database, feet)
        piece = reach_marks(piece, marks, database, begins, blocked)
        whole = to_body_units(done.take, self.footage.scale)
        whole = self._leave(put_piece(whole, piece, first, last, first - low), shot)
        return join([(0, done.take), (first, whole.crop(first, last))])

    @cached_property
    def _can_stand(self) -> bool:
        """Whether the data has standing motion."""
        return len(self.footage.database.derive(find_idle_runs)) > 0

    def _prepare(self, shot: Shot) -> _Task:
        footage = self.footage
        settings = self._settings
        small = put_on_level(pose_hips(shot.leading))
        blocked = _find_obstruction(shot, settings)
        if blocked:
            blocked = replace(blocked, floor=FLAT)
            small = stand_beside(small, blocked, footage)
        rooted, spreads = place_roots(small, footage)
        rooted, near = leave_out_unreachable(rooted, footage)
        behind: frozenset[int] = frozenset()
        if blocked:
            rooted, behind = stop_before_obstacles(rooted, blocked)
        small = put_parts_back(rooted, small, near | behind)
        guide = make_guide(rooted, footage.fps, settings, near, self._can_stand, blocked)
        for i, spread in spreads.items():
            guide = guide.widen(round(rooted.marks[i].time * guide.fps), spread)
        rates = compute_rates(small, guide.fps, guide.tick_count)
        guide = replace(guide, rates=rates, obstruction=blocked)
        on_plan = put_on_plan(small, guide)
        along = guide.put_on_plan()
        wanted = collect_wishes(on_plan, along, footage, settings, blocked)
        return _Task(small, shot, guide, along, list_anchors(small, guide, near), wanted)

    def _play_freely(self, shot: Shot, guide: Guide, plan: ShotPlan, closed: Closed) -> Take:
        """Return the take of a closed plan in the requested poses; its feet are not planted."""
        take = play(self.footage, shot, plan, closed, self._settings, guide.way)
        marks = pose_hips(shot).marks
        return lay_poses(take, list_poses(take, marks, self.footage.database))

    def _report(self, take: Take, shot: Shot, plan: ShotPlan, closed: Closed) -> dict[str, Any]:
        data = (self.footage, self.table)
        around = _find_obstruction(shot, self.settings)
        return report_shot(take, pose_hips(shot), plan, closed, data, around)

    def _search(self, task: _Task, states: int, progress: ReportShare | None) -> ShotPlan:
        extended = task.plan_guide.extend(round(NUMBERS.extra * task.guide.fps))
        beam = Beam(self.footage, self.table, extended, task.wanted, states)
        return beam.search(self._find_start(task), progress)

    def _find_start(self, task: _Task) -> SearchStart | None:
        """Return the frame with which a shot has to begin, if a mark asks for one."""
        for mark in task.shot.marks:
            if mark.frame is not None and round(mark.time * task.guide.fps) == 0:
                x, y, yaw = task.guide.way[0].tolist()
                return SearchStart(find_frame(self.footage.database, mark.frame), (x, y, yaw))
        return None

    def _close(
        self,
        task: _Task,
        plan: ShotPlan,
        before: np.ndarray | None = None,
        pieces: Sequence[Revised] = (),
    ) -> _Solution:
        """Close a plan whose way (P, 3) was elsewhere `before` pieces were searched again."""
        way = compute_way(self.footage, plan, task.guide.way[0])
        laid = way if before is None else lay_pieces(way, before, pieces)
        closed, missed = self._close_parts(
            *(task, plan),
            lambda anchors: close_on_anchors(way, task.guide, anchors, laid=laid),
        )
        return _Solution(plan, closed, missed, laid)

    def _follow(
        self, task: _Task, anchors: Sequence[Anchor], plan: ShotPlan, closed: Closed
    ) -> list[Anchor]:
        """Return anchors with their parts placed as in the take that was closed on them."""
        take = self._play_freely(task.asked, task.guide, plan, closed)
        parts = {anchor.part for anchor in anchors if anchor.part}  # a lookup is slow
        if any(is_leg(self.footage.database, part) for part in parts):
            take = self._plant(take, task.asked)
        return follow_take(anchors, take, closed, self.footage)

    def _try_again(
        self, task: _Task, solved: _Solution, attempt: _Attempt, states: int
    ) -> _Solution:
        """Search pieces again, and keep the results that miss fewer marks."""
        around = round(NUMBERS.search_around * task.guide.fps)
        last = task.guide.tick_count - 1
        spans = [
            (max(first, 0), min(stop, last))
            for first, stop in _merge([(tick - around, tick + around) for tick in solved.missed])
        ]
        pieces = self._search_around(task, solved, spans, attempt, states)
        again = self._replace(task, solved, pieces)
        better = [
            piece
            for piece, span in zip(pieces, spans, strict=True)
            if _count(again.missed, span) < _count(solved.missed, span)
        ]
        if 0 < len(better) < len(pieces):
            again = self._replace(task, solved, better)
        return again if len(again.missed) < len(solved.missed) else solved

    def _replace(self, task: _Task, solved: _Solution, pieces: Sequence[Revised]) -> _Solution:
        """Replace pieces of a solution's plan, and close it again."""
        return self._close(task, join_pieces(solved.plan, pieces), solved.way, pieces)

    def _search_around(
        self,
        task: _Task,
        solved: _Solution,
        spans: Sequence[tuple[int, int]],
        attempt: _Attempt,
        states: int,
    ) -> list[Revised]:
        """Search a plan again in spans around marks that it misses; each piece by itself."""
        asked = task.guide.plan_ticks
        data = (self.footage, self.table)
        guide = task.plan_guide.tighten([round(asked[tick]) for tick in solved.missed])
        wanted = replace(task.wanted, most_turned=attempt.most_turned)
        revisions = [Revision(*span, attempt.wider * states) for span in spans]
        known = solved.plan, solved.closed
        return [revise(data, guide, wanted, known, each, asked) for each in revisions]


def _find_obstruction(shot: Shot, settings: PerformerSettings) -> Obstruction | None:
    """Return the obstruction in the way of the character, if there is one."""
    if not (shot.obstacles or shot.walls):
        return None
    return Obstruction.from_shot(shot, settings.steering.collision_radius)


def _count(ticks: Sequence[int], span: tuple[int, int]) -> int:
    """Return how many ticks are within a span."""
    return sum(span[0] <= tick <= span[1] for tick in ticks)


def _check_piece(guide: Guide, before: Guide, start: float, stop: float, seconds: float) -> None:
    """Check that a piece can be directed anew."""
    if guide.tick_count != before.tick_count:
        raise SettingsError(
            f"The shot is {seconds:g} s long now, and was not when it was directed; direct all of "
            "it again."
        )
    if not 0.0 <= start < stop <= seconds or stop - start < NUMBERS.shortest_piece:
        raise SettingsError(
            f"The range from {start:g} s to {stop:g} s cannot be directed anew; give one of at "
            f"least {NUMBERS.shortest_piece:g} s within the {seconds:g} s of the shot."
        )


def _merge(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, with overlapping ones joined."""
    result: list[tuple[int, int]] = []
    for first, stop in sorted(spans):
        if result and first <= result[-1][1]:
            result[-1] = (result[-1][0], max(stop, result[-1][1]))
        else:
            result.append((first, stop))
    return result
