"""Generate locomotion clips from a seed: idle, walk, run, starts, stops, turns, strafes.

A take is a schedule of moves. The moves are blended into a smooth path on the ground, the path
gives the footsteps, and both give the poses, all over whole arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..maths.easing import smootherstep
from ..maths.planar import yaw_to_forward, yaw_to_left
from ..motion.clip import Clip
from .feet import move_feet
from .gait import CLOSING, BodyPath, Style, integrate, plan_footsteps
from .humanoid import build_humanoid_skeleton, pose_body

Array = np.ndarray
_STANDING = 1.0  # seconds of standing still at both ends of a take
_STEPS_FPS = 60.0  # at which steps are planned, so that the clip's rate does not change them


@dataclass(frozen=True)
class Move:
    """One entry of a schedule: travel at `speed` m/s for `seconds`.

    `direction` is the travel relative to the heading (0 forward, 90 left, degrees), `pivot` a turn
    to the left at the start of the move (degrees), `turn` the rate of the heading and `swing` the
    rate of `direction` (degrees per second). `side` and `back` scale the sideways and backward
    parts of the speed, because people are slower that way.
    """

    seconds: float
    speed: float = 0.0
    direction: float = 0.0
    pivot: float = 0.0
    turn: float = 0.0
    swing: float = 0.0
    side: float = 1.0
    back: float = 1.0

    def compute_velocity(self, seconds: Array, yaw: Array) -> Array:
        """Return the ground velocity (F, 2) at `seconds` (F,) into the move, for headings `yaw`
        (F,).
        """
        direction = np.radians(self.direction + self.swing * np.maximum(seconds, 0.0))
        ahead, left = np.cos(direction), self.side * np.sin(direction)
        ahead = np.where(ahead < 0.0, self.back, 1.0) * ahead
        return self.speed * (
            ahead[..., None] * yaw_to_forward(yaw) + left[..., None] * yaw_to_left(yaw)
        )


def generate(seed: int = 0, fps: float = 30.0) -> list[Clip]:
    """Generate takes of 10 to 30 s that start and end standing; the same seed gives the
    same clips.
    """
    rng = np.random.default_rng(seed)
    clips = []
    for name, moves in _build_schedules(rng).items():
        factor = float(rng.uniform(0.98, 1.02))
        clips.append(
            perform(name, [replace(move, speed=factor * move.speed) for move in moves], fps, rng)
        )
    return clips


def perform(name: str, moves: Sequence[Move], fps: float, rng: np.random.Generator) -> Clip:
    """Return a clip of a schedule; a second of standing is added before it, and a stop and a second
    after it.
    """
    halt = Move(_STANDING + CLOSING + _estimate_change_time(moves[-1].speed))
    moves = [Move(_STANDING), *moves, halt]
    path, style, skeleton = plan_path(moves, fps), Style.from_rng(rng), build_humanoid_skeleton()
    steps = plan_footsteps(plan_path(moves, _STEPS_FPS), rng, style)
    positions, rotations = pose_body(skeleton, path, *move_feet(path, *steps, style), rng, style)
    return Clip(name, skeleton, positions, rotations, float(fps))


def _estimate_change_time(change: float) -> float:
    """Return the seconds that a change of velocity in m/s takes: a mean of 2 m/s² in walks, 3.5 in
    runs.
    """
    return 0.4 + 0.22 * change if change > 1e-6 else 0.0


def plan_path(moves: list[Move], fps: float) -> BodyPath:
    """Blend a schedule into a path whose accelerations are continuous.

    Velocities blend in the world, so a pivot brakes, turns while slow and starts again instead of
    walking a loop.
    """
    begins = np.concatenate([[0.0], np.cumsum([move.seconds for move in moves])])
    times = np.arange(round(begins[-1] * fps) + 1) / fps
    shifts, pivots = _plan_transitions(moves)
    turning = np.zeros_like(times)
    for move, begin in zip(moves, begins, strict=False):
        turning += smootherstep((times - begin) / 0.4) * (np.radians(move.turn) - turning)
    yaw = base = integrate(turning, times)
    velocity: np.ndarray = np.zeros((len(times), 2))
    for move, begin, shift, total in zip(moves, begins, shifts, pivots, strict=False):
        spin = 0.16 + abs(np.radians(move.pivot)) * (0.36 if shift else 0.52)
        # the turn sits in the middle of the change of velocity, which takes at least as long
        shift = max(shift, spin) if shift and move.pivot else max(shift, 0.3)
        late = max(0.0, 0.5 * (shift - spin))
        yaw = yaw + np.radians(move.pivot) * smootherstep((times - begin - late) / spin)
        blend = smootherstep((times - begin) / shift)[:, None]
        velocity = velocity + blend * (
            move.compute_velocity(times - begin, base + total) - velocity
        )
    return BodyPath(times, integrate(velocity, times), velocity, yaw)


def _plan_transitions(moves: list[Move]) -> tuple[list[float], list[float]]:
    """Return the seconds of each move's change of velocity, and the sum of pivots including its own
    in radians.
    """
    shifts, pivots = [], []
    total = 0.0
    for last, move in zip([moves[0], *moves], moves, strict=False):
        total += np.radians(move.pivot)
        before = last.compute_velocity(
            np.array(last.seconds), np.array(total - np.radians(move.pivot))
        )
        after = move.compute_velocity(np.array(0.0), np.array(total))
        change = float(np.linalg.norm(after - before))
        shifts.append(_estimate_change_time(change))
        pivots.append(total)
    return shifts, pivots


def _build_schedules(rng: np.random.Generator) -> dict[str, list[Move]]:
    """Return the takes by name; speeds are in m/s, angles in degrees, left is positive."""
    return {
        "idle": [Move(12.0)],
        "idle_and_turns_in_place": [
            Move(3.0),
            *(Move(2.1, pivot=angle) for angle in (90, -90, 45, 180, -180)),
        ],
        "walk_starts_and_stops": _build_bursts(
            1.8,
            1.0,
            (0.7, 0, 0),
            (1.2, 0, 0),
            (1.6, 0, 0),
            (1.3, 90, 0),
            (1.3, -90, 0),
            (1.3, 180, 0),
            (0.8, -135, 0),
        ),
        "starts_in_all_directions": _build_bursts(
            1.5,
            0.8,
            (1.0, 0, 90),
            (1.0, 0, 180),
            (1.0, 90, 90),
            (1.0, -90, 90),
            (1.0, -60, -90),
            (1.0, 180, 90),
        ),
        "walk_speeds": [Move(2.3, speed) for speed in (0.6, 0.8, 1.1, 1.4, 1.8, 1.2, 0.9)],
        "walk_curves": [
            Move(seconds, 1.2, turn=turn)
            for seconds, turn in (
                (3.2, 33),
                (3.2, -33),
                (2.6, 40),
                (2.6, -40),
                (1.9, 57),
                (1.9, -57),
                (1.8, 86),
                (1.8, -86),
            )
        ],
        "walk_bends": _build_pivots(
            1.1, *((1.2, angle) for angle in (0, 25, 40, 60, 25, 0, -25, -40, -60, -25))
        ),
        "walk_pivots": _build_pivots(
            1.6,
            (1.3, 0),
            (1.3, 90),
            (1.3, -90),
            (1.4, 180),
            (1.4, -180),
            (0.9, 180),
            (1.6, 135),
            (1.6, -135),
            (0.7, -90),
        ),
        "walk_corners": _build_pivots(
            2.1, (1.2, 0), (1.2, 90), (1.25, -90), (1.2, -90), (1.3, 90), (1.2, 90), (1.25, -90)
        ),
        "run_starts_and_stops": _build_bursts(
            1.8, 1.3, (2.5, 0, 0), (3.5, 0, 0), (3.0, 90, 0), (3.0, -90, 0), (3.0, 180, 0)
        ),
        "run_speeds": [Move(2.1, speed) for speed in (2.3, 2.7, 3.1, 3.5, 4.0, 3.0)],
        "gait_changes": [Move(1.9, speed) for speed in (1.4, 3.0, 1.4, 4.0, 1.8, 2.4, 3.5)],
        "run_curves": [
            Move(seconds, speed, turn=turn)
            for seconds, speed, turn in (
                (3.2, 2.9, 33),
                (3.2, 2.9, -33),
                (2.6, 2.9, 40),
                (2.6, 2.9, -40),
                (1.9, 3.0, 57),
                (1.9, 3.0, -57),
                (1.9, 2.6, 86),
                (1.9, 2.6, -86),
            )
        ],
        "run_pivots": _build_pivots(
            1.95,
            (3.0, 0),
            (3.0, 90),
            (3.0, -90),
            (3.0, 180),
            (3.0, -180),
            (2.5, 135),
            (3.5, -135),
            (3.5, 180),
        ),
        "run_corners": _build_pivots(
            2.1, (3.0, 0), (3.0, 90), (3.1, -90), (3.0, -90), (3.0, 90), (2.9, -90)
        ),
        "walk_reversals": _build_pivots(
            2.1, (1.2, 0), (1.2, 180), (1.25, -180), (1.3, 180), (1.2, -180)
        ),
        "run_reversals": _build_pivots(
            2.3, (2.9, 0), (3.0, 180), (2.9, -180), (3.0, 180), (2.8, -180), (3.0, -180)
        ),
        "strafes": _build_straight_moves(
            1.6, (0.5, 90), (0.5, -90), (0.9, 90), (0.9, -90), (1.3, 90), (1.3, -90)
        ),
        "backwards_and_diagonals": _build_straight_moves(
            1.6, (0.7, 180), (1.1, 180), (1.5, 180), (1.1, 135), (1.1, -135), (1.1, 45), (1.1, -45)
        ),
        "fast_strafes": _build_straight_moves(
            1.6, (2.1, 90), (2.1, -90), (2.2, 180), (2.3, 45), (2.3, -45), (2.1, 135), (2.1, -135)
        ),
        "circles_facing_one_way": [Move(4.5, 1.1, swing=-70), Move(0.9), Move(4.5, 2.0, swing=75)],
        "circles_facing_the_centre": [
            Move(2.7, speed, direction=side * 90, turn=-side * turn)
            for speed, turn, side in ((0.9, 34, 1), (0.9, 34, -1), (1.4, 43, 1), (1.4, 43, -1))
        ],
        **{
            f"slow_circle_{gait}_{number}": [
                Move(16.4, speed, direction=90 * number, swing=22, side=side, back=back)
            ]
            for gait, speed, side, back in (
                ("walking", 1.25, 0.8, 0.85),
                ("running", 2.95, 0.73, 0.74),
            )
            for number in (1, 2)
        },
        "walk_at_random": _build_random_moves(rng, 5, (0.8, 1.7)),
        "run_at_random": _build_random_moves(rng, 5, (2.2, 3.8)),
    }


def _build_bursts(
    moving: float, standing: float, *starts: tuple[float, float, float]
) -> list[Move]:
    """Start and stop again, for each speed, pivot and direction of travel."""
    return [
        move
        for speed, pivot, direction in starts
        for move in (
            Move(moving, speed, direction=direction, pivot=pivot),
            Move(standing, direction=direction),
        )
    ]


def _build_pivots(seconds: float, *turns: tuple[float, float]) -> list[Move]:
    """Turn by a pivot and travel on, for each speed and pivot."""
    return [Move(seconds, speed, pivot=pivot) for speed, pivot in turns]


def _build_straight_moves(seconds: float, *travels: tuple[float, float]) -> list[Move]:
    """Travel without turning, for each speed and direction."""
    return [Move(seconds, speed, direction=direction) for speed, direction in travels]


def _build_random_moves(
    rng: np.random.Generator, count: int, speeds: tuple[float, float]
) -> list[Move]:
    """Draw moves of random speed, curve and pivot."""
    return [
        Move(
            float(rng.uniform(1.4, 2.2)),
            float(rng.uniform(*speeds)),
            pivot=float(rng.normal(0.0, 60.0)),
            turn=float(rng.normal(0.0, 25.0)),
        )
        for _ in range(count)
    ]
