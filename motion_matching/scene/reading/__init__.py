"""Motion out of Blender: sampling, imports, markers, and the library of databases."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import blend_sources, hand_path, imports, markers, moving_pose, path_preview, sampling
else:
    __getattr__ = load_on_use(__name__)
