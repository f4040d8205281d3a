"""Clips and what is made from them: skeletons, simulation bones, contacts, mirror images."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        anatomy,
        attachment,
        body_roles,
        body_search,
        body_subset,
        bone_mapping,
        bone_matches,
        bone_names,
        bone_pairs,
        bvh,
        bvh_table,
        bvh_text,
        clip,
        conforming,
        contacts,
        finger_frames,
        foot_goals,
        frame_axes,
        limb_bones,
        limb_names,
        limb_search,
        limbs,
        mapping_preset,
        mirror,
        neutral_pose,
        partial_pose,
        resampling,
        retarget,
        retarget_plan,
        retarget_report,
        retarget_settings,
        retarget_steps,
        rig,
        rig_shape,
        role_confidence,
        settings,
        simulation_bone,
        skeleton,
        smoothing,
        standing,
        trunk_tilt,
        two_bones,
    )
else:
    __getattr__ = load_on_use(__name__)
