"""Physical measures of motion: the same for a take and for the clips it was made from.

Everything about the body is computed from a clip of the source's bones, as it is read back from a file; what was
wanted, and which frames were played, comes from the take.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..motion.clip import Clip
from ..motion.rig import Roles
from ..motion.simulation_bone import GroundTrack, SimulationBoneSettings, find_track
from .take import Take

MANN_HEIGHT = 0.025
TURNING = 1.0  # rad/s from which the character turns: the sway of walking and running stays below
FREEZE_SECONDS, FREEZE_SPEED, FREEZE_WANTED = 0.5, 0.1, 0.5
_ANSWERED = 0.9


@dataclass(frozen=True)
class Body:
    """World motion of a clip (F frames) that measures start from.

    positions (F, B, 3) of all bones, toes (F, L, 3), and the track of the simulation bone.
    """

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
        """Absolute turn rate (F,) of the simulation bone, radians per second."""
        return np.abs(np.gradient(self.track.yaw, 1 / self.fps))

    @cached_property
    def toe_speed(self) -> np.ndarray:
        """Horizontal speeds (F, L) of toes in m/s by central differences."""
        return np.linalg.norm(np.gradient(self.toes[..., :2], 1 / self.fps, axis=0), axis=-1)

    @cached_property
    def bone_accelerations(self) -> np.ndarray:
        """Acceleration (F, B) of every bone in the world, m/s², by second differences; 0 at both ends."""
        a = np.zeros(self.positions.shape[:2])
        second = (self.positions[2:] - 2 * self.positions[1:-1] + self.positions[:-2]) * self.fps**2
        a[1:-1] = np.linalg.norm(second, axis=-1)
        return a

    @cached_property
    def acceleration(self) -> np.ndarray:
        """Largest acceleration (F,) among the bones, m/s²."""
        return self.bone_accelerations.max(axis=-1)


def body_of(
    clip: Clip, roles: Roles, hips_forward: np.ndarray, settings: SimulationBoneSettings
) -> Body:
    """World motion of a clip of the source's bones, with the simulation bone found as for the database."""
    _, positions = clip.world()
    track = find_track(clip, roles.hips, roles.spine, hips_forward, settings, root=roles.root)
    toes = np.stack([positions[:, leg.toe] for leg in roles.legs], axis=1).astype(np.float64)
    return Body(clip.fps, positions.astype(np.float64), toes, track)


def toe_floors(bodies: Sequence[Body]) -> np.ndarray:
    """Height (L,) that each toe joint has when it stands: the 2nd percentile of its heights in these clips."""
    return np.percentile(np.concatenate([body.toes[..., 2] for body in bodies]), 2, axis=0)


def mann_foot_slide(bodies: Sequence[Body], floors: np.ndarray) -> float:
    """MANN's measure in m/s: mean over frames with toe height h < H of v (2 - 2^(h/H)), H = 2.5 cm above its floor."""
    heights = np.concatenate([np.maximum(body.toes[..., 2] - floors, 0.0) for body in bodies])
    slides = np.concatenate([body.toe_speed for body in bodies]) * (
        2 - 2 ** (heights / MANN_HEIGHT)
    )
    low = heights < MANN_HEIGHT
    return float(slides[low].mean()) if low.any() else 0.0


def contact_slide(bodies: Sequence[Body], contacts: Sequence[np.ndarray]) -> float:
    """Mean horizontal toe speed in m/s over every frame whose source contact (F, L) is on."""
    on = np.concatenate(contacts)
    return (
        float(np.concatenate([body.toe_speed for body in bodies])[on].mean()) if on.any() else 0.0
    )


def _stretches(on: np.ndarray) -> np.ndarray:
    """Starts and stops (K, 2) of the runs of True."""
    return np.flatnonzero(np.diff(np.concatenate([[False], on, [False]]).astype(np.int8))).reshape(
        -1, 2
    )


def freezes(velocity: np.ndarray, wanted: np.ndarray, fps: float) -> int:
    """How often the character stays below 0.1 m/s for over half a second while more than 0.5 m/s is wanted."""
    stuck = (np.linalg.norm(velocity, axis=-1) < FREEZE_SPEED) & (
        np.linalg.norm(wanted, axis=-1) > FREEZE_WANTED
    )
    return int((np.diff(_stretches(stuck), axis=1) > FREEZE_SECONDS * fps).sum())


def response_times(velocity: np.ndarray, wanted: np.ndarray, fps: float) -> list[float]:
    """Seconds after each turn of the wish by over 120 degrees until nine tenths of the wanted speed are reached."""
    speed = np.linalg.norm(wanted, axis=-1)
    moving = (speed[1:] > FREEZE_WANTED) & (speed[:-1] > FREEZE_WANTED)
    cosine = np.sum(wanted[1:] * wanted[:-1], axis=-1) / np.maximum(speed[1:] * speed[:-1], 1e-9)
    turns = [*(np.flatnonzero(moving & (cosine < -0.5)) + 1), len(wanted)]
    times = []
    for start, stop in itertools.pairwise(turns):
        along = np.sum(velocity[start:stop] * wanted[start:stop], axis=-1)
        full = np.sum(wanted[start:stop] ** 2, axis=-1)
        answered = np.flatnonzero(along >= _ANSWERED * full)
        times.append(float(answered[0] / fps) if len(answered) else float("inf"))
    return times


def measure_clips(
    bodies: Sequence[Body], contacts: Sequence[np.ndarray], floors: np.ndarray
) -> dict[str, Any]:
    """Measures of clips taken together; speeds in m/s, turn rates in rad/s, accelerations in m/s²."""
    turn = np.concatenate([body.turn_rate for body in bodies])
    turning = turn[turn > TURNING] if (turn > TURNING).any() else turn
    acceleration = np.concatenate([body.acceleration[1:-1] for body in bodies])
    return {
        "seconds": sum(len(body.positions) / body.fps for body in bodies),
        "foot_slide_mann": mann_foot_slide(bodies, floors),
        "foot_slide_contacts": contact_slide(bodies, contacts),
        "speed_mean": float(
            np.concatenate([np.linalg.norm(body.velocity, axis=-1) for body in bodies]).mean()
        ),
        "turn_rate_p99": float(np.percentile(turn, 99)),
        "turn_rate_max": float(turn.max()),
        "turning_p99": float(np.percentile(turning, 99)),
        "acceleration_p99": float(np.percentile(acceleration, 99)),
        "acceleration_max": float(acceleration.max()),
    }


def measure_take(
    body: Body,
    take: Take,
    floors: np.ndarray,
    hardest: np.ndarray,
    corrections: np.ndarray,
    in_data: np.ndarray,
    database_frames: int,
) -> dict[str, Any]:
    """Measures of a take: those of a clip, and how it followed what was wanted.

    `hardest` (B,) are the largest accelerations of the bones in the data, infinite for those not to be compared;
    `corrections` (T, L) are how far foot locking moved the toes, in metres. Speeds are compared at ticks at which a wish
    has been steady for a second and `in_data` (T,) is True. Standing at an obstacle is neither slow nor a freeze.
    """
    unhindered = np.where(take.blocked[:, None], 0.0, take.desired_velocity)
    steady = _steady(unhindered, take.fps)
    share = float(in_data[steady].mean()) if steady.any() else 0.0
    steady &= in_data
    speed = np.linalg.norm(body.velocity, axis=-1)
    wanted = np.linalg.norm(take.desired_velocity, axis=-1)
    distance = np.linalg.norm(take.character[:, :2] - take.simulation[:, :2], axis=-1)
    angle = np.abs((take.character[:, 2] - take.simulation[:, 2] + np.pi) % (2 * np.pi) - np.pi)
    # a jump lies between a tick and the one before: second differences about either see it
    jumped = take.jumped | np.append(take.jumped[1:], False)
    at_jumps = body.acceleration[jumped] if jumped.any() else np.zeros(1)
    ratios = body.bone_accelerations[jumped] / hardest if jumped.any() else np.zeros(1)
    answers = response_times(body.velocity, take.desired_velocity, take.fps)
    return measure_clips([body], [take.contacts], floors) | {
        "jumps_per_second": float(take.jumped.sum() / (len(take.jumped) / take.fps)),
        "jump_acceleration_p99": float(np.percentile(at_jumps, 99)),
        "jump_acceleration_max": float(at_jumps.max()),
        "jump_acceleration_ratio": float(ratios.max()),
        "simulation_distance_mean": float(distance.mean()),
        "simulation_distance_max": float(distance.max()),
        "simulation_angle_mean": float(angle.mean()),
        "contacts_locked": float(take.locked[take.contacts].mean()) if take.contacts.any() else 0.0,
        "leg_correction_mean": float(corrections.mean()),
        "leg_correction_max": float(corrections.max()),
        "toe_lowest": float((body.toes[..., 2] - floors).min()),
        "apart_speed_mean": float(np.linalg.norm(take.apart[:, :2], axis=-1).mean() * take.fps),
        "apart_turn_rate_mean": float(np.abs(take.apart[:, 2]).mean() * take.fps),
        "desired_speed": float(wanted[steady].mean()) if steady.any() else 0.0,
        "achieved_along_wish": float(_along(body.velocity, take.desired_velocity)[steady].mean())
        if steady.any()
        else 0.0,
        "achieved_speed": float(speed[steady].mean()) if steady.any() else 0.0,
        "wanted_speed_in_data": share,
        "response_times": [
            round(t, 3) if np.isfinite(t) else None for t in answers
        ],  # None: not before the next turn
        "response_time_median": float(np.median(answers))
        if answers and np.isfinite(np.median(answers))
        else None,
        "freezes": freezes(body.velocity, unhindered, take.fps),
        "database_share_used": len(np.unique(take.frames)) / database_frames,
    }


def _along(velocity: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The part (T,) of a velocity that goes where it is wanted."""
    return np.sum(velocity * wanted, axis=-1) / np.maximum(np.linalg.norm(wanted, axis=-1), 1e-9)


def _steady(wanted: np.ndarray, fps: float, settle: float = 1.0) -> np.ndarray:
    """Ticks (T,) at which a speed above 0.1 m/s has been wanted, without a turn or a jump, for `settle` seconds."""
    moving = np.linalg.norm(wanted, axis=-1) > 0.1
    change = np.linalg.norm(np.diff(wanted, axis=0, prepend=wanted[:1]), axis=-1)
    calm = moving & (change < 3.0 / fps)
    frames = round(settle * fps)
    counts = np.cumsum(np.concatenate([[0], calm]))
    result = np.zeros(len(wanted), bool)
    if len(wanted) > frames:
        result[frames:] = counts[frames + 1 :] - counts[1:-frames] == frames
    return result
