"""The algorithms: numpy and scipy only, no Blender."""

from typing import TYPE_CHECKING

from .lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        body,
        control,
        database,
        errors,
        field,
        files,
        insight,
        json_files,
        matching,
        maths,
        motion,
        names,
        own_files,
        presets,
        progress,
        published,
        retargeting,
        settings,
        silence,
        takes,
    )
else:
    __getattr__ = load_on_use(__name__)
