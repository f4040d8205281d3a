"""The parts of a body: roles of bones, sides and mirror images, and how it stands."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        axes,
        body_plan,
        body_roles,
        body_search,
        body_subset,
        bone_pairs,
        fingers,
        forelegs,
        limb_bones,
        limb_search,
        limbs,
        mirror,
        named_bones,
        published_rigs,
        rig,
        rig_shape,
        role_confidence,
        sampled_body,
        segment_starts,
        standing,
        toe_ends,
        upper_body,
    )
else:
    __getattr__ = load_on_use(__name__)
