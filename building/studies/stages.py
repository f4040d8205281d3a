"""Bake takes without each task and limit of feet in turn, and measure what gets worse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.facts.character import measure_character_legs
from motion_matching.engine.feet.live.feet_apart import get_line, measure_nearest
from motion_matching.engine.feet.planting.limits import LIMITS
from motion_matching.engine.feet.planting.tasks import TASKS
from motion_matching.engine.legs.legs import LegGeometry
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.takes import baking, metrics, takes

from . import quality, standing

# what each is for, as its function says
RULES = {name: str(rule.__doc__).rstrip(".") for name, rule in {**TASKS, **LIMITS}.items()}


class Figure(NamedTuple):
    """What is measured of a take, by how much it counts in its unit, and how it is told."""

    title: str
    factor: float
    digits: int = 1
    most_is_best: bool = False


FIGURES = {
    "slide": Figure("slide, cm/s", 100.0, 2),
    "held": Figure("held, %", 100.0, 1, most_is_best=True),
    "skate": Figure("skate by height, cm/s", 100.0),
    "pops": Figure("pops", 1.0, 0),
    "hardest": Figure("hardest, of the played", 1.0, 2),
    "knees": Figure("knees, of the data's", 1.0, 2),
    "backward": Figure("knees bent backward, %", 100.0),
    "crossed": Figure("crossed beyond the clips, %", 100.0, 2),
    "overlap": Figure("feet overlap, mm", 1000.0),
    "toes": Figure("toes deep, mm", 1000.0),
    "tips": Figure("tips deep, mm", 1000.0),
    "heels": Figure("heels up standing, %", 100.0),
    "hips": Figure("hips down, cm", 100.0),
    "seams": Figure("hips change, m/s²", 1.0),
    "swings": Figure("swings off their height, cm", 100.0),
}
Measures = dict[str, float]


class Job(NamedTuple):
    """A take to bake, in all ways."""

    set: str
    gait: str
    script: str
    seed: int

    @property
    def title(self) -> str:
        return " ".join(self[:3])


def measure_job(job: Job, folder: Path, seconds: float) -> tuple[Job, dict[str, Measures]]:
    """Perform a take of a set saved in `folder`; measure it baked with all rules, and without each."""
    loaded = quality.load_set(folder / f"{job.set}.npz")
    return job, measure_ways(job, loaded, seconds, RULES)


def measure_ways(
    job: Job, loaded: quality.Loaded, seconds: float, rules: Sequence[str]
) -> dict[str, Measures]:
    """Perform a take; measure it baked with all rules (""), and without each of some."""
    database, settings = loaded.database, loaded.settings
    performance = takes.prepare_performance(
        database, settings, job.script, gait=job.gait, seconds=seconds, seed=job.seed
    )
    live = takes.perform(database, settings, performance)
    played = metrics.measure_frames(takes.find_played_frames(live, database))
    result = {}
    for rule in ("", *rules):
        left_out = (rule,) if rule else ()
        baked = baking.bake_feet(live, database, left_out=left_out)
        result[rule] = measure(baked, live, loaded, played)
    return result


def measure(baked: Take, live: Take, loaded: quality.Loaded, played: quality.Measures) -> Measures:
    """Measure a baked take, beside what was played and before its feet were placed."""
    database, most = loaded.database, played["acceleration_max"]
    told = baking.measure_live(baked, database, loaded.toe_floors, most)
    body = baking.make_body(baked.poses, baked.character, database)
    stood = standing.measure_standing([body], loaded.ankle_floors)
    return {
        "slide": told["foot_skate_from_contacts"],
        "held": told["contacts_locked"],
        "skate": told["foot_skate_from_height"],
        "pops": told["pops"],
        "hardest": told["acceleration_max"] / most,
        "knees": told["knee_rate_max"] / loaded.sources["knee_rate_max"],
        "crossed": max(told["legs_crossed"] - loaded.sources["legs_crossed"], 0.0),
        "heels": stood["standing_heel_up"],
        **_measure_feet(baked, live, database),
    }


def _measure_feet(baked: Take, live: Take, database: Database) -> Measures:
    """Measure how deep feet are, how far they overlap and are off, and what hips do for them."""
    legs = database.derive(measure_character_legs)
    rotations, positions = quat.compute_world(baked.poses, database.skeleton.parents)
    _, before = quat.compute_world(live.unlocked_poses, database.skeleton.parents)
    toes, free = (places[:, [leg.chain[-1] for leg in legs]] for places in (positions, before))
    standing = np.array([leg.toe_height for leg in legs])
    floor = baked.poses[:, 2, 0]
    hips = before[:, database.roles.hips, 2] - positions[:, database.roles.hips, 2]
    change = np.diff(hips, 2) * baked.fps**2
    swings = ~baked.contacts & (free[..., 2] > floor[:, None] + standing)
    off = np.abs(toes[..., 2] - free[..., 2])[swings]
    return {
        "toes": float((standing + floor[:, None] - toes[..., 2]).max()),
        "tips": max((_measure_tip(leg, rotations, positions, floor) for leg in legs), default=0.0),
        "overlap": _measure_overlap(legs, positions),
        "backward": _measure_backward(legs, rotations, positions),
        "hips": float(np.abs(hips).max()),
        "seams": float(np.abs(change).max(initial=0.0)),
        "swings": float(off.mean()) if len(off) else 0.0,
    }


def _measure_tip(
    leg: LegGeometry, rotations: np.ndarray, positions: np.ndarray, floor: np.ndarray
) -> float:
    """Return how deep the tip of a toe is at most below where it is when standing."""
    if leg.tip is None:
        return 0.0
    tip = quat.mul_vec(rotations[:, leg.chain[-1]], np.array(leg.tip))[:, 2]
    return float((leg.tip_height + floor - positions[:, leg.chain[-1], 2] - tip).max())


def _measure_overlap(legs: Sequence[LegGeometry], positions: np.ndarray) -> float:
    """Return by how much two feet are nearer to each other than ever in the data."""
    most = 0.0
    for leg in legs:
        for beside in leg.beside:
            lines = [get_line(each, positions) for each in (leg, legs[beside.leg])]
            apart = np.linalg.norm(measure_nearest(*lines[0], *lines[1]), axis=-1)
            most = max(most, float((beside.apart - apart).max()))
    return most


def _measure_backward(
    legs: Sequence[LegGeometry], rotations: np.ndarray, positions: np.ndarray
) -> float:
    """Return the share of ticks in which any knee is bent backward by more than a degree."""
    bent = np.zeros(len(positions), bool)
    for leg in legs:
        thigh, shin, foot = (positions[:, leg.chain[k]] for k in (leg.thigh, leg.shin, leg.foot))
        hinge = quat.mul_vec(rotations[:, leg.chain[leg.shin]], np.array(leg.hinge))
        across = np.cross(foot - shin, shin - thigh)
        sizes = [np.linalg.norm(way, axis=-1) for way in (foot - shin, shin - thigh)]
        sine = np.sum(across * hinge, axis=-1) / np.maximum(sizes[0] * sizes[1], 1e-12)
        bent |= sine < -np.sin(np.radians(1.0))
    return float(bent.mean())
