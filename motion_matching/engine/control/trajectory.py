"""Move and predict the simulation object, which smooths the goal and stops at obstacles.

Plain floats, because this runs at every tick on single vectors.

Sources: article 002, The Simulation Object (desired velocity by direction); notebook 000 (character
spring for the movement, simple spring for the heading).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from ..ground.ground import FLAT, Ground, Point
from ..maths.easing import clamp
from ..maths.planar import wrap
from ..maths.springs import compute_remainder, halflife_to_rate
from ..motion.rest import AT_REST
from ..performance.intent import FuturePath, Intent
from ..performance.settings import AsPublished, Steering
from ..units import measured
from .numbers import NUMBERS

# x, y, yaw, velocity, acceleration and yaw rate
State = tuple[float, float, float, float, float, float, float, float]


def compute_desired_velocity(
    move: tuple[float, float], yaw: float, forward: float, side: float, back: float
) -> tuple[float, float]:
    """Return a stick's world velocity for a character that faces `yaw`, by full speeds in m/s."""
    (x, y), c, s = move, math.cos(yaw), math.sin(yaw)
    left = c * x + s * y
    behind = c * y - s * x
    left = left * side
    behind = behind * (forward if behind < 0 else back)
    return c * left - s * behind, s * left + c * behind


@measured(x="m", y="m", vx="m/s", vy="m/s", rise="m")
class TrajectoryPoint(NamedTuple):
    """Position, heading and velocity of a trajectory at one time, and how far the ground rises."""

    x: float
    y: float
    yaw: float
    vx: float
    vy: float
    rise: float = 0.0


class SimulationObject:
    """A point with a heading that follows intents with springs and stops at obstacles."""

    def __init__(self, settings: Steering, ground: Ground = FLAT) -> None:
        self._ground = ground
        self._is_open = ground is FLAT
        self.gait = 0.0
        self.apply(settings)
        self.reset(0.0, 0.0, 0.0)

    def apply(self, settings: Steering) -> None:
        self._settings = settings
        self.turn_limit = settings.turn_limit
        self._speeds = self._blend_speeds(self.gait)
        self._rotation_y = halflife_to_rate(settings.rotation_halflife)
        self._velocity_y = halflife_to_rate(settings.velocity_halflife)
        self._stopping_y = halflife_to_rate(settings.velocity_halflife * settings.stop_factor)

    def reset(self, x: float, y: float, yaw: float) -> None:
        self.x = x
        self.y = y
        self.yaw = yaw
        self.vx = self.vy = self.ax = self.ay = self.yaw_rate = 0.0
        self.gait = 0.0
        self._intent = Intent()
        self._speeds = self._blend_speeds(0.0)
        self.desired_yaw = yaw
        self.desired_vx = self.desired_vy = 0.0
        # distance from where it would be without waiting, and the speed of catching up
        self._behind = self._catching_up = (0.0, 0.0)
        self._is_late = False
        self.most_speed = math.inf  # in m/s, where the ground allows only slow motion

    def start(self, velocity: tuple[float, float], yaw_rate: float) -> None:
        """Move from the start with a velocity in m/s in the world, and turn; the gait follows."""
        self.vx, self.vy, self.yaw_rate = *velocity, yaw_rate
        walk = self._settings.walk.forward
        run = self._settings.run.forward
        if run > walk:
            self.gait = min(max((math.hypot(*velocity) - walk) / (run - walk), 0.0), 1.0)
            self._speeds = self._blend_speeds(self.gait)

    def _blend_speeds(self, gait: float) -> tuple[float, float, float]:
        """Return the full speeds forward, to the side and back."""
        w = self._settings.walk
        r = self._settings.run
        side = w.side + (r.side - w.side) * gait
        back = w.back + (r.back - w.back) * gait
        return w.forward + (r.forward - w.forward) * gait, side, back

    def steer(self, intent: Intent, dt: float) -> None:
        """Take over the intent of this tick."""
        self._intent = intent
        if intent.push is not None and intent.path is None:
            self.vx, self.vy = self.vx + intent.push[0], self.vy + intent.push[1]
        if intent.gait != self.gait:
            left = self.gait - intent.gait
            left *= compute_remainder(self._settings.gait_halflife, dt)
            self.gait = intent.gait + (left if abs(left) > NUMBERS.gait_left else 0.0)
            self._speeds = self._blend_speeds(self.gait)
        self._catching_up = self._choose_catch_up()
        wx, wy = intent.velocity if intent.velocity is not None else intent.move
        is_moved = wx * wx + wy * wy > NUMBERS.stick_rest**2
        if intent.facing is not None and (self._settings.strafe or not is_moved):
            self.desired_yaw = intent.facing
        elif is_moved:
            self.desired_yaw = math.atan2(wx, -wy)
        self.desired_vx, self.desired_vy = self._compute_desired(self.yaw)

    def _choose_catch_up(self) -> tuple[float, float]:
        """Return how fast the object makes up for waiting: by a share of its speed at most."""
        x, y = self._behind
        away = math.hypot(x, y)
        if away < NUMBERS.hardly_behind or self._intent.path is not None:
            return 0.0, 0.0
        fastest = self._settings.catch_up * math.hypot(self.vx, self.vy)
        share = min(fastest / away, 1.0 / NUMBERS.catch_up_seconds)
        return x * share, y * share

    def _compute_desired(self, yaw: float) -> tuple[float, float]:
        x, y = self._compute_wish(yaw)
        speed = math.hypot(x, y)
        share = self.most_speed / speed if speed > self.most_speed else 1.0
        return share * x, share * y

    def _compute_wish(self, yaw: float) -> tuple[float, float]:
        if self._intent.velocity is not None:
            return self._intent.velocity
        x, y = compute_desired_velocity(self._intent.move, yaw, *self._speeds)
        # data without steps aside gives no speed for them
        quicker = self._settings.turning_speed - 1.0 if self._settings.strafe else 0.0
        turning_speed = 1.0 + quicker * self.gait
        if turning_speed <= 1.0:
            return x, y
        turned = compute_desired_velocity(self._intent.move, self.desired_yaw, *self._speeds)
        now = math.hypot(x, y)
        then = math.hypot(*turned)
        if now >= then:
            return x, y
        share = min(turning_speed * now / then, 1.0)
        return share * turned[0], share * turned[1]

    def predict(self, times: Sequence[float]) -> list[TrajectoryPoint]:
        """Return the trajectory at ascending times in seconds as the object will move."""
        return [TrajectoryPoint(*state[:5]) for state in self.predict_states(times)]

    def predict_evenly(self, times: Sequence[float]) -> list[State]:
        """Return states that go evenly to the desired velocity and heading at the last time.

        A path is followed as ever. Source: article 004, ExponentialDecay, whose remainder is
        linear.
        """
        if self._intent.path is not None or not times:
            return self.predict_states(times)
        horizon = times[-1]
        state = self._get_state()
        states = []
        vx = self.vx
        vy = self.vy
        turn = wrap(self.desired_yaw - self.yaw)
        ax, ay = (self.desired_vx - vx) / horizon, (self.desired_vy - vy) / horizon
        rate = clamp(turn / horizon, self.turn_limit)
        catch_x, catch_y = self._catching_up
        now = 0.0
        for time in times:
            steps = 1 if self._is_open else math.ceil((time - now) / NUMBERS.contact_step - 1e-6)
            dt = (time - now) / steps
            for _ in range(steps):
                middle = now + 0.5 * dt
                x = state[0] + (vx + ax * middle + catch_x) * dt
                y = state[1] + (vy + ay * middle + catch_y) * dt
                now += dt
                after = x, y, state[2] + rate * dt, vx + ax * now, vy + ay * now, ax, ay, rate
                state = after if self._is_open else self._slide(state, after)
            states.append(state)
        return states

    def predict_states(self, times: Sequence[float]) -> list[State]:
        """Return the states in which the object will be at ascending times in seconds."""
        path = self._intent.path
        state = self._get_state()
        states = []
        now = 0.0
        free = True
        for time in times:
            if path is None:
                state, free = self._advance(state, time - now, free)
            else:
                state = self._follow_path(path, state, now, time)
            states.append(state)
            now = time
        return states

    def find_turn(self, ahead: float) -> float:
        """Return the change in radians from its heading to the desired one.

        Along a path that is the heading some seconds ahead.
        """
        path = self._intent.path
        desired = self.desired_yaw if path is None else _sample_path(path, ahead).yaw
        return wrap(desired - self.yaw)

    def step(self, dt: float) -> None:
        """Advance by `dt` seconds."""
        path = self._intent.path
        (state,) = self.predict_states((dt,))
        (x, y) = self._behind
        (vx, vy) = self._catching_up
        self._behind = x - vx * dt, y - vy * dt
        self.x, self.y, self.yaw, self.vx, self.vy, self.ax, self.ay, self.yaw_rate = state
        self._is_late = False
        if path is not None:
            point = _sample_path(path, dt)
            self.desired_vx = point.vx
            self.desired_vy = point.vy
            self.desired_yaw = point.yaw
            self._is_late = (self.x, self.y) != (point.x, point.y)

    def wait_for(self, x: float, y: float, distance: float) -> None:
        """Stay within a distance of a point, unless there is a path, or an obstacle in the way."""
        away = math.dist((self.x, self.y), (x, y))
        if away > distance and self._intent.path is None:
            near = distance / away
            target = x + (self.x - x) * near, y + (self.y - y) * near
            before = self.x, self.y
            self.x, self.y = self._slide_to(before, target)
            self._fall_behind(before[0] - self.x, before[1] - self.y)

    def _fall_behind(self, x: float, y: float) -> None:
        """Remember a distance that the object has still to go."""
        x, y = self._behind[0] + x, self._behind[1] + y
        near = min(NUMBERS.farthest_behind / (math.hypot(x, y) + 1e-9), 1.0)
        self._behind = x * near, y * near

    @property
    def is_blocked(self) -> bool:
        """Whether obstacles prevent the desired velocity."""
        if self._is_open:
            return False
        soon = NUMBERS.right_ahead
        target = self.x + self.desired_vx * soon, self.y + self.desired_vy * soon
        return self._slide_to((self.x, self.y), target) != target

    @property
    def is_at_rest(self) -> bool:
        """Whether it rests, about, and neither an input nor a path leads it on."""
        if self.desired_vx**2 + self.desired_vy**2 > NUMBERS.stick_rest**2:
            return False
        is_slow = self.vx**2 + self.vy**2 < AT_REST.settled_speed**2
        rests = is_slow and abs(self.yaw_rate) < NUMBERS.resting_rate
        if self._intent.path is not None:
            return rests and _is_at_rest(self._intent.path)
        return rests and abs(wrap(self.desired_yaw - self.yaw)) < NUMBERS.resting_angle

    def _slide_to(self, start: Point, target: Point) -> Point:
        return self._ground.slide(start, target, self._settings.collision_radius)

    def _get_state(self) -> State:
        return self.x, self.y, self.yaw, self.vx, self.vy, self.ax, self.ay, self.yaw_rate

    def _advance(self, state: State, dt: float, free: bool = True) -> tuple[State, bool]:
        """Return a state some time later, by springs and obstacles, and whether none held it."""
        if free:
            after = self._advance_springs(state, dt)
            if self._is_open or self._slide_to(state[:2], after[:2]) == after[:2]:
                return after, True
        steps = math.ceil(dt / NUMBERS.contact_step - 1e-6)
        for _ in range(steps):
            state = self._slide(state, self._advance_springs(state, dt / steps))
        return state, False

    def _follow_path(self, path: FuturePath, state: State, now: float, time: float) -> State:
        """Return the state to which a path and obstacles lead from the time `now` to `time`."""
        dt = time - now
        x, y, yaw, vx, vy, _ = _sample_path(path, time)
        away = math.dist(state[:2], (x, y))
        fastest = self._settings.run.forward
        if self._is_late and away > fastest * dt:
            # after obstacles have held it back, it runs after its path instead of leaping to it
            vx, vy = (x - state[0]) / away * fastest, (y - state[1]) / away * fastest
            x, y = state[0] + vx * dt, state[1] + vy * dt
        return self._slide(state, (x, y, yaw, vx, vy, 0.0, 0.0, wrap(yaw - state[2]) / dt))

    def _slide(self, before: State, after: State) -> State:
        """Slide a step along obstacles: no velocity or acceleration points into them."""
        x, y, yaw, vx, vy, ax, ay, rate = after
        reached = self._slide_to(before[:2], (x, y))
        if reached == (x, y):
            return after
        x, y = reached
        if reached == before[:2]:
            return x, y, yaw, 0.0, 0.0, 0.0, 0.0, rate
        probe = self._slide_to(reached, (x + vx * NUMBERS.probe, y + vy * NUMBERS.probe))
        lost_x = vx - (probe[0] - x) / NUMBERS.probe
        lost_y = vy - (probe[1] - y) / NUMBERS.probe
        lost = lost_x * lost_x + lost_y * lost_y
        if lost > 1e-12:
            into = max(0.0, ax * lost_x + ay * lost_y) / lost
            vx = vx - lost_x
            vy = vy - lost_y
            ax = ax - into * lost_x
            ay = ay - into * lost_y
        return x, y, yaw, vx, vy, ax, ay, rate

    def _advance_springs(self, state: State, dt: float) -> State:
        """Return a state some time later, by the springs alone."""
        px, py, yaw, vx, vy, ax, ay, rate = state
        gx, gy = self._compute_desired(yaw)
        is_led = gx * gx + gy * gy > NUMBERS.stick_rest**2
        y = self._velocity_y if is_led else self._stopping_y
        e = math.exp(-y * dt)
        yi = 1.0 / y
        j0x = vx - gx
        j0y = vy - gy
        j1x = ax + j0x * y
        j1y = ay + j0y * y
        # displacement by a difference in velocity and in acceleration
        s0 = (1.0 - e) * yi
        s1 = yi * yi - e * yi * (yi + dt)
        px, py = px + gx * dt + s0 * j0x + s1 * j1x, py + gy * dt + s0 * j0y + s1 * j1y
        px, py = px + self._catching_up[0] * dt, py + self._catching_up[1] * dt
        vx, vy = e * (j0x + j1x * dt) + gx, e * (j0y + j1y * dt) + gy
        step = y * dt
        ax, ay = e * (ax - j1x * step), e * (ay - j1y * step)
        y = self._rotation_y
        e = math.exp(-y * dt)
        k0 = wrap(yaw - self.desired_yaw)
        k1 = rate + k0 * y
        # from the wrapped difference, so that the heading takes the shorter way and is continuous
        turn = e * (k0 + k1 * dt) - k0
        rate = e * (rate - k1 * y * dt)
        limit = self.turn_limit
        yaw += clamp(turn, limit * dt)
        return px, py, yaw, vx, vy, ax, ay, clamp(rate, limit)


def _sample_path(path: FuturePath, time: float) -> TrajectoryPoint:
    """Sample a path at a time, linear between its samples and resting at its ends."""
    times = path.times
    k = bisect_left(times, time)
    if k in (0, len(times)):
        end = 0 if k == 0 else -1
        return TrajectoryPoint(*path.positions[end], path.yaws[end], 0.0, 0.0)
    span = times[k] - times[k - 1]
    mix = (time - times[k - 1]) / span
    (ax, ay) = path.positions[k - 1]
    (bx, by) = path.positions[k]
    yaw = path.yaws[k - 1] + wrap(path.yaws[k] - path.yaws[k - 1]) * mix
    dx, dy = bx - ax, by - ay
    return TrajectoryPoint(ax + dx * mix, ay + dy * mix, yaw, dx / span, dy / span)


def _is_at_rest(path: FuturePath) -> bool:
    """Return whether a path stays where it is for as long as methods look ahead."""
    (x, y) = path.positions[0]
    yaw = path.yaws[0]
    near = NUMBERS.rest_near
    angle = NUMBERS.resting_angle
    return all(
        abs(px - x) < near and abs(py - y) < near and abs(wrap(turned - yaw)) < angle
        for time, (px, py), turned in zip(*path, strict=True)
        if time <= NUMBERS.rest_ahead
    )


class PastTrajectory:
    """The last positions of the character, newest last, for features that look back."""

    def __init__(self, longest: float, fps: float) -> None:
        self._size = math.ceil(longest * fps) + 2
        self._fps = fps
        self._points: list[tuple[float, float, float]] = []

    def reset(
        self, x: float, y: float, yaw: float, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    ) -> None:
        """Begin at a place on the ground that was reached with a velocity in the world."""
        vx, vy, turn = velocity
        seconds = [back / self._fps for back in range(self._size - 1, -1, -1)]
        self._points = [(x - t * vx, y - t * vy, yaw - t * turn) for t in seconds]

    def record(self, x: float, y: float, yaw: float) -> None:
        self._points.append((x, y, yaw))
        if len(self._points) > 2 * self._size:
            del self._points[: -self._size]

    def sample(self, time: float) -> TrajectoryPoint:
        """Return the character `-time` seconds ago, linear between ticks."""
        back = min(-time * self._fps, self._size - 2)
        whole = int(back)
        mix = back - whole
        ax, ay, ayaw = self._points[-1 - whole]
        bx, by, byaw = self._points[-2 - whole]
        vx, vy = (ax - bx) * self._fps, (ay - by) * self._fps
        return TrajectoryPoint(
            ax + (bx - ax) * mix, ay + (by - ay) * mix, ayaw + (byaw - ayaw) * mix, vx, vy
        )


Predict = Callable[[SimulationObject, Sequence[float]], list[State]]


def choose_prediction(published: AsPublished, dt: float) -> Predict:
    """Return the prediction of a trajectory to search for at ascending times, as published or not.

    Ticks are `dt` seconds apart.
    """
    predictions: dict[str, Predict] = {
        "spring": SimulationObject.predict_states,
        "horizon": SimulationObject.predict_evenly,
        "notebook": partial(_predict_after_tick, dt=dt),
    }
    return predictions[published.prediction]


def _predict_after_tick(
    simulation: SimulationObject, times: Sequence[float], dt: float
) -> list[State]:
    """Return states at times after the tick: it moves first (notebook 000, Player)."""
    return simulation.predict_states([dt, *(dt + time for time in times)])[1:]
