"""Actions, curves and keys in every supported Blender."""

from typing import TYPE_CHECKING

from ....engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import actions, curve_poses, curves, keys, playback
else:
    __getattr__ = load_on_use(__name__)
