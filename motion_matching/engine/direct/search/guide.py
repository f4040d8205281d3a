"""Make the guide of a shot: where to be at each tick, with which tolerance, and at which rate.

Places and headings at marks are joined by cubics in time. Between marks the guide is loose, because
the data has better ways; on timed paths it is tight.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...maths import planar
from ...maths.easing import smoothstep
from ...maths.numeric import arctan2
from ...performance.settings import PerformerSettings, Steering
from ..numbers import NUMBERS
from ..objective import COSTS
from ..obstacles.obstruction import Obstruction
from ..obstacles.routing import find_route
from ..shot.shot import Mark, Shot, TimedPath


@dataclass(frozen=True)
class Guide:
    """T ticks at `fps`; lengths and times are in body units.

    - `way` (T, 3): x, y and yaw; `far` (T,) in metres and `twist` (T,) in radians: the allowed
      deviations; `firm` (T,): weight of deviations
    - `stands` (T,): the character stands still; `follows` (T,): the way itself is requested
    - `rates` (T,): speed at which to play the motion, from each tick to the next
    - `obstruction`: obstacles in the way, if any
    """

    fps: float
    way: np.ndarray
    far: np.ndarray
    twist: np.ndarray
    firm: np.ndarray
    stands: np.ndarray
    follows: np.ndarray
    rates: np.ndarray
    obstruction: Obstruction | None = None

    @property
    def plan_ticks(self) -> np.ndarray:
        """Position (T,) in its plan of a take at each tick, if it is played as requested."""
        return np.append(0.0, np.cumsum(self.rates[:-1]))

    @property
    def tick_count(self) -> int:
        return len(self.way)

    def extend(self, ticks: int) -> Guide:
        """Extend the guide by some ticks as it ends, for searches that look ahead."""
        rate = self.way[-1] - self.way[-2]
        more = self.way[-1] + np.arange(1, ticks + 1)[:, None] * rate
        far = max(self.far.max(), COSTS.far)
        twist = max(self.twist.max(), COSTS.far_turn)
        ends = {"far": far, "twist": twist, "firm": COSTS.firm_beyond, "rates": 1.0}
        ends |= {"stands": self.stands[-1], "follows": False}
        columns: dict[str, Any] = {"way": np.vstack([self.way, more])}
        columns |= {n: np.append(getattr(self, n), [end] * ticks) for n, end in ends.items()}
        return replace(self, **columns)

    def put_on_plan(self) -> Guide:
        """Return the guide by ticks of the plan, at the data's own rate, for the search."""
        if np.all(self.rates == 1.0):
            return self
        at = self.plan_ticks
        count = int(np.ceil(at[-1])) + 1
        takes = np.interp(np.arange(count), at, np.arange(self.tick_count))
        nearest = np.round(takes).astype(int)
        way = interpolate_rows(self.way, takes)
        weights = np.column_stack([self.far, self.twist, self.firm])
        far, twist, firm = interpolate_rows(weights, takes).T
        stands = self.stands[nearest]
        follows = self.follows[nearest]
        return Guide(self.fps, way, far, twist, firm, stands, follows, np.ones(count))

    def put_on_take(self, rows: np.ndarray) -> np.ndarray:
        """Convert rows (P, D) from ticks of the plan to ticks of the take."""
        if np.all(self.rates == 1.0):
            return rows
        return interpolate_rows(rows, np.minimum(self.plan_ticks, len(rows) - 1.0))

    def tighten(self, ticks: Sequence[int]) -> Guide:
        """Return the guide with a higher cost of deviations around these ticks."""
        t = np.arange(self.tick_count)[:, None]
        near = np.exp(-0.5 * ((t - np.array(ticks)) / (NUMBERS.tight_time * self.fps)) ** 2)
        return replace(self, firm=self.firm * (1.0 + COSTS.tight * near.max(axis=1)))

    def widen(self, tick: int, width: float) -> Guide:
        """Return the guide with deviations of a width in metres allowed around a tick."""
        t = (np.arange(self.tick_count) - tick) / (NUMBERS.tight_time * self.fps)
        return replace(self, far=np.hypot(self.far, width * np.exp(-0.5 * t**2)))

    def cut(self, first: int, stop: int) -> Guide:
        """Return the ticks from `first` to before `stop`."""
        names = ("way", "far", "twist", "firm", "stands", "follows", "rates")
        return replace(self, **{name: getattr(self, name)[first:stop] for name in names})

    def join(self, away: np.ndarray, tick: int) -> Guide:
        """Return the guide led to a place (3,) `away` from its own at a tick, and tight there."""
        t = (np.arange(self.tick_count) - tick) / self.fps
        way = self.way + smoothstep(1.0 + t / NUMBERS.join_time)[:, None] * away
        return replace(self, way=way).tighten([tick])


def interpolate_rows(rows: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Interpolate rows (R, D) at fractional indices (K,); return (K, D)."""
    low = np.minimum(at.astype(int), len(rows) - 2)
    mix = (at - low)[:, None]
    return np.asarray(rows[low] * (1.0 - mix) + rows[low + 1] * mix)


class _Knot(NamedTuple):
    """A place (2,) and heading that the way passes at a time, with a velocity (2,), NaN if free."""

    time: float
    place: np.ndarray
    yaw: float
    velocity: np.ndarray
    exact: bool  # requested, not just assumed
    bends: bool = True  # the way through other knots


_FREE = np.full(2, np.nan)


def make_guide(
    shot: Shot,
    fps: float,
    settings: PerformerSettings,
    near: frozenset[int] = frozenset(),
    can_stand: bool = True,
    obstruction: Obstruction | None = None,
) -> Guide:
    """Return the guide of a shot that is as large as the footage, with its speeds.

    Marks that are only approached (indices in `near`) do not bend the way to the others. Without
    standing in the data, the character moves from the start. The way leads round an obstruction.
    """
    count = max(round(shot.seconds * fps), 2) + 1
    t = np.arange(count) / fps
    speeds = _list_speeds(shot, settings.steering)
    knots = _collect_knots(shot, speeds, near)
    if not can_stand and not knots[0].velocity.any():
        knots[0] = knots[0]._replace(velocity=_FREE)
    if obstruction is not None:
        knots = _lead_round(knots, obstruction)
    knots = _choose_velocities(knots)
    way, stands = _join_knots(knots, t)
    marks = [knot.time for knot in knots if knot.exact]
    away = _measure_distances(way, t, marks)
    away[stands] = 0.0
    far = np.hypot(COSTS.near, np.minimum(COSTS.spread * away, COSTS.far))
    twist = np.hypot(COSTS.near_turn, np.minimum(COSTS.spread_turn * away, COSTS.far_turn))
    firm = np.ones(count)
    for time in marks:
        firm += COSTS.firm * np.exp(-0.5 * ((t - time) / NUMBERS.firm_time) ** 2)
    ones = np.ones(count)
    guide = Guide(fps, way, far, twist, firm, stands, np.zeros(count, bool), ones)
    for path in shot.paths:
        _lay_path(guide, path, t)
    return guide


def sample_path(path: TimedPath, t: np.ndarray) -> np.ndarray:
    """Return x, y and yaw (T, 3) of a timed path at times (T,) within it."""
    from scipy.interpolate import Akima1DInterpolator

    times = np.array(path.times)
    positions = np.array(path.positions, float)
    if len(times) == 2:
        share = ((t - times[0]) / (times[1] - times[0]))[:, None]
        places = positions[0] + share * (positions[1] - positions[0])
        rates = np.broadcast_to((positions[1] - positions[0]) / np.ptp(times), places.shape)
    else:
        curve = Akima1DInterpolator(times, positions)
        places = curve(t)
        rates = curve(t, 1)
    if path.yaws is not None:
        yaws = np.interp(t, times, np.unwrap(path.yaws))
    else:
        yaws = _find_travel(rates)
    return np.column_stack([places, yaws])


def _list_speeds(shot: Shot, steering: Steering) -> list[tuple[float, float]]:
    """Return the times at which a gait begins, and its full speed ahead."""
    by_gait = {"walk": steering.walk.forward, "run": steering.run.forward}
    return [(time, by_gait[gait]) for time, gait in shot.list_gaits()]


def _get_speed(speeds: list[tuple[float, float]], time: float) -> float:
    return [speed for start, speed in speeds if start <= time][-1]


def _collect_knots(
    shot: Shot, speeds: list[tuple[float, float]], near: frozenset[int]
) -> list[_Knot]:
    """Return the knots of the way, in order of time."""
    rest = np.zeros(2)
    knots = [_Knot(0.0, np.array(shot.position, float), shot.facing, rest, True)]
    asked: list[Mark | TimedPath] = [*(m for m in shot.marks if m.is_place), *shot.paths]
    asked.sort(key=lambda each: each.time if isinstance(each, Mark) else each.times[0])
    for each in asked:
        if isinstance(each, TimedPath):
            ends = np.array([each.times[0], each.times[-1]])
            inner = np.clip(np.add(ends, (1e-3, -1e-3)), *ends)
            way = sample_path(each, ends)
            beside = sample_path(each, inner)
            rates = (beside - way)[:, :2] / (inner - ends)[:, None]
            for i in range(2):
                knots.append(_Knot(ends[i], way[i, :2], way[i, 2], rates[i], True))
            continue
        if each.time == 0.0:
            place = each.position if each.position is not None else shot.position
            yaw = each.facing if each.facing is not None else shot.facing
            knots = [_Knot(0.0, np.array(place, float), yaw, rest, True)]
        else:
            knot = _make_knot(each, knots[-1], shot, speeds)
            exact = knot.exact and not any(shot.marks[i] is each for i in near)
            knots.append(knot._replace(exact=exact, bends=exact))
        if each.hold:
            last = knots[-1]._replace(velocity=rest)
            knots[-1:] = [last, last._replace(time=each.time + each.hold)]
    return _add_end(knots, shot, speeds)


def _make_knot(mark: Mark, before: _Knot, shot: Shot, speeds: list[tuple[float, float]]) -> _Knot:
    """Return the knot of a mark; a place or heading that it leaves free is assumed."""
    places = (m for m in shot.marks if m.leads and m.position is not None)
    later = next((m for m in places if m.time > mark.time), None)
    seconds = mark.time - before.time
    if mark.position is not None:
        place = np.array(mark.position, float)
    elif later is not None:
        share = seconds / max(later.time - before.time, 1e-6)
        place = before.place + share * (np.array(later.position) - before.place)
    else:
        ahead = planar.yaw_to_forward(np.array(before.yaw))
        place = before.place + ahead * _get_speed(speeds, before.time) * seconds
    yaw = mark.facing
    if yaw is None:
        moved = place - before.place
        still = np.linalg.norm(moved) < NUMBERS.one_place
        yaw = before.yaw if still else float(_find_travel(moved[None])[0])
    return _Knot(mark.time, place, yaw, _FREE, mark.position is not None)


def _add_end(knots: list[_Knot], shot: Shot, speeds: list[tuple[float, float]]) -> list[_Knot]:
    """Add where the way ends, if the last knot is before that.

    A character goes on with its gait, or stands if it had to stand and nothing else is requested.
    """
    last = knots[-1]
    left = shot.seconds - last.time
    if left < NUMBERS.after_last_mark:
        return knots
    begins = [time for time, _ in speeds if time >= last.time and time > 0.0]
    is_asked = any(mark.time >= last.time for mark in shot.marks)
    stands = len(knots) > 1 and not last.velocity.any() and not is_asked
    ahead = planar.yaw_to_forward(np.array(last.yaw))
    for start, stop in itertools.pairwise([last.time, *begins, shot.seconds]):
        if stop - start < 1e-6:
            continue
        speed = 0.0 if stands else _get_speed(speeds, start)
        place = knots[-1].place + speed * (stop - start) * ahead
        knots.append(_Knot(stop, place, last.yaw, speed * ahead, False, False))
    return knots


def _lead_round(knots: list[_Knot], obstruction: Obstruction) -> list[_Knot]:
    """Add knots that lead the way round obstacles; without a way, it stops before them."""
    result = [knots[0]]
    for b in knots[1:]:
        a = result[-1]
        route = find_route(a.place, b.place, obstruction)
        if not route.complete:
            b = b._replace(place=route.end, velocity=np.zeros(2))
        points = np.vstack([a.place, route.places, b.place])
        steps = np.diff(points, axis=0)
        gone = np.cumsum(np.linalg.norm(steps, axis=1))
        for i, place in enumerate(route.places):
            time = a.time + (b.time - a.time) * float(gone[i] / max(gone[-1], 1e-9))
            yaw = float(_find_travel((steps[i] + steps[i + 1])[None])[0])
            result.append(_Knot(time, place, yaw, _FREE, False))
        result.append(b)
    return result


def _choose_velocities(knots: list[_Knot]) -> list[_Knot]:
    """Fill in free velocities of knots; assumed ones do not bend the way through requested ones."""
    result = []
    for i, knot in enumerate(knots):
        if np.isnan(knot.velocity[0]):
            after = next((k for k in knots[i + 1 :] if k.bends or not knot.bends), None)
            before = next((k for k in reversed(knots[:i]) if k.bends or not knot.bends), None)
            knot = knot._replace(velocity=_choose_velocity(before, knot, after))
        result.append(knot)
    return result


def _choose_velocity(before: _Knot | None, knot: _Knot, after: _Knot | None) -> np.ndarray:
    """Return a velocity (2,) between those of the ways before and after; lower for a turn back.

    The nearer in time counts more. It leans to where the character faces.
    """
    ways = [pair for pair in ((before, knot), (knot, after)) if None not in pair]
    spans = [max(b.time - a.time, 1e-6) for a, b in ways if a and b]
    rates = [(b.place - a.place) / s for (a, b), s in zip(ways, spans, strict=True) if a and b]
    if len(rates) < 2:
        return rates[0] if rates else np.zeros(2)
    first, last = rates
    speeds = max(float(np.linalg.norm(first) * np.linalg.norm(last)), 1e-9)
    turned = min(1.0 + float(first @ last) / speeds, 1.0)
    velocity = turned * (spans[1] * first + spans[0] * last) / (spans[0] + spans[1])
    aside = float(planar.wrap(knot.yaw - _find_travel(velocity[None])[0]))
    keeps = any(abs(planar.wrap(a.yaw - b.yaw)) < NUMBERS.keeps_heading for a, b in ways if a and b)
    if abs(aside) > NUMBERS.no_curve or (keeps and abs(aside) > NUMBERS.keeps_heading):
        return velocity  # it strafes or backs on purpose
    return planar.rotate(velocity, NUMBERS.lean_to_facing * aside)


def _join_knots(knots: list[_Knot], t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the way (T, 3) through the knots, and where it stands (T,)."""
    way = np.zeros((len(t), 3))
    stands = np.zeros(len(t), bool)
    last = knots[-1]
    over = np.maximum(t - last.time, 0.0)[:, None]
    way[:, :2] = last.place + over * last.velocity
    way[:, 2] = last.yaw
    for a, b in itertools.pairwise(knots):
        on = (t >= a.time - 1e-9) & (t <= b.time + 1e-9)
        if not on.any() or b.time - a.time < 1e-6:
            continue
        u = np.clip((t[on] - a.time) / (b.time - a.time), 0.0, 1.0)
        places, rates = _interpolate(a, b, u)
        way[on, :2] = places
        turn = planar.wrap(b.yaw - a.yaw)
        if np.linalg.norm(b.place - a.place) < NUMBERS.one_place:
            still = np.allclose(a.velocity, 0.0) and np.allclose(b.velocity, 0.0)
            stands[on] = still and abs(turn) < NUMBERS.still_turn
            way[on, 2] = a.yaw + turn * smoothstep(u)
        else:
            way[on, 2] = _face_travel(a, b, u, places, rates)
    way[:, 2] = np.unwrap(way[:, 2])
    return way, stands


def _interpolate(a: _Knot, b: _Knot, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return places and rates (T, 2) of the cubic between two knots at shares (T,) of it."""
    h = b.time - a.time
    u = u[:, None]
    rise = b.place - a.place
    first, last = h * a.velocity, h * b.velocity
    bend = 3.0 * rise - 2.0 * first - last
    twist = first + last - 2.0 * rise
    places = a.place + u * (first + u * (bend + u * twist))
    return places, (first + u * (2.0 * bend + u * 3.0 * twist)) / h


def _face_travel(
    a: _Knot, b: _Knot, u: np.ndarray, places: np.ndarray, rates: np.ndarray
) -> np.ndarray:
    """Return headings (T,) between knots: along the way, or at the angle to it of both ends.

    If both ends have the same angle to the way, as in a strafe, it is kept throughout. Else the
    character turns into the way at the start, and out of it at the end.
    """
    moving = np.linalg.norm(rates, axis=1) > NUMBERS.directed_speed
    travel = _find_travel(np.where(moving[:, None], rates, b.place - a.place))
    inner = np.flatnonzero(moving)
    if len(inner):  # at rest, cubics take the direction that they have next to the end
        travel[: inner[0]] = travel[inner[0]]
        travel[inner[-1] :] = travel[inner[-1]]
    travel = np.unwrap(travel)
    first, last = planar.wrap(a.yaw - travel[0]), planar.wrap(b.yaw - travel[-1])
    gone = _measure_along(places)
    change = planar.wrap(last - first)
    if abs(change) < NUMBERS.strafe_change:
        return np.asarray(travel + first + change * smoothstep(gone / max(gone[-1], 1e-9)))
    within = min(NUMBERS.turn_within / (b.time - a.time), 0.5)
    at_start = first * (1.0 - smoothstep(u / within))
    at_end = last * (1.0 - smoothstep((1.0 - u) / within))
    return np.asarray(travel + at_start + at_end)


def _find_travel(rates: np.ndarray) -> np.ndarray:
    """Return the headings (T,) of velocities (T, 2)."""
    return np.unwrap(arctan2(rates[:, 0], -rates[:, 1]))


def _measure_along(places: np.ndarray) -> np.ndarray:
    """Return the length (T,) of a way to each of its places (T, 2)."""
    return np.append(0.0, np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1)))


def _measure_distances(way: np.ndarray, t: np.ndarray, marks: list[float]) -> np.ndarray:
    """Return how far (T,) along the way the nearest mark is."""
    along = _measure_along(way[:, :2])
    near = np.full(len(t), np.inf)
    for time in marks:
        at = np.interp(time, t, along)
        near = np.minimum(near, np.abs(along - at) + NUMBERS.distance_a_second * np.abs(t - time))
    return near


def _lay_path(guide: Guide, path: TimedPath, t: np.ndarray) -> None:
    """Lay a timed path over a new guide, in place."""
    on = (t >= path.times[0] - 1e-9) & (t <= path.times[-1] + 1e-9)
    if on.sum() < 2:
        return
    guide.way[on] = sample_path(path, t[on])
    guide.far[on] = COSTS.path_near
    guide.twist[on] = COSTS.path_turn
    guide.firm[on] = 1.0
    guide.follows[on] = True
    rates = np.gradient(guide.way[on], axis=0) * guide.fps
    slow = np.linalg.norm(rates[:, :2], axis=1) < NUMBERS.still_speed
    guide.stands[on] = slow & (np.abs(rates[:, 2]) < NUMBERS.still_turn_speed)
    guide.way[:, 2] = np.unwrap(guide.way[:, 2])
