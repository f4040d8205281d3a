"""Push characters by several speeds, and measure how they recover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.field.field_controller import FieldController
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.takes import baking, metrics, recovery, takes

from .quality import GAITS, METHODS

SHARES = (0.5, 1.0, 2.0)  # of the full speed ahead
SEEN = 2.0  # seconds after a push that are drawn
Measures = dict[str, Any]


class PushJob(NamedTuple):
    """Pushes to measure; `share` is their speed as a share of the full speed ahead."""

    gait: str
    method: str
    share: float


def list_jobs(database: Database) -> list[PushJob]:
    """Return all jobs of a set: without a run of its own, only walks."""
    settings = takes.make_default_settings(database)
    gaits = GAITS if settings.steering.can_run else GAITS[:1]
    return [PushJob(*parts) for parts in product(gaits, METHODS, SHARES)]


def measure_job(
    job: PushJob, database: Database, field: FieldController, seconds: float, seed: int
) -> Measures:
    """Perform the script of pushes, and measure all of them."""
    settings = takes.make_default_settings(database)
    performance = takes.prepare_performance(
        database, settings, "pushes", gait=job.gait, seconds=seconds, seed=seed
    )
    controller = field if job.method == "field" else MotionMatching
    pushed = scale_pushes(performance, job.share)
    take = takes.perform(database, settings, pushed, controller=controller)
    found = recovery.measure_recoveries(take)
    return {
        "speed": found[0].speed,
        "desired": float(np.linalg.norm(take.desired_velocity, axis=1).max()),
        "late": float(np.percentile([each.seconds for each in found], 95, method="higher")),
        "hardest": measure_hardest(take, database),
        "trace": trace_pushes(take),
        **recovery.summarize_recoveries(found),
    }


def measure_hardest(take: Take, database: Database) -> float:
    """Return the largest acceleration of any joint as a share of that in the frames played."""
    body = baking.make_body(take.poses, take.character, database)
    played = metrics.measure_frames(takes.find_played_frames(take, database))
    return float(body.acceleration.max() / played["acceleration_max"])


def scale_pushes(performance: Performance, share: float) -> Performance:
    """Return a performance whose pushes are so many times as fast."""
    intents = [
        intent
        if intent.push is None
        else intent._replace(push=(share * intent.push[0], share * intent.push[1]))
        for intent in performance.intents
    ]
    return replace(performance, intents=tuple(intents))


def trace_pushes(take: Take) -> np.ndarray:
    """Return the difference (n,) from the desired velocity after pushes, as a share of it.

    The median of all pushes that are followed by so much time.
    """
    velocity = np.gradient(take.character[:, :2].astype(np.float64), 1 / take.fps, axis=0)
    desired = np.linalg.norm(take.desired_velocity, axis=1)
    off = np.linalg.norm(velocity - take.desired_velocity, axis=1) / np.maximum(desired, 1e-9)
    count = round(SEEN * take.fps)
    ticks = [t for t, intent in enumerate(take.performance.intents) if intent.push is not None]
    return np.median([off[t : t + count] for t in ticks if t + count <= len(off)], axis=0)


def list_cells(name: str, results: Mapping[PushJob, Measures]) -> list[tuple[str, ...]]:
    """Return the rows of a set for the table of the manual."""
    rows = []
    for job, measures in results.items():
        time, distance = measures["recovery_time_median"], measures["push_distance_median"]
        rows.append(
            (
                name,
                job.gait,
                "motion field" if job.method == "field" else "motion matching",
                f"{measures['desired']:.2f}",
                f"{measures['speed']:.2f}",
                f"{measures['pushes_recovered']} of {measures['pushes']}",
                "" if time is None else f"{time:.2f}",
                f"{measures['late']:.2f}" if np.isfinite(measures["late"]) else "",
                "" if distance is None else f"{distance:.2f}",
                f"{measures['hardest']:.2f}",
            )
        )
    return rows


def select_traces(
    results: Mapping[PushJob, Measures], gaits: Sequence[str] = GAITS
) -> dict[str, np.ndarray]:
    """Return the curves of pushes at the full speed, by gait and method."""
    return {
        f"{job.gait}, {'motion field' if job.method == 'field' else 'motion matching'}": m["trace"]
        for job, m in results.items()
        if job.share == 1.0 and job.gait in gaits
    }
