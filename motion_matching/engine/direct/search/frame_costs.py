"""What a shot asks of the search besides its guide: frames, gaits, tags, and what is forbidden."""

from __future__ import annotations

import numpy as np

from ...database.frame_names import find_frame
from ...facts.avoided_postures import find_odd_frames
from ...maths.easing import smoothstep
from ...performance.settings import PerformerSettings
from ..footage.footage import Footage
from ..limbs.body_parts import find_leaders, get_part_places
from ..limbs.mark_poses import find_pose, measure_frames
from ..obstacles.heights import compute_heights
from ..obstacles.obstruction import Obstruction
from ..shot.shot import HIPS, Mark, Shot
from .aims import PartAim
from .beam import Barred, Dislike, Wanted
from .guide import Guide

_GAIT = 0.15  # metre-seconds a second that the other gait costs
_TAGGED = 0.5  # and frames without the tags that are asked for
# and hips that are low, where no tags are asked for: by shares of their usual height, from which on
# they begin to be, and are. Data of one who walks and crouches would be left crouching
_LOW, _UPRIGHT, CROUCHED = 0.1, 0.9, 0.75
_ODD = 0.5  # and odd postures, where no tags are asked for: as frames that lack a tag
_SMOOTH = 0.25  # seconds on both sides over which a gait's speed is averaged
_FORBIDDEN = 0.25  # seconds around the frames of a jump that is forbidden
_SEEDED = 0.04  # metre-seconds by which seeds change the price of pieces of clips
_PIECE = 0.25  # seconds
_MOST_POSES = 32  # that are kept in memory
_HEIGHT = 0.05  # metre-seconds that a metre of a limb's height costs, as limbs bend to it
_POSE = 3.0  # metre-seconds that a metre of joints from a pose costs


def collect_wishes(
    shot: Shot,
    guide: Guide,
    footage: Footage,
    settings: PerformerSettings,
    obstruction: Obstruction | None,
) -> Wanted:
    """Return what a shot of the footage's size asks of the search."""
    frames = {
        round(mark.time * guide.fps): find_frame(footage.database, mark.frame)
        for mark in shot.marks
        if mark.frame is not None and round(mark.time * guide.fps) > 0
    }
    return Wanted(
        frames,
        _rate_frames(shot, footage, settings),
        _weigh_gaits(shot, guide, footage),
        _make_noise(shot.seed, footage),
        [
            Barred(
                _get_surroundings(jump.source, footage),
                _get_surroundings(jump.target, footage),
                round(jump.start * guide.fps),
                round(jump.stop * guide.fps) + 1,
            )
            for jump in shot.forbidden
        ],
        {
            round(jump.time * guide.fps): (
                find_frame(footage.database, jump.source) + 1,
                find_frame(footage.database, jump.target),
            )
            for jump in shot.kept
        },
        climbs=_find_climbs(shot, guide, footage),
        obstruction=obstruction,
        poses=_rate_poses(shot, guide, footage),
        parts=[
            PartAim(
                round(mark.time * guide.fps),
                mark.position,
                get_part_places(footage, mark.part)[:, :2],
            )
            for mark in _list_leading_parts(shot)
            if mark.position is not None
        ],
    )


def _find_climbs(shot: Shot, guide: Guide, footage: Footage) -> np.ndarray | None:
    """Return how fast (T,) the ground rises along the guide, in m/s; None where no clip does."""
    if footage.climb is None:
        return None
    places = guide.way[:, :2] * footage.size
    heights = compute_heights(shot.floor, places, _SMOOTH * guide.fps) / footage.size
    return np.asarray(np.gradient(heights) * guide.fps)


def _list_leading_parts(shot: Shot) -> list[Mark]:
    """Return the marks of parts that lead the character; others bend from where it is."""
    led = find_leaders(shot)
    return [mark for i, mark in enumerate(shot.marks) if mark.is_of_part and i not in led]


def _rate_poses(shot: Shot, guide: Guide, footage: Footage) -> dict[int, np.ndarray]:
    """Return what frames (N,) cost at the ticks of poses: how far their joints are from these.

    And how far limbs are from the height that is asked for.
    """
    result: dict[int, np.ndarray] = {}
    for mark in shot.marks:
        if mark.pose is not None:
            result[round(mark.time * guide.fps)] = _POSE * _measure_pose(mark, footage)
    for mark in _list_leading_parts(shot):
        if mark.is_limb and mark.height is not None:
            tick, places = round(mark.time * guide.fps), get_part_places(footage, mark.part)
            result[tick] = result.get(tick, 0.0) + _HEIGHT * np.abs(places[:, 2] - mark.height)
    return result


def _measure_pose(mark: Mark, footage: Footage) -> np.ndarray:
    """Return how far (N,) frames are from a mark's pose; it is measured once, for all passes.

    Raises SettingsError as `find_pose`.
    """
    known, pose = footage.pose_costs, find_pose(footage.database, mark)
    assert pose is not None
    assert mark.pose is not None
    if mark.pose not in known:
        if len(known) >= _MOST_POSES:
            del known[next(iter(known))]
        known[mark.pose] = measure_frames(pose, footage)
    return known[mark.pose]


def _get_surroundings(frame: str, footage: Footage) -> tuple[int, int]:
    """Return the first frame and that after the last around a frame of a clip."""
    database, around = footage.database, round(_FORBIDDEN * footage.fps)
    at = find_frame(database, frame)
    of_range = int(database.range_of_frame[at])
    start, stop = int(database.starts[of_range]), int(database.stops[of_range])
    return max(at - around, start), min(at + around + 1, stop)


def _make_noise(seed: int, footage: Footage) -> np.ndarray | None:
    """Return what a seed adds to the price of entering frames (N,); nothing for seed 0."""
    if not seed:
        return None
    piece = max(round(_PIECE * footage.fps), 1)
    count = footage.frame_count
    noise = np.random.default_rng(seed).uniform(0.0, _SEEDED, -(-count // piece))
    return np.repeat(noise, piece)[:count]


def _rate_frames(shot: Shot, footage: Footage, settings: PerformerSettings) -> list[Dislike]:
    """Return what other gaits and frames without tags cost, from when on."""
    share = _smooth(footage.speed, footage.fps) / _get_walk_to_run(footage)
    none = np.zeros(footage.frame_count)
    has_run = settings.run != settings.walk
    costs = {
        "walk": _GAIT * np.clip(3.0 * (share - 1.0), 0.0, 1.0),
        "run": _GAIT * np.clip(1.0 - share, 0.0, 1.0) if has_run else none,
    }
    gaits, tags = dict(shot.list_gaits()), dict(shot.list_tags())
    unasked = _rate_low_hips(footage) + _ODD * _find_odd_frames(footage, settings)
    result, gait, wanted = [], shot.gait, frozenset[str]()
    for time in sorted({*gaits, *tags}):
        gait, wanted = gaits.get(time, gait), tags.get(time, wanted)
        lacking = _TAGGED * ~footage.database.make_tag_mask(wanted) if wanted else unasked
        result.append(Dislike(round(time * footage.fps), costs[gait], lacking))
    return result


def _find_odd_frames(footage: Footage, settings: PerformerSettings) -> np.ndarray:
    """Return the frames (N,) of odd postures, if these are to be avoided."""
    if settings.posture_weight > 0.0:
        return footage.database.derive(find_odd_frames)
    return np.zeros(footage.frame_count, bool)


def _rate_low_hips(footage: Footage) -> np.ndarray:
    """Return what frames (N,) cost a second for hips that are lower than in most others."""
    heights = get_part_places(footage, HIPS)[:, 2].astype(np.float64)
    usual = max(float(np.median(heights)), 1e-6)
    low = (_UPRIGHT - heights / usual) / (_UPRIGHT - CROUCHED)
    return np.asarray(_LOW * np.clip(low, 0.0, 1.0))


def _weigh_gaits(shot: Shot, guide: Guide, footage: Footage) -> np.ndarray:
    """Return how much gaits count (T,): little where marks ask for the other one's speed."""
    steps = np.diff(guide.way[:, :2], axis=0, append=guide.way[-1:, :2])
    speed = np.linalg.norm(steps, axis=1) * guide.fps
    share = _smooth(speed, guide.fps) / _get_walk_to_run(footage)
    result = np.zeros(len(share))
    for time, gait in shot.list_gaits():
        first = round(time * guide.fps)
        walks, runs = 1.0 - smoothstep((share - 0.8) / 0.4), smoothstep((share - 0.4) / 0.4)
        result[first:] = (runs if gait == "run" else walks)[first:]
    return result


def _get_walk_to_run(footage: Footage) -> float:
    """Return the speed that parts walking from running, in the footage."""
    return footage.database.walk_to_run * footage.pace / footage.size


def _smooth(values: np.ndarray, fps: float) -> np.ndarray:
    width = 2 * round(_SMOOTH * fps) + 1
    padded = np.pad(values, width // 2, mode="edge")
    return np.convolve(padded, np.full(width, 1.0 / width), mode="valid")
