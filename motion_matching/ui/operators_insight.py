"""Operators that look at the data: measure its coverage, map its poses, inspect a frame, and save pictures of it all."""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ..engine.errors import SettingsError
from . import insight, inspector, polls, request, status
from .operators_build import built
from .work import Steps, Working, in_background


class MOTION_MATCHING_OT_measure_coverage(Working, bpy.types.Operator):
    """Measure what the data covers of what is asked of it, and list what to capture next; builds the database first where \
it has to be"""

    bl_idname = "motion_matching.measure_coverage"
    bl_label = "Measure Coverage"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _may_measure(cls, context)

    def steps(self, context: bpy.types.Context) -> Steps[str]:
        found = yield from insight.measure(request.armature_of(context))
        status.refresh(request.armature_of(context))
        count = len(found.to_capture)
        return (
            f"Measured: {count} thing{'' if count == 1 else 's'} to capture next"
            if count
            else "Measured: nothing that is asked for is missing"
        )


class MOTION_MATCHING_OT_save_pictures(Working, bpy.types.Operator):
    """Write strands, coverage, histograms and maps of poses as one SVG picture, for browsers and drawing programs"""

    bl_idname = "motion_matching.save_pictures"
    bl_label = "Save Pictures"
    bl_options = {"REGISTER"}

    filepath: StringProperty(
        name="File", subtype="FILE_PATH", description="Picture that is written"
    )
    check_existing: BoolProperty(name="Check Existing", default=True, options={"HIDDEN"})
    filter_glob: StringProperty(default="*.svg", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _may_measure(cls, context)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        self._is_browsing = True  # the file browser comes back to `execute`
        self.filepath = (
            self.filepath or f"{bpy.path.clean_name(request.armature_of(context).name)}_data.svg"
        )
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def check(self, context: bpy.types.Context) -> bool:
        """Name the file as it will be written, for the file browser marks in red the name of one that is there."""
        typed = self.filepath
        if os.path.basename(typed):
            self.filepath = bpy.path.ensure_ext(typed, ".svg")
        return bool(self.filepath != typed)

    def execute(self, context: bpy.types.Context) -> set[str]:
        return (
            super().invoke(context, None)
            if getattr(self, "_is_browsing", False)
            else super().execute(context)
        )

    def steps(self, context: bpy.types.Context) -> Steps[str]:
        path = _target(self.filepath)
        obj = request.armature_of(context)
        uid = obj.session_uid
        found = insight.measured.get(uid)
        if found is None or insight.outdated(obj, found):
            found = yield from insight.measure(obj)
        database = yield from built(request.held(uid))
        mapped = yield from insight.map_poses(request.held(uid))

        def write(tell: Any) -> None:
            from ..engine.matching import plots

            plots.save(database, found.inspection, mapped.poses, path)

        yield from in_background(write, "Drawing")
        return f"Saved {path}"


def _target(filepath: str) -> Path:
    """The file to write. SettingsError where none is named, or its folder is not there."""
    path = Path(bpy.path.abspath(filepath))
    if not filepath or path.is_dir():
        raise SettingsError("No file is named for the pictures; give one that ends in .svg.")
    path = path if path.suffix.lower() == ".svg" else path.with_name(f"{path.name}.svg")
    if not path.parent.is_dir():
        raise SettingsError(f"The folder {path.parent} is not there; choose another one.")
    return path


class MOTION_MATCHING_OT_map_poses(Working, bpy.types.Operator):
    """Lay all poses out on a flat map, those near each other that the search takes for one another"""

    bl_idname = "motion_matching.map_poses"
    bl_label = "Map Poses"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_sources(cls, context)

    def steps(self, context: bpy.types.Context) -> Steps[str]:
        found = yield from insight.map_poses(request.armature_of(context))
        status.refresh(request.armature_of(context))
        return f"Mapped {len(found.colours)} poses"


class MOTION_MATCHING_OT_inspect_frame(Working, bpy.types.Operator):
    """Show the current frame as the search sees it: its features, what playing on costs, and why other frames win, lose or \
are barred; follows the timeline from then on"""

    bl_idname = "motion_matching.inspect_frame"
    bl_label = "Inspect Frame"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not polls.has_sources(cls, context):
            return False
        settings = request.armature_of(context).motion_matching
        if settings.insight.inspect == "take":
            return polls.knows_performance(cls, polls.chosen_take(cls, context))
        if polls.active(settings, "sources", "source_index") is None:
            cls.poll_message_set("Choose a source in the panel Database first")
            return False
        return True

    def steps(self, context: bpy.types.Context) -> Steps[str]:
        obj = request.armature_of(context)
        found = yield from inspector.inspect(obj)
        status.refresh(request.armature_of(context))
        if found.problem:
            raise SettingsError(found.problem)
        return ""


class MOTION_MATCHING_OT_stop_inspecting(bpy.types.Operator):
    """Inspect frames no more"""

    bl_idname = "motion_matching.stop_inspecting"
    bl_label = "Stop Inspecting"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not polls.has_armature(cls, context):
            return False
        if inspector.current is None:
            cls.poll_message_set("No frame is inspected")
        return inspector.current is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        inspector.close()
        return {"FINISHED"}


def _may_measure(cls: Any, context: bpy.types.Context) -> bool:
    """Whether there is data to measure, and what it is to be measured against."""
    if not polls.has_sources(cls, context):
        return False
    settings = request.armature_of(context).motion_matching.insight
    if settings.beside == "take":
        return polls.knows_performance(cls, polls.chosen_take(cls, context))
    if settings.beside == "recording" and settings.recording is None:
        cls.poll_message_set("Choose a recording to lay the data beside")
        return False
    return True


CLASSES = (
    MOTION_MATCHING_OT_measure_coverage,
    MOTION_MATCHING_OT_save_pictures,
    MOTION_MATCHING_OT_map_poses,
    MOTION_MATCHING_OT_inspect_frame,
    MOTION_MATCHING_OT_stop_inspecting,
)
