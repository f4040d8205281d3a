"""Operators on the list of sources: add actions and files, and remove one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, StringProperty
from bpy_extras.io_utils import ImportHelper

from ..engine.errors import MotionMatchingError, SettingsError
from . import feature_list, items, polls, request, source_files, status
from .operators_source_edit import counted

ENDING = ".bvh"
MIRROR: Any = {
    "name": "Mirror",
    "default": True,
    "description": "Use the mirror images as well: twice the motion, as good to the left as to the right",
}


def add_source(obj: bpy.types.Object, name: str, **values: Any) -> Any:
    """A new source at the end of an armature's list, chosen; the first one brings the default features with it."""
    from ..engine import presets

    settings = obj.motion_matching
    for group in ("roles", "simulation_bone", "features", "controller", "script"):
        getattr(
            settings, group
        )  # a group that was never looked at is not kept, and a library override cannot change it
    if not settings.features.items:
        feature_list.set_features(settings.features, presets.load("features", "default"), "default")
    source = items.added(settings.sources, name)
    for key, value in values.items():
        setattr(source, key, value)
    settings.source_index = len(settings.sources) - 1
    return source


def add_action_sources(
    obj: bpy.types.Object, found: Iterable[bpy.types.Action], mirror: bool
) -> int:
    """Add the actions that are no sources yet; returns how many."""
    from ..scene import actions

    there = {source.action for source in obj.motion_matching.sources}
    new = [action for action in found if action not in there]
    for action in new:
        add_source(
            obj,
            action.name,
            kind="ACTION",
            action=action,
            mirror=mirror,
            loop=actions.is_cyclic(action),
        )
    return len(new)


class MOTION_MATCHING_OT_add_actions(bpy.types.Operator):
    """Add actions of this armature to the motion that its database is built from"""

    bl_idname = "motion_matching.add_actions"
    bl_label = "Add Actions"
    bl_options = {"REGISTER", "UNDO"}

    which: EnumProperty(
        name="Actions",
        default="ALL",
        description="Actions that are added",
        items=[
            ("ALL", "All of the Armature", "Every action that moves its bones, but for its takes"),
            ("ACTIVE", "Active Action", "The action that is assigned to it"),
        ],
    )
    mirror: BoolProperty(**MIRROR)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not polls.has_armature(cls, context):
            return False
        if not bpy.data.actions:
            cls.poll_message_set(
                "There is no action in this file: make or append one, or add files"
            )
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..scene import actions

        obj = request.armature_of(context)
        settings = obj.motion_matching
        if self.which == "ACTIVE":
            data = obj.animation_data
            chosen = [data.action] if data and data.action else []
        else:
            takes = {take.action for take in settings.takes}
            chosen = [action for action in actions.actions_of(obj) if action not in takes]
        if not chosen:
            self.report(
                {"ERROR"},
                f"No action moves the bones of armature '{obj.name}'; assign one to it, or add files.",
            )
            return {"CANCELLED"}
        new = add_action_sources(obj, chosen, self.mirror)
        self.report(
            {"INFO"},
            f"Added {counted(new, 'action')}"
            if new
            else "All of these actions are sources already",
        )
        return {"FINISHED"} if new else {"CANCELLED"}


class MOTION_MATCHING_OT_add_files(bpy.types.Operator, ImportHelper):
    """Add motion capture files (BVH), or all in a folder and below it, to the motion that the database is built from. \
Without a selected armature, one is made from the first file"""

    bl_idname = "motion_matching.add_files"
    bl_label = "Add Files"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filename_ext = ENDING
    filter_glob: StringProperty(
        default="*.bvh;*.BVH", options={"HIDDEN"}, description="Files that are shown"
    )
    filepath: StringProperty(
        name="File", subtype="FILE_PATH", options={"SKIP_SAVE"}, description="File that is added"
    )
    directory: StringProperty(
        name="Folder",
        subtype="DIR_PATH",
        options={"SKIP_SAVE"},
        description="Folder of the files, taken whole where none is chosen",
    )
    files: CollectionProperty(
        name="Files",
        type=bpy.types.OperatorFileListElement,
        options={"SKIP_SAVE"},
        description="Files of the folder that are added",
    )
    mirror: BoolProperty(**MIRROR)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return (
            polls.is_idle(cls)
            if request.armature_of(context) is None
            else polls.has_armature(cls, context)
        )

    def execute(self, context: bpy.types.Context) -> set[str]:
        return _add_files(self, context, lambda: chosen_paths(self, (ENDING,)))


class MOTION_MATCHING_OT_add_folder(bpy.types.Operator):
    """Add all motion capture files (BVH) in a folder and below it to the motion that the database is built from. \
Without a selected armature, one is made from the first file"""

    bl_idname = "motion_matching.add_folder"
    bl_label = "Add Folder"
    bl_options = {"REGISTER", "UNDO"}

    directory: StringProperty(
        name="Folder",
        subtype="DIR_PATH",
        options={"SKIP_SAVE"},
        description="Folder whose files are added",
    )
    filter_folder: BoolProperty(
        default=True, options={"HIDDEN", "SKIP_SAVE"}, description="Show folders"
    )
    mirror: BoolProperty(**MIRROR)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return MOTION_MATCHING_OT_add_files.poll.__func__(cls, context)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        return _add_files(self, context, lambda: [Path(self.directory)])


def _add_files(
    operator: Any, context: bpy.types.Context, wanted: Callable[[], list[Path]]
) -> set[str]:
    """Add files, and those in folders, as sources."""
    from ..engine.matching.sources import find_sources

    try:
        paths = [source.file for source in find_sources(wanted()) if source.file]
        obj = request.armature_of(context) or armature_from(paths[0], context)
    except MotionMatchingError as error:
        operator.report({"ERROR"}, str(error))
        return {"CANCELLED"}
    there = {source_files.file_of(source) for source in obj.motion_matching.sources}
    new = [path for path in paths if path not in there]
    for path in new:
        add_source(obj, path.stem, kind="FILE", filepath=str(path), mirror=operator.mirror)
    operator.report(
        {"INFO"},
        f"Added {counted(len(new), 'file')}" if new else "All of these files are sources already",
    )
    return {"FINISHED"} if new else {"CANCELLED"}


def chosen_paths(operator: Any, endings: tuple[str, ...]) -> list[Path]:
    """The files that an operator was given, else its folder. SettingsError where nothing is chosen, or something else."""
    folder = Path(operator.directory) if operator.directory else None
    chosen = [folder / file.name for file in operator.files if folder and file.name]
    if not chosen and operator.filepath and Path(operator.filepath).exists():
        chosen = [Path(operator.filepath)]
    if not chosen and folder:
        chosen = [folder]
    if not chosen:
        raise SettingsError(
            f"'{operator.filepath}' is not there; choose {' or '.join(endings)} files, or a folder of them."
        )
    wrong = next(
        (path for path in chosen if path.is_file() and path.suffix.lower() not in endings), None
    )
    if wrong:
        raise SettingsError(
            f"{wrong} is no {' or '.join(endings)} file; choose motion capture of that kind, or a folder of it."
        )
    return chosen


def armature_from(path: Path, context: bpy.types.Context) -> bpy.types.Object:
    """A character with the skeleton of a motion capture file, chosen. MotionDataError where that cannot be read."""
    from dataclasses import replace

    from ..engine.motion import bvh
    from ..scene import armature, body, fitting

    clip = bvh.load(path)
    skeleton = armature.standing_rest(replace(clip, skeleton=clip.skeleton))
    obj = armature.create_armature(skeleton, path.stem, context.collection)
    fitting.keep_rest(obj, skeleton)
    body.create_body(obj, skeleton, f"{path.stem} body")
    choose(obj, context)
    return obj


def choose(obj: bpy.types.Object, context: bpy.types.Context) -> None:
    """Make an object the active and only selected one."""
    for other in context.selected_objects:
        other.select_set(False)
    context.view_layer.objects.active = obj
    obj.select_set(True)


class MOTION_MATCHING_OT_remove_source(bpy.types.Operator):
    """Take the active source off the list; its action or file stays"""

    bl_idname = "motion_matching.remove_source"
    bl_label = "Remove Source"
    bl_options = {"REGISTER", "UNDO"}

    all: BoolProperty(
        name="All",
        default=False,
        options={"SKIP_SAVE"},
        description="Take all sources off the list",
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not polls.has_armature(cls, context):
            return False
        if not request.armature_of(context).motion_matching.sources:
            cls.poll_message_set("The list of sources is empty")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = request.armature_of(context).motion_matching
        if self.all:
            settings.sources.clear()  # in a library override, those of the linked file stay
        else:
            place = min(settings.source_index, len(settings.sources) - 1)
            try:
                items.remove(
                    settings.sources, place, f"The source '{settings.sources[place].name}'"
                )
            except MotionMatchingError as error:
                self.report({"ERROR"}, str(error))
                return {"CANCELLED"}
        settings.source_index = max(0, min(settings.source_index, len(settings.sources) - 1))
        status.forget()
        return {"FINISHED"}


CLASSES = (
    MOTION_MATCHING_OT_add_actions,
    MOTION_MATCHING_OT_add_files,
    MOTION_MATCHING_OT_add_folder,
    MOTION_MATCHING_OT_remove_source,
)
