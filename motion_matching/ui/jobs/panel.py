"""Draw the sub-panel of jobs for other machines."""

from __future__ import annotations

import bpy

from ...app.preferences import get_preferences
from ..base import panel_base as base
from ..properties import MotionMatchingSettings
from .properties import FORMATS


class MOTION_MATCHING_PT_batch(base.ArmaturePanel, bpy.types.Panel):
    """Many takes, performed by other machines"""

    bl_label = "Batch"
    bl_parent_id = "MOTION_MATCHING_PT_takes"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        layout = self.layout
        job = settings.job
        column = base.split_layout(layout)
        column.prop(job, "kind")
        if job.kind != "TAKES":
            column.prop(job, "count")
        formats = column.column(heading="Write")
        for name in FORMATS.values():
            formats.prop(job, name)
        column.prop(job, "chunk")
        column.prop(job, "folder")
        base.draw_work_button(layout, "motion_matching.export_job", icon="EXPORT")
        preferences = get_preferences()
        if preferences and preferences.submit_command:
            base.draw_work_button(layout, "motion_matching.submit_job", icon="URL")
