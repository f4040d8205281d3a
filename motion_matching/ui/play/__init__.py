"""The Perform panel and what a live session draws."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        drawing,
        ghosts,
        gizmos,
        grips,
        layers,
        navigation,
        operators,
        panel,
        pointing,
        properties,
    )
else:
    __getattr__ = load_on_use(__name__)
