"""Plan when feet leave the ground and land, from a path on the ground.

Source: human steps. In a walk the ratio of step length to step rate is the same at all speeds, so
that both grow with the square root of the speed (Sekiya et al. 1997: a walk ratio of 0.0065 m per
step a minute). In a run the rate hardly changes and the steps grow (Cavagna et al. 1988; Cavanagh
and Kram 1989). A foot is down for 60 to 65 % of a stride in a walk (Murray, Drought and Kory 1964)
and for 30 to 40 % in a run (Novacheck 1998); people begin to run near 2 m/s (Hreljac 1993).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from motion_matching.engine.maths.along_time import find_runs
from motion_matching.engine.maths.easing import smootherstep
from motion_matching.engine.maths.planar import yaw_to_forward, yaw_to_left

Array = np.ndarray

SIDES = (1.0, -1.0)  # left, right: the side on which a foot stands, along the character's left
SLOWEST_STEPS = 1.35  # a second
_WALK_RATIO = 0.0065 * 60  # metres of a step over steps a second
CLOSING = 0.2  # seconds by which the last step may come after the body has stopped
_SHIFT_BEFORE = 0.28  # of a step: when the first foot lifts, the body already moves
_UNEVEN = 0.012  # metres: half the spread of the width of people's steps (Owings and Grabiner 2004)
_SHORTEST_PAUSE = 0.4  # seconds; a shorter halt does not interrupt the steps


@dataclass(frozen=True)
class BodyPath:
    """Where the body goes: `times` (F,), `position` (F, 2), `velocity` (F, 2) and heading `yaw`."""

    times: Array
    position: Array
    velocity: Array
    yaw: Array

    @cached_property
    def forward_speed(self) -> Array:
        """Speed along the heading (F,)."""
        return np.sum(self.velocity * yaw_to_forward(self.yaw), axis=-1)

    @cached_property
    def sideways_speed(self) -> Array:
        """Speed to the left of the heading (F,)."""
        return np.sum(self.velocity * yaw_to_left(self.yaw), axis=-1)

    @cached_property
    def turn_rate(self) -> Array:
        """Turn rate in rad/s (F,)."""
        return np.gradient(self.yaw, self.times)

    @cached_property
    def acceleration(self) -> Array:
        """Acceleration in m/s² (F, 2)."""
        return np.gradient(self.velocity, self.times, axis=0)

    @cached_property
    def pace(self) -> Array:
        """Speed (F,) weighted by effort: a step backwards or aside costs more than one ahead."""
        ahead = self.forward_speed
        return np.hypot(np.where(ahead < 0, 1.3 * ahead, ahead), 1.7 * self.sideways_speed)

    @cached_property
    def running(self) -> Array:
        """Share of a run (F,): 0 in a walk, 1 in a run."""
        return smootherstep((self.pace - 1.9) / 0.7)

    def sample(self, values: Array, times: Array) -> Array:
        """Interpolate values `(F,)` or `(F, 2)` of this path at times between its frames."""
        if values.ndim == 1:
            return np.interp(times, self.times, values)
        return np.stack([np.interp(times, self.times, column) for column in values.T], axis=-1)


@dataclass(frozen=True)
class Style:
    """How one person's gait differs from another's: factors around 1 and angles in radians."""

    step_rate: float = 1.0
    width: float = 1.0  # of the steps
    toe_out: float = np.radians(7)
    arms: float = 1.0  # swing
    hips: float = 1.0  # sway and drop of the pelvis
    twist: float = 1.0  # of pelvis against shoulders
    lift: float = 1.0  # of the feet
    stoop: float = 0.0  # of the trunk, forward
    stagger: float = 0.0  # metres by which the left foot stands ahead at rest
    favour: float = 0.0  # by how much the left arm swings further than the right one

    @classmethod
    def from_rng(cls, rng: np.random.Generator) -> Style:
        """Draw a style within the spread of healthy adults."""
        factors = 1.0 + np.array([0.025, 0.1, 0.2, 0.2, 0.2, 0.12]) * rng.uniform(-1.0, 1.0, 6)
        rate, width, arms, hips, twist, lift = factors
        toe_out, stoop, stagger, favour = rng.uniform(-1.0, 1.0, 4)
        posture = np.radians(1.5) * stoop, 0.05 * stagger, 0.12 * favour
        return cls(rate, width, np.radians(7 + 2 * toe_out), arms, hips, twist, lift, *posture)


PLAIN = Style()


@dataclass(frozen=True)
class Swings:
    """The swings of one foot in order of time: `lift` and `land` (N,) in seconds.

    `last` (N,) is true before a halt; `out` (N,) are metres by which a foot lands further out.
    """

    lift: Array
    land: Array
    last: Array
    out: Array

    @property
    def middle(self) -> Array:
        """Seconds (N,) in the middle of each swing."""
        return 0.5 * (self.lift + self.land)


def compute_step_rate(path: BodyPath) -> Array:
    """Return steps per second (F,), also for turns in place; starts and side steps are quick."""
    pace, turning = path.pace, np.abs(path.turn_rate)
    # of a diagonal, half its speed
    aside = path.sideways_speed**2 / np.maximum(np.linalg.norm(path.velocity, axis=-1), 0.1)
    push = 0.3 * np.linalg.norm(path.acceleration, axis=-1)
    walk = np.clip(
        np.sqrt(np.sqrt(pace**2 + turning**2 + push**2) / _WALK_RATIO), SLOWEST_STEPS, 2.2
    )
    walk = walk + 1.5 * np.minimum(aside, 1.0) + 0.35 * np.maximum(turning - 1.0, 0.0)
    run = 2.15 + 0.17 * pace + 0.65 * aside
    return walk + path.running * (run - walk)


def compute_duty_factor(path: BodyPath) -> Array:
    """Return the share (F,) of a stride in which a toe is down; heels strike up to 8 % earlier."""
    walk = np.clip(0.575 - 0.05 * path.pace, 0.49, 0.56)
    run = np.clip(0.36 - 0.03 * path.pace, 0.25, 0.30)
    return walk + path.running * (run - walk)


def plan_footsteps(
    path: BodyPath, rng: np.random.Generator, style: Style = PLAIN
) -> tuple[Swings, Swings]:
    """Plan the swings of left and right foot, which alternate while the body moves or turns."""
    rate, duty = style.step_rate * compute_step_rate(path), compute_duty_factor(path)
    steps: tuple[list, list] = ([np.zeros((3, 0))], [np.zeros((3, 0))])
    for start, stop in _find_moving_ranges(path):
        times, phase = path.times[start:stop], integrate(rate[start:stop], path.times[start:stop])
        lead, close = _choose_first_and_last_foot(path, start, stop, rng)
        count = max(2, round(phase[-1]))
        count += close is not None and (count - 1 + lead) % 2 != close
        phase *= count / phase[-1]
        middle = np.arange(count) + 0.5
        half = 1.0 - np.interp(np.interp(middle, phase, times), path.times, duty)
        earliest = np.append(_SHIFT_BEFORE, np.zeros(count - 1))
        lift = np.interp(np.maximum(middle - half, earliest), phase, times)
        land = np.interp(np.minimum(middle + half, count), phase, times)
        last = np.arange(count) >= count - 2
        for foot in (0, 1):
            steps[foot].append(np.stack([lift, land, last])[:, (foot + lead) % 2 :: 2])
    left, right = (np.concatenate(parts, axis=1) for parts in steps)
    return _build_swings(left, rng), _build_swings(right, rng)


def _build_swings(steps: Array, rng: np.random.Generator) -> Swings:
    """Return the swings of one foot from the `lift`, `land` and `last` (3, N) of its steps."""
    lift, land, last = steps
    return Swings(lift, land, last.astype(bool), rng.normal(0.0, _UNEVEN, len(lift)))


def _find_moving_ranges(path: BodyPath) -> list[tuple[int, int]]:
    """Return the frame ranges in which the body moves or turns enough to need steps."""
    effort = np.hypot(np.linalg.norm(path.velocity, axis=-1), 0.3 * path.turn_rate)
    starts, stops = find_runs(effort > 0.06).T
    pause = (starts[1:] - stops[:-1]) * (path.times[1] - path.times[0])
    apart = pause > _SHORTEST_PAUSE
    starts = starts[np.concatenate([[True], apart])[: len(starts)]]
    stops = stops[np.concatenate([apart, [True]])[: len(stops)]]
    # at the closing step the body already stands
    stops = np.minimum(stops + round(CLOSING / (path.times[1] - path.times[0])), len(path.times))
    return list(zip(starts.tolist(), stops.tolist(), strict=True))


def integrate(values: Array, times: Array) -> Array:
    """Integrate `(F,)` or `(F, D)` from zero by the trapezoidal rule."""
    steps = np.diff(times).reshape(-1, *[1] * (values.ndim - 1)) * 0.5 * (values[1:] + values[:-1])
    return np.concatenate([np.zeros_like(values[:1]), np.cumsum(steps, axis=0)])


def _choose_first_and_last_foot(
    path: BodyPath, start: int, stop: int, rng: np.random.Generator
) -> tuple[int, int | None]:
    """Choose which foot (0 left) steps first and which last (None: either) in a range of frames.

    The foot on the side to which the body moves or turns steps first, and the other one closes.
    """
    span = min(stop - start, max(1, round(0.6 / (path.times[1] - path.times[0]))))
    tendency = (path.sideways_speed + 0.5 * path.turn_rate)[start:stop]
    first, last = float(np.mean(tendency[:span])), float(np.mean(tendency[-span:]))
    chance = int(rng.integers(2))
    lead = chance if abs(first) < 0.1 else int(first < 0)
    return lead, None if abs(last) < 0.1 else int(last > 0)
