"""Collect a shot's requests to the search: frames, gaits, tags, poses, and forbidden jumps."""

from __future__ import annotations

import numpy as np

from ...database.frame_names import find_frame
from ...facts.avoided_postures import find_odd_frames
from ...maths.easing import smoothstep
from ...performance.settings import PerformerSettings, Search
from ..footage.footage import Footage
from ..limbs.body_parts import find_leaders, get_part_places
from ..limbs.mark_poses import find_pose, measure_frames
from ..numbers import NUMBERS
from ..objective import COSTS
from ..obstacles.heights import compute_heights
from ..obstacles.obstruction import Obstruction
from ..shot.mark import HIPS, Mark
from ..shot.shot import Shot
from .aims import PartAim
from .beam import Barred, Dislike, Wanted
from .guide import Guide


def collect_wishes(
    shot: Shot,
    guide: Guide,
    footage: Footage,
    settings: PerformerSettings,
    obstruction: Obstruction | None,
) -> Wanted:
    """Return the requests of a shot to the search."""
    fps = guide.fps
    database = footage.database
    frames = {
        round(mark.time * fps): find_frame(database, mark.frame)
        for mark in shot.marks
        if mark.frame is not None and round(mark.time * fps) > 0
    }
    barred = []
    for jump in shot.forbidden:
        leaves, enters = (_get_surroundings(at, footage) for at in (jump.source, jump.target))
        barred.append(Barred(leaves, enters, round(jump.start * fps), round(jump.stop * fps) + 1))
    kept = {}
    for required in shot.kept:
        source, target = (find_frame(database, at) for at in (required.source, required.target))
        kept[round(required.time * fps)] = source + 1, target
    parts = []
    for mark in _list_leading_parts(shot):
        if mark.position is not None:
            places = get_part_places(footage, mark.part)[:, :2]
            parts.append(PartAim(round(mark.time * fps), mark.position, places))
    return Wanted(
        frames,
        _rate_frames(shot, footage, settings),
        _weigh_gaits(shot, guide, footage),
        _make_noise(shot.seed, footage),
        barred,
        kept,
        climbs=_find_climbs(shot, guide, footage),
        obstruction=obstruction,
        poses=_rate_poses(shot, guide, footage),
        parts=parts,
    )


def _find_climbs(shot: Shot, guide: Guide, footage: Footage) -> np.ndarray | None:
    """Return the rise (T,) of the ground along the guide in m/s; None if no clip climbs."""
    if footage.climb is None:
        return None
    heights = compute_heights(shot.floor, guide.way[:, :2], NUMBERS.gait_window * guide.fps)
    return np.asarray(np.gradient(heights) * guide.fps)


def _list_leading_parts(shot: Shot) -> list[Mark]:
    """Return the marks of parts that lead the character; others only bend limbs."""
    led = find_leaders(shot)
    return [mark for i, mark in enumerate(shot.marks) if mark.is_of_part and i not in led]


def _rate_poses(shot: Shot, guide: Guide, footage: Footage) -> dict[int, np.ndarray]:
    """Return costs of frames (N,) by tick: of joints away from poses, and of limbs from heights."""
    result: dict[int, np.ndarray] = {}
    for mark in shot.marks:
        if mark.pose is not None:
            result[round(mark.time * guide.fps)] = COSTS.pose * _measure_pose(mark, footage)
    for mark in _list_leading_parts(shot):
        if mark.is_limb and mark.height is not None:
            tick = round(mark.time * guide.fps)
            away = np.abs(get_part_places(footage, mark.part)[:, 2] - mark.height)
            result[tick] = result.get(tick, 0.0) + COSTS.part_height * away
    return result


def _measure_pose(mark: Mark, footage: Footage) -> np.ndarray:
    """Return the distances (N,) of frames from a mark's pose, once. Raises as `find_pose`."""
    known = footage.pose_costs
    pose = find_pose(footage.database, mark)
    assert pose is not None
    assert mark.pose is not None
    if mark.pose not in known:
        if len(known) >= NUMBERS.poses_kept:
            del known[next(iter(known))]
        known[mark.pose] = measure_frames(pose, footage)
    return known[mark.pose]


def _get_surroundings(frame: str, footage: Footage) -> tuple[int, int]:
    """Return the first frame, and the one after the last, around a frame of a clip."""
    database = footage.database
    around = round(NUMBERS.forbidden_around * footage.fps)
    at = find_frame(database, frame)
    clip = database.range_of_frame[at]
    start, stop = int(database.starts[clip]), int(database.stops[clip])
    return max(at - around, start), min(at + around + 1, stop)


def _make_noise(seed: int, footage: Footage) -> np.ndarray | None:
    """Return the noise (N,) that a seed adds to the price of entering frames; none for seed 0."""
    if not seed:
        return None
    piece = max(round(NUMBERS.seed_piece * footage.fps), 1)
    count = footage.frame_count
    noise = np.random.default_rng(seed).uniform(0.0, COSTS.seed, -(-count // piece))
    return np.repeat(noise, piece)[:count]


def _rate_frames(shot: Shot, footage: Footage, settings: PerformerSettings) -> list[Dislike]:
    """Return the costs of other gaits and of frames without tags, by the tick they begin."""
    share = _smooth(footage.speed, footage.fps) / footage.database.walk_to_run
    none = np.zeros(footage.frame_count)
    has_run = settings.steering.can_run
    costs = {
        "walk": COSTS.gait * np.clip(COSTS.runs_above * (share - 1.0), 0.0, 1.0),
        "run": COSTS.gait * np.clip(1.0 - share, 0.0, 1.0) if has_run else none,
    }
    gaits = dict(shot.list_gaits())
    tags = dict(shot.list_tags())
    unasked = _rate_low_hips(footage) + COSTS.odd * _find_odd_frames(footage, settings.search)
    result = []
    gait = shot.gait
    wanted = frozenset[str]()
    for time in sorted({*gaits, *tags}):
        gait = gaits.get(time, gait)
        wanted = tags.get(time, wanted)
        lacking = COSTS.tag * ~footage.database.make_tag_mask(wanted) if wanted else unasked
        result.append(Dislike(round(time * footage.fps), costs[gait], lacking))
    return result


def _find_odd_frames(footage: Footage, search: Search) -> np.ndarray:
    """Return the frames (N,) of odd postures, if these are to be avoided."""
    if search.posture_weight > 0.0:
        return footage.database.derive(find_odd_frames)
    return np.zeros(footage.frame_count, bool)


def _rate_low_hips(footage: Footage) -> np.ndarray:
    """Return the cost (N,) of frames per second for hips lower than in most others."""
    heights = get_part_places(footage, HIPS)[:, 2].astype(np.float64)
    usual = max(float(np.median(heights)), 1e-6)
    low = (NUMBERS.upright - heights / usual) / (NUMBERS.upright - NUMBERS.crouched)
    return np.asarray(COSTS.low_hips * np.clip(low, 0.0, 1.0))


def _weigh_gaits(shot: Shot, guide: Guide, footage: Footage) -> np.ndarray:
    """Return the weight of gaits (T,): little where marks need the other gait's speed."""
    steps = np.diff(guide.way[:, :2], axis=0, append=guide.way[-1:, :2])
    speed = np.linalg.norm(steps, axis=1) * guide.fps
    share = _smooth(speed, guide.fps) / footage.database.walk_to_run
    result = np.zeros(len(share))
    for time, gait in shot.list_gaits():
        first = round(time * guide.fps)
        if gait == "run":
            counts = smoothstep((share - NUMBERS.run_from) / NUMBERS.gait_fades)
        else:
            counts = 1.0 - smoothstep((share - NUMBERS.walk_until) / NUMBERS.gait_fades)
        result[first:] = counts[first:]
    return result


def _smooth(values: np.ndarray, fps: float) -> np.ndarray:
    width = 2 * round(NUMBERS.gait_window * fps) + 1
    padded = np.pad(values, width // 2, mode="edge")
    return np.convolve(padded, np.full(width, 1.0 / width), mode="valid")
