"""Clips and what is made from them: skeletons, BVH files, contacts, simulation bones."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        attachment,
        bone_names,
        bvh,
        bvh_positions,
        bvh_rate,
        bvh_table,
        bvh_text,
        clip,
        conforming,
        contacts,
        demo_clips,
        performers,
        resampling,
        rest,
        settings,
        simulation_bone,
        skeleton,
        smoothing,
    )
else:
    __getattr__ = load_on_use(__name__)
