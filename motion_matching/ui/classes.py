"""All classes that Blender gets, in the order in which it needs them: what is pointed at comes
first.
"""

from __future__ import annotations

from . import menus, preferences, presets, properties
from .character import operators as character_operators
from .character import panel as character_panel
from .controller import operators as controller_operators
from .controller import panel as controller_panel
from .database import operators as database_operators
from .database import operators_import, operators_sources
from .database import panel as database_panel
from .features import operators as features_operators
from .features import panel as features_panel
from .insight import operators as insight_operators
from .insight import panel as insight_panel
from .insight import properties as insight_properties
from .play import operators as play_operators
from .play import panel as play_panel
from .play import properties as play_properties
from .tags import operators as tags_operators
from .tags import panel as tags_panel
from .takes import operators as takes_operators
from .takes import panel as takes_panel

ALL: tuple[type, ...] = (
    *preferences.CLASSES,
    *play_properties.CLASSES,
    *insight_properties.CLASSES,
    *properties.CLASSES,
    *presets.CLASSES,
    *character_operators.CLASSES,
    *operators_sources.CLASSES,
    *operators_import.CLASSES,
    *database_operators.CLASSES,
    *features_operators.CLASSES,
    *tags_operators.CLASSES,
    *controller_operators.CLASSES,
    *play_operators.CLASSES,
    *takes_operators.CLASSES,
    *insight_operators.CLASSES,
    *menus.CLASSES,
    # the order of panels that share a parent is that of the sidebar
    *character_panel.CLASSES,
    *database_panel.CLASSES,
    *features_panel.CLASSES,
    *tags_panel.CLASSES,
    *controller_panel.CLASSES,
    *play_panel.CLASSES,
    *takes_panel.CLASSES,
    *insight_panel.CLASSES,
)
