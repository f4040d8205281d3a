"""Perform takes of sets, gaits, scripts and methods, and measure their motion."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from motion_matching.engine.control import rollout
from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database import database as databases
from motion_matching.engine.database.database import Database
from motion_matching.engine.field.field_controller import FieldController
from motion_matching.engine.field.states.neighbours import Metric
from motion_matching.engine.field.states.tasks import TASK_NAMES, make_tasks
from motion_matching.engine.field.training.quality import QUALITIES
from motion_matching.engine.field.training.training import Training
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.engine.progress import ReportProgress
from motion_matching.engine.takes import baking, metrics, takes
from motion_matching.engine.takes.bodies import BodyMotion

from . import standing
from .sets import SETS

GAITS = ("walk", "run")
SCRIPTS = ("random", "turns")
METHODS = ("matching", "field")
TRAINING = "quick"
_PATH_SECONDS = 60.0  # after which the distance to the desired path is counted anew
_CROUCHED = 0.75
_LEAST_STANDING = 5.0  # seconds of standing in a take for how it stands to be told

Measures = dict[str, Any]


class Job(NamedTuple):
    """A take to measure."""

    set: str
    gait: str
    script: str
    method: str
    seed: int

    @property
    def row(self) -> tuple[str, str, str, str]:
        """What takes of all seeds have in common."""
        return self[:4]


class Loaded(NamedTuple):
    """A set's database, and what its sources measure."""

    database: Database
    settings: PerformerSettings
    toe_floors: np.ndarray
    ankle_floors: np.ndarray
    hips_height: float
    sources: Measures


def train_field(database: Database, path: Path, progress: ReportProgress | None = None) -> None:
    """Train a motion field on a database as the command line does, and save it."""
    training, directions = QUALITIES[TRAINING]
    fastest = takes.make_default_settings(database).steering.run.forward
    tasks = make_tasks(TASK_NAMES, fastest, directions=directions)
    field = Training(database, Metric.from_database(database), tasks, training, progress)
    field.run(progress)
    field.save(path)


@lru_cache(maxsize=2)  # takes of one set follow each other
def load_set(path: Path) -> Loaded:
    """Load the database of a set, and measure its sources."""
    return measure_sources(databases.load(path))


def measure_sources(database: Database) -> Loaded:
    """Measure the sources of a database."""
    bodies, contacts = takes.make_source_bodies(database)
    floors, ankles = metrics.measure_toe_floors(bodies), standing.measure_ankle_floors(bodies)
    sources = metrics.measure_clips(bodies, contacts, floors)
    hips = np.concatenate([_get_hips_heights(body, database) for body in bodies])
    height = float(np.median(hips))
    sources |= standing.measure_standing(bodies, ankles) | _measure_crouching(hips, height)
    settings = takes.make_default_settings(database)
    return Loaded(database, settings, floors, ankles, height, sources)


def _get_hips_heights(body: BodyMotion, database: Database) -> np.ndarray:
    """Return the heights (F,) of the hips of a body, which lacks the simulation bone."""
    return body.positions[:, database.roles.hips - 1, 2]


def _measure_crouching(hips: np.ndarray, median: float) -> Measures:
    """Return the share of heights (F,) of the hips below three quarters of their median."""
    return {"crouched": float((hips < _CROUCHED * median).mean())}


def measure_job(job: Job, folder: Path, seconds: float) -> tuple[Job, Measures]:
    """Perform a take of a set saved in `folder`, bake its feet, and measure both."""
    started = time.perf_counter()
    loaded = load_set(folder / f"{job.set}.npz")
    field = folder / f"{job.set}_field.npz"
    controller = FieldController.load(field, loaded.database) if job.method == "field" else None
    measures = measure(loaded, job, seconds, controller)
    return job, measures | {"spent": time.perf_counter() - started}


def measure(
    loaded: Loaded, job: Job, seconds: float, controller: FieldController | None = None
) -> Measures:
    """Perform a take with a field, or else by matching, bake its feet, and measure both."""
    database, settings = loaded.database, loaded.settings
    if controller:
        settings = settings.with_changes(controller.settings)
    performance = takes.prepare_performance(
        database, settings, job.script, gait=job.gait, seconds=seconds, seed=job.seed
    )
    if controller:
        performance = controller.adapt_performance(performance)
    live = takes.perform(database, settings, performance, controller=controller or MotionMatching)
    measures = measure_live(live, loaded)
    most = measures["played"]["acceleration_max"]
    return measures | {"baked": _measure_body(baking.bake_feet(live, database), loaded, most)}


def measure_live(take: Take, loaded: Loaded) -> Measures:
    """Measure a take as performed."""
    played = takes.measure_played(take, loaded.database)
    return {
        "seconds": take.frame_count / take.fps,
        "sources": loaded.sources,
        "played": played,
        "live": _measure_body(take, loaded, played["acceleration_max"]),
        **_measure_following(take, loaded),
    }


def _measure_body(take: Take, loaded: Loaded, most: float) -> Measures:
    """Measure the motion of a take; pops are against the `most` of the frames played."""
    body = baking.make_body(take.poses, take.character, loaded.database)
    return {
        **baking.measure_live(take, loaded.database, loaded.toe_floors, most),
        **standing.measure_standing([body], loaded.ankle_floors),
        **_measure_crouching(_get_hips_heights(body, loaded.database), loaded.hips_height),
        "acceleration_p99": float(np.percentile(body.acceleration, 99)),
    }


def _measure_following(take: Take, loaded: Loaded) -> Measures:
    """Measure how soon a take answers turns, its share of the speed, and its way off the path."""
    body = baking.make_body(take.poses, take.character, loaded.database)
    reachable, desired = takes.find_reachable_speeds(take, loaded.database), take.desired_velocity
    speed = np.linalg.norm(desired, axis=1)
    steady = metrics.find_steady_ticks(desired, take.fps)
    along = np.sum(body.velocity * desired, axis=1)[steady] / speed[steady]
    return {
        "answers": metrics.measure_response_times(
            body.velocity, desired, take.desired_yaw, reachable, take.fps
        ),
        "speed": float(along.mean() / np.minimum(speed, reachable)[steady].mean()),
        "path": measure_path(take),
        "freezes": metrics.count_freezes(body.velocity, desired, take.fps),
    }


def measure_path(take: Take) -> float:
    """Return the mean distance in metres to where the goals lead an object that never waits.

    That object begins where the take's is, anew each minute.
    """
    ideal = rollout.simulate(take.performance, take.performer_settings, take.fps)[:, :2]
    ticks = np.arange(take.frame_count)
    begun = ticks - ticks % round(_PATH_SECONDS * take.fps)
    waited = (take.simulation[:, :2] - ideal)[begun]
    return float(np.linalg.norm(take.character[:, :2] - ideal - waited, axis=1).mean())


# ---------------------------------------------------------------- takes of all seeds together

_SKATES = {
    "height": "foot_skate_from_height",
    "contacts": "foot_skate_from_contacts",
    "ratio": "foot_skate_ratio",
    "max_vel": "foot_skate_max_vel",
    "mann": "foot_slide_mann",
    "crossed": "legs_crossed",
}
_SLIPS = {"slips": "slips_per_minute", "slip_way": "slip_way"}  # fmt: skip
_FEET = ("live", "baked")


def combine(measured: Sequence[Measures]) -> Measures:
    """Combine takes of several seeds: the mean, or the most of what should never happen."""
    minutes = sum(take["seconds"] for take in measured) / 60.0
    answers = [second for take in measured for second in take["answers"]]
    row: Measures = {
        "answer": float(np.median(answers)) if answers else None,
        "turns": len(answers),
        **{name: _average(take[name] for take in measured) for name in ("speed", "path")},
        "freezes": sum(take["freezes"] for take in measured),
        "acceleration_p99": _average(take["live"]["acceleration_p99"] for take in measured),
        "acceleration_played": max(take["played"]["acceleration_max"] for take in measured),
    }
    for kind in (*_FEET, "played", "sources"):
        for name, measure in _SKATES.items():
            row[f"{name}_{kind}"] = _average(take[kind][measure] for take in measured)
    for kind in (*_FEET, "played"):
        for name, measure in _SLIPS.items():
            row[f"{name}_{kind}"] = _average(take[kind][measure] for take in measured)
    for kind in ("live", "sources"):
        row[f"crouched_{kind}"] = _average(take[kind]["crouched"] for take in measured)
    for kind in (*_FEET, "sources"):
        stood = [take[kind] for take in measured]
        stood = [take for take in stood if take["standing_seconds"] >= _LEAST_STANDING]
        row[f"apart_{kind}"] = _average(take["standing_feet_apart"] for take in stood)
        row[f"heel_{kind}"] = _average(take["standing_heel_up"] for take in stood)
    for kind in _FEET:
        row |= {
            f"pops_{kind}": 10.0 / minutes * sum(take[kind]["pops"] for take in measured),
            f"held_{kind}": _average(take[kind]["contacts_locked"] for take in measured),
            f"acceleration_{kind}": max(take[kind]["acceleration_max"] for take in measured),
            f"knees_{kind}": max(
                take[kind]["knee_rate_max"] / take["sources"]["knee_rate_max"] for take in measured
            ),
        }
    row["baked_to_live"] = max(
        take["baked"][_SKATES[name]] / max(take["live"][_SKATES[name]], 1e-9)
        for take in measured
        for name in ("height", "contacts")
    )
    return row


def combine_rows(results: dict[Job, Measures]) -> dict[tuple[str, str, str, str], Measures]:
    """Combine the takes of each row; a field's knows the acceleration of matching."""
    rows: dict[tuple[str, str, str, str], list[Measures]] = {}
    for job in sorted(results, key=_get_order):
        rows.setdefault(job.row, []).append(results[job])
    combined = {row: combine(measured) for row, measured in rows.items()}
    for (*which, method), measures in combined.items():
        matching = combined.get((*which, "matching"))
        measures["acceleration_to_matching"] = (
            measures["acceleration_p99"] / matching["acceleration_p99"]
            if method == "field" and matching
            else None
        )
    return combined


def _get_order(job: Job) -> tuple[Any, ...]:
    """Sort sets as they are listed, a set's walks before its runs, and matching before fields."""
    return (
        list(SETS).index(job.set),
        GAITS.index(job.gait),
        SCRIPTS.index(job.script),
        METHODS.index(job.method),
        job.seed,
    )


def _average(values: Iterable[float]) -> float | None:
    """Return the mean of values, None of none."""
    listed = list(values)
    return float(np.mean(listed)) if listed else None
