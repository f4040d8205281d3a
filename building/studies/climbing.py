"""Perform, bake and direct over ground that rises and falls, and measure feet and body there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.facts.character import measure_character_legs
from motion_matching.engine.ground.ground import Ground
from motion_matching.engine.maths import planar
from motion_matching.engine.maths.along_time import find_runs
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.takes import baking, metrics, takes

from .directing import load_director
from .grounds import GROUNDS, make_performance, make_shot
from .quality import load_set

TAKES = ("live", "baked", "directed")
# metres ahead and behind at which a body looks for ground that rises, and by how much it does
_BESIDE, _RISES = 0.4, 0.05
_CLIMBS = 0.1  # rise per metre from which ground counts as leading up or down
_MOVES = 0.1  # m/s from which a body moves
_CLIMBING = 0.05  # m/s from which a clip climbs, as where speeds of climbs are measured
# share of the way from a toe to its ankle at which the middle of a foot is, and metres by which the
# ground differs there across an edge: a slope of 30 degrees differs by 3 cm
_MIDDLE, _EDGE = 0.4, 0.05
_STEP_OUT = 0.002  # metres between looks for the way out of the ground
_STANCE = 0.1  # seconds: what stands more briefly is no stance


class GroundJob(NamedTuple):
    """A ground of `GROUNDS` to perform on."""

    set: str
    ground: str
    gait: str
    seed: int


@dataclass(frozen=True)
class Traces:
    """What was measured of takes, in metres and seconds, where the ground rises or falls.

    - `heights` (N,) of toes in contact above where they would stand, and `slides` (N,), their
      speeds; `lowest`, the least height of any toe
      anywhere, below 0 by the shortest way out of the ground
    - `edges` (S,): whether the middle of a foot that stands is across an edge
    - `hips` (T,), the accelerations of hips; `leans` (T,), the angles in radians by which trunks lean
      ahead, and `rises` (T,) of the ground per metre, all while the body moves
    - `pops` and the `hardest` acceleration of any bone, anywhere
    - whether frames are of clips that climb, `on_slopes` (T,) and `on_level` (T,)
    """

    heights: np.ndarray
    slides: np.ndarray
    lowest: float
    edges: np.ndarray
    hips: np.ndarray
    leans: np.ndarray
    rises: np.ndarray
    pops: int
    hardest: float
    on_slopes: np.ndarray
    on_level: np.ndarray


def combine(parts: Sequence[Traces]) -> Traces:
    """Return what was measured of several takes as that of one."""
    found: dict[str, object] = {}
    for name in vars(parts[0]):
        values = [getattr(part, name) for part in parts]
        if name == "pops":
            found[name] = sum(values)
        elif name in ("lowest", "hardest"):
            found[name] = min(values) if name == "lowest" else max(values)
        else:
            found[name] = np.concatenate(values)
    return Traces(**found)  # type: ignore[arg-type]


def measure_job(
    job: GroundJob, folder: Path, seconds: float
) -> tuple[GroundJob, dict[str, Traces]]:
    """Perform and bake a take of a set saved in `folder`, and direct one; measure each by its name."""
    path = folder / f"{job.set}.npz"
    return job, {name: measure(*parts) for name, *parts in _make_takes(job, path, seconds)}


def _make_takes(
    job: GroundJob, path: Path, seconds: float
) -> Iterable[tuple[str, Take, Database, float]]:
    """Yield the name of each take, the take, its database, and how hard what it plays is."""
    which, loaded = GROUNDS[job.ground], load_set(path)
    database = loaded.database
    performance = make_performance(which, loaded, job.gait, seconds, job.seed)
    live = takes.perform(database, loaded.settings, performance)
    most = find_most(live, database)
    yield "live", live, database, most
    yield "baked", baking.bake_feet(live, database), database, most
    if which.directed:
        _, director = load_director(path)
        take = director.make(make_shot(which)).take
        yield "directed", take, database, find_most(take, database)


def find_most(take: Take, database: Database) -> float:
    """Return the largest acceleration in m/s² of the frames that a take plays."""
    played = takes.find_played_frames(take, database)
    return float(metrics.measure_frames(played)["acceleration_max"])


def measure(take: Take, database: Database, most: float) -> Traces:
    """Measure a take; pops are against the `most` of the frames played."""
    ground = take.performance.ground
    _, joints = quat.compute_world(take.poses.astype(np.float64), database.skeleton.parents)
    body = baking.make_body(take.poses, take.character, database)
    facing = planar.yaw_to_forward(take.character[:, 2].astype(np.float64))
    rises = measure_rises(ground, take.character[:, :2], facing)
    slopes = find_slopes(ground, take.character[:, :2], facing)
    moves = np.linalg.norm(body.velocity, axis=-1) > _MOVES
    climbs = np.abs(database.climb_rates[take.frames]) > _CLIMBING
    # where nothing rises, as on the flat, all of it is compared
    there = slopes if slopes.any() else np.ones(len(slopes), bool)
    heights = measure_heights(ground, joints, database)
    stands = take.contacts & there[:, None]
    ahead = there & moves
    return Traces(
        heights=heights[stands],
        slides=body.toe_speed[stands],
        lowest=-find_deepest(ground, joints, database),
        edges=find_edges(ground, joints, database, stands, take.fps),
        hips=body.bone_accelerations[ahead, database.roles.hips - 1],
        leans=measure_leans(joints, facing, database)[ahead],
        rises=rises[ahead],
        pops=metrics.measure_pops(body.acceleration, most, take.fps)["pops"],
        hardest=float(body.acceleration.max()),
        on_slopes=climbs[slopes],
        on_level=climbs[~slopes],
    )


def look(ground: Ground, points: np.ndarray) -> np.ndarray:
    """Return the heights (...) of the ground at points (..., 2)."""
    rows = points.reshape(-1, 2).tolist()
    return np.array([ground.height(x, y) for x, y in rows]).reshape(points.shape[:-1])


def measure_heights(ground: Ground, joints: np.ndarray, database: Database) -> np.ndarray:
    """Return the heights (T, L) of toes above where they would stand, of joints (T, B, 3)."""
    toes = joints[:, [leg.toe for leg in database.roles.legs]]
    standing = np.array([leg.toe_height for leg in database.derive(measure_character_legs)])
    return toes[..., 2] - look(ground, toes[..., :2]) - standing


def find_deepest(ground: Ground, joints: np.ndarray, database: Database) -> float:
    """Return how deep in metres any toe of joints (T, B, 3) is in the ground, by the shortest way out.

    Beside a riser that way is level: a toe a centimetre behind it is a centimetre deep.
    """
    heights, deepest = measure_heights(ground, joints, database), 0.0
    turns = np.arange(0.0, 2.0 * np.pi, np.pi / 4.0)
    around = np.column_stack([np.cos(turns), np.sin(turns)])
    for tick, leg in np.argwhere(heights < -_STEP_OUT).tolist():
        own, toe = heights[tick, leg], joints[tick, database.roles.legs[leg].toe]
        level = toe[2] - own - ground.height(toe[0], toe[1])  # of a toe that stands
        for way in np.arange(_STEP_OUT, -own, _STEP_OUT):
            if (look(ground, toe[:2] + way * around) + level <= toe[2]).any():
                own = -way
                break
        deepest = max(deepest, -own)
    return deepest if deepest else -float(heights.min())


def find_edges(
    ground: Ground, joints: np.ndarray, database: Database, stands: np.ndarray, fps: float
) -> np.ndarray:
    """Return for each time (S,) that a foot stands whether an edge is under its middle.

    Joints are (T, B, 3), `stands` (T, L). The foot counts in the middle of that time.
    """
    found = []
    for leg, own in zip(database.roles.legs, stands.T, strict=True):
        for start, stop in find_runs(own).tolist():
            if stop - start >= _STANCE * fps:
                toe, ankle = joints[(start + stop) // 2, [leg.toe, leg.foot], :2]
                ends = np.array([toe, toe + _MIDDLE * (ankle - toe)])
                found.append(bool(np.ptp(look(ground, ends)) > _EDGE))
    return np.array(found, bool)


def measure_rises(ground: Ground, points: np.ndarray, facing: np.ndarray) -> np.ndarray:
    """Return how far the ground rises per metre (T,) around points (T, 2), ahead (T, 2)."""
    behind, ahead = (look(ground, points + off * facing) for off in (-_BESIDE, _BESIDE))
    return (ahead - behind) / (2.0 * _BESIDE)


def find_slopes(ground: Ground, points: np.ndarray, facing: np.ndarray) -> np.ndarray:
    """Return whether the ground rises or falls (T,) near points (T, 2), ahead (T, 2) or behind."""
    here = look(ground, points)
    off = [np.abs(look(ground, points + by * facing) - here) for by in (-_BESIDE, _BESIDE)]
    return np.maximum(*off) > _RISES


def measure_leans(joints: np.ndarray, facing: np.ndarray, database: Database) -> np.ndarray:
    """Return by which angles (T,) the trunks of joints (T, B, 3) lean ahead (T, 2)."""
    trunk = joints[:, database.roles.spine] - joints[:, database.roles.hips]
    return np.arctan2(np.sum(trunk[:, :2] * facing, axis=-1), trunk[:, 2])


def select_leans(traces: Traces, sign: float) -> np.ndarray:
    """Return the leans where the ground leads up, with a sign of 1, down (-1) or on the level (0)."""
    up = sign * traces.rises > _CLIMBS if sign else np.abs(traces.rises) <= _CLIMBS
    return traces.leans[up]
