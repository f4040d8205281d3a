"""Side views of walks straight ahead over ground, several of them below each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.maths.rotations import quat

from .climbing import look
from .grounds import BEGIN
from .sheets import COLOURS, draw_line

_SCALE = 130.0  # pixels per metre
_FROM, _TO = BEGIN - 1.6, BEGIN + 4.2  # metres ahead that are shown
_BELOW, _ABOVE = 0.25, 1.85  # metres shown below the lowest ground and above the highest
_EVERY = 0.53  # seconds between two figures
GROUND, _LEVEL_CLIP = (110, 130, 110), (165, 165, 165)
_LOOKS = 2  # of the ground, per pixel


class View(NamedTuple):
    """A take of a database that leads straight ahead, forward being -Y."""

    take: Take
    database: Database


def draw_views(views: Sequence[View]) -> np.ndarray:
    """Return a picture (H, W, 3) of bytes; trunks and arms are grey on level clips, black on others."""
    return np.concatenate([_draw_view(view) for view in views])


def _draw_view(view: View) -> np.ndarray:
    take, database = view
    ahead = np.arange(_FROM, _TO, 1.0 / (_LOOKS * _SCALE))
    heights = look(take.performance.ground, np.column_stack([np.zeros(len(ahead)), -ahead]))
    top = heights.max() + _ABOVE
    size = round(_SCALE * (top - heights.min() + _BELOW)), round(_SCALE * (_TO - _FROM))
    picture = np.full((*size, 3), 255.0)

    def place(points: np.ndarray) -> np.ndarray:
        """Return points (..., 2), ahead and up, in pixels across and down."""
        return _SCALE * (points - [_FROM, top]) * [1.0, -1.0]

    line = place(np.column_stack([ahead, heights]))
    for start, end in pairwise(line):
        draw_line(picture, start, end, GROUND)
    _, joints = quat.compute_world(take.poses.astype(np.float64), database.skeleton.parents)
    shown = np.stack([-joints[..., 1], joints[..., 2]], axis=-1)
    sides = {
        bone: {"L": "left", "R": "right"}.get(leg.side, "")
        for leg in database.roles.legs
        for bone in (leg.shin, leg.foot, leg.toe)
    }
    climbs = np.abs(database.climb_rates[take.frames]) > 0.05
    for tick in range(0, take.frame_count, round(_EVERY * take.fps)):
        if not _FROM + 0.4 < shown[tick, 0, 0] < _TO - 0.4:
            continue
        points = place(shown[tick])
        for bone, parent in enumerate(database.skeleton.parents):
            if parent > 0:
                side = sides.get(bone, "")
                plain = COLOURS[""] if climbs[tick] else _LEVEL_CLIP
                draw_line(picture, points[parent], points[bone], COLOURS[side] if side else plain)
    return np.round(picture).astype(np.uint8)
