"""Operators on the tags of a source: add one from the playhead, propose some from the motion, and remove one."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..engine.errors import SettingsError
from . import items, polls, request, status
from .operators_build import read_sources
from .properties_tags import KINDS, LABELS
from .tag_bands import source_shown
from .tag_colors import color_of
from .work import Steps, Working, in_background


def active_source(context: bpy.types.Context) -> Any:
    """The chosen source of the armature, or None."""
    obj = request.armature_of(context)
    return obj and polls.active(obj.motion_matching, "sources", "source_index")


def _choose_shown(context: bpy.types.Context) -> Any:
    """The source to tag: in a Dope Sheet or a Timeline that whose action is shown there, which becomes the chosen one."""
    settings, shown = request.armature_of(context).motion_matching, source_shown(context)
    for index, source in enumerate(settings.sources if shown else ()):
        if source == shown:
            settings.source_index = index
    return active_source(context)


def add_range(source: Any, name: str, kind: str, start: int, end: int) -> Any:
    """A new range at the end of a source's tags, chosen, of a colour that its name decides."""
    tag = items.added(source.tag_ranges, "Range")
    tag.kind, tag.label, tag.frame_start, tag.frame_end = kind, name, start, end
    tag.color = color_of(name)
    source.tag_index = len(source.tag_ranges) - 1
    return tag


def _inherited(source: Any) -> set[str]:
    """The names of the ranges that a source of a library override has from the linked file; these cannot be removed."""
    override = source.id_data.override_library
    linked = override and override.reference.motion_matching.sources.get(source.name)
    return {tag.name for tag in linked.tag_ranges} if linked else set()


class _OnSource:
    """A mixin of operators on the chosen source."""

    @classmethod
    def poll(cls: Any, context: bpy.types.Context) -> bool:
        if not polls.has_armature(cls, context):
            return False
        if not polls.has_active(
            request.armature_of(context).motion_matching, "sources", "source_index"
        ):
            cls.poll_message_set("Add actions or files to tag first")
            return False
        return True


class _OnTag(_OnSource):
    """A mixin of operators on the chosen range of the chosen source."""

    @classmethod
    def poll(cls: Any, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if not polls.has_active(active_source(context), "tag_ranges", "tag_index"):
            cls.poll_message_set("Add a range of frames first")
            return False
        return True


class MOTION_MATCHING_OT_add_tag(_OnSource, bpy.types.Operator):
    """Tag frames of the chosen source: those of the preview range where there is one, else from the current frame on, or \
those from the first to the last selected key"""

    bl_idname = "motion_matching.add_tag"
    bl_label = "Add Range"
    bl_options = {"REGISTER", "UNDO"}

    kind: EnumProperty(name="Kind", default="FREE", items=KINDS, description="What the range means")
    label: StringProperty(
        name="Name",
        options={"SKIP_SAVE"},
        description="Name that performances ask for; empty to name it later",
    )
    frames: EnumProperty(
        name="Frames",
        default="PLAYHEAD",
        description="Which frames are tagged",
        items=[
            (
                "PLAYHEAD",
                "Playhead",
                "Those of the preview range where there is one, else from the current frame on",
            ),
            (
                "KEYS",
                "Selected Keys",
                "From the first to the last selected key of the source's action",
            ),
        ],
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        source, scene = _choose_shown(context), context.scene
        if self.frames == "KEYS":
            keys = _selected_keys(source, request.armature_of(context))
            if keys is None:
                self.report(
                    {"ERROR"},
                    f"No key of '{source.name}' is selected; select some in the Dope Sheet.",
                )
                return {"CANCELLED"}
            start, end = keys
        elif scene.use_preview_range:
            start, end = scene.frame_preview_start, scene.frame_preview_end
        else:
            start, end = scene.frame_current, _last_frame(source)
            # the current frame is in another part of the timeline, or in another clip
            end = end if end > start else start + round(request.scene_rate())
        label = self.label.strip() if self.kind == "FREE" else ""
        add_range(source, label or LABELS[self.kind], self.kind, max(start, 0), max(end, 0))
        status.forget()
        return {"FINISHED"}


def _selected_keys(source: Any, obj: bpy.types.Object) -> tuple[int, int] | None:
    """The frames of the first and the last selected key of a source, None where none is."""
    from ..scene import actions

    if source.kind != "ACTION" or source.action is None:
        return None
    return actions.selected_frames(
        actions.curves_of(source.action, actions.slot_for(source.action, obj))
    )


def _last_frame(source: Any) -> int:
    """The last frame that is taken of a source, or zero where only its file tells."""
    if source.use_range:
        return source.frame_end
    return round(source.action.frame_range[1]) if source.kind == "ACTION" and source.action else 0


class MOTION_MATCHING_OT_tag_at_playhead(_OnTag, bpy.types.Operator):
    """Start or end the chosen range at the current frame"""

    bl_idname = "motion_matching.tag_at_playhead"
    bl_label = "Set at Playhead"
    bl_options = {"REGISTER", "UNDO"}

    end: BoolProperty(
        name="End", default=False, description="Set the end of the range, not its start"
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        tag = polls.active(_choose_shown(context), "tag_ranges", "tag_index")
        if tag is None:
            self.report(
                {"ERROR"}, "The source that is shown has no range of frames; add one first."
            )
            return {"CANCELLED"}
        frame = max(context.scene.frame_current, 0)
        if self.end:
            tag.frame_end, tag.frame_start = frame, min(tag.frame_start, frame)
        else:
            tag.frame_start, tag.frame_end = frame, max(tag.frame_end, frame)
        return {"FINISHED"}


class MOTION_MATCHING_OT_remove_tag(_OnTag, bpy.types.Operator):
    """Remove the chosen range; the frames stay"""

    bl_idname = "motion_matching.remove_tag"
    bl_label = "Remove Range"
    bl_options = {"REGISTER", "UNDO"}

    all: BoolProperty(
        name="All",
        default=False,
        options={"SKIP_SAVE"},
        description="Remove all ranges of the source",
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        source = active_source(context)
        if self.all:
            source.tag_ranges.clear()
        else:
            try:
                items.remove(source.tag_ranges, source.tag_index, f"The range of '{source.name}'")
            except SettingsError as error:
                self.report({"ERROR"}, str(error))
                return {"CANCELLED"}
        source.tag_index = max(0, min(source.tag_index, len(source.tag_ranges) - 1))
        status.forget()
        status.redraw("WINDOW", "DOPESHEET_EDITOR")
        return {"FINISHED"}


class _OnAction(_OnSource):
    """A mixin of operators on the action of the chosen source."""

    @classmethod
    def poll(cls: Any, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        source = active_source(context)
        if source.kind != "ACTION" or source.action is None:
            cls.poll_message_set("Choose a source that is an action: files have no markers")
            return False
        return True


class MOTION_MATCHING_OT_tags_to_markers(_OnAction, bpy.types.Operator):
    """Write the ranges as pose markers of the action, to be moved in the Action Editor; its other markers stay"""

    bl_idname = "motion_matching.tags_to_markers"
    bl_label = "To Markers"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..scene.tag_markers import MarkedRange, write_tags

        source = active_source(context)
        if source.action.library:
            self.report(
                {"ERROR"},
                f"The action '{source.action.name}' is linked from another file; make it local first.",
            )
            return {"CANCELLED"}
        if not source.tag_ranges:
            self.report(
                {"ERROR"}, f"The source '{source.name}' has no ranges of tags to write; add some."
            )
            return {"CANCELLED"}
        ranges = [
            MarkedRange(
                tag.label if tag.kind == "FREE" else tag.kind,
                tag.frame_start,
                tag.frame_end,
                round(tag.bias, 6),
            )
            for tag in source.tag_ranges
        ]
        try:
            write_tags(source.action, ranges)
        except SettingsError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Marked {len(source.tag_ranges)} ranges on '{source.action.name}'")
        return {"FINISHED"}


class MOTION_MATCHING_OT_markers_to_tags(_OnAction, bpy.types.Operator):
    """Take the ranges from the pose markers of the action, in place of those of the list"""

    bl_idname = "motion_matching.markers_to_tags"
    bl_label = "From Markers"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..scene.tag_markers import read_tags

        source = active_source(context)
        try:
            ranges = read_tags(source.action)
        except SettingsError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if not ranges:
            self.report(
                {"ERROR"},
                f"The action '{source.action.name}' has no markers of tags, such as 'tag: limp' and "
                "'end: limp'; write some, or add ranges here.",
            )
            return {"CANCELLED"}
        if _inherited(source):
            self.report(
                {"ERROR"},
                f"Ranges of '{source.name}' come from the linked file, and can be replaced by "
                "markers only there.",
            )
            return {"CANCELLED"}
        colors = {tag.label: tuple(tag.color) for tag in source.tag_ranges}
        source.tag_ranges.clear()
        for r in ranges:
            kind = r.name if r.name in LABELS else "FREE"
            tag = add_range(
                source, LABELS.get(r.name, r.name), kind, max(r.start, 0), max(r.end, 0)
            )
            tag.bias, tag.color = r.bias, colors.get(tag.label, tag.color)
        status.forget()
        self.report({"INFO"}, f"Took {len(ranges)} ranges from '{source.action.name}'")
        return {"FINISHED"}


def _proposed(source: Any) -> list[int]:
    """The places of the ranges of a source that were proposed, or are named as if they were."""
    from ..engine.matching.auto_tags import NAMES

    return [
        k for k, tag in enumerate(source.tag_ranges) if tag.kind == "FREE" and tag.label in NAMES
    ]


class MOTION_MATCHING_OT_propose_tags(Working, bpy.types.Operator):
    """Tag idling, walking, running, turns, strafing, backing, starts and stops as ranges to be edited, found from how \
the character moves; ranges that were proposed before are replaced"""

    bl_idname = "motion_matching.propose_tags"
    bl_label = "Propose Tags"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_sources(cls, context)

    def steps(self, context: bpy.types.Context) -> Steps[str]:
        from ..engine.matching.build import propose_tags

        obj = request.armature_of(context)
        uid, settings = obj.session_uid, request.build_settings(obj)
        thresholds = request.thresholds_of(obj.motion_matching.thresholds)
        read = yield from read_sources(uid)
        sources, firsts = zip(*read, strict=True)
        proposed = yield from in_background(
            lambda tell: propose_tags(sources, settings, thresholds, tell), "Proposing"
        )
        obj = request.held(uid)
        listed = [obj.motion_matching.sources[place] for place in request.enabled_places(obj)]
        if len(listed) != len(proposed):
            raise SettingsError("The sources changed meanwhile; propose tags again.")
        for item in listed:
            inherited = _inherited(item)
            for tag in (item.tag_ranges[k] for k in _proposed(item)):
                if tag.name in inherited:
                    raise SettingsError(
                        f"The range '{tag.label}' of '{item.name}' comes from the linked file, and cannot "
                        "be replaced; change its label, or propose tags there."
                    )
        for item, tags, first in zip(listed, proposed, firsts, strict=True):
            for k in reversed(_proposed(item)):
                item.tag_ranges.remove(k)
            for tag in tags:
                add_range(item, tag.name, "FREE", tag.start + first, tag.stop - 1 + first)
            item.tag_index = 0
        status.forget()
        count = sum(map(len, proposed))
        return f"Proposed {count} ranges on {len(listed)} sources"


CLASSES = (
    MOTION_MATCHING_OT_add_tag,
    MOTION_MATCHING_OT_tag_at_playhead,
    MOTION_MATCHING_OT_remove_tag,
    MOTION_MATCHING_OT_tags_to_markers,
    MOTION_MATCHING_OT_markers_to_tags,
    MOTION_MATCHING_OT_propose_tags,
)
