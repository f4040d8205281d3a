"""Find places to stand from which hands reach marks over or beside obstacles.

Such a mark gets a leading mark for the character: near enough for the hand, clear of obstacles, and
within walking reach. The trunk and the arm do the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...maths import planar
from ...maths.numeric import arctan2
from ..footage.footage import Footage
from ..objective import COSTS
from ..obstacles.obstruction import Obstruction
from ..obstacles.routing import find_route
from ..shot.shot import Mark, Shot
from .body_parts import find_leaders
from .limbs import LimbChain, find_limbs
from .numbers import NUMBERS


class _Arm(NamedTuple):
    """A hand's side, 1 for left; its shoulder (3,) from the character; and its length in metres."""

    side: float
    shoulder: np.ndarray
    length: float


class _Places(NamedTuple):
    """Places (P, 2) to stand at, and headings (P,)."""

    points: np.ndarray
    yaws: np.ndarray


def stand_beside(shot: Shot, obstruction: Obstruction, footage: Footage) -> Shot:
    """Return a shot with marks to stand at for hands near obstacles."""
    arms = _find_arms(shot, footage)
    led = find_leaders(shot)
    result = list(shot.marks)
    place = np.array(shot.position, float)
    handled: set[int] = set()
    for i, mark in enumerate(shot.marks):
        if mark.position is None or i in handled:
            continue
        leader = led.get(i)
        is_first = leader is None or shot.marks[leader].is_limb
        away = obstruction.measure_distances(np.array([mark.position]))[0]
        if mark.part not in arms or not is_first or away >= NUMBERS.beside_near:
            place = np.array(mark.position, float)
            continue
        together = [i, *(k for k, other in led.items() if other == i)]
        handled |= set(together)
        hands = [shot.marks[k] for k in together if shot.marks[k].part in arms]
        later = (m.position for m in shot.marks[i + 1 :] if m.time > mark.time and m.position)
        found = _find_place(hands, arms, obstruction, place, next(later, None))
        if found is not None:
            result.append(found)
            assert found.position is not None
            place = np.array(found.position)
    return replace(shot, marks=tuple(sorted(result, key=lambda mark: mark.time)))


def _find_arms(shot: Shot, footage: Footage) -> dict[str, _Arm]:
    """Return the arms that marks are for, as most of the data carries them."""
    wanted = {mark.part for mark in shot.marks if mark.is_limb and mark.part.endswith("hand")}
    limbs = find_limbs(footage.database.skeleton) if wanted else {}
    return {part: _measure_arm(part, limbs[part], footage) for part in wanted if part in limbs}


def _measure_arm(part: str, limb: LimbChain, footage: Footage) -> _Arm:
    database = footage.database
    some = np.linspace(0, database.frame_count - 1, NUMBERS.shoulder_frames).astype(int)
    joints = database.skeleton.compute_bone_positions(
        list(limb), np.asarray(database.poses[some]), root=0
    )
    upper, lower = (np.linalg.norm(joints[:, k + 1] - joints[:, k], axis=1).mean() for k in (0, 1))
    side = 1.0 if part.startswith("left") else -1.0
    return _Arm(side, np.median(joints[:, 0], axis=0), float(upper + lower))


def _find_place(
    hands: Sequence[Mark],
    arms: dict[str, _Arm],
    obstruction: Obstruction,
    before: np.ndarray,
    after: tuple[float, float] | None,
) -> Mark | None:
    """Return a mark for the character from which hands reach theirs, None if there is no place."""
    first = hands[0]
    goal = np.mean(np.array([mark.position for mark in hands], float), axis=0)
    way = (goal if after is None or first.hold else np.array(after)) - before
    travel = float(np.arctan2(way[0], -way[1]))
    facing = next((mark.facing for mark in hands if mark.facing is not None), None)
    for clear in (NUMBERS.toes_ahead, NUMBERS.least_clear):
        places = _list_places(goal, travel, facing, obstruction, clear)
        rates = [_rate(places, mark, arms[mark.part], obstruction) for mark in hands]
        ends = np.linalg.norm(places.points - before, axis=1)
        costs = sum(rates) + COSTS.stand_way * ends
        costs = costs + COSTS.stand_turn * np.abs(planar.wrap(places.yaws - travel))
        for k in np.argsort(costs, kind="stable")[: NUMBERS.stand_tries].tolist():
            if not np.isfinite(costs[k]):
                break
            if not find_route(before, places.points[k], obstruction).complete:
                continue
            yaw = float(places.yaws[k])
            (x, y) = places.points[k].tolist()
            keeps = not first.hold and abs(planar.wrap(yaw - travel)) < NUMBERS.keeps_going
            hold = max(mark.time + mark.hold for mark in hands) - first.time
            wanted = facing if facing is not None else None if keeps else yaw
            return Mark(first.time, (x, y), wanted, hold)
    return None


def _list_places(
    goal: np.ndarray,
    travel: float,
    facing: float | None,
    obstruction: Obstruction,
    clear: float,
) -> _Places:
    """Return the places round a goal that are clear of obstacles, each with some headings."""
    angles = np.linspace(0.0, 2.0 * np.pi, NUMBERS.stand_angles, endpoint=False)
    radii = np.arange(NUMBERS.stand_step, NUMBERS.stand_farthest, NUMBERS.stand_step)
    grid = np.stack(np.meshgrid(angles, radii, indexing="ij"), axis=-1).reshape(-1, 2)
    points = goal - grid[:, 1:] * planar.yaw_to_forward(grid[:, 0])
    free = obstruction.measure_distances(points) >= obstruction.radius + clear
    points = points[free]
    to_goal = grid[free, 0]
    if facing is not None:
        headings = [np.full(len(points), facing)]
    else:
        aside = NUMBERS.look_aside
        headings = [np.full(len(points), travel), to_goal, to_goal - aside, to_goal + aside]
    return _Places(np.tile(points, (len(headings), 1)), np.concatenate(headings))


def _rate(places: _Places, mark: Mark, arm: _Arm, obstruction: Obstruction) -> np.ndarray:
    """Return the cost (P,) of reaching a mark from places, infinite through high obstacles."""
    shoulders = places.points + planar.rotate(
        np.broadcast_to(arm.shoulder[:2], places.points.shape), places.yaws
    )
    away = np.array(mark.position) - shoulders
    hangs = arm.shoulder[2] - arm.length
    height = hangs if mark.height is None else mark.height
    far = np.hypot(np.linalg.norm(away, axis=1), arm.shoulder[2] - height)
    stretched = np.maximum(far - NUMBERS.stretched * arm.length, 0.0)
    cramped = np.maximum(NUMBERS.cramped * arm.length - far, 0.0)
    ahead = planar.rotate(np.array(mark.position) - places.points, -places.yaws)
    aside = arm.side * arctan2(ahead[:, 0], -ahead[:, 1])
    least, most = NUMBERS.easy_side
    beyond = np.maximum(aside - most, 0.0) + np.maximum(least - aside, 0.0)
    length = np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
    short = away * np.maximum(1.0 - NUMBERS.touched / length, 0.0)
    over = obstruction.find_tops(shoulders, shoulders + short)
    blocked = over > arm.shoulder[2] - NUMBERS.reach_over
    return np.where(blocked, np.inf, stretched + cramped + COSTS.reach_aside * beyond)
