"""Motion out of Blender: sampling, imports, markers, and the library of databases."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        blend_sources,
        contact_markers,
        gltf_skins,
        hand_path,
        imports,
        library,
        library_moving,
        moving_pose,
        path_preview,
        sampling,
        tag_markers,
    )
else:
    __getattr__ = load_on_use(__name__)
