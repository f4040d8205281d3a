"""The neighbours of a live motion field, as skeletons over the character: where each of them would
lead.

Neighbours with more weight are brighter. The chosen one is thick, in the colour of the chosen
motion. The others have the colour of the goal: that of the tag, or of the heading, which is green
straight ahead, orange to the left and blue to the right. So has the arrow on the ground, which
points there.
"""

from __future__ import annotations

import colorsys
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ... import app, engine
from .. import drawing

if TYPE_CHECKING:
    from ...engine.control.performer import Frame
    from ...engine.field.method import Decision, MotionField
    from ...engine.field.tasks import TaskGoal

_CHOSEN, _OTHER = 5.0, 1.5  # widths of lines
_FAINTEST = 0.12
_ABOVE, _NEAR, _FAR = 0.01, 0.3, 0.8  # metres: of the arrow, over the ground and from the character
_BARB, _BARB_TURN = 0.12, 2.6  # metres, radians

Rgb = tuple[float, float, float]


class Ghosts(NamedTuple):
    """Lines as pairs of points (2 L, 3): of the chosen neighbour, and of the others and the arrow
    with colours (2 L, 4).
    """

    chosen: np.ndarray
    others: np.ndarray
    colours: np.ndarray


def build_ghosts(method: MotionField, frame: Frame) -> Ghosts | None:
    """Return the ghosts of a tick, where its character is seen; None before the first choice."""
    decision = method.decision
    if decision is None:
        return None
    (x, y, yaw), height = frame.character, float(frame.pose[2, 0])
    poses = method.states.next_poses.take(decision.states, axis=0)
    bodies = engine.field.ghosts.build_segments(poses, method.skeleton.parents, (x, y, height, yaw))
    others = np.arange(len(bodies)) != decision.chosen
    arrow = _build_arrow(x, y, height + _ABOVE, yaw + decision.goal.direction)
    red, green, blue = get_task_color(decision.goal)
    colours = np.empty((len(bodies), bodies.shape[1] * 2, 4), np.float32)
    colours[:] = red, green, blue, 1.0
    colours[..., 3] = _compute_brightness(decision)[:, None]
    shown = np.concatenate([bodies[others].reshape(-1, 3), arrow])
    return Ghosts(
        bodies[decision.chosen].reshape(-1, 3),
        shown,
        np.concatenate(
            [
                colours[others].reshape(-1, 4),
                np.full((len(arrow), 4), (red, green, blue, 1.0), np.float32),
            ]
        ),
    )


def _compute_brightness(decision: Decision) -> np.ndarray:
    """Return the brightness of each neighbour (k,), from faint to 1, by its weight."""
    return _FAINTEST + (1.0 - _FAINTEST) * np.sqrt(decision.weights / decision.weights.max())


def get_task_color(goal: TaskGoal) -> Rgb:
    """Return the colour of a goal: that of its tag, as new ranges of that name have it, or of the
    heading.
    """
    if goal.tags:
        return app.tag_colors.get_tag_color(min(goal.tags))
    return colorsys.hsv_to_rgb((1.0 / 3.0 - goal.direction / math.tau) % 1.0, 0.75, 0.95)


def _build_arrow(x: float, y: float, z: float, heading: float) -> np.ndarray:
    """Return an arrow on the ground away from the character, as pairs of points (6, 3)."""

    def move(a: float, b: float, way: float, length: float) -> tuple[float, float, float]:
        return a + length * math.sin(way), b - length * math.cos(way), z

    tip = move(x, y, heading, _FAR)
    barbs = [
        point
        for side in (-1, 1)
        for point in (tip, move(*tip[:2], heading + side * _BARB_TURN, _BARB))
    ]
    return np.array([move(x, y, heading, _NEAR), tip, *barbs], np.float32)


def draw(ghosts: Ghosts) -> None:
    """Draw the ghosts over everything else, the thick one first, because it would hide the thin
    ones.
    """
    chosen = drawing.build_line_batch(ghosts.chosen, drawing.get_theme_color("bone_pose_active"))
    drawing.draw_lines(
        [(chosen, _CHOSEN), (drawing.build_line_batch(ghosts.others, ghosts.colours), _OTHER)]
    )
