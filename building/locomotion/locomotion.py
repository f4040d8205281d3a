"""Generate locomotion clips from a seed: idle, walk, run, starts, stops, turns, strafes.

A take is a schedule of moves. The moves are blended into a smooth path on the ground, the path
gives the footsteps, and both give the poses, all over whole arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from motion_matching.engine.maths.easing import smootherstep
from motion_matching.engine.maths.planar import yaw_to_forward, yaw_to_left
from motion_matching.engine.motion.clip import Clip

from .feet import move_feet
from .gait import CLOSING, BodyPath, Style, integrate, plan_footsteps
from .humanoid import build_humanoid_skeleton, pose_body

Array = np.ndarray
_STANDING = 1.0  # seconds of standing still at both ends of a take
_ONLY_STANDING = 30.0  # seconds of a take without anything else
STEPS_FPS = 60.0  # at which steps are planned, so that the clip's rate does not change them


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
        """Return the ground velocity (F, 2) at `seconds` (F,) into the move, for headings (F,)."""
        direction = np.radians(self.direction + self.swing * np.maximum(seconds, 0.0))
        ahead, left = np.cos(direction), self.side * np.sin(direction)
        ahead = np.where(ahead < 0.0, self.back, 1.0) * ahead
        unit = ahead[..., None] * yaw_to_forward(yaw) + left[..., None] * yaw_to_left(yaw)
        return self.speed * unit


def generate(seed: int = 0, fps: float = 30.0) -> list[Clip]:
    """Generate takes of 10 to 30 s that start and end standing, the same from the same seed."""
    rng = np.random.default_rng(seed)
    clips = []
    for name, moves in _build_schedules(rng).items():
        factor = float(rng.uniform(0.98, 1.02))
        moves = [replace(move, speed=factor * move.speed) for move in moves]
        clips.append(perform(name, moves, fps, rng))
    return clips


def generate_standing(seed: int = 0, fps: float = 30.0) -> Clip:
    """Generate a take that only stands, long enough that an idle is not soon repeated."""
    rng = np.random.default_rng(seed)
    return perform("Standing", [Move(_ONLY_STANDING)], fps, rng)


def perform(name: str, moves: Sequence[Move], fps: float, rng: np.random.Generator) -> Clip:
    """Return a clip of a schedule, after a second of standing and before a stop and a second."""
    moves = add_standing(moves)
    path, style, skeleton = plan_path(moves, fps), Style.from_rng(rng), build_humanoid_skeleton()
    steps = plan_footsteps(plan_path(moves, STEPS_FPS), rng, style)
    positions, rotations = pose_body(skeleton, path, *move_feet(path, *steps, style), rng, style)
    return Clip(name, skeleton, positions, rotations, float(fps))


def add_standing(moves: Sequence[Move]) -> list[Move]:
    """Return a schedule with a second of standing before it, and a stop and a second after it."""
    halt = Move(_STANDING + CLOSING + _estimate_change_time(moves[-1].speed))
    return [Move(_STANDING), *moves, halt]


def _estimate_change_time(change: float) -> float:
    """Return the seconds that a change of velocity takes: at 2 m/s² in walks, 3.5 in runs."""
    return 0.4 + 0.22 * change if change > 1e-6 else 0.0


def plan_path(moves: list[Move], fps: float) -> BodyPath:
    """Blend a schedule into a path whose accelerations are continuous.

    Velocities blend in the world, so a pivot brakes, turns while slow and starts again.
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
        goal = move.compute_velocity(times - begin, base + total)
        velocity = velocity + blend * (goal - velocity)
    return BodyPath(times, integrate(velocity, times), velocity, yaw)


def _plan_transitions(moves: list[Move]) -> tuple[list[float], list[float]]:
    """Return the seconds of each move's change of velocity, and the sum of its and past pivots."""
    shifts, pivots = [], []
    total = 0.0
    for last, move in zip([moves[0], *moves], moves, strict=False):
        pivot = np.radians(move.pivot)
        total += pivot
        before = last.compute_velocity(np.array(last.seconds), np.array(total - pivot))
        after = move.compute_velocity(np.array(0.0), np.array(total))
        shifts.append(_estimate_change_time(float(np.linalg.norm(after - before))))
        pivots.append(total)
    return shifts, pivots


def _build_schedules(rng: np.random.Generator) -> dict[str, list[Move]]:
    """Return the takes by name; speeds are in m/s, angles in degrees, left is positive."""
    turns = (33, -33, 40, -40, 57, -57, 86, -86)
    lengths = (3.2, 3.2, 2.6, 2.6, 1.9, 1.9)
    starts = _build_moves(
        1.5, 1.0, direction=(90, 180, 90, 90, -90, 90), pivot=(0, 0, 90, -90, -60, 180)
    )
    walking = Move(16.4, 1.25, swing=22, side=0.8, back=0.85)
    running = Move(16.4, 2.95, swing=22, side=0.73, back=0.74)
    slow, fast = (0.7, 1.2, 1.6, 1.3, 1.3, 1.3, 0.8), (2.5, 3.5, 3.0, 3.0, 3.0)
    return {
        "idle": [Move(12.0)],
        "idle_and_turns_in_place": [Move(3.0), *_build_moves(2.1, pivot=(90, -90, 45, 180, -180))],
        "walk_starts_and_stops": _add_stops(
            1.0, _build_moves(1.8, slow, pivot=(0, 0, 0, 90, -90, 180, -135))
        ),
        "starts_in_all_directions": _add_stops(0.8, starts),
        "walk_speeds": _build_moves(2.3, (0.6, 0.8, 1.1, 1.4, 1.8, 1.2, 0.9)),
        "walk_curves": _build_moves((*lengths, 1.8, 1.8), 1.2, turn=turns),
        "walk_bends": _build_moves(1.1, 1.2, pivot=(0, 25, 40, 60, 25, 0, -25, -40, -60, -25)),
        "walk_pivots": _build_moves(
            1.6,
            (1.3, 1.3, 1.3, 1.4, 1.4, 0.9, 1.6, 1.6, 0.7),
            pivot=(0, 90, -90, 180, -180, 180, 135, -135, -90),
        ),
        "walk_corners": _build_moves(
            2.1, (1.2, 1.2, 1.25, 1.2, 1.3, 1.2, 1.25), pivot=(0, 90, -90, -90, 90, 90, -90)
        ),
        "run_starts_and_stops": _add_stops(
            1.3, _build_moves(1.8, fast, pivot=(0, 0, 90, -90, 180))
        ),
        "run_speeds": _build_moves(2.1, (2.3, 2.7, 3.1, 3.5, 4.0, 3.0)),
        "gait_changes": _build_moves(1.9, (1.4, 3.0, 1.4, 4.0, 1.8, 2.4, 3.5)),
        "run_curves": _build_moves(
            (*lengths, 1.9, 1.9), (2.9, 2.9, 2.9, 2.9, 3.0, 3.0, 2.6, 2.6), turn=turns
        ),
        "run_pivots": _build_moves(
            1.95,
            (3.0, 3.0, 3.0, 3.0, 3.0, 2.5, 3.5, 3.5),
            pivot=(0, 90, -90, 180, -180, 135, -135, 180),
        ),
        "run_corners": _build_moves(
            2.1, (3.0, 3.0, 3.1, 3.0, 3.0, 2.9), pivot=(0, 90, -90, -90, 90, -90)
        ),
        "walk_reversals": _build_moves(
            2.1, (1.2, 1.2, 1.25, 1.3, 1.2), pivot=(0, 180, -180, 180, -180)
        ),
        "run_reversals": _build_moves(
            2.3, (2.9, 3.0, 2.9, 3.0, 2.8, 3.0), pivot=(0, 180, -180, 180, -180, -180)
        ),
        "strafes": _build_moves(
            1.6, (0.5, 0.5, 0.9, 0.9, 1.3, 1.3), direction=(90, -90, 90, -90, 90, -90)
        ),
        "backwards_and_diagonals": _build_moves(
            1.6,
            (0.7, 1.1, 1.5, 1.1, 1.1, 1.1, 1.1),
            direction=(180, 180, 180, 135, -135, 45, -45),
        ),
        "fast_strafes": _build_moves(
            1.6, (2.1, 2.1, 2.2, 2.3, 2.3, 2.1, 2.1), direction=(90, -90, 180, 45, -45, 135, -135)
        ),
        "circles_facing_one_way": [Move(4.5, 1.1, swing=-70), Move(0.9), Move(4.5, 2.0, swing=75)],
        "circles_facing_the_centre": _build_moves(
            2.7, (0.9, 0.9, 1.4, 1.4), direction=(90, -90, 90, -90), turn=(-34, 34, -43, 43)
        ),
        "slow_circle_walking_1": [replace(walking, direction=90)],
        "slow_circle_walking_2": [replace(walking, direction=180)],
        "slow_circle_running_1": [replace(running, direction=90)],
        "slow_circle_running_2": [replace(running, direction=180)],
        "walk_at_random": _build_random_moves(rng, 0.8, 1.7),
        "run_at_random": _build_random_moves(rng, 2.2, 3.8),
    }


_Values = float | tuple[float, ...]


def _build_moves(seconds: _Values, speed: _Values = 0.0, **others: _Values) -> list[Move]:
    """Return moves from their fields; each has a value for all moves, or one for each."""
    fields = {"seconds": seconds, "speed": speed, **others}
    columns = (column.tolist() for column in np.broadcast_arrays(*fields.values()))
    return [Move(**dict(zip(fields, row, strict=True))) for row in zip(*columns, strict=True)]


def _add_stops(seconds: float, moves: Sequence[Move]) -> list[Move]:
    """Stand still after each move."""
    stops = (Move(seconds, direction=move.direction) for move in moves)
    return [move for pair in zip(moves, stops, strict=True) for move in pair]


def _build_random_moves(rng: np.random.Generator, slowest: float, fastest: float) -> list[Move]:
    """Draw moves of random speed, curve and pivot."""
    moves = []
    for _ in range(5):
        seconds, speed = rng.uniform(1.4, 2.2), rng.uniform(slowest, fastest)
        pivot, turn = rng.normal(0.0, 60.0), rng.normal(0.0, 25.0)
        moves.append(Move(float(seconds), float(speed), pivot=float(pivot), turn=float(turn)))
    return moves
