"""Define the colours of drawings in the 3D views: one palette for dark themes, one for light ones.

They differ from each other and from Blender's selection, for people who see two primary colours
only as well; `tests/ui/test_colors.py` measures by how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ...app.preferences import get_preferences
from ...app.runtime import runtime
from .typed_properties import declare, numbers

Color = tuple[float, ...]

# by role: label, what is drawn in it, and its colour on a dark and on a light background
ROLES = {
    "desired": (
        "Desired",
        "the desired path, the simulation object, and goals",
        "ffff99",
        "ffffa0",
    ),
    "chosen": ("Chosen Motion", "the chosen motion, and a path by hand", "7777ff", "00005c"),
    "contact": ("Contacts", "contacts, and positions of features", "ff00aa", "320010"),
    "trajectory": ("Trajectory", "the trajectory of features", "55bb77", "30d898"),
    "guide": ("Guides", "moving ground, raw paths, and bodies of features", "b2b2b2", "e0e0e0"),
}
_BACKGROUNDS = ("dark", "light")
_LIGHT = 0.3  # brightness from which a background is light


def _declare(role: str, background: str) -> Sequence[float]:
    label, drawn, *_ = ROLES[role]
    help = f"Color of {drawn}, in themes whose 3D Viewport is {background}"
    limits: Any = {"min": 0.0, "max": 1.0, "subtype": "COLOR_GAMMA"}
    # stored batches are drawn again too
    limits["update"] = lambda preferences, context: runtime.changed("selection")
    return numbers(_get_default(role, background)[:3], label, help, **limits)


def _get_default(role: str, background: str) -> Color:
    return _parse_hex(ROLES[role][2 + _BACKGROUNDS.index(background)])


def _parse_hex(text: str) -> Color:
    return (*(int(text[k : k + 2], 16) / 255.0 for k in (0, 2, 4)), 1.0)


@declare(**{f"{theme}_{role}": _declare(role, theme) for theme in _BACKGROUNDS for role in ROLES})
class Palettes:
    """The colours of each role in dark and in light themes; a mixin of the preferences."""


def find_background() -> str:
    """Return 'light' or 'dark': how the theme draws the 3D Viewport."""
    theme: Any = bpy.context.preferences.themes[0].view_3d.space.gradients.high_gradient
    return "light" if sum(theme[:3]) > 3.0 * _LIGHT else "dark"


def get_color(role: str, background: str = "") -> Color:
    """Return the opaque colour of a role, on the theme's background unless another is given."""
    background = background or find_background()
    preferences = get_preferences()
    if preferences is None:
        return _get_default(role, background)
    return (*getattr(preferences, f"{background}_{role}"), 1.0)
