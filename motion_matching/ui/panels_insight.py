"""The panel of what can be seen of the data: its coverage, a frame as the search sees it, and the map of poses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from . import insight, inspector
from .operators_insight import MOTION_MATCHING_OT_inspect_frame as InspectFrame
from .operators_insight import MOTION_MATCHING_OT_map_poses as MapPoses
from .operators_insight import MOTION_MATCHING_OT_measure_coverage as MeasureCoverage
from .operators_insight import MOTION_MATCHING_OT_save_pictures as SavePictures
from .operators_insight import MOTION_MATCHING_OT_stop_inspecting as StopInspecting
from .panels import ArmaturePanel, header, progress, split, told
from .request import armature_of

if TYPE_CHECKING:
    from ..engine.matching.frame_inspector import FrameInspection
    from ..engine.matching.watched import Choice

_MOST_TOLD = 6


class MOTION_MATCHING_PT_insight(ArmaturePanel, bpy.types.Panel):
    """What the data holds, and how the search sees it"""

    bl_label = "Insight"
    bl_order = 5
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        obj = armature_of(context)
        found = insight.measured.get(obj.session_uid)
        if found is None:
            header(self, "LAYER_USED", "Not Measured")
        elif insight.outdated(obj, found):
            header(self, "FILE_REFRESH", "Stale")
        else:
            count = len(found.to_capture)
            header(
                self,
                "INFO" if count else "CHECKMARK",
                f"{count} to Capture" if count else "Covered",
            )

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.operator_context = "INVOKE_DEFAULT"
        self.layout.operator(SavePictures.bl_idname, icon="IMAGE_DATA")
        progress(self.layout)


class MOTION_MATCHING_PT_coverage(ArmaturePanel, bpy.types.Panel):
    """What the data covers of what is asked of it"""

    bl_label = "Coverage"
    bl_parent_id = "MOTION_MATCHING_PT_insight"

    def draw(self, context: bpy.types.Context) -> None:
        obj, layout = armature_of(context), self.layout
        settings, found = obj.motion_matching.insight, insight.measured.get(obj.session_uid)
        layout.operator_context = "INVOKE_DEFAULT"
        column = split(layout)
        column.prop(settings, "beside")
        if settings.beside == "recording":
            column.prop(settings, "recording", text=" ")
        strands = column.column(heading="Strands")
        strands.prop(settings, "show_strands")
        strands.prop(settings, "show_simulation")
        charts = column.column(heading="Charts")
        charts.prop(settings, "show_coverage")
        charts.prop(settings, "show_histograms")
        layout.operator(MeasureCoverage.bl_idname, icon="VIEWZOOM")
        if found is None:
            return
        if reason := insight.outdated(obj, found):
            told(layout, context, f"{reason}: measure again", "FILE_REFRESH")
        lines = layout.column(align=True)
        lines.scale_y = 0.8
        for line in found.summary:
            lines.label(text=line)
        box = layout.box()
        box.label(
            text="What to Capture Next" if found.to_capture else "Nothing Asked For Is Missing",
            icon="OUTLINER_DATA_ARMATURE" if found.to_capture else "CHECKMARK",
        )
        for text in found.to_capture[:_MOST_TOLD]:
            told(box, context, text, "DOT")
        if len(found.to_capture) > _MOST_TOLD:
            box.label(text=f"And {len(found.to_capture) - _MOST_TOLD} more, in the saved pictures")


class MOTION_MATCHING_PT_frame_inspector(ArmaturePanel, bpy.types.Panel):
    """A frame as the search sees it"""

    bl_label = "Frame Inspector"
    bl_parent_id = "MOTION_MATCHING_PT_insight"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        obj, layout = armature_of(context), self.layout
        settings, seen = obj.motion_matching.insight, inspector.current
        layout.operator_context = "INVOKE_DEFAULT"
        column = split(layout)
        column.row().prop(settings, "inspect", expand=True)
        if settings.inspect == "source":
            column.prop(settings, "use_wish")
            wish = column.column(align=True)
            wish.active = settings.use_wish
            wish.prop(settings, "wish", index=0, text="Ahead")
            wish.prop(settings, "wish", index=1, text="Left")
        column.prop(settings, "show_features")
        row = layout.row(align=True)
        row.operator(InspectFrame.bl_idname, icon="VIEWZOOM")
        if seen is None or seen.armature.uid != obj.session_uid:
            return
        row.operator(StopInspecting.bl_idname, text="", icon="X")
        if seen.problem:
            told(layout, context, seen.problem, "ERROR")
        elif insight.outdated(obj, seen):
            told(layout, context, "The database has changed since: inspect again", "FILE_REFRESH")
        if seen.found:
            _frame(layout, seen, seen.found.frame)
            _costs(layout, seen.found)
            _others(layout, context, seen, seen.found)
        elif seen.spot and seen.spot.choice:
            _frame(layout, seen, seen.spot.frame)
            _actions(layout, seen, seen.spot.choice)


def _frame(layout: bpy.types.UILayout, seen: inspector.Inspector, frame: int) -> None:
    source = seen.database.source_of(frame)
    lines = layout.column(align=True)
    lines.scale_y = 0.8
    lines.label(text=f"{source.clip}{' (mirrored)' if source.mirrored else ''}", icon="ACTION")
    lines.label(text=f"Frame {source.frame} of it, {frame} of the database", icon="BLANK1")
    for line in seen.lines:
        lines.label(text=line, icon="BLANK1")


def _costs(layout: bpy.types.UILayout, found: FrameInspection) -> None:
    """What playing on costs by feature, beside the best other frame."""
    other = found.candidates[0] if found.candidates else None
    table = layout.box().column(align=True)
    table.scale_y = 0.8
    rows = [
        (
            _words(feature.label),
            *_pair(found.continuing.by_feature[k], other.by_feature[k] if other else None),
        )
        for k, feature in enumerate(found.features)
    ]
    total = ("Cost", *_pair(found.continuing.cost, other.cost if other else None))
    for label, *values in (("", "Here", "Best"), *rows, total):
        row = table.split(factor=0.54)
        row.label(text=label)
        cells = row.grid_flow(columns=2, row_major=True, even_columns=True)
        for value in values:
            cell = cells.row()
            cell.alignment = "RIGHT"
            cell.label(text=value)


def _pair(first: float, second: float | None) -> tuple[str, str]:
    return f"{first:.2f}", "" if second is None else f"{second:.2f}"


def _words(label: str) -> str:
    """A feature's label in the panel's words: 'bone_position left_foot' is 'Left Foot Position'."""
    kind, _, where = label.partition(" ")
    if kind.startswith("bone_"):
        return f"{where.replace('_', ' ').title()} {kind.removeprefix('bone_').title()}"
    return kind.replace("_", " ").title()


def _others(
    layout: bpy.types.UILayout,
    context: bpy.types.Context,
    seen: inspector.Inspector,
    found: FrameInspection,
) -> None:
    """The frame itself and the best others, each with what becomes of it."""
    box = layout.box()
    icons: Any = {
        "played on": "PLAY",
        "entered": "FORWARD",
        "left": "FORWARD",
        "barred": "CANCEL",
        "lost": "REMOVE",
    }
    for name, weighed in (
        ("Playing On", found.continuing),
        *((_named(seen, c.frame), c) for c in found.candidates),
    ):
        kind = weighed.verdict.partition(":")[0]
        lines = box.column(align=True)
        row = lines.row()
        row.label(text=name, icon=icons.get(kind, "REMOVE"))
        cost = row.row()
        cost.alignment = "RIGHT"
        cost.label(text=f"{weighed.cost:.2f}")
        told(lines, context, f"{weighed.verdict[:1].upper()}{weighed.verdict[1:]}", "BLANK1")


def _actions(layout: bpy.types.UILayout, seen: inspector.Inspector, choice: Choice) -> None:
    """What a motion field chose among, from the best on: the frame that each favours, and how much less it was worth."""
    lines = layout.box().column(align=True)
    best = choice.scores[choice.chosen]
    for k in (-choice.scores).argsort(kind="stable"):
        row = lines.row()
        row.label(
            text=_named(seen, int(choice.frames[k])),
            icon="FORWARD" if k == choice.chosen else "REMOVE",
        )
        worth = row.row()
        worth.alignment = "RIGHT"
        worth.label(text="Chosen" if k == choice.chosen else f"{choice.scores[k] - best:+.3f}")


def _named(seen: inspector.Inspector, frame: int) -> str:
    source = seen.database.source_of(frame)
    return f"{source.clip} {source.frame}{' (mirrored)' if source.mirrored else ''}"


class MOTION_MATCHING_PT_pose_map(ArmaturePanel, bpy.types.Panel):
    """All poses on a flat map"""

    bl_label = "Map of Poses"
    bl_parent_id = "MOTION_MATCHING_PT_insight"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        obj, layout = armature_of(context), self.layout
        settings, found = obj.motion_matching, insight.mapped.get(obj.session_uid)
        layout.operator_context = "INVOKE_DEFAULT"
        column = split(layout)
        column.prop(settings.insight, "map")
        shown = column.column(heading="Show")
        shown.prop(settings.insight, "show_map", text="While Still")
        shown.prop(settings.play, "show_map", text="While Live")
        layout.operator(MapPoses.bl_idname, icon="POINTCLOUD_DATA")
        if found is None:
            return
        if reason := insight.outdated(obj, found):
            told(layout, context, f"{reason}: map again", "FILE_REFRESH")
        lines = layout.column(align=True)
        lines.scale_y = 0.8
        kind = settings.insight.map
        kept = f", keeping {found.poses.kept:.0%} of the variance" if kind == "pca" else ""
        lines.label(text=f"Stress {found.poses.stress[kind]:.2f}{kept}")
        lines.label(text="Dark poses stand, light ones run")


CLASSES = (
    MOTION_MATCHING_PT_insight,
    MOTION_MATCHING_PT_coverage,
    MOTION_MATCHING_PT_frame_inspector,
    MOTION_MATCHING_PT_pose_map,
)
