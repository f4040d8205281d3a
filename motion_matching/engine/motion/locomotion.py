"""Locomotion clips made from nothing but a seed: idle, walk, run, starts, stops, turns, strafes.

A take is a schedule of moves. Its moves are blended into a smooth path on the ground, the path into footsteps, and
both into poses, all over whole arrays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .clip import Clip
from .gait import Path, _integral, footsteps, forward, move_foot, smoothstep
from .humanoid import humanoid_skeleton, pose_body

__all__ = ["Move", "generate", "humanoid_skeleton", "perform"]

Array = np.ndarray
_STANDING = 1.0  # seconds of standing still at both ends of a take


@dataclass(frozen=True)
class Move:
    """One entry of a schedule: travel at `speed` m/s for `seconds`.

    `direction` is the travel as seen from the heading (0 ahead, 90 left, degrees), `pivot` degrees turned to the left
    at once when the move begins, `turn` the heading's rate and `swing` the rate of `direction`, degrees per second.
    """

    seconds: float
    speed: float = 0.0
    direction: float = 0.0
    pivot: float = 0.0
    turn: float = 0.0
    swing: float = 0.0


def generate(seed: int = 0, fps: float = 30.0) -> list[Clip]:
    """Takes of 10 to 30 s that start and end standing; the same seed gives the same clips."""
    rng = np.random.default_rng(seed)
    return [perform(name, moves, fps, rng) for name, moves in _schedules(rng).items()]


def perform(name: str, moves: Iterable[Move], fps: float, rng: np.random.Generator) -> Clip:
    """A clip of that schedule, with a second of standing added before and after it."""
    path = _walk_path([Move(_STANDING), *moves, Move(_STANDING + 1.2)], fps)
    left, right = footsteps(path, rng)
    skeleton = humanoid_skeleton()
    feet = move_foot(path, left, 1.0), move_foot(path, right, -1.0)
    positions, rotations = pose_body(skeleton, path, *feet, rng)
    return Clip(name, skeleton, positions, rotations, float(fps))


def _walk_path(moves: list[Move], fps: float) -> Path:
    """Blend a schedule into a path whose accelerations are continuous.

    Velocities blend in the world, so a pivot brakes, turns while slow and sets off again, instead of walking a loop.
    """
    begins = np.concatenate([[0.0], np.cumsum([move.seconds for move in moves])])
    times = np.arange(round(begins[-1] * fps) + 1) / fps
    shifts, turned = _transitions(moves)
    turning = np.zeros_like(times)
    for move, begin in zip(moves, begins, strict=False):
        turning += smoothstep((times - begin) / 0.4) * (np.radians(move.turn) - turning)
    yaw = base = _integral(turning, times)
    velocity = np.zeros((len(times), 2))
    for move, begin, shift, total in zip(moves, begins, shifts, turned, strict=False):
        spin = 0.3 + abs(np.radians(move.pivot)) * (0.24 if shift else 0.4)
        # the turn sits in the middle of the change of velocity
        late = max(0.0, 0.5 * (shift - spin))
        yaw = yaw + np.radians(move.pivot) * smoothstep((times - begin - late) / spin)
        travel = base + total + np.radians(move.direction + move.swing * np.maximum(times - begin, 0.0))
        blend = smoothstep((times - begin) / max(shift, 0.3))[:, None]
        velocity = velocity + blend * (move.speed * forward(travel) - velocity)
    return Path(times, _integral(velocity, times), velocity, yaw)


def _transitions(moves: list[Move]) -> tuple[list[float], list[float]]:
    """Seconds that each move's change of velocity takes, and the pivots up to and with it in radians."""
    shifts, turned = [], []
    total, before = 0.0, np.zeros(2)
    for last, move in zip([moves[0], *moves], moves, strict=False):
        total += np.radians(move.pivot)
        swung = np.radians(last.direction + last.swing * last.seconds)
        before = last.speed * forward(total - np.radians(move.pivot) + swung)
        after = move.speed * forward(total + np.radians(move.direction))
        change = float(np.linalg.norm(after - before))
        shifts.append(0.4 + 0.22 * change if change > 1e-6 else 0.0)
        turned.append(total)
    return shifts, turned


def _schedules(rng: np.random.Generator) -> dict[str, list[Move]]:
    """The takes by name. Speeds in m/s, angles in degrees, left positive."""
    wait = Move(1.2)
    return {
        "idle": [Move(9.0)],
        "turns_in_place": [Move(1.9, pivot=angle) for angle in (90, -90, 45, -45, 180, -180, 135, -135)],
        "walk_starts_and_stops": _bursts((0.7, 1.0, 1.3, 1.6, 1.3), 2.2),
        "walk_starts_turned": [
            move for angle in (90, -90, 180, -180, 135, -45)
            for move in (Move(2.2, 1.3, pivot=angle), wait)
        ],
        "walk_speeds": [Move(3.0, speed) for speed in (0.6, 0.9, 1.2, 1.5, 1.8, 1.4, 1.0)],
        "walk_curves": [
            Move(3.4, 1.2, turn=turn) for turn in (17, 34, -34, 57, -57, 86, -86, 0)
        ],
        "walk_pivots": [
            Move(2.2, speed, pivot=angle)
            for speed, angle in ((1.3, 0), (1.3, 90), (1.3, -90), (1.4, 180), (1.4, -180), (1.0, 180), (1.0, -180),
                                 (1.6, 135), (1.6, -135), (1.2, 45), (1.2, -45))
        ],
        "run_starts_and_stops": _bursts((2.5, 3.5, 3.0, 4.0), 2.4),
        "run_starts_turned": [
            move for angle in (90, -90, 180, -180)
            for move in (Move(2.2, 3.0, pivot=angle), Move(1.5))
        ],
        "gait_changes": [Move(2.6, speed) for speed in (1.4, 3.0, 1.4, 4.0, 1.8, 2.2, 2.6, 3.6, 1.2)],
        "run_curves": [
            Move(2.6, speed, turn=turn)
            for speed, turn in ((3.0, 0), (3.0, 30), (3.0, -30), (3.0, 57), (3.0, -57), (2.6, 86), (2.6, -86),
                                (3.8, 35), (3.8, -35))
        ],
        "run_pivots": [
            Move(2.6, speed, pivot=angle)
            for speed, angle in ((3.0, 0), (3.0, 90), (3.0, -90), (3.0, 180), (3.0, -180), (2.5, 135), (3.5, -135),
                                 (3.5, 180), (3.5, -180))
        ],
        "strafes": [
            Move(2.2, speed, direction=direction)
            for speed, direction in ((0.5, 90), (0.5, -90), (0.9, 90), (0.9, -90), (1.3, 90), (1.3, -90), (0.9, 90))
        ],
        "backwards_and_diagonals": [
            Move(2.2, speed, direction=direction)
            for speed, direction in ((0.7, 180), (1.1, 180), (1.5, 180), (1.1, 135), (1.1, -135), (1.1, 45),
                                     (1.1, -45), (1.1, 180), (1.2, 0))
        ],
        "circles_with_fixed_facing": [
            Move(7.0, 1.0, swing=52), Move(0.9), Move(7.0, 1.0, swing=-52), Move(0.9), Move(5.0, 1.6, swing=72)
        ],
        "circles_facing_the_centre": [
            Move(5.0, 0.9, direction=90, turn=-34), Move(5.0, 0.9, direction=-90, turn=34),
            Move(4.0, 1.5, direction=90, turn=-43), Move(4.0, 1.5, direction=-90, turn=43),
        ],
        "fast_strafes": [
            Move(1.8, speed, direction=direction)
            for speed, direction in ((1.8, 90), (1.8, -90), (2.0, 180), (2.2, 45), (2.2, -45), (2.0, 135),
                                     (2.0, -135), (2.4, 0))
        ],
        "walk_at_random": _wander(rng, 11, (0.8, 1.7)),
        "run_at_random": _wander(rng, 9, (2.2, 3.8)),
    }


def _bursts(speeds: Iterable[float], seconds: float) -> list[Move]:
    """Go and stop, at one speed after the other."""
    return [move for speed in speeds for move in (Move(seconds, speed), Move(1.5))]


def _wander(rng: np.random.Generator, count: int, speeds: tuple[float, float]) -> list[Move]:
    """Moves of random speed, curve and pivot."""
    return [
        Move(float(rng.uniform(1.4, 2.6)), float(rng.uniform(*speeds)), pivot=float(rng.normal(0.0, 60.0)),
             turn=float(rng.normal(0.0, 25.0)))
        for _ in range(count)
    ]
