"""Algorithms: numpy and scipy only, no Blender."""

from typing import TYPE_CHECKING

from .lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        blending,
        body,
        building,
        bvh,
        control,
        database,
        direct,
        errors,
        facts,
        feet,
        field,
        files,
        ground,
        insight,
        matching,
        maths,
        mending,
        motion,
        names,
        performance,
        progress,
        retargeting,
        settings,
        silence,
        skeleton,
        sources,
        takes,
    )
else:
    __getattr__ = load_on_use(__name__)
