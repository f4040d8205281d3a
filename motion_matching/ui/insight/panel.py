"""Draw the panel of insight: coverage, a frame as the search sees it, and the map of poses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.types import UILayout

from ... import app, engine
from ...app.property_access import is_changed
from ...app.runtime import runtime
from ..base import panel_base as base
from ..features.properties import format_kind
from ..properties import MotionMatchingSettings
from .properties import MotionMatchingInsight

if TYPE_CHECKING:
    from ...app.insight.inspector import Inspector
    from ...engine.database.database import FrameSource
    from ...engine.insight.frames.frame_inspector import FrameInspection
    from ...engine.insight.frames.watching import Choice

_MAX_SHOWN = 6
_VERDICT_ICONS: Any = {
    "played on": "PLAY",
    "entered": "FORWARD",
    "left": "FORWARD",
    "excluded": "CANCEL",
    "lost": "REMOVE",
}
_ODD_ICONS: Any = {"no_use": "CANCEL", "prefer": "SOLO_OFF", "play": "PLAY"}


class MOTION_MATCHING_PT_insight(base.StateHeader, base.AdvancedPanel, bpy.types.Panel):
    """Contents of the data, as the search sees it"""

    bl_order = 7
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def is_in_use(cls, obj: bpy.types.Object, settings: MotionMatchingSettings) -> bool:
        uid = obj.session_uid
        inspector = runtime.inspector
        if uid in runtime.coverage_reports or uid in runtime.pose_maps:
            return True
        is_inspected = inspector is not None and inspector.armature.uid == uid
        return is_inspected or is_changed(settings.insight, MotionMatchingInsight.__annotations__)

    def get_state(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> base.State:
        coverage = runtime.coverage_reports.get(obj.session_uid)
        if coverage is None:
            return "LAYER_USED", "Not Measured"
        if app.insight.data_insight.explain_staleness(obj, coverage):
            return "FILE_REFRESH", "Stale"
        count = len(coverage.to_capture)
        return ("INFO", f"{count} to Capture") if count else ("CHECKMARK", "Covered")

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        base.draw_work_button(self.layout, "motion_matching.save_pictures", icon="IMAGE_DATA")


class _InsightPanel(base.ArmaturePanel):
    """A mixin of panels below it, most of which are closed."""

    bl_parent_id = "MOTION_MATCHING_PT_insight"
    bl_options = {"DEFAULT_CLOSED"}


class MOTION_MATCHING_PT_coverage(_InsightPanel, bpy.types.Panel):
    """How much of the requested motion the data covers"""

    bl_options = set()

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        layout = self.layout
        insight = settings.insight
        coverage = runtime.coverage_reports.get(obj.session_uid)
        column = base.split_layout(layout)
        column.prop(insight, "beside")
        if insight.beside == "recording":
            column.prop(insight, "recording", text=" ")
        strands = column.column(heading="Strands")
        strands.prop(insight, "show_strands")
        strands.prop(insight, "show_simulation")
        on_top = strands.column()
        on_top.active = insight.show_strands and insight.show_simulation
        on_top.prop(insight, "lay_over")
        charts = column.column(heading="Charts")
        charts.prop(insight, "show_coverage")
        charts.prop(insight, "show_histograms")
        base.draw_work_button(layout, "motion_matching.measure_coverage", icon="VIEWZOOM")
        if coverage is None:
            return
        if reason := app.insight.data_insight.explain_staleness(obj, coverage):
            base.draw_wrapped_text(layout, f"{reason}: measure again", "FILE_REFRESH")
        base.draw_small_lines(layout, coverage.summary)
        box = layout.box()
        missing = coverage.to_capture
        if missing:
            box.label(text="What to Capture Next", icon="OUTLINER_DATA_ARMATURE")
        else:
            box.label(text="No Gaps Found", icon="CHECKMARK")
        for text in missing[:_MAX_SHOWN]:
            base.draw_wrapped_text(box, text, "DOT")
        if len(missing) > _MAX_SHOWN:
            box.label(text=f"And {len(missing) - _MAX_SHOWN} more, in the saved pictures")


class MOTION_MATCHING_PT_odd_postures(base.StateHeader, _InsightPanel, bpy.types.Panel):
    """Moments that look wrong in the middle of an ordinary walk or run"""

    bl_options = set()

    def get_state(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> base.State:
        found = app.database.status.get_status(obj)
        if found.kind != "fresh":
            return app.strip.state.get_database_state(obj)
        count = len(found.odd.moments)
        return ("INFO", f"{count}") if count else ("CHECKMARK", "None")

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        layout = self.layout
        found = app.database.status.get_status(obj)
        odd = found.odd
        if not odd.moments:
            is_built = found.kind == "fresh"
            text = "No odd postures" if is_built else "Build the database first"
            layout.label(text=text, icon="CHECKMARK" if is_built else "INFO")
            return
        base.draw_wrapped_text(layout, odd.summary, "NONE")
        buttons = layout.column(align=True)
        row = buttons.row(align=True)
        for button in app.insight.postures.BUTTONS:
            base.draw_button(row, button)
        base.draw_button(buttons, app.insight.postures.PLAY_ALL)
        box = layout.box()
        for moment in odd.moments[:_MAX_SHOWN]:
            _draw_odd_moment(box, moment)
        if len(odd.moments) > _MAX_SHOWN:
            box.label(text=f"And {len(odd.moments) - _MAX_SHOWN} more, less unusual")


def _draw_odd_moment(layout: UILayout, moment: app.insight.postures.OddMoment) -> None:
    """Draw a moment: source and frames, what is odd, and what can be done about it."""
    lines = layout.column(align=True)
    row = lines.row()
    row.label(text=f"{moment.first}-{moment.last}  {moment.label}", icon="ARMATURE_DATA")
    buttons = row.row(align=True)
    place = {"source": moment.source, "frame": moment.first}
    for kind, icon in _ODD_ICONS.items():
        base.draw_icon(buttons, "motion_matching.tag_odd_postures", icon, kind=kind, **place)
    middle = (moment.first + moment.last) // 2
    base.draw_icon(
        buttons, "motion_matching.go_to_posture", "HIDE_OFF", **place | {"frame": middle}
    )
    text = lines.row()
    text.active = False
    text.label(text=moment.text, icon="BLANK1")


class MOTION_MATCHING_PT_spare_motion(_InsightPanel, bpy.types.Panel):
    """Motion that is hardly played and resembles other motion"""

    bl_label = "Redundant Motion"

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        base.split_layout(self.layout).prop(settings.insight, "keep", slider=True)
        base.draw_work_button(self.layout, "motion_matching.exclude_spare_motion", icon="CANCEL")


class MOTION_MATCHING_PT_frame_inspector(_InsightPanel, bpy.types.Panel):
    """A frame as the search sees it"""

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        layout = self.layout
        insight = settings.insight
        inspector = runtime.inspector
        column = base.split_layout(layout)
        _draw_choice(column, insight)
        is_own = inspector is not None and inspector.armature.uid == obj.session_uid
        seeks = insight.inspect != "take" and not (is_own and inspector.subject != "source")
        if insight.inspect == "source" or seeks:
            column.prop(insight, "use_wish")
            goal = column.column(align=True)
            goal.active = insight.use_wish
            goal.prop(insight, "wish", index=0, text="Ahead")
            goal.prop(insight, "wish", index=1, text="Left")
        column.prop(insight, "show_features")
        row = layout.row(align=True)
        row.operator("motion_matching.inspect_frame", icon="VIEWZOOM")
        if not is_own:
            return
        row.operator("motion_matching.stop_inspecting", text="", icon="X")
        if inspector.problem:
            base.draw_wrapped_text(layout, inspector.problem, "ERROR")
        elif reason := app.insight.data_insight.explain_staleness(obj, inspector):
            base.draw_wrapped_text(layout, f"{reason}: inspect again", "FILE_REFRESH")
        inspection = inspector.inspection
        inspected = inspector.inspected
        if inspection:
            _draw_frame(layout, inspector, inspection.frame)
            _draw_costs(layout, inspector, inspection)
            _draw_candidates(layout, inspector, inspection)
        elif inspected and inspector.similar:
            _draw_frame(layout, inspector, inspected.frame)
            _draw_similar(layout, inspector)
        elif inspected and inspected.choice:
            _draw_frame(layout, inspector, inspected.frame)
            _draw_actions(layout, inspector, inspected.choice)


def _draw_choice(layout: UILayout, insight: Any) -> None:
    """Draw the inspected item, or the one that the button would inspect."""
    if insight.is_property_set("inspect"):
        layout.prop(insight, "inspect")
    else:
        layout.row(heading="Inspect").prop_menu_enum(insight, "inspect", text="On Screen")


def _draw_frame(layout: UILayout, inspector: Inspector, frame: int) -> None:
    source = _find_source(inspector, frame)
    position = f"Frame {source.frame}, {frame} of the database"
    base.draw_small_lines(layout, (source.clip_label, position, *inspector.lines), "ACTION")


def _draw_costs(layout: UILayout, inspector: Inspector, inspection: FrameInspection) -> None:
    """Draw what playing on costs by feature, beside the best other frame."""
    shown = (inspection.continuing, *inspection.candidates[:1])
    labels = (*(format_kind(f.kind, f.bone) for f in inspector.database.schema.features), "Cost")
    columns = ([f"{cost:.2f}" for cost in (*weighed.by_feature, weighed.cost)] for weighed in shown)
    rows = [(*row, "")[:3] for row in zip(labels, *columns, strict=True)]
    if inspection.candidates:
        rows.append(("Jump Price  cm·s", "", f"{100.0 * inspection.candidates[0].price:.2f}"))
    base.draw_table(layout.box(), (("", "Here", "Best"), *rows), factor=0.54)


def _draw_candidates(layout: UILayout, inspector: Inspector, inspection: FrameInspection) -> None:
    """Draw the frame itself and the best others, each with its verdict."""
    box = layout.box()
    here = inspection.continuing
    for weighed in (here, *inspection.candidates):
        lines = box.column(align=True)
        figure = f"{weighed.cost:.2f}"
        icon: Any = _VERDICT_ICONS.get(weighed.verdict.partition(":")[0], "REMOVE")
        if weighed is here:
            row = lines.row()
            row.label(text="Playing On", icon=icon)
            base.draw_aligned(row, figure)
            _draw_buttons(row, inspector, weighed.frame, is_candidate=False)
        else:
            _draw_listed(lines, inspector, weighed.frame, icon, figure, is_candidate=True)
        verdict = format_verdict(inspector, weighed.verdict)
        if weighed is not here:
            price = engine.blending.transition_cost.format_price(weighed.price)
            verdict = f"{verdict}. Price {price}"
        base.draw_wrapped_text(lines, verdict, "BLANK1")
    flip = inspection.flip
    database = inspector.database
    feature = database.schema.features[flip.feature] if flip else None
    title = format_kind(feature.kind, feature.bone) if feature else ""
    text = engine.matching.flips.describe_flip(flip, database, inspection.frame, title)
    base.draw_wrapped_text(box, f"Flips: {text}", "ARROW_LEFTRIGHT")


def format_verdict(inspector: Inspector, verdict: str) -> str:
    """Return a verdict with the feature in words, as the table of costs has it."""
    for feature in inspector.database.schema.features:
        title = format_kind(feature.kind, feature.bone)
        verdict = verdict.replace(f"most by {feature.label} (", f"most by {title} (")
    return f"{verdict[:1].upper()}{verdict[1:]}"


def _draw_similar(layout: UILayout, inspector: Inspector) -> None:
    """Draw the frames that are most like the pose on the screen, and how different they are."""
    lines = layout.box().column(align=True)
    lines.label(text="Most Like the Pose")
    for frame, difference in inspector.similar:
        _draw_listed(lines, inspector, frame, "POSE_HLT", f"{difference:.2f}", is_candidate=True)


def _draw_listed(
    lines: UILayout, inspector: Inspector, frame: int, icon: Any, figure: str, *, is_candidate: bool
) -> None:
    """Draw a frame of a list: its number, a figure and its buttons, and its source below."""
    row = lines.row()
    (number, clip) = format_frame(inspector, frame)
    row.label(text=number, icon=icon)
    base.draw_aligned(row, figure)
    _draw_buttons(row, inspector, frame, is_candidate=is_candidate)
    lines.label(text=clip, icon="BLANK1")


def _draw_buttons(
    layout: UILayout, inspector: Inspector, frame: int, *, is_candidate: bool
) -> None:
    buttons = layout.row(align=True)
    if is_candidate:
        if inspector.subject == "take":
            base.draw_icon(buttons, "motion_matching.use_candidate", "PLAY", frame=frame)
        base.draw_icon(buttons, "motion_matching.forbid_candidate", "CANCEL", frame=frame)
    base.draw_icon(buttons, "motion_matching.go_to_candidate", "HIDE_OFF", frame=frame)


def _draw_actions(layout: UILayout, inspector: Inspector, choice: Choice) -> None:
    """Draw the actions of a motion field, best first: their frames and how much less they score."""
    lines = layout.box().column(align=True)
    best = choice.scores[choice.chosen]
    for index in (-choice.scores).argsort(kind="stable"):
        is_chosen = index == choice.chosen
        icon = "FORWARD" if is_chosen else "REMOVE"
        figure = "Chosen" if is_chosen else f"{choice.scores[index] - best:+.3f}"
        # a field enters no frame: there is none to use from here, or to forbid
        frame = int(choice.frames[index])
        _draw_listed(lines, inspector, frame, icon, figure, is_candidate=False)


def format_frame(inspector: Inspector, frame: int) -> tuple[str, str]:
    """Return a frame as the number in its preview, and its source's name in the list."""
    source = _find_source(inspector, frame)
    return f"Frame {source.frame}", f"{source.clip}{' (mirrored)' if source.mirrored else ''}"


def _find_source(inspector: Inspector, frame: int) -> FrameSource:
    numbers = app.database.frame_numbers
    return numbers.get_numbered_source(inspector.database, inspector.first_frames, frame)


class MOTION_MATCHING_PT_pose_map(_InsightPanel, bpy.types.Panel):
    """All poses on a flat map"""

    bl_label = "Map of Poses"

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        layout = self.layout
        mapped = runtime.pose_maps.get(obj.session_uid)
        column = base.split_layout(layout)
        column.prop(settings.insight, "map")
        column.prop(settings.insight, "map_colours")
        shown = column.column(heading="Show")
        shown.prop(settings.insight, "show_map", text="While Still")
        shown.prop(settings.play, "show_map", text="While Live")
        base.draw_work_button(layout, "motion_matching.map_poses", icon="POINTCLOUD_DATA")
        if mapped is None:
            return
        if reason := app.insight.data_insight.explain_staleness(obj, mapped):
            base.draw_wrapped_text(layout, f"{reason}: map again", "FILE_REFRESH")
        kind = settings.insight.map
        poses = mapped.poses
        if kind == "field":
            if mapped.metric != app.controller.training.get_field_metric(obj):
                text = "The field is not mapped with this similarity: map again"
                base.draw_wrapped_text(layout, text, "FILE_REFRESH")
            return
        share = f", with {poses.explained_variance:.0%} of the variance" if kind == "pca" else ""
        figures = f"Stress {poses.stress[kind]:.2f}{share}"
        base.draw_small_lines(layout, (figures,))
