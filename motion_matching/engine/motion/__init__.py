"""Clips and what is made from them: skeletons, simulation bones, contacts, mirror images."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        attachment,
        body_roles,
        body_search,
        body_subset,
        bone_mapping,
        bone_names,
        bone_pairs,
        bvh,
        bvh_table,
        bvh_text,
        clip,
        conforming,
        contacts,
        limb_names,
        limb_search,
        limbs,
        mapping_preset,
        mirror,
        resampling,
        rig,
        rig_shape,
        role_confidence,
        settings,
        simulation_bone,
        skeleton,
        smoothing,
        standing,
    )
else:
    __getattr__ = load_on_use(__name__)
