"""Do what the add-on offers, without panels."""

from typing import TYPE_CHECKING

from ..engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        callbacks,
        character,
        controller,
        database,
        direct,
        handlers,
        insight,
        jobs,
        live,
        loaded_settings,
        mapping,
        marks,
        preferences,
        property_access,
        retarget,
        runtime,
        settings,
        sources,
        steps,
        strip,
        takes,
    )
else:
    __getattr__ = load_on_use(__name__)
