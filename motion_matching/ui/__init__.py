"""Show settings, operators, lists and panels in Blender. Nothing here computes."""

from typing import TYPE_CHECKING

from ..engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import classes, keymaps, menus, preferences, presets, properties
else:
    __getattr__ = load_on_use(__name__)
