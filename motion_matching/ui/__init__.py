"""Show settings, operators, lists and panels in Blender. Nothing here computes."""

from typing import TYPE_CHECKING

from ..engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        character,
        classes,
        controller,
        database,
        director,
        features,
        insight,
        keymaps,
        menus,
        play,
        preferences,
        presets,
        properties,
        retarget,
        strip,
        tags,
        takes,
    )
    from .base import (
        colors,
        drawing,
        operator_base,
        panel_base,
        property_updates,
        typed_properties,
        whole_names,
    )
else:
    __getattr__ = load_on_use(__name__)
