"""Show settings, operators, lists and panels in Blender. Nothing here computes."""

from typing import TYPE_CHECKING

from ..engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        character,
        classes,
        colors,
        controller,
        database,
        director,
        drawing,
        features,
        insight,
        keymaps,
        menus,
        operator_base,
        panel_base,
        play,
        preferences,
        presets,
        properties,
        property_updates,
        retarget,
        strip,
        tags,
        takes,
        typed_properties,
        whole_names,
    )
else:
    __getattr__ = load_on_use(__name__)
