"""Direct a shot: search for what to play, close it so that marks are hit, play it, pin limbs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..control.settings import PerformerSettings
from ..control.take import Take
from ..database.frame_names import find_frame
from ..errors import DatabaseError, SettingsError
from ..maths import planar
from ..maths.easing import smoothstep
from ..maths.runs import find_runs
from ..progress import ReportShare
from ..takes import baking
from ..takes import takes as engine_takes
from .beam import Beam, Dislike, Plan, Start, Wanted
from .closing import LARGEST_LEAD, Anchor, Closed, close, compute_way
from .footage import Footage
from .guide import Guide, make_guide
from .jump_table import JumpTable
from .obstruction import Obstruction
from .outcomes import LARGEST_RATE, exceeds, report_shot
from .pins import find_limb, pin_limb
from .playing import play
from .reach import leave_out_unreachable
from .shot import Mark, Shot, TimedPath

TAKE_STATES, PREVIEW_STATES = 320, 80  # kept by the search
_EXTRA = 0.5  # seconds searched beyond the end, as a take may run ahead of its plan
_GAIT = 0.15  # metre-seconds a second that the other gait costs
_TAGGED = 0.5  # and frames without the tags that are asked for
_SMOOTH = 0.25  # seconds on both sides over which a gait's speed is averaged
_FORBIDDEN = 0.25  # seconds around the frames of a jump that is forbidden
_SEEDED = 0.02  # metre-seconds by which seeds change the price of pieces of clips
_PIECE = 0.25  # seconds
_HOPELESS = 0.3  # metres that a plan may be away from a mark besides what closing can do
_ATTEMPTS = 3  # searches for a shot some of whose marks are missed
_PASSES = 8  # closings in which marks that cannot be reached are given up


@dataclass(frozen=True)
class Directed:
    """A take of a shot, how it was planned, and what became of marks, paths and pins."""

    take: Take
    plan: Plan
    closed: Closed
    guide: Guide
    report: dict[str, Any]


class Director:
    """Solves shots with one footage and its table of jumps."""

    def __init__(
        self, footage: Footage, table: JumpTable, settings: PerformerSettings | None = None
    ) -> None:
        self.footage, self.table = footage, table
        self.settings = settings or engine_takes.make_default_settings(footage.database)

    def direct(
        self, shot: Shot, states: int = TAKE_STATES, progress: ReportShare | None = None
    ) -> Directed:
        """Return the take of a shot, its feet not yet planted and its limbs not yet pinned.

        Raises SettingsError for marks that contradict each other, and for frames and limbs that
        there are not; DatabaseError for tags that no frame carries.
        """
        check_shot(shot, self)
        footage, settings = self.footage, self._scale_settings()
        small, near = leave_out_unreachable(self._make_small(shot), footage)
        guide = make_guide(small, footage.fps, settings, near, self._can_stand)
        anchors = _list_anchors(small, guide, near)
        plan, closed = self._solve(small, guide, anchors, states, progress)
        desired = guide.way * [footage.size, footage.size, 1.0]
        take = play(footage, shot, plan, closed, self.settings, desired)
        return Directed(take, plan, closed, guide, report_shot(take, shot, closed, footage))

    @cached_property
    def _can_stand(self) -> bool:
        """Whether the data has standing motion."""
        return not self.footage.database.idles.holds

    def _solve(
        self,
        shot: Shot,
        guide: Guide,
        anchors: list[Anchor],
        states: int,
        progress: ReportShare | None,
    ) -> tuple[Plan, Closed]:
        """Return a plan and how it is closed; search again if that misses marks."""
        best: tuple[int, Plan, Closed] | None = None
        for attempt in range(_ATTEMPTS):
            report = progress and partial(_report_attempt, progress, attempt)
            plan = self._search(shot, guide, states, report)
            way = compute_way(self.footage, plan, guide.way[0])
            closed, missed = self._close(anchors, guide, way)
            if best is None or len(missed) < best[0]:
                best = len(missed), plan, closed
            if not missed:
                break
            guide = guide.tighten(missed)
        assert best is not None
        return best[1:]

    def finish(self, directed: Directed, shot: Shot, feet: str | None = None) -> Directed:
        """Return the same with its feet planted and its limbs pinned, and told anew."""
        take, _ = baking.place_feet(directed.take, self.footage.database, feet)
        poses = take.poses
        for pin in shot.pins:
            poses = pin_limb(
                poses, take.skeleton, pin, find_limb(take.skeleton, pin.limb), take.fps
            )
        take = replace(take, poses=poses)
        report = report_shot(take, shot, directed.closed, self.footage)
        return replace(directed, take=take, report=report)

    def _make_small(self, shot: Shot) -> Shot:
        """Return a shot for a character that is as large and as fast as people."""
        size, pace = self.footage.size, self.footage.pace

        def shrink(point: Any) -> Any:
            return tuple(value / size for value in point)

        marks = [
            replace(
                mark,
                time=mark.time / pace,
                hold=mark.hold / pace,
                position=mark.position and shrink(mark.position),
            )
            for mark in shot.marks
        ]
        paths = [
            replace(
                path,
                times=tuple(time / pace for time in path.times),
                positions=tuple(map(shrink, path.positions)),
            )
            for path in shot.paths
        ]
        boxes = [
            box._replace(center=shrink(box.center), size=shrink(box.size)) for box in shot.obstacles
        ]
        return replace(
            shot,
            seconds=shot.seconds / pace,
            position=shrink(shot.position),
            marks=tuple(sorted(marks, key=lambda mark: mark.time)),
            paths=tuple(paths),
            obstacles=tuple(boxes),
            walls=tuple((shrink(a), shrink(b)) for a, b in shot.walls),
        )

    def _scale_settings(self) -> PerformerSettings:
        """Return the settings with speeds as of people's size."""
        factor = self.footage.pace / self.footage.size
        walk, run = (
            replace(each, forward=each.forward * factor)
            for each in (self.settings.walk, self.settings.run)
        )
        return replace(self.settings, walk=walk, run=run)

    def _search(self, shot: Shot, guide: Guide, states: int, progress: ReportShare | None) -> Plan:
        extended = guide.extend(round(_EXTRA * guide.fps))
        wanted = self._collect_wishes(shot, guide)
        beam = Beam(self.footage, self.table, extended, wanted, states)
        report = None if progress is None else (lambda share, _: progress(share))
        start = self._find_start(shot, guide)
        return beam.search(start, report)

    def _find_start(self, shot: Shot, guide: Guide) -> Start | None:
        """Return the frame that a shot has to begin with, if a mark asks for one."""
        for mark in shot.marks:
            if mark.frame is not None and round(mark.time * guide.fps) == 0:
                x, y, yaw = guide.way[0].tolist()
                return Start(find_frame(self.footage.database, mark.frame), (x, y, yaw))
        return None

    def _collect_wishes(self, shot: Shot, guide: Guide) -> Wanted:
        database, fps = self.footage.database, guide.fps
        frames = {
            round(mark.time * fps): find_frame(database, mark.frame)
            for mark in shot.marks
            if mark.frame is not None and round(mark.time * fps) > 0
        }
        radius = self.settings.collision_radius / self.footage.size
        blocked = bool(shot.obstacles or shot.walls)
        return Wanted(
            frames,
            self._rate_frames(shot),
            self._weigh_gaits(shot, guide),
            self._make_noise(shot.seed),
            [
                (self._get_surroundings(jump.source), self._get_surroundings(jump.target))
                for jump in shot.forbidden
            ],
            obstruction=Obstruction(shot.obstacles, shot.walls, radius) if blocked else None,
        )

    def _get_surroundings(self, frame: str) -> tuple[int, int]:
        """Return the first frame and that after the last around a frame of a clip."""
        database, around = self.footage.database, round(_FORBIDDEN * self.footage.fps)
        at = find_frame(database, frame)
        of_range = int(database.range_of_frame[at])
        start, stop = int(database.starts[of_range]), int(database.stops[of_range])
        return max(at - around, start), min(at + around + 1, stop)

    def _make_noise(self, seed: int) -> np.ndarray | None:
        """Return what a seed adds to the price of entering frames (N,); nothing for seed 0."""
        if not seed:
            return None
        piece = max(round(_PIECE * self.footage.fps), 1)
        count = self.footage.frame_count
        noise = np.random.default_rng(seed).uniform(0.0, _SEEDED, -(-count // piece))
        return np.repeat(noise, piece)[:count]

    def _rate_frames(self, shot: Shot) -> list[Dislike]:
        """Return what other gaits and frames without tags cost, from when on."""
        footage, database = self.footage, self.footage.database
        width = 2 * round(_SMOOTH * footage.fps) + 1
        speed = np.convolve(footage.speed, np.full(width, 1.0 / width), mode="same")
        share = speed / self._walk_to_run
        none = np.zeros(footage.frame_count)
        has_run = self.settings.run != self.settings.walk
        costs = {
            "walk": _GAIT * np.clip(3.0 * (share - 1.0), 0.0, 1.0),
            "run": _GAIT * np.clip(1.0 - share, 0.0, 1.0) if has_run else none,
        }
        gaits, tags = dict(shot.list_gaits()), dict(shot.list_tags())
        result, gait, wanted = [], shot.gait, frozenset[str]()
        for time in sorted({*gaits, *tags}):
            gait, wanted = gaits.get(time, gait), tags.get(time, wanted)
            lacking = _TAGGED * ~database.make_tag_mask(wanted) if wanted else none
            result.append(Dislike(round(time * footage.fps), costs[gait], lacking))
        return result

    @property
    def _walk_to_run(self) -> float:
        """The speed that parts walking from running, in the footage."""
        return self.footage.database.walk_to_run * self.footage.pace / self.footage.size

    def _weigh_gaits(self, shot: Shot, guide: Guide) -> np.ndarray:
        """Return how much gaits count (T,): little where marks ask for the other one's speed."""
        steps = np.linalg.norm(np.diff(guide.way[:, :2], axis=0, append=guide.way[-1:, :2]), axis=1)
        width = 2 * round(_SMOOTH * guide.fps) + 1
        speed = np.convolve(steps * guide.fps, np.full(width, 1.0 / width), mode="same")
        share = speed / self._walk_to_run
        result = np.zeros(len(share))
        for time, gait in shot.list_gaits():
            weight = 1.0 - smoothstep((share - 0.8) / 0.4)
            if gait == "run":
                weight = smoothstep((share - 0.4) / 0.4)
            first = round(time * guide.fps)
            result[first:] = weight[first:]
        return result

    def _close(
        self, anchors: list[Anchor], guide: Guide, way: np.ndarray
    ) -> tuple[Closed, list[int]]:
        """Close a way, and return the ticks of the marks that are given up.

        These are what only large corrections would hit, worst first.
        """
        kept = _leave_out_far(anchors, way, guide.fps)
        for _ in range(_PASSES):
            closed = close(way, guide, kept)
            worst = self._find_worst(kept, closed, way)
            if not worst:
                break
            kept = [
                _give_up(anchor, worst[i]) if i in worst else anchor
                for i, anchor in enumerate(kept)
            ]
        else:
            closed = close(way, guide, kept)
        missed = [a.tick for a, b in zip(anchors, kept, strict=True) if a != b]
        return closed, missed

    def _find_worst(
        self, anchors: list[Anchor], closed: Closed, way: np.ndarray
    ) -> dict[int, tuple[bool, bool]]:
        """Return by index which anchors to give up: whether their place, and their heading.

        Of neighbours between which corrections are too large, it is the one farthest from the plan.
        """
        size, pace = self.footage.size, self.footage.pace
        ends = [*(anchor.tick for anchor in anchors), len(closed.rate)]
        flags = [exceeds(closed, a, b, size, pace) for a, b in itertools.pairwise(ends)]
        misses = _measure_misses(anchors, way)
        result: dict[int, tuple[bool, bool]] = {}
        for axis in (0, 1):
            groups = find_runs(np.array([each[axis] for each in flags]))
            for first, stop in groups.tolist():
                beside = range(max(first, 1), min(stop + 1, len(anchors)))
                worst = max(beside, key=lambda k: misses[axis, k], default=0)
                if worst and misses[axis, worst] > 0.0:
                    before = result.get(worst, (False, False))
                    result[worst] = (before[0] or axis == 0, before[1] or axis == 1)
        return result


def _report_attempt(progress: ReportShare, attempt: int, share: float) -> None:
    """Report the share done of all attempts at most, of which the first mostly is the only one."""
    progress(1.0 - (1.0 - share) * 0.5**attempt)


def _give_up(anchor: Anchor, given_up: tuple[bool, bool]) -> Anchor:
    """Return an anchor without its place, its heading, or both."""
    place, yaw = given_up
    return anchor._replace(place=None if place else anchor.place, yaw=None if yaw else anchor.yaw)


def _leave_out_far(anchors: list[Anchor], way: np.ndarray, fps: float) -> list[Anchor]:
    """Return anchors without the places that a plan does not come near to."""
    away = _measure_misses(anchors, way)[0]
    result, before = [anchors[0]], 0
    for anchor, far in zip(anchors[1:], away[1:].tolist(), strict=True):
        span = way[before : anchor.tick + 1, :2]
        gone = float(np.linalg.norm(np.diff(span, axis=0), axis=1).sum())
        most = _HOPELESS + LARGEST_LEAD * len(span) / fps + (LARGEST_RATE - 1.0) * gone
        result.append(_give_up(anchor, (far > most, False)))
        before = anchor.tick
    return result


def _measure_misses(anchors: list[Anchor], way: np.ndarray) -> np.ndarray:
    """Return how far (2, A) a way is from each anchor in metres, and in radians, before closing.

    Places are measured from the anchor before: what a way drifts until there costs nothing here.
    """
    result, drift = np.zeros((2, len(anchors))), np.zeros(2)
    for i, anchor in enumerate(anchors):
        x, y, yaw = way[min(anchor.tick, len(way) - 1)].tolist()
        if anchor.place is not None:
            away = np.array([x - anchor.place[0], y - anchor.place[1]])
            result[0, i] = float(np.linalg.norm(away - drift))
            drift = away
        if anchor.yaw is not None:
            result[1, i] = abs(planar.wrap(yaw - anchor.yaw))
    return result


def _list_anchors(shot: Shot, guide: Guide, near: frozenset[int]) -> list[Anchor]:
    """Return what has to hold, in order of ticks; the first is the start.

    Marks that are only come `near` to, by index, do not.
    """
    fps, last = guide.fps, guide.tick_count - 1
    x, y, yaw = guide.way[0].tolist()
    anchors = [Anchor(0, (x, y), yaw)]
    for i, mark in enumerate(shot.marks):
        if i in near:
            mark = replace(mark, position=None)
        tick = min(round(mark.time * fps), last)
        wants = mark.position is not None or mark.facing is not None or mark.frame is not None
        if wants and tick > 0:
            anchors.append(Anchor(tick, mark.position, mark.facing, mark.frame is not None))
        end = min(round((mark.time + mark.hold) * fps), last)
        if mark.hold and mark.position is not None and end > tick:
            anchors.append(Anchor(end, mark.position, loose=True))
    return sorted(anchors, key=lambda anchor: anchor.tick)


def check_shot(shot: Shot, director: Director) -> None:
    """Raise SettingsError or DatabaseError, in a sentence, for what contradicts itself."""
    database = director.footage.database
    settings = director.settings
    _check_times(shot, database.fps)
    for pin in shot.pins:
        find_limb(database.skeleton, pin.limb)
    for mark in shot.marks:
        if mark.frame is not None:
            frame = find_frame(database, mark.frame)
            if not database.playable[frame]:
                raise SettingsError(
                    f"The mark at {mark.time:g} s asks for '{mark.frame}', which is tagged "
                    "'no_use'; choose another frame."
                )
    for jump in shot.forbidden:
        find_frame(database, jump.source), find_frame(database, jump.target)
    for _, tags in shot.list_tags():
        if tags and (problem := database.explain_missing_tags(tags, settings.end_guard)):
            raise DatabaseError(problem)
    _check_obstacles(shot, settings.collision_radius)


def _check_times(shot: Shot, fps: float) -> None:
    """Check that marks and paths do not ask for two things at once."""
    by_tick: dict[int, Mark] = {}
    for mark in sorted(shot.marks, key=lambda each: each.time):
        if mark.time > shot.seconds:
            raise SettingsError(
                f"The mark at {mark.time:g} s is after the end of the shot at {shot.seconds:g} s; "
                "move it, or make the shot longer."
            )
        other = by_tick.setdefault(round(mark.time * fps), mark)
        if other is not mark and (problem := _compare(other, mark)):
            raise SettingsError(
                f"Two marks at {mark.time:g} s contradict each other in {problem}; move or remove "
                "one of them."
            )
    held = sorted((m.time, m.time + m.hold, m) for m in shot.marks if m.hold and m.position)
    for start, stop, mark in held:
        for other in shot.marks:
            if start < other.time < stop and other.position not in (None, mark.position):
                raise SettingsError(
                    f"The mark at {other.time:g} s is elsewhere than that at {start:g} s, which "
                    f"holds until {stop:g} s; shorten the hold, or move the mark."
                )
    _check_paths(shot.paths)


def _compare(a: Mark, b: Mark) -> str:
    """Return in what two marks at one time contradict each other, or an empty string."""
    for label, name in (("place", "position"), ("heading", "facing"), ("frame", "frame")):
        values = getattr(a, name), getattr(b, name)
        if None not in values and values[0] != values[1]:
            return label
    if a.gait and b.gait and a.gait != b.gait:
        return "gait"
    return ""


def _check_paths(paths: tuple[TimedPath, ...]) -> None:
    spans = sorted((path.times[0], path.times[-1]) for path in paths)
    for (_, stop), (start, _) in itertools.pairwise(spans):
        if start < stop:
            raise SettingsError(
                f"Two paths overlap from {start:g} s to {stop:g} s; let one end before the other."
            )


def _check_obstacles(shot: Shot, radius: float) -> None:
    obstruction = Obstruction(shot.obstacles, shot.walls, radius)
    wanted = [("The start", shot.position)]
    wanted += [(f"The mark at {m.time:g} s", m.position) for m in shot.marks if m.position]
    for name, place in wanted:
        if obstruction.measure_distances(np.array([place]))[0] < radius:
            raise SettingsError(f"{name} is inside an obstacle; move one of them.")
