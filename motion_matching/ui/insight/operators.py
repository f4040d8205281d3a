"""Operators that look at the data: measure coverage, map poses, inspect a frame, save pictures."""

from __future__ import annotations

import math
import os.path
from pathlib import Path
from typing import Any

import bpy

from ... import app, engine
from ...app.character.characters import get_active_armature, get_active_settings, get_armature
from ...app.property_access import settings_of
from ...app.runtime import runtime
from ...engine.errors import SettingsError
from ..base import operator_base as base
from ..base.function_operators import operator, stepped_operator
from ..base.panel_base import format_count
from ..base.typed_properties import choice, integer, switch, text
from ..tags.operators import add_range
from ..tags.properties import LABELS

_FORBIDDEN = 1.0 / 3.0  # seconds on either side of a frame, as candidates are listed


# Requirements


def has_reference(context: bpy.types.Context) -> str:
    """Require a recording to measure the data against, if that is chosen."""
    settings = get_active_settings(context).insight
    if settings.beside == "take":
        return base.has_performed_take(context)
    if settings.beside == "recording" and settings.recording is None:
        return base.n_("Choose a recording to measure the data against")
    return ""


def has_inspectable(context: bpy.types.Context) -> str:
    """Require the source or the take whose frame is inspected."""
    kind = get_active_settings(context).insight.inspect
    if kind == "screen":
        return ""
    return base.has_performed_take(context) if kind == "take" else base.has_active_source(context)


def is_inspecting(context: bpy.types.Context) -> str:
    return "" if runtime.inspector else base.n_("Inspect a frame first")


@stepped_operator(requires=(*base.SOURCES, has_reference), options={"REGISTER"})
def measure_coverage(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Measure how much of the requested motion the data covers, and list what to capture next. \
Builds the database if needed"""
    report = yield from app.insight.data_insight.measure_steps(get_active_armature(context))
    if not report.to_capture:
        return "Measured: no requested motion is missing"
    return f"Measured: {format_count(len(report.to_capture), 'thing')} to capture next"


class MOTION_MATCHING_OT_save_pictures(base.BrowsingOperator, bpy.types.Operator):
    """Save strands, coverage, histograms, maps of poses and the price of jumps as one SVG \
picture, for browsers and drawing programs"""

    bl_options = {"REGISTER"}
    requires = (*base.SOURCES, has_reference)

    filepath: str = text("", "File", "Picture to write", subtype="FILE_PATH")
    check_existing: bool = switch(True, "Check Existing", "", options={"HIDDEN"})
    filter_glob: str = text("*.svg", "", "", options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event | None) -> set[Any]:
        name = bpy.path.clean_name(get_active_armature(context).name)
        self.filepath = self.filepath or f"{name}_data.svg"
        return super().invoke(context, event)

    def check(self, context: bpy.types.Context) -> bool:
        """Add the file's ending: the file browser marks existing names in red."""
        typed = self.filepath
        if os.path.basename(typed):
            self.filepath = bpy.path.ensure_ext(typed, ".svg")
        return self.filepath != typed

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        path = _resolve_picture_path(self.filepath)
        read: list[engine.files.file_paths.NamedPath] = [("Blender", bpy.data.filepath)]
        sources = get_active_settings(context).sources
        read += [("a source", app.sources.source_files.find_file(source)) for source in sources]
        engine.files.file_paths.check_clashes(read, [("The picture", path)])
        obj = get_active_armature(context)
        uid = obj.session_uid
        coverage = runtime.coverage_reports.get(uid)
        if coverage is None or app.insight.data_insight.explain_staleness(obj, coverage):
            coverage = yield from app.insight.data_insight.measure_steps(obj)
        database = yield from app.database.build.load_or_build_steps(get_armature(uid))
        mapped = yield from app.insight.data_insight.map_poses_steps(get_armature(uid))
        data = database, coverage.inspection, mapped.poses
        yield from app.steps.run_in_background_steps(
            lambda report: engine.insight.plots.save(*data, path, mapped.states), "Drawing"
        )
        return f"Saved {path}"


def _resolve_picture_path(filepath: str) -> Path:
    """Return the file to write. SettingsError if none is named, or its folder does not exist."""
    path = Path(bpy.path.abspath(filepath))
    if not filepath or os.path.isdir(path):
        raise SettingsError("The pictures need a file name that ends in .svg.")
    path = path if path.suffix.lower() == ".svg" else path.with_name(f"{path.name}.svg")
    if not os.path.isdir(path.parent):
        raise SettingsError(f"The folder {path.parent} does not exist; choose another one.")
    return path


@stepped_operator(requires=base.SOURCES, options={"REGISTER"})
def map_poses(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Draw all poses on a flat map, with similar poses close together"""
    mapped = yield from app.insight.data_insight.map_poses_steps(get_active_armature(context))
    return f"Mapped {len(mapped.poses.mds)} poses"


class MOTION_MATCHING_OT_inspect_frame(base.SteppedOperator, bpy.types.Operator):
    """Show the current frame as the search sees it: its features, the cost of playing on, and why \
other frames win, lose or are excluded. Follows the timeline"""

    bl_options = {"REGISTER"}
    requires = (*base.SOURCES, has_inspectable)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event | None) -> set[Any]:
        """Inspect what is on screen where nothing else was chosen; scripts say what they want."""
        app.insight.inspector.prefer_screen(get_active_armature(context))
        return super().invoke(context, event)

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        inspector = yield from app.insight.inspector.inspect_steps(get_active_armature(context))
        if inspector.problem:
            raise SettingsError(inspector.problem)
        return ""


@operator(requires=(*base.CHARACTER, is_inspecting), options={"REGISTER"})
def stop_inspecting(context: bpy.types.Context) -> None:
    """Stop inspecting frames"""
    app.insight.inspector.close()


# Odd postures


_ODD_KINDS = (
    ("no_use", "Exclude", "Never play them: tag their frames Do Not Use on their sources"),
    (
        "prefer",
        "Avoid",
        "Play them only if hardly anything else fits: tag their frames, and the ones just before, "
        "with a cost on their sources",
    ),
    ("play", "Play", "Play them like others: tag their frames on their sources, at no cost"),
)
# the tag of each kind, and its report
_ODD_TAGS = {
    "no_use": ("no_use", "Excluded"),
    "prefer": ("prefer", "Will avoid"),
    "play": ("prefer", "Will play"),
}


class MOTION_MATCHING_OT_tag_odd_postures(base.SteppedOperator, bpy.types.Operator):
    """Tag odd postures on their sources, to play them never or rarely"""

    bl_label = "Exclude or Avoid Odd Postures"
    bl_options = {"UNDO"}  # another kind in a panel of the last operator would find none left
    requires = base.SOURCES

    kind: str = choice("no_use", "Kind", "What becomes of them", _ODD_KINDS)
    source: str = text(
        "", "Source", "Name of the source; leave empty for all", options={"SKIP_SAVE"}
    )
    frame: int = integer(0, "Frame", "First frame of the posture", options={"SKIP_SAVE"})

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        tip = next(tip for kind, _, tip in _ODD_KINDS if kind == properties.kind)
        return f"{tip}; remove these ranges in the panel Tags to play them as before"

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        uid = get_active_armature(context).session_uid
        found = (yield from app.database.status.refresh_steps(uid)).odd.moments
        place = self.source, self.frame
        chosen = [one for one in found if not self.source or (one.source, one.first) == place]
        if not chosen:
            raise SettingsError("There is no odd posture left there; check the list in Insight.")
        sources = settings_of(get_armature(uid)).sources
        kind, verb = _ODD_TAGS[self.kind]
        cost = engine.facts.postures.AVOIDANCE if self.kind == "prefer" else 0.0
        for one in chosen:
            lead = 0 if kind == "no_use" else one.lead
            first = max(one.first - lead, 0)
            tag = add_range(sources[one.source], LABELS[kind], kind, first, one.last)
            if kind == "prefer":
                tag.bias = cost
        app.database.status.invalidate()
        yield from app.database.status.refresh_steps(uid)
        return f"{verb} {format_count(len(chosen), 'odd posture')}"


class MOTION_MATCHING_OT_go_to_posture(base.SteppedOperator, bpy.types.Operator):
    """Select the source of this posture, preview it, and go to its middle frame"""

    bl_label = "Go to Source"
    bl_options = {"REGISTER"}
    requires = base.SOURCES

    source: str = text("", "Source", "Name of the source", options={"SKIP_SAVE"})
    frame: int = integer(0, "Frame", "Frame of the source", options={"SKIP_SAVE"})

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        obj = get_active_armature(context)
        index = settings_of(obj).sources.find(self.source)
        if index < 0:
            raise SettingsError(f"There is no source '{self.source}'; check the list in Insight.")
        found = app.insight.inspected_frames.SourceFrame(index, self.frame, 1.0, False)
        return app.insight.inspected_frames.show_source_steps(obj.session_uid, found)


@stepped_operator("Exclude Redundant Motion", requires=base.SOURCES, options={"UNDO"})
def exclude_spare_motion(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Tag motion that scripts hardly play and that resembles other motion as Do Not Use. Your own \
tags stay. Remove the ranges in the panel Tags to play it again"""
    obj = get_active_armature(context)
    uid = obj.session_uid
    keep = settings_of(obj).insight.keep
    found = yield from app.insight.spare_motion.find_steps(obj, keep)
    if not found.ranges:
        raise SettingsError("All of the motion is needed; keep less of it.")
    sources = settings_of(get_armature(uid)).sources
    for one in found.ranges:
        add_range(sources[one.source], LABELS["no_use"], "no_use", one.first, one.last)
    app.database.status.invalidate()
    yield from app.database.status.refresh_steps(uid)
    result = found.pruning
    return (
        f"Excluded {format_count(len(found.ranges), 'range')}: {result.kept:.0%} of the motion "
        f"stays, and covers {result.covered:.0%} of the playing time"
    )


# Candidates


def has_inspected_frame(context: bpy.types.Context) -> str:
    seen = runtime.inspector
    obj = get_active_armature(context)
    is_own = seen is not None and seen.armature.uid == obj.session_uid
    return "" if is_own and seen.inspected else base.n_("Inspect a frame first")


def has_inspected_take(context: bpy.types.Context) -> str:
    seen = runtime.inspector
    if seen is None or seen.inspected is None or seen.inspected.moment is None:
        return base.n_("Inspect a frame of a take first")
    is_field = seen.inspected.choice is not None
    return base.n_("Only takes of motion matching jump to single frames") if is_field else ""


class _CandidateOperator(base.SteppedOperator):
    """Base class of operators on a frame of the inspected database."""

    requires: tuple[base.Requirement, ...] = (*base.SOURCES, has_inspected_frame)

    frame: int = integer(0, "Frame", "Frame of the database", min=0, options={"SKIP_SAVE"})


class MOTION_MATCHING_OT_use_candidate(_CandidateOperator, bpy.types.Operator):
    """Perform the take again up to here, continue with this frame, and bake a new take"""

    bl_label = "Use From Here"
    requires = (*_CandidateOperator.requires, has_inspected_take, base.can_assign_action)

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        obj = get_active_armature(context)
        return app.insight.inspected_frames.use_steps(obj, _get_frame(self.frame))


class MOTION_MATCHING_OT_forbid_candidate(_CandidateOperator, bpy.types.Operator):
    """Never jump to this frame or within a third of a second of it: tags the range Do Not Start \
Here on its source, for all new takes"""

    bl_label = "Forbid"

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        seen = runtime.inspector
        obj = get_active_armature(context)
        uid = obj.session_uid
        frame = _get_frame(self.frame)
        found = yield from app.insight.inspected_frames.find_source_steps(obj, seen.database, frame)
        source = settings_of(get_armature(uid)).sources[found.source_index]
        around = math.ceil(_FORBIDDEN * seen.database.fps * found.step)
        start = max(found.frame - around, 0)
        end = found.frame + around
        kind = engine.database.tags.tags.NO_ENTRY
        add_range(source, LABELS[kind], kind, start, end)
        app.database.status.invalidate()
        if seen.subject == "take":
            again = "bake the take again to perform it without them"
            return f"Forbade frames {start} to {end} of '{source.name}'; {again}"
        yield from app.insight.inspector.inspect_steps(get_armature(uid))
        return f"Forbade frames {start} to {end} of '{source.name}'"


class MOTION_MATCHING_OT_go_to_candidate(_CandidateOperator, bpy.types.Operator):
    """Select the source of this frame, preview it, and go to the frame"""

    bl_label = "Go to Source"
    bl_options = {"REGISTER"}

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        obj = get_active_armature(context)
        return app.insight.inspected_frames.go_to_source_steps(obj, _get_frame(self.frame))


def _get_frame(frame: int) -> int:
    """Return a frame of the inspected database. SettingsError if it has no such frame."""
    count = runtime.inspector.database.frame_count if runtime.inspector else 0
    if frame >= count:
        raise SettingsError(f"The database has no frame {frame}; it has {count}.")
    return frame
