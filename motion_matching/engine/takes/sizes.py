"""Scale takes of creatures to the size of people, so that their feet are planted alike.

A creature `size` times as large moves alike if its lengths are divided by that, and its times by
the root of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..body.toe_ends import measure_size
from ..control.rollout import Take
from ..database.database import Database
from ..feet.contact_ranges import ContactRange
from ..feet.live.sized_feet import SizedGround
from ..ground.ground import FLAT, is_flat
from ..skeleton.skeleton import Skeleton
from .numbers import NUMBERS


def find_size(database: Database) -> float:
    """Return the size of the character relative to people: 1 for all of them."""
    size = measure_size(database.skeleton, database.roles)
    # like that of a divided one, but for rounding
    return 1.0 if abs(size - 1.0) < NUMBERS.same_size else size


def find_slowness(database: Database) -> float:
    """Return the factor by which the character is slower than people: 1 for all of them."""
    return math.sqrt(find_size(database))


def divide(take: Take, database: Database, size: float) -> tuple[Take, Database]:
    """Return take and database of a character that is as large as people."""
    skeleton, slowness = _divide_skeleton(database.skeleton, size), find_slowness(database)
    small = replace(
        database,
        skeleton=skeleton,
        fps=database.fps * slowness,
        poses=_multiply(database.poses, 1.0 / size),
        track=database.track / [size, size, 1.0],
    )
    ground = take.performance.ground
    floor = FLAT if is_flat(ground) else SizedGround(ground, size)
    return (
        replace(
            take,
            skeleton=skeleton,
            fps=take.fps * slowness,
            poses=_multiply(take.poses, 1.0 / size),
            unlocked_poses=_multiply(take.unlocked_poses, 1.0 / size),
            character=take.character / [size, size, 1.0],
            performance=replace(take.performance, floor=floor, obstacles=(), walls=()),
        ),
        small,
    )


def scale_ranges(ranges: Sequence[ContactRange], factor: float) -> list[ContactRange]:
    """Return the ranges of a character that is larger by a factor."""
    return [
        replace(each, point=each.point and (factor * each.point[0], factor * each.point[1]))
        for each in ranges
    ]


def restore(baked: Take, take: Take, size: float) -> Take:
    """Return a take with the poses and locks of its divided one."""
    return replace(take, poses=_multiply(baked.poses, size), locked=baked.locked)


def _multiply(poses: np.ndarray, factor: float) -> np.ndarray:
    """Return poses (F, 7, B) of a body that is larger by a factor."""
    result = np.array(poses)
    result[:, :3] *= factor
    return result


def _divide_skeleton(skeleton: Skeleton, size: float) -> Skeleton:
    sites = tuple((bone, (x / size, y / size, z / size)) for bone, (x, y, z) in skeleton.end_sites)
    return replace(skeleton, rest_positions=skeleton.rest_positions / size, end_sites=sites)
