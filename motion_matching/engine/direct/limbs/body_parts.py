"""Find the parts of the body that marks place: the hips, or the end of a limb."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...database.database import Database
from ...errors import SettingsError
from ...ground.ground import Ground
from ...maths import planar
from ...motion.rest import AT_REST
from ...skeleton.bone_names import join_quoted
from ..footage.footage import Footage, compute_places
from ..numbers import NUMBERS as DIRECT
from ..shot.mark import CHARACTER, GOALS, HANDS, HIPS, Mark, Pose
from ..shot.shot import Shot
from .limbs import find_limbs
from .numbers import NUMBERS

_STEERING = tuple(name for name, goal in GOALS.items() if goal.steers and goal.default is None)


def name_part(mark: Mark) -> str:
    """Name the part that a mark places."""
    return mark.part.replace("_", " ")


def find_bone(database: Database, part: str) -> int:
    """Return the bone of a part. Raises KeyError if the body lacks it."""
    if part == HIPS:
        return database.roles.hips
    return find_limbs(database.skeleton)[part].end


def check_parts(database: Database, marks: Sequence[Mark]) -> None:
    """Raise SettingsError for a mark for a body part that this character does not have."""
    parts = [CHARACTER, HIPS, *find_limbs(database.skeleton)]
    for mark in marks:
        if mark.part not in parts:
            near = difflib.get_close_matches(mark.part, parts, 4, 0.0)
            raise SettingsError(
                f"The mark at {mark.time:g} s is for '{mark.part}', which this body has not; use "
                f"one of {join_quoted(near)}."
            )


def get_part_places(footage: Footage, part: str) -> np.ndarray:
    """Return where (N, 3) a part is in each frame; it is kept."""
    known = footage.part_places
    if part not in known:
        known[part] = compute_places(footage.database, [find_bone(footage.database, part)])[:, 0]
    return known[part]


def _estimate_carriage(footage: Footage, mark: Mark) -> tuple[np.ndarray, float]:
    """Return the usual place (2,) of a mark's part from the simulation bone, and its deviation.

    Both are in metres; only frames count that carry it as high as requested, and held if it is.
    """
    places = get_part_places(footage, mark.part).astype(np.float64)
    weights = footage.candidates.astype(np.float64)
    wishes = []
    if mark.height is not None:
        wishes.append(np.exp(-0.5 * ((places[:, 2] - mark.height) / NUMBERS.level) ** 2))
    if mark.hold:
        wishes.append((footage.speed < AT_REST.moving).astype(np.float64))
    for wish in wishes:
        if (weights * wish).sum() > NUMBERS.level_share * weights.sum():
            weights = weights * wish
    weights /= max(weights.sum(), 1e-9)
    offset = weights @ places[:, :2]
    return offset, float(np.sqrt(weights @ np.sum((places[:, :2] - offset) ** 2, axis=1)))


def find_leaders(shot: Shot) -> Mapping[int, int]:
    """Return the marks of parts that follow another mark, by index, and the index of that one.

    A mark for the character, or else for its hips, leads limbs at that time and while it is held.
    Of limbs at one time the first leads.
    """
    ranks = [[CHARACTER, HIPS, mark.part].index(mark.part) for mark in shot.marks]
    result: dict[int, int] = {}
    for i, mark in enumerate(shot.marks):
        if not mark.is_of_part:
            continue
        leading = [
            (ranks[k], k)
            for k, other in enumerate(shot.marks)
            if other.time <= mark.time <= other.time + other.hold
            and other.position is not None
            and (ranks[k], k) < (ranks[i], i)
        ]
        if leading:
            result[i] = min(leading)[1]
    return result


def place_roots(shot: Shot, footage: Footage) -> tuple[Shot, Mapping[int, float]]:
    """Return a shot in which the character itself is at all marks.

    For marks of parts, also return by index how far in metres it may be from there: their offset
    from the character is unknown before the search.
    """
    leaders = find_leaders(shot)
    marks = list(shot.marks)
    spreads = {}
    place = np.array(shot.position)
    yaw = shot.facing
    for i, mark in enumerate(shot.marks):
        if mark.position is None:
            continue
        if i in leaders:
            marks[leaders[i]] = _lead(marks[leaders[i]], mark)
            marks[i] = mark.free()
            continue
        way = np.subtract(mark.position, place)
        if mark.facing is not None:
            yaw = mark.facing
        elif np.linalg.norm(way) > DIRECT.one_place:
            yaw = float(np.arctan2(way[0], -way[1]))
        place = np.array(mark.position)
        if mark.is_of_part:
            offset, spreads[i] = _estimate_carriage(footage, mark)
            place = place - planar.rotate(offset, yaw)
            x, y = place.tolist()
            marks[i] = replace(marks[i], position=(x, y), part=CHARACTER, height=None)
    return replace(shot, marks=tuple(marks)), spreads


def _lead(leader: Mark, mark: Mark) -> Mark:
    """Return a mark that leads another one: held as long, and with its heading if it has none."""
    is_free = leader.facing is None and leader.time == mark.time
    hold = max(leader.hold, mark.time + mark.hold - leader.time)
    return replace(leader, hold=hold, facing=mark.facing if is_free else leader.facing)


def put_parts_back(rooted: Shot, shot: Shot, near: frozenset[int]) -> Shot:
    """Undo `place_roots`, except for marks that are only approached (indices in `near`)."""
    pairs = enumerate(zip(rooted.marks, shot.marks, strict=True))
    marks = [was if was.is_of_part and i not in near else mark for i, (mark, was) in pairs]
    return replace(rooted, marks=tuple(marks))


def pose_hips(shot: Shot) -> Shot:
    """Return a shot whose marks ask for heights of hips by poses."""
    marks = list(shot.marks)
    for i, mark in enumerate(marks):
        if _asks_for_hips(mark) and not isinstance(mark.pose, str):
            height = _measure_height(mark, shot.floor)
            marks[i] = replace(mark, pose=replace(mark.pose or Pose(), height=height))
    return replace(shot, marks=tuple(marks))


def _asks_for_hips(mark: Mark) -> bool:
    return mark.is_of_part and mark.part == HIPS and mark.height is not None


def put_on_level(shot: Shot) -> Shot:
    """Return a shot with marks in order, and their heights above the floor: footage is level."""
    marks = (replace(mark, height=_measure_height(mark, shot.floor)) for mark in shot.marks)
    return replace(shot, marks=tuple(sorted(marks, key=lambda mark: mark.time)))


def _measure_height(mark: Mark, floor: Ground) -> float | None:
    """Return how high above the floor a mark asks its part to be."""
    if mark.height is None or mark.position is None:
        return None
    return mark.height - floor.height(*mark.position)


def find_mark_problem(mark: Mark) -> str:
    """Describe the fault in the numbers or the part of a mark, or return an empty string."""
    numbers = [*(mark.position or ()), mark.facing or 0.0, mark.height or 0.0]
    if not all(map(math.isfinite, numbers)):
        return "has a place, height or heading that is no number; give metres and radians"
    if mark.part != CHARACTER and mark.position is None:
        return f"is for the {name_part(mark)}, but has no place; give it a position"
    if mark.part == CHARACTER and mark.height is not None:
        return "has a height, but is for the character; leave it out, or name a part"
    if mark.part != CHARACTER and mark.leads and mark.time <= 0.0:
        return (
            f"is for the {name_part(mark)}, but a shot begins where its character is; give it a "
            "later time, or make it one for the character"
        )
    steers = any(getattr(mark, name) is not None for name in _STEERING)
    if not mark.leads and (steers or (mark.position is not None and not mark.is_limb)):
        return (
            "does not lead the character, so it can only bring a limb to a place or show a pose; "
            "let it lead, or leave out what else it asks for"
        )
    if mark.palm is not None and mark.part not in HANDS:
        return (
            f"has a palm, but is for the {name_part(mark)}; leave the palm out, or let the mark be "
            "for a hand"
        )
    if mark.palm and not (all(map(math.isfinite, mark.palm)) and any(mark.palm)):
        return "has a palm whose direction is none; give x, y and z, such as 0, 0, -1 for down"
    has_height = isinstance(mark.pose, str) or (mark.pose and mark.pose.height is not None)
    if _asks_for_hips(mark) and has_height:
        return "has a height of the hips, and a pose that has one as well; leave one of them out"
    return ""
