"""Seeded scenes among tables, rails, doors and shelves, and what a directed body does in them.

What is measured is measured here, from the joints of the finished take, and not by the director.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.direct.director import Directed
from motion_matching.engine.direct.limbs.limbs import find_limbs
from motion_matching.engine.direct.shot.shot import Mark, Shot
from motion_matching.engine.ground.ground import Box
from motion_matching.engine.maths import planar

KINDS = ("table", "rail", "door", "shelf")
HANDS = ("left_hand", "right_hand")
_ALONG = np.linspace(0.0, 1.0, 9)  # shares of a bone at which it is looked at
_DEEP = 0.01  # metres inside that count


class Scene(NamedTuple):
    """A shot with its obstacles, and what kind of furniture it is about."""

    kind: str
    number: int
    shot: Shot


def make_scene(number: int) -> Scene:
    """Return the scene of a number; four in a row are one of each kind."""
    rng, kind = np.random.default_rng([7, number]), KINDS[number % len(KINDS)]
    place = np.array([rng.uniform(-1.0, 1.0), -rng.uniform(2.8, 4.0)])
    make = {"table": _add_table, "rail": _add_rail, "door": _add_door, "shelf": _add_shelf}[kind]
    boxes, marks, last = make(rng, place)
    time = marks[-1].time + marks[-1].hold + rng.uniform(3.0, 4.5)
    x, y = (np.array(last) + rng.uniform(-0.5, 0.5, 2)).tolist()
    marks.append(Mark(time, (x, y)))
    shot = Shot(time + 0.5, marks=tuple(marks), obstacles=tuple(boxes), seed=0)
    return Scene(kind, number, shot)


def _find_time(rng: np.random.Generator, place: np.ndarray) -> float:
    """Return when one is at a place who walks there from the start."""
    return float(np.linalg.norm(place)) / rng.uniform(0.8, 1.1) + 1.5


def _put(box: Box, along: float, across: float) -> tuple[float, float]:
    """Return a point of a box by metres from its middle along its own axes."""
    x, y = (np.array(box.center) + planar.rotate(np.array([along, across]), box.yaw)).tolist()
    return x, y


def _make_hands(
    rng: np.random.Generator, box: Box, along: float, across: float, height: float, time: float
) -> list[Mark]:
    """Return marks for one hand or both at a box, side by side."""
    hold = float(rng.choice([0.0, 0.6, 1.2]))
    if rng.random() < 0.3:
        side = math.copysign(0.2, across) if across else 0.2
        return [
            Mark(time, _put(box, along + turn * side, across), None, hold, part=part, height=height)
            for turn, part in zip((1.0, -1.0), HANDS, strict=True)
        ]
    part = HANDS[int(rng.random() < 0.5)]
    return [Mark(time, _put(box, along, across), None, hold, part=part, height=height)]


def _add_table(
    rng: np.random.Generator, place: np.ndarray
) -> tuple[list[Box], list[Mark], tuple[float, float]]:
    size = rng.uniform(0.9, 2.0), rng.uniform(0.6, 1.2)
    x, y = place.tolist()
    box = Box((x, y), size, rng.uniform(-0.6, 0.6), rng.uniform(0.7, 0.95))
    across = 0.5 * size[1] - rng.uniform(0.03, 0.25)
    along = rng.uniform(-0.3, 0.3) * size[0]
    height = box.height + rng.uniform(0.0, 0.05)
    marks = _make_hands(rng, box, along, across, height, _find_time(rng, place))
    return [box], marks, _put(box, math.copysign(0.5 * size[0] + 1.5, rng.normal()), -0.5)


def _add_rail(
    rng: np.random.Generator, place: np.ndarray
) -> tuple[list[Box], list[Mark], tuple[float, float]]:
    x, y = place.tolist()
    size = rng.uniform(2.0, 4.0), rng.uniform(0.04, 0.1)
    box = Box((x, y), size, rng.uniform(-0.8, 0.8), rng.uniform(0.85, 1.1))
    along = rng.uniform(-0.3, 0.3) * size[0]
    marks = _make_hands(rng, box, along, 0.0, box.height + 0.01, _find_time(rng, place))
    return [box], marks, _put(box, math.copysign(0.5 * size[0] + 0.5, rng.normal()), 1.5)


def _add_door(
    rng: np.random.Generator, place: np.ndarray
) -> tuple[list[Box], list[Mark], tuple[float, float]]:
    gap, thick, yaw = rng.uniform(0.8, 1.1), rng.uniform(0.1, 0.25), rng.uniform(-0.4, 0.4)
    wall = Box(tuple(place.tolist()), (4.0, thick), yaw, 2.1)
    offset = 0.5 * gap + 1.5
    boxes = [Box(_put(wall, side * offset, 0.0), (3.0, thick), yaw, 2.1) for side in (-1.0, 1.0)]
    through = Mark(_find_time(rng, place) + 2.0, _put(wall, 0.0, -rng.uniform(0.8, 1.5)))
    marks = [through]
    if rng.random() < 0.5:  # and a hand at the frame, on the near side
        side = float(rng.choice([-1.0, 1.0]))
        point = _put(wall, side * (0.5 * gap + 0.06), 0.5 * thick + 0.01)
        part = HANDS[int(side < 0.0)]
        hand = Mark(
            _find_time(rng, place), point, None, 0.0, part=part, height=rng.uniform(0.9, 1.3)
        )
        marks = [hand, through]
    return boxes, marks, _put(wall, rng.uniform(-1.0, 1.0), -2.5)


def _add_shelf(
    rng: np.random.Generator, place: np.ndarray
) -> tuple[list[Box], list[Mark], tuple[float, float]]:
    x, y = place.tolist()
    size = rng.uniform(0.8, 1.6), rng.uniform(0.3, 0.45)
    box = Box((x, y), size, rng.uniform(-0.5, 0.5), rng.uniform(1.6, 2.1))
    along, height = rng.uniform(-0.3, 0.3) * size[0], rng.uniform(0.5, 1.55)
    across = 0.5 * size[1] + rng.uniform(0.01, 0.04)
    marks = _make_hands(rng, box, along, across, height, _find_time(rng, place))
    return [box], marks, _put(box, math.copysign(0.5 * size[0] + 1.5, rng.normal()), 1.0)


@dataclass(frozen=True)
class SceneMeasures:
    """What became of a scene; lengths in metres, counts in frames.

    - `asked`, `reached`: marks; `hands_asked`, `hands_reached`: those for hands
    - `hand`: how far hands that count as reached are from their marks at most while held
    - `inside`: frames with trunk, head or legs inside an obstacle; `hands_inside`: with a wrist
    - `hips`, `feet`: how near to an obstacle they come in plan
    - `lowest`: the least height of the hips, as a share of that in most of the data
    - `fastest`: speed of a joint; `hardest`: acceleration, in m/s and m/s²
    """

    asked: int
    reached: int
    hands_asked: int
    hands_reached: int
    hand: float
    inside: int
    hands_inside: int
    hips: float
    feet: float
    lowest: float
    fastest: float
    hardest: float
    reasons: tuple[str, ...]


def measure_scene(scene: Scene, done: Directed, database: Database) -> SceneMeasures:
    """Measure the finished take of a scene."""
    take, roles = done.take, database.roles
    joints = take.skeleton.compute_bone_positions(range(take.skeleton.bone_count), take.poses)
    arms = [
        bone for name, limb in find_limbs(take.skeleton).items() if "hand" in name for bone in limb
    ]
    bones = [roles.hips, *(b for b in take.skeleton.get_descendants(roles.hips))]
    upper = {b for arm in arms for b in (arm, *take.skeleton.get_descendants(arm))}
    body = _sample_bones(joints, [b for b in bones if b not in upper], take.skeleton.parents)
    hands = joints[
        :, [limb.end for name, limb in find_limbs(take.skeleton).items() if "hand" in name]
    ]
    boxes = scene.shot.obstacles
    toes = joints[:, [leg.toe for leg in roles.legs]]
    usual = database.skeleton.compute_bone_positions([roles.hips], np.asarray(database.poses))[
        ..., 2
    ]
    told = done.report["marks"]
    pairs = [
        (mark, each) for mark, each in zip(scene.shot.marks, told, strict=True) if mark.is_limb
    ]
    errors = [_measure_hand(mark, take, joints) for mark, each in pairs if each["reached"]]
    steps = np.diff(joints, axis=0) * take.fps
    return SceneMeasures(
        len(told),
        sum(each["reached"] for each in told),
        len(pairs),
        sum(each["reached"] for _, each in pairs),
        max(errors, default=0.0),
        int((_measure_depths(body, boxes) > _DEEP).any(axis=1).sum()),
        int((_measure_depths(hands, boxes) > _DEEP).any(axis=1).sum()),
        float(_measure_plan(joints[:, roles.hips], boxes).min(initial=np.inf)),
        float(_measure_plan(toes, boxes).min(initial=np.inf)),
        float(joints[:, roles.hips, 2].min() / np.median(usual)),
        float(np.linalg.norm(steps, axis=-1).max()),
        float(np.linalg.norm(np.diff(steps, axis=0), axis=-1).max() * take.fps),
        tuple(each["reason"] for each in told if not each["reached"]),
    )


def _sample_bones(joints: np.ndarray, bones: Sequence[int], parents: np.ndarray) -> np.ndarray:
    """Return points (T, P, 3) along bones, from each to the one above it."""
    ends = [joints[:, bone] for bone in bones[1:]]
    starts = [joints[:, parents[bone]] for bone in bones[1:]]
    parts = [
        a[:, None] + _ALONG[:, None] * (b - a)[:, None] for a, b in zip(starts, ends, strict=True)
    ]
    return np.concatenate(parts, axis=1)


def _measure_depths(points: np.ndarray, boxes: Sequence[Box]) -> np.ndarray:
    """Return how deep (T, P) points (T, P, 3) are inside boxes, 0 outside."""
    result = np.zeros(points.shape[:2])
    for box in boxes:
        inward = -_measure_signed(points, box)
        result = np.maximum(result, np.minimum(inward, box.height - points[..., 2]))
    return result


def _measure_plan(points: np.ndarray, boxes: Sequence[Box]) -> np.ndarray:
    """Return how far points (..., 3) are from boxes seen from above, negative inside."""
    return np.minimum.reduce([_measure_signed(points, box) for box in boxes])


def _measure_signed(points: np.ndarray, box: Box) -> np.ndarray:
    local = planar.rotate(points[..., :2] - np.array(box.center), -box.yaw)
    over = np.abs(local) - 0.5 * np.array(box.size)
    return np.linalg.norm(np.maximum(over, 0.0), axis=-1) + np.minimum(over.max(axis=-1), 0.0)


def _measure_hand(mark: Mark, take: Take, joints: np.ndarray) -> float:
    """Return how far a hand is from its mark at most while that is held."""
    first, last = (round(time * take.fps) for time in (mark.time, mark.time + mark.hold))
    hand = joints[first : last + 1, find_limbs(take.skeleton)[mark.part].end]
    assert mark.position is not None
    return float(np.linalg.norm(hand - [*mark.position, mark.height], axis=1).max())
