"""The neighbours of a motion field that plays live, as skeletons over the character: where each of them would lead.

The more one counted in what was done, the brighter it is; the chosen one is thick, in the colour of the chosen motion. The
others have that of what is asked for: of the tag, or of the heading, green straight ahead, orange to the left, blue to the
right. So has the arrow on the ground, which points there.
"""

from __future__ import annotations

import colorsys
import math
from typing import TYPE_CHECKING, NamedTuple

from . import drawing
from .tag_colors import color_of

if TYPE_CHECKING:
    import numpy as np

    from ..engine.control.performer import Frame
    from ..engine.field.method import Decision, MotionField
    from ..engine.field.tasks import Wish

_CHOSEN, _OTHER = 5.0, 1.5  # widths of lines
_FAINTEST = 0.12
_ABOVE, _NEAR, _FAR = 0.01, 0.3, 0.8  # metres: of the arrow, over the ground and from the character
_BARB, _BARB_TURN = 0.12, 2.6  # metres, radians

Rgb = tuple[float, float, float]


class Ghosts(NamedTuple):
    """Lines as pairs of points (2 L, 3): of the chosen neighbour, and of the others and the arrow with colours (2 L, 4)."""

    chosen: np.ndarray
    others: np.ndarray
    colours: np.ndarray


def of(method: MotionField, frame: Frame) -> Ghosts | None:
    """The ghosts of a tick where its character is seen; None before the first choice."""
    import numpy as np

    from ..engine.field.ghosts import segments

    decision = method.decision
    if decision is None:
        return None
    (x, y, yaw), height = frame.character, float(frame.pose[2, 0])
    poses = method.states.next_poses.take(decision.states, axis=0)
    bodies = segments(poses, method.skeleton.parents, (x, y, height, yaw))
    others = np.arange(len(bodies)) != decision.chosen
    arrow = _arrow(x, y, height + _ABOVE, yaw + decision.wish.direction)
    red, green, blue = color_of_task(decision.wish)
    colours = np.empty((len(bodies), bodies.shape[1] * 2, 4), np.float32)
    colours[:] = red, green, blue, 1.0
    colours[..., 3] = _brightness(decision)[:, None]
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


def _brightness(decision: Decision) -> np.ndarray:
    """Of each neighbour (k,), from faint to 1, by its weight in what was done."""
    import numpy as np

    return _FAINTEST + (1.0 - _FAINTEST) * np.sqrt(decision.weights / decision.weights.max())


def color_of_task(wish: Wish) -> Rgb:
    """The colour of what is asked for: of its tag, as new ranges of that name have it, or of the heading."""
    if wish.tags:
        return color_of(min(wish.tags))
    return colorsys.hsv_to_rgb((1.0 / 3.0 - wish.direction / math.tau) % 1.0, 0.75, 0.95)


def _arrow(x: float, y: float, z: float, heading: float) -> np.ndarray:
    """An arrow on the ground away from a character, as pairs of points (6, 3)."""
    import numpy as np

    def at(a: float, b: float, way: float, length: float) -> tuple[float, float, float]:
        return a + length * math.sin(way), b - length * math.cos(way), z

    tip = at(x, y, heading, _FAR)
    barbs = [
        point
        for side in (-1, 1)
        for point in (tip, at(*tip[:2], heading + side * _BARB_TURN, _BARB))
    ]
    return np.array([at(x, y, heading, _NEAR), tip, *barbs], np.float32)


def draw(found: Ghosts) -> None:
    """Draw them over all else in the view that is being drawn, the thin ones over the thick one, which would hide them."""
    chosen = drawing.lines(found.chosen, drawing.theme_color("bone_pose_active"))
    drawing.draw_lines([(chosen, _CHOSEN), (drawing.lines(found.others, found.colours), _OTHER)])
