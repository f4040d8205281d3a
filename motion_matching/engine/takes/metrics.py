"""Measure motion physically, in the same way for a take and for its source clips.

The body is measured from a clip, read back from a file. Goals and frames come from the take.
The four measures of foot skate are those of the benchmark of NVIDIA's Kimodo, with toes alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..control.rollout import Take
from ..database.statistics import TURNING
from ..feet.numbers import NUMBERS as FOOT_NUMBERS
from ..legs.numbers import NUMBERS as LEG_NUMBERS
from ..maths import planar
from ..maths.along_time import find_parts, find_runs
from ..motion.margins import MARGINS
from ..motion.rest import AT_REST
from .bodies import BodyMotion, Frames
from .numbers import NUMBERS

MANN_HEIGHT = FOOT_NUMBERS.sliding_height
CROSSED = NUMBERS.crossed
_TURN = np.cos(np.radians(NUMBERS.turn_angle))
_ELSEWHERE = np.cos(np.radians(NUMBERS.elsewhere_angle))
_OTHER_HEADING = np.radians(NUMBERS.other_heading)


def measure_toe_floors(bodies: Sequence[BodyMotion]) -> np.ndarray:
    """Return the height (L,) of each standing toe: the 2nd percentile of its heights in clips."""
    heights = np.concatenate([body.toes[..., 2] for body in bodies])
    return np.percentile(heights, LEG_NUMBERS.standing_percentile, axis=0)


def measure_mann_foot_slide(frames: Frames) -> float:
    """Return MANN's foot slide in m/s: the mean of v (2 - 2^(h/H)) at heights h below H, 2.5 cm."""
    weights = 2 - 2 ** (frames.toe_heights / MANN_HEIGHT)
    return _compute_mean(frames.toe_speeds * weights, frames.toe_heights < MANN_HEIGHT)


def measure_contact_slide(frames: Frames) -> float:
    """Return the mean horizontal toe speed in m/s over frames with a source contact."""
    return _compute_mean(frames.toe_speeds, frames.contacts)


def measure_frames(frames: Frames) -> dict[str, float]:
    """Measure how far feet slide, how hard a body moves, and how often its legs cross.

    - `foot_slide_mann` in m/s: MANN's
    - `foot_skate_from_height` in m/s: the mean speed of toes less than 5 cm above their floor
    - `foot_skate_ratio`: the share of these that is faster than 0.2 m/s
    - `foot_skate_from_contacts` in m/s, and `foot_slide_contacts`, its older name: the mean speed
      of toes in source contacts
    - `foot_skate_max_vel` in m/s: the largest of these
    - `acceleration_max` of any bone in m/s², and `knee_rate_max` in rad/s
    - `legs_crossed`: the share of time in which an ankle is past the other by more than 5 cm
    """
    low = frames.toe_heights < NUMBERS.skate_height
    in_contact = measure_contact_slide(frames)
    return {
        "foot_slide_mann": measure_mann_foot_slide(frames),
        "foot_slide_contacts": in_contact,
        "foot_skate_from_height": _compute_mean(frames.toe_speeds, low),
        "foot_skate_from_contacts": in_contact,
        "foot_skate_ratio": _compute_mean(frames.toe_speeds > NUMBERS.skate_speed, low),
        "foot_skate_max_vel": float(frames.toe_speeds[frames.contacts].max(initial=0.0)),
        "acceleration_max": float(frames.accelerations.max()),
        "knee_rate_max": float(frames.knee_rates.max()),
        "legs_crossed": float((frames.crossings > CROSSED).mean()),
    }


def measure_slips(frames: Frames, fps: float) -> dict[str, float]:
    """Count visible slips of standing toes: in contact and below 5 cm.

    A slip is faster than 0.2 m/s for 0.1 s, or goes 5 cm or more before the toe is lifted.

    - `slips_per_minute`: their number
    - `slip_way` in metres: how far a toe goes on average while it stands and slips, 0 without any
    """
    stands = frames.contacts & (frames.toe_heights < NUMBERS.skate_height)
    ways = [
        _measure_slipping(*leg, frames.begins, fps)
        for leg in zip(frames.toe_speeds.T, stands.T, strict=True)
    ]
    slipped = np.concatenate(ways)
    return {
        "slips_per_minute": 60.0 * fps * len(slipped) / len(stands),
        "slip_way": float(slipped.mean()) if len(slipped) else 0.0,
    }


def _measure_slipping(
    speeds: np.ndarray, stands: np.ndarray, begins: np.ndarray, fps: float
) -> np.ndarray:
    """Return how far (K,) a toe goes in each stand in which it slips."""
    runs = find_parts(stands, begins)
    way = np.append(0.0, np.cumsum(speeds)) / fps
    ways = way[runs[:, 1]] - way[runs[:, 0]]
    fast = find_parts(stands & (speeds > NUMBERS.skate_speed), begins)
    fast = fast[np.diff(fast, axis=1)[:, 0] >= NUMBERS.slip_seconds * fps]
    slips = ways >= NUMBERS.slip_way
    slips[np.searchsorted(runs[:, 0], fast[:, 0], side="right") - 1] = True
    return ways[slips]


def measure_pops(accelerations: np.ndarray, most: float, fps: float) -> dict[str, Any]:
    """Find the moments at which a bone accelerates harder than 1.2 times the most.

    The most is that of the frames played, and at least that of a fall. `accelerations` (T,) are
    the largest among the bones in m/s². Consecutive ticks are one pop, identified by its second.
    """
    starts = find_runs(accelerations > MARGINS.pop * max(most, MARGINS.fall))[:, 0]
    return {"pops": len(starts), "pop_seconds": [round(tick / fps, 3) for tick in starts.tolist()]}


def measure_foot_lock(take: Take, corrections: np.ndarray) -> dict[str, float]:
    """Measure the share of contacts held, and how far (T, L) the toes were moved for it."""
    return {
        "contacts_locked": _compute_mean(take.locked, take.contacts),
        "leg_correction_mean": float(corrections.mean()),
        "leg_correction_max": float(corrections.max()),
    }


def measure_jump_prices(take: Take) -> dict[str, float | None]:
    """Measure what jumps cost the eye, in metre-seconds; None if the take has none with a price.

    - `jump_price_mean`, `jump_price_p95` and `jump_price_max`
    - `jump_price_per_second`, in metres: how far a bone is on average from where its motion has it
    """
    prices = take.prices[np.isfinite(take.prices)].astype(np.float64)
    known = len(prices) > 0
    return {
        "jump_price_mean": float(prices.mean()) if known else None,
        "jump_price_p95": float(np.percentile(prices, 95)) if known else None,
        "jump_price_max": float(prices.max()) if known else None,
        "jump_price_per_second": float(prices.sum() * take.fps / len(take.prices)),
    }


def count_freezes(velocity: np.ndarray, desired: np.ndarray, fps: float) -> int:
    """Count the half seconds below 0.1 m/s while the desired speed is above 0.5 m/s."""
    speed = np.linalg.norm(velocity, axis=-1)
    desired_speed = np.linalg.norm(desired, axis=-1)
    stuck = (speed < AT_REST.speed) & (desired_speed > NUMBERS.freeze_speed)
    return int((np.diff(find_runs(stuck), axis=1) > NUMBERS.freeze_seconds * fps).sum())


def measure_response_times(
    velocity: np.ndarray,
    desired: np.ndarray,
    desired_yaw: np.ndarray,
    reachable: np.ndarray,
    fps: float,
) -> list[float]:
    """Return the seconds from each turn to nine tenths of the new full speed in the new direction.

    A turn is one by 90 degrees or more from one tick to the next. Direction and full speed are
    the settled ones, from the second half of the time until the desire stops or goes elsewhere:
    within the turn it is slower and bent, because speeds differ by direction. Infinite if that
    time ends first. The full speed is at most the `reachable` (T,).
    """
    speed = np.linalg.norm(desired, axis=-1)
    moving = speed > AT_REST.speed
    direction = desired / np.maximum(speed, 1e-9)[:, None]
    cosine = np.append(1.0, np.sum(direction[1:] * direction[:-1], axis=-1))
    turning = moving & np.append(False, moving[:-1]) & (cosine < _TURN)
    times = []
    for start in np.flatnonzero(turning):
        left = ~moving | (cosine < _ELSEWHERE)
        left |= np.abs(planar.wrap(desired_yaw - desired_yaw[start])) > _OTHER_HEADING
        ends = np.flatnonzero(left[start + 1 :])
        stop = start + 1 + ends[0] if len(ends) else len(desired)
        settled = slice((start + stop) // 2, stop)
        full = np.median(np.minimum(speed, reachable)[settled])
        new = desired[settled].sum(axis=0)
        along = velocity[start:stop] @ new / np.maximum(np.linalg.norm(new), 1e-9)
        answered = np.flatnonzero(along >= NUMBERS.response_share * full)
        times.append(float(answered[0] / fps) if len(answered) else float("inf"))
    return times


CLIP_MEASURES = (
    "seconds",
    "foot_slide_mann",
    "foot_slide_contacts",
    "foot_skate_from_height",
    "foot_skate_from_contacts",
    "foot_skate_ratio",
    "foot_skate_max_vel",
    "acceleration_max",
    "knee_rate_max",
    "legs_crossed",
    "slips_per_minute",
    "slip_way",
    "speed_mean",
    "turn_rate_p99",
    "turn_rate_max",
    "turning_p99",
    "acceleration_p99",
)


def measure_clips(
    bodies: Sequence[BodyMotion], contacts: Sequence[np.ndarray], floors: np.ndarray
) -> dict[str, Any]:
    """Measure clips taken together: `CLIP_MEASURES`.

    Speeds are in m/s, turn rates in rad/s, and accelerations in m/s².
    """
    turn = np.concatenate([body.turn_rate for body in bodies])
    turning = turn[turn > TURNING] if (turn > TURNING).any() else turn
    acceleration = np.concatenate([body.acceleration[1:-1] for body in bodies])
    speed = np.concatenate([np.linalg.norm(body.velocity, axis=-1) for body in bodies])
    pairs = zip(bodies, contacts, strict=True)
    frames = Frames.concatenate(Frames.from_body(*pair, floors) for pair in pairs)
    return {
        "seconds": sum(len(body.positions) / body.fps for body in bodies),
        **measure_frames(frames),
        **measure_slips(frames, bodies[0].fps),
        "speed_mean": float(speed.mean()),
        "turn_rate_p99": float(np.percentile(turn, 99)),
        "turn_rate_max": float(turn.max()),
        "turning_p99": float(np.percentile(turning, 99)),
        "acceleration_p99": float(np.percentile(acceleration, 99)),
    }


def measure_take(
    body: BodyMotion,
    take: Take,
    floors: np.ndarray,
    hardest: np.ndarray,
    corrections: np.ndarray,
    in_data: np.ndarray,
    reachable: np.ndarray,
) -> dict[str, Any]:
    """Measure a take as a clip, and how it follows its goals.

    `hardest` (B,) are the bones' largest accelerations in the data, infinite for those not to
    compare; `corrections` (T, L) are how far foot locking moved the toes, in metres. Speeds are
    compared where the goal has been steady for a second and is `in_data` (T,), not at obstacles.
    `reachable` (T,) are the speeds in m/s that the data has in the desired direction.
    """
    unhindered = np.where(take.blocked[:, None], 0.0, take.desired_velocity)
    steady = find_steady_ticks(unhindered, take.fps)
    compared = steady & in_data
    speed = np.linalg.norm(body.velocity, axis=-1)
    desired_speed = np.linalg.norm(take.desired_velocity, axis=-1)
    along = np.sum(body.velocity * take.desired_velocity, axis=-1) / np.maximum(desired_speed, 1e-9)
    speeds = {"desired_speed": desired_speed, "achieved_along_wish": along, "achieved_speed": speed}
    distance = np.linalg.norm(take.character[:, :2] - take.simulation[:, :2], axis=-1)
    angle = np.abs(planar.wrap(take.character[:, 2] - take.simulation[:, 2]))
    # a jump lies between a tick and the one before: second differences about either see it
    jumped = take.jumped | np.append(take.jumped[1:], False)
    at_jumps = body.acceleration[jumped] if jumped.any() else np.zeros(1)
    ratios = body.bone_accelerations[jumped] / hardest if jumped.any() else np.zeros(1)
    answers = measure_response_times(
        body.velocity, take.desired_velocity, take.desired_yaw, reachable, take.fps
    )
    median = float(np.median(answers)) if answers else np.inf
    return measure_clips([body], [take.contacts], floors) | {
        "jumps_per_second": float(take.jumped.sum() / (len(take.jumped) / take.fps)),
        "jump_acceleration_p99": float(np.percentile(at_jumps, 99)),
        "jump_acceleration_max": float(at_jumps.max()),
        "jump_acceleration_ratio": float(ratios.max()),
        "simulation_distance_mean": float(distance.mean()),
        "simulation_distance_max": float(distance.max()),
        "simulation_angle_mean": float(angle.mean()),
        **measure_jump_prices(take),
        **measure_foot_lock(take, corrections),
        "toe_lowest": float((body.toes[..., 2] - floors).min()),
        "apart_speed_mean": float(np.linalg.norm(take.apart[:, :2], axis=-1).mean() * take.fps),
        "apart_turn_rate_mean": float(np.abs(take.apart[:, 2]).mean() * take.fps),
        # None: nowhere steady and in the data
        **{
            name: float(values[compared].mean()) if compared.any() else None
            for name, values in speeds.items()
        },
        "wanted_speed_in_data": _compute_mean(in_data, steady),
        # None: not before the next turn
        "response_times": [round(t, 3) if np.isfinite(t) else None for t in answers],
        "response_time_median": median if np.isfinite(median) else None,
        "freezes": count_freezes(body.velocity, unhindered, take.fps),
    }


def _compute_mean(values: np.ndarray, mask: np.ndarray) -> float:
    """Return the mean of values where a mask is True, 0 if that is nowhere."""
    return float(values[mask].mean()) if mask.any() else 0.0


def find_steady_ticks(desired: np.ndarray, fps: float) -> np.ndarray:
    """Return ticks (T,) whose goal has been steady and above 0.1 m/s for a second."""
    moving = np.linalg.norm(desired, axis=-1) > AT_REST.speed
    change = np.linalg.norm(np.diff(desired, axis=0, prepend=desired[:1]), axis=-1)
    calm = moving & (change < 3.0 / fps)
    result = np.zeros(len(desired), bool)
    for start, stop in find_runs(calm):
        result[round(fps) + max(start - 1, 0) : stop] = True
    return result
