"""All classes that Blender gets, in the order that it needs: what is pointed at comes first."""

from __future__ import annotations

from . import (
    character,
    controller,
    database,
    features,
    insight,
    menus,
    play,
    preferences,
    presets,
    properties,
    tags,
    takes,
)

ALL: tuple[type, ...] = (
    *preferences.CLASSES,
    *play.properties.CLASSES,
    *insight.properties.CLASSES,
    *properties.CLASSES,
    *presets.CLASSES,
    *character.operators.CLASSES,
    *database.operators_sources.CLASSES,
    *database.operators_import.CLASSES,
    *database.operators.CLASSES,
    *features.operators.CLASSES,
    *tags.operators.CLASSES,
    *controller.operators.CLASSES,
    *play.operators.CLASSES,
    *takes.operators.CLASSES,
    *insight.operators.CLASSES,
    *menus.CLASSES,
    # the order of panels that share a parent is that of the sidebar
    *character.panel.CLASSES,
    *database.panel.CLASSES,
    *features.panel.CLASSES,
    *tags.panel.CLASSES,
    *controller.panel.CLASSES,
    *play.panel.CLASSES,
    *takes.panel.CLASSES,
    *insight.panel.CLASSES,
)
