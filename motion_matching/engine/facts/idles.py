"""Find idles: runs of frames in which a character of a database simply stands.

Its root hardly moves or turns, all feet are on the ground, it is upright and calm, and its feet are
no farther apart than usual for standing. So neither a wave nor a crouch on the spot is an idle.
Without any idle, poses are found that a character can hold instead.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from ..control.life.idling import Idles
from ..database.database import Database
from ..legs.legs import LegGeometry
from ..maths.along_time import find_runs
from ..motion.rest import AT_REST
from .character import measure_character_legs
from .numbers import NUMBERS
from .stances import StanceScore, compute_joints, find_followed, measure_calmness


def find_standing(database: Database) -> Annotated[np.ndarray, np.bool_, ("N",)]:
    """Return the frames (N,) in which the character simply stands, whatever their tags."""
    legs = database.derive(measure_character_legs)
    frames = np.flatnonzero(_find_resting(database))
    joints = compute_joints(database, frames)
    result = np.zeros(database.frame_count, bool)
    result[frames[_find_ordinary(database, legs, frames, joints)]] = True
    return result


def find_idle_runs(database: Database) -> np.ndarray:
    """Return the first frame of each run in which the body stands, and that after its last (R, 2).

    Any standing pose counts, even a T-pose, which is no idle.
    """
    if (stored := database.get_fact("idle_runs")) is not None and len(stored) % 2 == 0:
        runs = stored.astype(np.int64)
        if np.array_equal(runs, stored.clip(0, database.frame_count)):
            return runs.reshape(-1, 2)
    return _find_long_runs(database, database.derive(find_standing) & find_followed(database))


def _find_long_runs(database: Database, fits: np.ndarray) -> np.ndarray:
    """Return the runs (R, 2) of frames that fit (N,) that are long enough to be played."""
    # with a gap before each clip, so that no run goes on into the next one
    gaps = np.arange(len(database.starts))
    parted = np.zeros(len(fits) + len(gaps), bool)
    parted[np.arange(len(fits)) + database.range_of_frame + 1] = fits
    runs = find_runs(parted)
    runs = runs - np.searchsorted(database.starts + gaps, runs[:, :1], side="right")
    lengths = runs[:, 1] - runs[:, 0]
    return runs[lengths >= NUMBERS.shortest_idle * database.pace * database.fps]


def find_idles(database: Database) -> Idles:
    """Return the idles of a database, or the poses to hold if it has too little of them."""
    runs = _find_played_runs(database)
    if not len(runs):
        stances = database.derive(StanceScore).list_best(NUMBERS.held_cost, database)
        none = np.full(len(stances), -1)
        return _describe_idles(database, runs, stances, none, np.zeros(len(stances)))
    return _make_idles(database, runs)


def _find_played_runs(database: Database) -> np.ndarray:
    """Return the runs (R, 2) in which the body stands at ease; none if they are too short."""
    fits = np.zeros(database.frame_count, bool)
    for start, stop in database.derive(find_idle_runs).tolist():
        fits[start:stop] = True
    frames = np.flatnonzero(fits)
    looked_at, places = np.unique(_find_looked_at(database, frames), return_inverse=True)
    costs = database.derive(StanceScore).rate_frames(looked_at)[places]
    fits[frames] = costs <= database.derive(StanceScore).find_least(database) + NUMBERS.played_cost
    runs = _find_long_runs(database, fits)
    seconds = np.ptp(runs, axis=1).sum() / database.fps
    return runs if seconds >= NUMBERS.least_idling * database.pace else runs[:0]


def _find_looked_at(database: Database, frames: np.ndarray) -> np.ndarray:
    """Return for each frame the sample (F,) that represents it: idles change slowly."""
    step = max(round(NUMBERS.idle_looks_every * database.pace * database.fps), 1)
    return np.maximum(frames - frames % step, database.starts[database.range_of_frame[frames]])


def find_settling_frames(database: Database) -> np.ndarray:
    """Return the frames (N,) of all idles, and frames that lead to one within a second."""
    idles = database.derive(find_idles)
    result = np.zeros(database.frame_count, bool)
    lead = round(NUMBERS.idle_lead * database.fps)
    first = database.starts[database.range_of_frame[idles.starts]]
    for start, stop in zip(np.maximum(idles.starts - lead, first), idles.stops, strict=True):
        result[start:stop] = True
    return result


def find_moving_frames(database: Database) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the frames (N,) at which the body moves: now, in half a second, and in a second."""
    moves = _find_moves(database)
    last = database.stops[database.range_of_frame] - 1
    frames = np.arange(len(moves))
    soon, later = (
        moves[np.minimum(frames + round(seconds * database.fps), last)]
        for seconds in (0.5 * NUMBERS.idle_lead, NUMBERS.idle_lead)
    )
    return moves, soon, later


def _find_moves(database: Database) -> np.ndarray:
    """Return the frames (N,) whose root goes or turns faster than that of a standing body."""
    motion = database.root_motion
    pace = database.pace
    goes = np.hypot(motion[:, 0], motion[:, 1]) >= AT_REST.speed * pace
    return goes | (np.abs(motion[:, 2]) >= AT_REST.turn / pace)


def _find_resting(database: Database) -> np.ndarray:
    """Return the frames (N,) that hardly move and turn, and that two others follow.

    With clips on level ground, climbing ones are ignored: they do not show how a body stands.
    """
    after = database.followers
    fits = (after >= 0) & (after[after] >= 0) & database.level
    moves = _find_moves(database)
    ranges = database.range_of_frame
    result = fits & ~moves
    for later in range(1, round(NUMBERS.idle_apart * database.pace * database.fps) + 1):
        same = ranges[later:] == ranges[:-later]
        result[:-later] &= ~(moves[later:] & same)
        result[later:] &= ~(moves[:-later] & same)
    return result


def _find_ordinary(
    database: Database, legs: tuple[LegGeometry, ...], frames: np.ndarray, joints: np.ndarray
) -> np.ndarray:
    """Return which of the frames (F,) show a calm, ordinary stance by their joints (F, B, 3)."""
    if not len(frames):
        return np.zeros(0, bool)
    feet = joints[:, [leg.foot for leg in database.roles.legs]]
    every = max(database.frame_count // NUMBERS.most_frames, 1)
    hips = compute_joints(database, np.arange(0, database.frame_count, every))
    usual = np.median(hips[:, database.roles.hips, 2])
    result = joints[:, database.roles.hips, 2] > NUMBERS.upright * usual
    result &= measure_calmness(database, frames) < AT_REST.bones * database.pace
    low = feet[..., 2] < np.array([leg.foot_height for leg in legs]) + AT_REST.heel
    stances = np.all([np.asarray(database.contacts)[frames], low], axis=2)
    for stands in stances:
        # a creature that mostly stands with a heel up may do so here
        if stands[result].sum() > 0.5 * result.sum():
            result &= stands
    apart = np.linalg.norm(np.ptp(feet[..., :2], axis=1), axis=-1)
    if result.any():
        result &= apart <= np.percentile(apart[result], NUMBERS.feet_apart) + NUMBERS.feet_margin
    return result


def _make_idles(database: Database, runs: np.ndarray) -> Idles:
    """Describe the runs (R, 2) of frames, and where they may be entered."""
    able = database.find_candidates(0.0)
    counts = runs[:, 1] - runs[:, 0]
    of_run = np.repeat(np.arange(len(runs)), counts)
    frames = np.concatenate([np.arange(a, b) for a, b in runs.tolist()] or [np.zeros(0, int)])
    seconds = (runs[of_run, 1] - frames) / database.fps
    kept = np.flatnonzero(able[frames] & (seconds >= NUMBERS.shortest_idle * database.pace))
    kept = kept[:: max(-(-len(kept) // NUMBERS.most_frames), 1)]
    return _describe_idles(database, runs, frames[kept], of_run[kept], seconds[kept])


def _find_start(database: Database, runs: np.ndarray, entries: np.ndarray) -> int:
    """Return the calmest idle frame with about the best stance, or the first pose to hold."""
    if not len(runs):
        return int(entries[0]) if len(entries) else -1
    able = database.find_candidates(0.0)
    idle = np.zeros(database.frame_count, bool)
    for start, stop in runs.tolist():
        idle[start:stop] = True
    idle[idle] = _find_looked_at(database, np.flatnonzero(idle)) == np.flatnonzero(idle)
    frames = np.flatnonzero(able & idle) if (able & idle).any() else np.flatnonzero(idle)
    costs = database.derive(StanceScore).rate_frames(frames)
    frames = frames[costs <= costs.min() + NUMBERS.started_cost]
    vx, vy, turn = database.root_motion[frames].astype(np.float32).T
    return int(frames[np.argmin(vx**2 + vy**2 + AT_REST.turn_price * turn**2)])


def _describe_idles(
    database: Database,
    runs: np.ndarray,
    entries: np.ndarray,
    of_run: np.ndarray,
    seconds: np.ndarray,
) -> Idles:
    """Return the idles with these runs (R, 2) and entries (E,), each of a run or of none (-1)."""
    return Idles(
        runs[:, 0],
        runs[:, 1],
        entries,
        of_run,
        seconds.astype(np.float32),
        database.derive(StanceScore).compute_joints(entries)[:, 1:],
        _weigh_bones(database),
        database.pace,
        _find_start(database, runs, entries),
        _lead_on(database, runs),
    )


def _lead_on(database: Database, runs: np.ndarray) -> bool:
    """Return whether the body sets off within a second of one of the runs (R, 2)."""
    moves = np.hypot(database.root_motion[:, 0], database.root_motion[:, 1])
    moves = moves > AT_REST.moving * database.pace
    last = database.stops[database.range_of_frame[runs[:, 0]]]
    until = np.minimum(runs[:, 1] + round(NUMBERS.idle_lead * database.fps), last)
    return any(moves[a:b].any() for a, b in zip(runs[:, 1], until, strict=True))


def _weigh_bones(database: Database) -> np.ndarray:
    """Return the weight of each bone but the first in comparisons, 1 in sum: half for feet."""
    count = database.skeleton.bone_count
    weights = np.full(count, (1.0 - NUMBERS.feet_share) / (count - 1))
    feet = list({bone for leg in database.roles.legs for bone in (leg.foot, leg.toe)})
    weights[feet] += NUMBERS.feet_share / max(len(feet), 1)
    return weights[1:].astype(np.float32)
