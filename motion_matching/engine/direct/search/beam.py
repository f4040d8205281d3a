"""Search for the frames of a shot: a beam over frames, places, and headings.

Ten times a second, every state plays on or jumps. After a jump, the rest of the root's velocity
fades exactly as in play; without that, marks are missed by decimetres.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...blending.jump_price import compute_left
from ...errors import SettingsError
from ...maths import planar
from ...maths.numeric import find_smallest
from ...progress import ReportShare
from ..footage.footage import Footage
from ..footage.jump_table import JumpTable, count_earlier, price_jumps
from ..numbers import NUMBERS
from ..objective import COSTS
from ..obstacles.obstruction import Obstruction
from .aims import Aims, Costs, PartAim, price_nearness
from .guide import Guide

_ALWAYS = 2**31  # ticks


def get_stride(fps: float) -> int:
    """Return the number of ticks in a step."""
    return max(round(NUMBERS.step * fps), 1)


class SearchStart(NamedTuple):
    """Start of a search: a frame, x, y and yaw.

    A jump `since` steps before has left a `fading` root velocity (3,).
    """

    frame: int
    place: tuple[float, float, float]
    since: int = 0
    fading: tuple[float, float, float] = (0.0, 0.0, 0.0)


class Dislike(NamedTuple):
    """Costs of frames (N,) per second from a tick on: for their gait, and for missing tags."""

    tick: int
    gait: np.ndarray
    tags: np.ndarray


class Barred(NamedTuple):
    """Ranges of frames, (first, stop), between which no jump leads from one tick to another."""

    leaves: tuple[int, int]
    enters: tuple[int, int]
    tick: int = 0
    stop: int = _ALWAYS

    def shift(self, ticks: int) -> Barred:
        """Return the same for a search that begins a number of ticks later."""
        return self._replace(tick=self.tick - ticks, stop=self.stop - ticks)


@dataclass(frozen=True)
class Wanted:
    """Requests to a search in addition to its guide; ticks are those of the guide.

    - `frames`: the frames to show, by tick
    - `dislikes`: costs of frames per second, in order of the ticks at which they begin
    - `gait_shares` (T,): weight of the gait at each tick
    - `climbs` (T,): rise of the ground at each tick, in m/s, if clips climb
    - `entry` (N,): added to the price of entering a frame
    - `kept`: required jumps by tick: the frame that would come next, and the target
    - `poses`: by tick, the cost of each frame (N,) for differing from the requested pose
    - `parts`: wanted places of hips and limbs
    - `most_turned`: upper bound of the heading cost between marks, relative to a deviation that is
      just allowed
    """

    frames: Mapping[int, int] = field(default_factory=dict)
    dislikes: Sequence[Dislike] = ()
    gait_shares: np.ndarray | None = None
    entry: np.ndarray | None = None
    barred: Sequence[Barred] = ()
    kept: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    obstruction: Obstruction | None = None
    poses: Mapping[int, np.ndarray] = field(default_factory=dict)
    parts: Sequence[PartAim] = ()
    most_turned: float = COSTS.most_heading
    climbs: np.ndarray | None = None


class ShotPlan(NamedTuple):
    """The frame (T,) of each tick, whether it was jumped to (T,), and the cost."""

    frames: np.ndarray
    jumps: np.ndarray
    cost: float


class _BeamStates(NamedTuple):
    """S states: the next frame, place, cost, steps since a jump, and the fading velocity."""

    frame: np.ndarray
    x: np.ndarray
    y: np.ndarray
    yaw: np.ndarray
    cost: np.ndarray
    since: np.ndarray
    fading: np.ndarray  # (S, 3) root velocity

    def take(self, chosen: np.ndarray) -> _BeamStates:
        return _BeamStates(*(each[chosen] for each in self))


class _Options(NamedTuple):
    """Options of states: the state, the frame entered, the cost, and whether it is a jump."""

    parent: np.ndarray
    entered: np.ndarray
    price: np.ndarray
    jumped: np.ndarray

    @classmethod
    def from_jumps(cls, parent: np.ndarray, entered: np.ndarray, prices: np.ndarray) -> _Options:
        return cls(parent, entered, prices + COSTS.jump, np.ones(len(parent), bool))

    def take(self, chosen: np.ndarray) -> _Options:
        return _Options(*(each[chosen] for each in self))


class Beam:
    """A search through footage along a guide that keeps a number of states at each step.

    It ends with the guide, or after some `steps` if it only has to look ahead.
    """

    def __init__(
        self,
        footage: Footage,
        table: JumpTable,
        guide: Guide,
        wanted: Wanted,
        states: int,
        steps: int | None = None,
    ) -> None:
        self.footage = footage
        self.table = table
        self.wanted = wanted
        self.states = states
        self.stride = get_stride(footage.fps)
        self.step_count = -(-guide.tick_count // self.stride) if steps is None else steps
        self._last = guide.tick_count - 1
        self._guide = guide
        self._seconds = self.stride / footage.fps
        self._moves = footage.get_ahead(self.stride)
        self._looks = [round(t * footage.fps) for t in NUMBERS.looks]
        self._futures = [footage.get_ahead(look) for look in self._looks]
        turning = np.abs(footage.root[:, 2])
        drift = np.maximum(footage.speed + COSTS.drift_turn * turning, footage.foot_speed)
        self._drift = np.minimum(drift, 1.0)
        self._can_play = footage.left >= self.stride
        self._gap = max(round(NUMBERS.jumps_apart / self._seconds), 1)
        self._gains = self._compute_gains()
        self._shares = compute_left(self._seconds * np.arange(NUMBERS.forgotten + 1))[:, None]
        self._pins = {
            tick // self.stride: frame - tick % self.stride for tick, frame in wanted.frames.items()
        }
        self._kept = {round(tick / self.stride): jump for tick, jump in wanted.kept.items()}
        self._aims = Aims(footage, wanted.poses, wanted.parts, self.stride)
        self._pins |= {step: leaving for step, (leaving, _) in self._kept.items()}

    def _compute_gains(self) -> np.ndarray:
        """Return the displacement in metres by a fading 1 m/s in each step after a jump.

        In the first step it is relative to playing on in the tick before the jump.
        """
        ticks = np.arange(1, (NUMBERS.forgotten + 1) * self.stride + 2)
        left = compute_left(ticks / self.footage.fps)
        first = left[0] - 1.0 + left[1 : self.stride + 1].sum()
        later = left[self.stride + 1 :].reshape(-1, self.stride).sum(axis=1)
        return np.append(first, later) / self.footage.fps

    def search(
        self,
        start: SearchStart | None = None,
        progress: ReportShare | None = None,
    ) -> ShotPlan:
        """Return the best plan found. `progress` may raise to cancel."""
        states = self._begin(start)
        steps: list[_Options] = []
        for i in range(self.step_count):
            options = self._list_options(i, states)
            moved, score = self._play(i, states, options)
            kept = self._prune(score, moved)
            steps.append(options.take(kept))
            states = moved.take(kept)
            if progress and i % 10 == 0:
                progress((i + 1) / self.step_count)
        return self._trace(steps, states)

    def _begin(self, start: SearchStart | None) -> _BeamStates:
        guide = self._guide
        if start is not None:
            frames = np.array([start.frame])
        else:
            frames = self._find_first_frames()
            (x, y, yaw) = guide.way[0].tolist()
            start = SearchStart(0, (x, y, yaw))
        count = len(frames)
        x, y, yaw, cost = (np.full(count, value) for value in (*start.place, 0.0))
        since = np.full(count, min(start.since, NUMBERS.forgotten))
        return _BeamStates(frames, x, y, yaw, cost, since, np.tile(start.fading, (count, 1)))

    def _find_first_frames(self) -> np.ndarray:
        """Return the frames that lead about where the guide does."""
        guide = self._guide
        footage = self.footage
        allowed = np.flatnonzero(footage.candidates & self._can_play)
        if not len(allowed):
            raise SettingsError(
                "No clip of the database is long enough to begin a shot with; add longer clips."
            )
        fit = np.zeros(len(allowed))
        for look, future in zip(self._looks, self._futures, strict=True):
            moved = guide.way[min(look, self._last)] - guide.way[0]
            place = planar.rotate(moved[:2], -guide.way[0, 2])
            away = future[allowed] - np.append(place, planar.wrap(moved[2]))
            fit += away**2 @ [1.0, 1.0, COSTS.first_turn]
        if guide.stands[0]:
            fit += COSTS.first_speed * footage.speed[allowed] ** 2
        fit += self._aims.measure_poses(0, allowed)
        fit += self._measure_dislike(0, allowed)
        if len(fit) > self.states:  # sorting all of them would take longer than a step
            some = np.flatnonzero(fit <= np.partition(fit, self.states - 1)[self.states - 1])
            return allowed[some[np.argsort(fit[some], kind="stable")]][: self.states]
        return allowed[np.argsort(fit, kind="stable")]

    def _measure_dislike(self, tick: int, frames: np.ndarray) -> Costs:
        """Return the cost (S,) of frames at a tick per second, and of other climbs."""
        shares = self.wanted.gait_shares
        climbs = self.wanted.climbs
        climb = self.footage.climb
        current = [dislike for dislike in self.wanted.dislikes if dislike.tick <= tick]
        cost: Costs = 0.0
        if current and shares is not None:
            share = float(shares[min(tick, len(shares) - 1)])
            cost = share * current[-1].gait[frames] + current[-1].tags[frames]
        if climbs is not None and climb is not None:
            cost = cost + COSTS.climb * np.abs(climb[frames] - climbs[min(tick, len(climbs) - 1)])
        return cost

    def _list_options(self, i: int, states: _BeamStates) -> _Options:
        """List what states can, or must, do at a step: play on, jump, or lead to wanted frames."""
        can_go_on = self._can_play[states.frame]
        leaving, target = self._kept.get(i, (-1, 0))
        kept = np.flatnonzero((states.frame == leaving) & self._can_play[target])
        if len(kept):
            return self._jump_to(target, kept, states)
        goes_on = np.flatnonzero(can_go_on)
        none = np.zeros(len(goes_on))
        options = [_Options(goes_on, states.frame[goes_on], none, none.astype(bool))]
        jumpers = np.flatnonzero((states.since >= self._gap) | ~can_go_on)
        if len(jumpers) and i not in self._pins:
            sources = states.frame[jumpers]
            targets = self.table.targets[sources].astype(np.int64)
            parents = np.repeat(jumpers, targets.shape[1])
            prices = self.table.prices[sources].ravel()
            options.append(_Options.from_jumps(parents, targets.ravel(), prices))
            options += self._list_lead_ins(i, states, jumpers)
        joined = _Options(*(np.concatenate(parts) for parts in zip(*options, strict=True)))
        if self.wanted.entry is not None:
            joined = joined._replace(
                price=joined.price + self.wanted.entry[joined.entered] * joined.jumped
            )
        usable = self._can_play[joined.entered] & (joined.price < COSTS.barred)
        usable &= ~self._find_barred(i, states.frame[joined.parent], joined)
        if not usable.any():  # a clip ends: barred options are better than none
            usable = self._can_play[joined.entered]
        return joined.take(np.flatnonzero(usable))

    def _jump_to(self, target: int, jumpers: np.ndarray, states: _BeamStates) -> _Options:
        """Return the jumps of some states to one frame."""
        targets = np.full(len(jumpers), target)
        prices = price_jumps(self.footage, states.frame[jumpers], targets)
        return _Options.from_jumps(jumpers, targets, prices)

    def _list_lead_ins(self, i: int, states: _BeamStates, jumpers: np.ndarray) -> list[_Options]:
        """Return jumps to just before frames that are wanted soon."""
        result = []
        for at, frame in [*self._pins.items(), *self._aims.near]:
            ticks = (at - i) * self.stride
            first = frame - ticks
            if not 0 <= ticks <= NUMBERS.lead_in * self.footage.fps or first < 0:
                continue
            if self.footage.left[first] >= ticks:
                result.append(self._jump_to(first, jumpers, states))
        return result

    def _find_barred(self, i: int, sources: np.ndarray, options: _Options) -> np.ndarray:
        """Return which options (O,) of a step are forbidden jumps."""
        result = np.zeros(len(sources), bool)
        for (first, stop), (to_first, to_stop), begin, end in self.wanted.barred:
            if not begin <= i * self.stride < end:
                continue
            leaves = (sources >= first) & (sources < stop)
            enters = (options.entered >= to_first) & (options.entered < to_stop)
            result |= leaves & enters & options.jumped
        return result

    def _play(
        self, i: int, states: _BeamStates, options: _Options
    ) -> tuple[_BeamStates, np.ndarray]:
        """Return the states that options lead to, and how promising each is."""
        footage = self.footage
        parent = options.parent
        old = states.frame[parent]
        before = footage.before
        left_behind = footage.root[before[old]] - footage.root[before[options.entered]]
        left = states.fading[parent] * self._shares[states.since[parent]]
        fading = np.where(options.jumped[:, None], left_behind + left, states.fading[parent])
        age = np.where(options.jumped, 0, states.since[parent])
        aside = fading * self._gains[age][:, None]
        move = self._moves[options.entered] + aside
        yaw = states.yaw[parent]
        step = planar.rotate(move[:, :2], yaw + 0.5 * aside[:, 2])
        x, y = states.x[parent] + step[:, 0], states.y[parent] + step[:, 1]
        yaw = yaw + move[:, 2]
        frame = np.minimum(options.entered + self.stride, footage.frame_count - 1)
        tick = min((i + 1) * self.stride, self._last)
        cost = states.cost[parent] + options.price
        cost = cost + self._seconds * self._measure_deviation(tick, x, y, yaw)
        if self._guide.stands[tick]:
            cost = cost + self._seconds * COSTS.drift * self._drift[frame]
        cost = cost + self._seconds * self._measure_dislike(tick, frame)
        if (wanted := self._pins.get(i + 1)) is not None:
            cost = cost + np.where(frame == wanted, 0.0, COSTS.frame_missed)
        cost = cost + self._aims.measure_poses(i + 1, frame)
        cost = cost + self._aims.measure_parts(i + 1, frame, (x, y, yaw))
        if self.wanted.obstruction is not None:
            start = np.column_stack([states.x[parent], states.y[parent]])
            places = np.column_stack([x, y])
            cost = cost + price_nearness(
                self.wanted.obstruction, footage, frame, start, places, yaw
            )
        since = np.minimum(age + 1, NUMBERS.forgotten)
        moved = _BeamStates(frame, x, y, yaw, cost, since, fading)
        return moved, cost + self._look_ahead(i, moved)

    def _measure_deviation(
        self, tick: int, x: np.ndarray, y: np.ndarray, yaw: np.ndarray
    ) -> np.ndarray:
        """Return the cost (S,) of places per second at a tick; between marks, turns cost little."""
        guide = self._guide
        firm = float(self._guide.firm[tick])
        gx, gy, gyaw = guide.way[tick].tolist()
        place = ((x - gx) ** 2 + (y - gy) ** 2) / guide.far[tick] ** 2
        heading = planar.wrap(yaw - gyaw) ** 2 / guide.twist[tick] ** 2
        if not guide.follows[tick]:
            most = self.wanted.most_turned * firm**2
            heading = heading / (1.0 + heading / most)
        return np.asarray(firm * (COSTS.place * place + COSTS.heading * heading))

    def _look_ahead(self, i: int, states: _BeamStates) -> np.ndarray:
        """Return the cost (S,) of playing on for a second, and of missing wanted frames."""
        guide = self._guide
        c = np.cos(states.yaw)
        s = np.sin(states.yaw)
        hope = np.zeros(len(c))
        for look, future in zip(self._looks, self._futures, strict=True):
            tick = min((i + 1) * self.stride + look, self._last)
            gx, gy, gyaw = guide.way[tick].tolist()
            far = guide.far[tick] ** 2 + COSTS.hope_near
            twist = guide.twist[tick] ** 2 + COSTS.hope_turn
            dx, dy, turn = future[states.frame].T
            away = (states.x + c * dx - s * dy - gx) ** 2 + (states.y + s * dx + c * dy - gy) ** 2
            turned = planar.wrap(states.yaw + turn - gyaw) ** 2
            hope += np.minimum(
                COSTS.place * away / far + COSTS.heading * turned / twist, COSTS.most_hope
            )
        result = COSTS.hope / len(self._looks) * hope
        for at, frame in self._pins.items():
            ticks = (at - i - 1) * self.stride
            seconds = ticks / self.footage.fps
            if 0.0 < seconds < NUMBERS.lead_in:
                leads = states.frame == frame - ticks
                result += np.where(
                    leads, 0.0, COSTS.lead_to_frame * (1.0 - seconds / NUMBERS.lead_in)
                )
        places = states.x, states.y, states.yaw
        for_poses, for_parts = self._aims.look_ahead(i + 1, states.frame, places)
        return np.asarray(result + for_poses + for_parts)

    def _prune(self, score: np.ndarray, states: _BeamStates) -> np.ndarray:
        """Return the best states: one of several similar ones, a few of each piece of a clip."""
        best = find_smallest(score, NUMBERS.states_compared * self.states)
        piece = states.frame[best] // max(round(NUMBERS.piece_alike * self.footage.fps), 1)
        x, y = (
            np.round(each[best] / NUMBERS.place_alike).astype(np.int64)
            for each in (states.x, states.y)
        )
        sector = np.round(planar.wrap(states.yaw[best]) / NUMBERS.heading_alike).astype(np.int64)
        key = ((piece * 4001 + x) * 4001 + y) * 37 + sector
        first = np.sort(np.unique(key, return_index=True)[1])
        best = best[first]
        piece = piece[first]
        return best[count_earlier(piece[None])[0] < NUMBERS.states_of_a_piece][: self.states]

    def _trace(self, steps: Sequence[_Options], states: _BeamStates) -> ShotPlan:
        """Return the plan that leads to the cheapest state."""
        at = int(np.argmin(states.cost))
        cost = float(states.cost[at])
        entered = []
        jumped = []
        for step in reversed(steps):
            entered.append(int(step.entered[at]))
            jumped.append(bool(step.jumped[at]))
            at = int(step.parent[at])
        first = np.array(entered[::-1], np.int64)
        frames = (first[:, None] + np.arange(self.stride)).ravel()
        jumps = np.zeros(len(frames), bool)
        jumps[:: self.stride] = jumped[::-1]
        jumps[0] = False
        return ShotPlan(frames, jumps, cost)
