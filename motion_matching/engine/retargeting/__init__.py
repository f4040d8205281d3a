"""Motion of one body brought onto another."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        anatomy,
        bodies,
        bone_mapping,
        bone_matches,
        end_frames,
        finger_frames,
        foot_goals,
        frame_axes,
        loose_hips,
        mapping_preset,
        neutral_pose,
        partial_pose,
        plan,
        report,
        result_check,
        result_measure,
        retarget,
        settings,
        soles,
        steps,
        trunk_stance,
        trunk_tilt,
    )
else:
    __getattr__ = load_on_use(__name__)
