"""Perform takes of sets with blending as published and as shipped, and measure them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from motion_matching.engine.takes import baking, metrics, takes

from . import quality

SETS = ("generated", "bandai", "lafan1")
FEET = MappingProxyType({"free": {"foot_lock": False}, "locked": {"foot_lock": True}})
BLENDS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        f"{stretch:g}, {'blended' if root else 'at once'}": {
            "blend_stretch": stretch,
            "blend_root": root,
        }
        for stretch, root in (
            (3.0, True), (2.0, True), (1.5, True), (1.0, True), (3.0, False), (1.0, False)
        )
    }
)  # fmt: skip
_LED = ("3, blended", "1, at once")
LEADS = MappingProxyType(
    {
        "default": {},
        "data": {"displacement": "synchronize", "synchronization": 0.0},
        "code": {"displacement": "synchronize", "synchronization": 1.0},
    }
)


class BlendJob(NamedTuple):
    """A take to measure, by the names of its settings."""

    set: str
    gait: str
    feet: str
    lead: str
    blend: str
    seed: int

    @property
    def row(self) -> tuple[str, ...]:
        """What takes of all seeds have in common."""
        return self[:5]


def list_jobs(seeds: int) -> list[BlendJob]:
    """Return the takes of all rows: what leads is compared of free feet, as shipped and published."""
    jobs = product(SETS, quality.GAITS, FEET, LEADS, BLENDS, range(seeds))
    listed = [BlendJob(*parts) for parts in jobs]
    return [
        job for job in listed if job.lead == "default" or (job.feet == "free" and job.blend in _LED)
    ]


def measure_job(job: BlendJob, folder: Path, seconds: float) -> tuple[BlendJob, dict[str, Any]]:
    """Perform a take of a set saved in `folder`, and measure it."""
    loaded = quality.load_set(folder / f"{job.set}.npz")
    database = loaded.database
    changes = {**FEET[job.feet], **LEADS[job.lead], **BLENDS[job.blend]}
    settings = loaded.settings.with_changes(changes)
    performance = takes.prepare_performance(
        database, settings, "random", gait=job.gait, seconds=seconds, seed=job.seed
    )
    take = takes.perform(database, settings, performance)
    played = metrics.measure_frames(takes.find_played_frames(take, database))
    body = baking.make_body(take.poses, take.character, database)
    frames = metrics.Frames.from_body(body, take.contacts, loaded.toe_floors)
    reachable = takes.find_reachable_speeds(take, database)
    answers = metrics.measure_response_times(
        body.velocity, take.desired_velocity, take.desired_yaw, reachable, take.fps
    )
    distance = np.linalg.norm(take.character[:, :2] - take.simulation[:, :2], axis=1)
    pops = metrics.measure_pops(body.acceleration, played["acceleration_max"], take.fps)
    return job, {
        "slide": metrics.measure_contact_slide(frames),
        "pops": pops["pops"],
        "price": metrics.measure_jump_prices(take)["jump_price_mean"],
        "price_second": metrics.measure_jump_prices(take)["jump_price_per_second"],
        "jumps": float(take.jumped.sum() / len(take.jumped) * take.fps),
        "answers": answers,
        "acceleration_p99": float(np.percentile(body.acceleration, 99)),
        "distance": float(distance.mean()),
    }
