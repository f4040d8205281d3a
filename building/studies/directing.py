"""Direct seeded shots, perform the same with the causal controller, and measure both."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database import database as databases
from motion_matching.engine.direct.director import Directed, Director
from motion_matching.engine.direct.footage.footage import make_footage
from motion_matching.engine.direct.footage.jump_table import load_or_build_table
from motion_matching.engine.direct.outcomes import report_path
from motion_matching.engine.direct.shot.shot import Shot
from motion_matching.engine.maths import planar
from motion_matching.engine.performance.intent import FuturePath, Intent
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.takes import baking, metrics, takes

from . import quality
from .quality import Loaded, Measures
from .shots import make_marks_shot, make_path_shot

KINDS = ("marks", "path")
_AHEAD = (0.0, 0.25, 0.5, 0.75, 1.0)  # seconds that the causal controller is told of


class ShotJob(NamedTuple):
    """A shot to measure."""

    set: str
    kind: str
    number: int


@lru_cache(maxsize=2)
def load_director(path: Path) -> tuple[Loaded, Director]:
    """Load the database of a set with what is needed to direct it."""
    database = databases.load(path)
    footage = make_footage(database)
    table = load_or_build_table(footage, path.with_suffix(".jumps.npz"))
    return quality.measure_sources(database), Director(footage, table)


def make_shot(job: ShotJob, director: Director) -> Shot:
    """Return the shot of a job."""
    if job.kind == "path":
        return make_path_shot(director.settings, job.number)
    return make_marks_shot(director.footage, director.settings, job.number)


def measure_shot_job(job: ShotJob, folder: Path) -> tuple[ShotJob, Measures]:
    """Direct and perform the shot of a job, with the set's database in `folder`."""
    loaded, director = load_director(folder / f"{job.set}.npz")
    return job, measure_shot(loaded, director, make_shot(job, director))


def measure_shot(loaded: Loaded, director: Director, shot: Shot) -> Measures:
    """Direct a shot, and perform it with the causal controller; measure both."""
    started = time.process_time()
    solved = director.direct(shot)
    done = director.finish(solved)
    spent = time.process_time() - started
    causal = perform_causally(loaded, solved, shot)
    return {
        "seconds": shot.seconds,
        "cpu": spent,
        "report": done.report,
        "direct": _measure_take(done.take, solved.take, shot, loaded),
        "causal": _measure_take(baking.bake_feet(causal, loaded.database), causal, shot, loaded),
    }


def perform_causally(loaded: Loaded, solved: Directed, shot: Shot) -> Take:
    """Return the take of the causal controller that is told the same way as it comes."""
    database, size = loaded.database, loaded.database.scale.length
    way = solved.guide.way * [size, size, 1.0]
    last, steps = len(way) - 1, [round(seconds * database.fps) for seconds in _AHEAD]
    times = tuple(step / database.fps for step in steps)
    gaits = np.zeros(len(way))
    for begin, gait in shot.list_gaits():
        gaits[round(begin * database.fps) :] = float(gait == "run")
    intents = []
    for tick in range(len(way)):
        ahead = way[[min(tick + step, last) for step in steps]]
        path = FuturePath(
            times, tuple(map(tuple, ahead[:, :2].tolist())), tuple(ahead[:, 2].tolist())
        )
        intents.append(Intent(path=path, gait=float(gaits[tick])))
    performance = Performance(
        "causal", database.fps, tuple(intents), shot.position, shot.facing, settings={}
    )
    return takes.perform(database, loaded.settings, performance)


def _measure_take(baked: Take, live: Take, shot: Shot, loaded: Loaded) -> Measures:
    database = loaded.database
    played = metrics.measure_frames(takes.find_played_frames(live, database))
    seconds = live.frame_count / live.fps
    prices = live.prices[np.isfinite(live.prices)]
    ticks = [min(round(mark.time * live.fps), live.frame_count - 1) for mark in shot.marks]
    result: Measures = {
        "played": played,
        "baked": baking.measure_live(
            baked, database, loaded.toe_floors, played["acceleration_max"]
        ),
        "sources": loaded.sources,
        "jumps": float(live.jumped.sum()) / seconds,
        "price": float(prices.sum()) / seconds,
    }
    if ticks:
        places = np.array([mark.position for mark in shot.marks])
        yaws = np.array([mark.facing for mark in shot.marks])
        away = live.character[ticks]
        result["place"] = np.linalg.norm(away[:, :2] - places, axis=1).tolist()
        result["heading"] = np.abs(planar.wrap(away[:, 2] - yaws)).tolist()
    if shot.paths:
        result["path"] = report_path(live, shot.paths[0])
    return result
