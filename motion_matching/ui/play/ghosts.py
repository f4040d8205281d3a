"""Draw the neighbours of a live motion field as skeletons over the character, where each would
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
from ...engine.units import measured
from ..base import colors, drawing

if TYPE_CHECKING:
    from ...engine.control.performer import Frame
    from ...engine.field.method import MotionField
    from ...engine.field.states.tasks import TaskGoal

# widths of lines
_CHOSEN = 5.0
_OTHER = 1.5
_FAINTEST = 0.12
# metres from the character to the ends of the arrow
_NEAR = 0.3
_FAR = 0.8
_BAR_START = 0.15  # of the height of a body, from it to the bar of its share
# metres, radians
_BARB = 0.12
_BARB_TURN = 2.6

Rgb = tuple[float, float, float]


@measured(chosen="m", others="m")
class Ghosts(NamedTuple):
    """Pairs of points (2 L, 3): the chosen neighbour, and the others and the arrow with colours."""

    chosen: np.ndarray
    others: np.ndarray
    colours: np.ndarray


def build_ghosts(method: MotionField, frame: Frame, tall: float | None = None) -> Ghosts | None:
    """Return the ghosts of a tick, where its character is seen; None before the first choice.

    With the height of the body in metres, they stand beside it by weight, in rows, each with a bar
    on the ground that shows its share.
    """
    decision = method.decision
    if decision is None:
        return None
    scale = method.world.scale
    frame = scale.to_body(frame)
    (x, y, yaw), height = frame.character, float(frame.pose[2, 0])
    poses = method.states.next_poses.take(decision.states, axis=0)
    bodies = engine.field.ghosts.build_segments(poses, method.skeleton.parents, (x, y, height, yaw))
    ground = height + drawing.ABOVE_GROUND
    bars = np.empty((0, 3), np.float32)
    if tall is not None:
        offsets = engine.field.ghosts.lay_out_rows(decision.weights, yaw, tall)
        bodies += offsets[:, None, None]
        shares = decision.weights / decision.weights.sum()
        bars = _build_bars(offsets + np.array((x, y, ground)), shares, yaw, tall)
    others = np.arange(len(bodies)) != decision.chosen
    arrow = _build_arrow(x, y, ground, yaw + decision.goal.direction)
    shown = np.concatenate([bodies[others].reshape(-1, 3), bars, arrow])
    colours = np.full((len(shown), 4), (*get_task_color(decision.goal), 1.0), np.float32)
    weights = np.sqrt(decision.weights / decision.weights.max())[others]
    brightness = _FAINTEST + (1.0 - _FAINTEST) * weights
    colours[: len(brightness) * 2 * bodies.shape[1], 3] = np.repeat(brightness, 2 * bodies.shape[1])
    return scale.to_world(Ghosts(bodies[decision.chosen].reshape(-1, 3), shown, colours))


def get_task_color(goal: TaskGoal) -> Rgb:
    """Return the colour of a goal: that of new ranges of its tag, or of the heading."""
    if goal.tags:
        return app.controller.tag_colors.get_tag_color(min(goal.tags))
    return colorsys.hsv_to_rgb((1.0 / 3.0 - goal.direction / math.tau) % 1.0, 0.75, 0.95)


def measure_height(method: MotionField) -> float:
    """Return the height of the body in metres, of the first pose: the same for all ticks."""
    pose = method.states.next_poses[0]
    parents = method.skeleton.parents
    return engine.field.ghosts.measure_height(pose, parents)


def _build_bars(places: np.ndarray, shares: np.ndarray, yaw: float, tall: float) -> np.ndarray:
    """Return bars for shares (Q,) of a height ahead of places (Q, 3): pairs of points (2 Q, 3)."""
    ahead = tall * np.append(engine.maths.planar.yaw_to_forward(np.array(yaw)), 0.0)
    starts = places + _BAR_START * ahead
    return drawing.as_pairs(starts, starts + shares[:, None] * ahead)


def _build_arrow(x: float, y: float, z: float, heading: float) -> np.ndarray:
    """Return an arrow on the ground away from the character, as pairs of points (6, 3)."""
    headings = heading + np.array([0.0, -_BARB_TURN, _BARB_TURN])
    ahead, *barbs = engine.maths.planar.yaw_to_forward(headings)
    start = (x, y) + _NEAR * ahead
    tip = (x, y) + _FAR * ahead
    points = [start, tip, tip, tip + _BARB * barbs[0], tip, tip + _BARB * barbs[1]]
    return np.column_stack([points, np.full(len(points), z)]).astype(np.float32)


def draw(ghosts: Ghosts) -> None:
    """Draw the ghosts over everything else; the thick one comes first, or it would hide others."""
    chosen = drawing.build_line_batch(ghosts.chosen, colors.get_color("chosen"))
    others = drawing.build_line_batch(ghosts.others, ghosts.colours)
    drawing.draw_lines([(chosen, _CHOSEN), (others, _OTHER)])
