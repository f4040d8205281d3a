"""Physical measures of motion: the same for a take and for the clips it was made from.

The body is measured from a clip, as read back from a file. Goals and frames come from the take.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..control.take import Take
from ..database.statistics import TURNING
from ..maths import planar
from ..maths.runs import find_runs
from ..motion.clip import Clip
from ..motion.rig import Roles
from ..motion.simulation_bone import GroundTrack, SimulationBoneSettings, find_track

MANN_HEIGHT = 0.025
FREEZE_SECONDS, FREEZE_SPEED, FREEZE_DESIRED_SPEED = 0.5, 0.1, 0.5
_RESPONSE_SHARE = 0.9


@dataclass(frozen=True)
class BodyMotion:
    """World motion of F frames: bones (F, B, 3), toes (F, L, 3), and the simulation bone."""

    fps: float
    positions: np.ndarray
    toes: np.ndarray
    track: GroundTrack

    @cached_property
    def velocity(self) -> np.ndarray:
        """Ground velocity (F, 2) of the simulation bone."""
        return np.gradient(self.track.positions, 1 / self.fps, axis=0)

    @cached_property
    def turn_rate(self) -> np.ndarray:
        """Absolute turn rate (F,) of the simulation bone, rad/s."""
        return np.abs(np.gradient(self.track.yaw, 1 / self.fps))

    @cached_property
    def toe_speed(self) -> np.ndarray:
        """Horizontal speeds (F, L) of toes in m/s, by central differences."""
        return np.linalg.norm(np.gradient(self.toes[..., :2], 1 / self.fps, axis=0), axis=-1)

    @cached_property
    def bone_accelerations(self) -> np.ndarray:
        """Acceleration (F, B) of every bone in m/s², by second differences; 0 at both ends."""
        second = (self.positions[2:] - 2 * self.positions[1:-1] + self.positions[:-2]) * self.fps**2
        return np.pad(np.linalg.norm(second, axis=-1), ((1, 1), (0, 0)))

    @cached_property
    def acceleration(self) -> np.ndarray:
        """Largest acceleration (F,) among the bones, m/s²."""
        return self.bone_accelerations.max(axis=-1)


def measure_body(
    clip: Clip, roles: Roles, hips_forward: np.ndarray, settings: SimulationBoneSettings
) -> BodyMotion:
    """Measure the world motion of a clip, with the simulation bone found as for the database."""
    _, positions = clip.compute_world()
    track = find_track(clip, roles.hips, roles.spine, hips_forward, settings, root=roles.root)
    toes = np.stack([positions[:, leg.toe] for leg in roles.legs], axis=1).astype(np.float64)
    return BodyMotion(clip.fps, positions.astype(np.float64), toes, track)


def measure_toe_floors(bodies: Sequence[BodyMotion]) -> np.ndarray:
    """Return the height (L,) of each standing toe: the 2nd percentile of its heights in clips."""
    return np.percentile(np.concatenate([body.toes[..., 2] for body in bodies]), 2, axis=0)


def measure_mann_foot_slide(bodies: Sequence[BodyMotion], floors: np.ndarray) -> float:
    """Return MANN's foot slide in m/s: the mean of v (2 - 2^(h/H)) at heights h below H, 2.5 cm."""
    heights = np.concatenate([np.maximum(body.toes[..., 2] - floors, 0.0) for body in bodies])
    speeds = np.concatenate([body.toe_speed for body in bodies])
    return _compute_mean(speeds * (2 - 2 ** (heights / MANN_HEIGHT)), heights < MANN_HEIGHT)


def measure_contact_slide(bodies: Sequence[BodyMotion], contacts: Sequence[np.ndarray]) -> float:
    """Return the mean horizontal toe speed in m/s over frames with a source contact (F, L)."""
    speeds = np.concatenate([body.toe_speed for body in bodies])
    return _compute_mean(speeds, np.concatenate(contacts))


def measure_foot_slides(
    bodies: Sequence[BodyMotion], contacts: Sequence[np.ndarray], floors: np.ndarray
) -> dict[str, float]:
    """Measure how far feet slide, as MANN does and over source contacts (F, L)."""
    return {
        "foot_slide_mann": measure_mann_foot_slide(bodies, floors),
        "foot_slide_contacts": measure_contact_slide(bodies, contacts),
    }


def measure_foot_lock(take: Take, corrections: np.ndarray) -> dict[str, float]:
    """Measure the share of contacts held, and how far (T, L) the toes were moved for it."""
    return {
        "contacts_locked": _compute_mean(take.locked, take.contacts),
        "leg_correction_mean": float(corrections.mean()),
        "leg_correction_max": float(corrections.max()),
    }


def count_freezes(velocity: np.ndarray, desired: np.ndarray, fps: float) -> int:
    """Count the half seconds below 0.1 m/s while the desired speed is above 0.5 m/s."""
    speed, desired_speed = np.linalg.norm(velocity, axis=-1), np.linalg.norm(desired, axis=-1)
    stuck = (speed < FREEZE_SPEED) & (desired_speed > FREEZE_DESIRED_SPEED)
    return int((np.diff(find_runs(stuck), axis=1) > FREEZE_SECONDS * fps).sum())


def measure_response_times(velocity: np.ndarray, desired: np.ndarray, fps: float) -> list[float]:
    """Return the seconds from each turn by over 120 degrees to nine tenths of the desired speed.

    Infinite if the next turn comes first.
    """
    speed = np.linalg.norm(desired, axis=-1)
    moving = speed > FREEZE_DESIRED_SPEED
    cosine = np.sum(desired[1:] * desired[:-1], axis=-1) / np.maximum(speed[1:] * speed[:-1], 1e-9)
    turns = [*(np.flatnonzero(moving[1:] & moving[:-1] & (cosine < -0.5)) + 1), len(desired)]
    along, full = np.sum(velocity * desired, axis=-1), np.sum(desired**2, axis=-1)
    times = []
    for start, stop in itertools.pairwise(turns):
        answered = np.flatnonzero((along >= _RESPONSE_SHARE * full)[start:stop])
        times.append(float(answered[0] / fps) if len(answered) else float("inf"))
    return times


def measure_clips(
    bodies: Sequence[BodyMotion], contacts: Sequence[np.ndarray], floors: np.ndarray
) -> dict[str, Any]:
    """Measure clips taken together; speeds in m/s, turn rates in rad/s, accelerations in m/s²."""
    turn = np.concatenate([body.turn_rate for body in bodies])
    turning = turn[turn > TURNING] if (turn > TURNING).any() else turn
    acceleration = np.concatenate([body.acceleration[1:-1] for body in bodies])
    speed = np.concatenate([np.linalg.norm(body.velocity, axis=-1) for body in bodies])
    return {
        "seconds": sum(len(body.positions) / body.fps for body in bodies),
        **measure_foot_slides(bodies, contacts, floors),
        "speed_mean": float(speed.mean()),
        "turn_rate_p99": float(np.percentile(turn, 99)),
        "turn_rate_max": float(turn.max()),
        "turning_p99": float(np.percentile(turning, 99)),
        "acceleration_p99": float(np.percentile(acceleration, 99)),
        "acceleration_max": float(acceleration.max()),
    }


def measure_take(
    body: BodyMotion,
    take: Take,
    floors: np.ndarray,
    hardest: np.ndarray,
    corrections: np.ndarray,
    in_data: np.ndarray,
    database_frames: int,
) -> dict[str, Any]:
    """Measure a take as a clip, and how it follows its goals.

    `hardest` (B,) are the bones' largest accelerations in the data, infinite for those not to
    compare; `corrections` (T, L) are how far foot locking moved the toes, in metres. Speeds are
    compared where the goal has been steady for a second and is `in_data` (T,), not at obstacles.
    """
    unhindered = np.where(take.blocked[:, None], 0.0, take.desired_velocity)
    steady = _find_steady_ticks(unhindered, take.fps)
    compared = steady & in_data
    speed = np.linalg.norm(body.velocity, axis=-1)
    desired_speed = np.linalg.norm(take.desired_velocity, axis=-1)
    along = np.sum(body.velocity * take.desired_velocity, axis=-1) / np.maximum(desired_speed, 1e-9)
    distance = np.linalg.norm(take.character[:, :2] - take.simulation[:, :2], axis=-1)
    angle = np.abs(planar.wrap(take.character[:, 2] - take.simulation[:, 2]))
    # a jump lies between a tick and the one before: second differences about either see it
    jumped = take.jumped | np.append(take.jumped[1:], False)
    at_jumps = body.acceleration[jumped] if jumped.any() else np.zeros(1)
    ratios = body.bone_accelerations[jumped] / hardest if jumped.any() else np.zeros(1)
    answers = measure_response_times(body.velocity, take.desired_velocity, take.fps)
    median = float(np.median(answers)) if answers else np.inf
    return measure_clips([body], [take.contacts], floors) | {
        "jumps_per_second": float(take.jumped.sum() / (len(take.jumped) / take.fps)),
        "jump_acceleration_p99": float(np.percentile(at_jumps, 99)),
        "jump_acceleration_max": float(at_jumps.max()),
        "jump_acceleration_ratio": float(ratios.max()),
        "simulation_distance_mean": float(distance.mean()),
        "simulation_distance_max": float(distance.max()),
        "simulation_angle_mean": float(angle.mean()),
        **measure_foot_lock(take, corrections),
        "toe_lowest": float((body.toes[..., 2] - floors).min()),
        "apart_speed_mean": float(np.linalg.norm(take.apart[:, :2], axis=-1).mean() * take.fps),
        "apart_turn_rate_mean": float(np.abs(take.apart[:, 2]).mean() * take.fps),
        "desired_speed": _compute_mean(desired_speed, compared),
        "achieved_along_wish": _compute_mean(along, compared),
        "achieved_speed": _compute_mean(speed, compared),
        "wanted_speed_in_data": _compute_mean(in_data, steady),
        # None: not before the next turn
        "response_times": [round(t, 3) if np.isfinite(t) else None for t in answers],
        "response_time_median": median if np.isfinite(median) else None,
        "freezes": count_freezes(body.velocity, unhindered, take.fps),
        "database_share_used": len(np.unique(take.frames)) / database_frames,
    }


def _compute_mean(values: np.ndarray, mask: np.ndarray) -> float:
    """Return the mean of values where a mask is True, 0 if that is nowhere."""
    return float(values[mask].mean()) if mask.any() else 0.0


def _find_steady_ticks(desired: np.ndarray, fps: float) -> np.ndarray:
    """Return ticks (T,) whose goal has been steady and above 0.1 m/s for a second."""
    moving = np.linalg.norm(desired, axis=-1) > 0.1
    change = np.linalg.norm(np.diff(desired, axis=0, prepend=desired[:1]), axis=-1)
    calm = moving & (change < 3.0 / fps)
    result = np.zeros(len(desired), bool)
    for start, stop in find_runs(calm):
        result[round(fps) + max(start - 1, 0) : stop] = True
    return result
