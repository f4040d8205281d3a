"""Operators that add motion from BVH, FBX, glTF and Blender files, and from assets, as sources."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy_extras.io_utils import ImportHelper

from ... import app, engine, scene
from ...app.character.characters import get_active_armature, get_armature
from ...app.property_access import settings_of
from ...engine.errors import MotionMatchingError, SettingsError
from ...engine.names import to_readable
from ..base import operator_base as base
from ..base.typed_properties import Items, collection, switch, text
from .operators_sources import (
    MirrorOption,
    add_action_sources,
    add_source,
    describe_added,
    select_only,
)

if TYPE_CHECKING:
    from ...engine.motion.clip import Clip

# names of actions by the file that they are in, or None for all of them
ActionNames = Mapping[Path, Sequence[str] | None]
Actions = Sequence[bpy.types.Action]

EXTENSION = ".bvh"
_PATH: Any = {"subtype": "FILE_PATH", "options": {"SKIP_SAVE"}}
_FOLDER: Any = {"subtype": "DIR_PATH", "options": {"SKIP_SAVE"}}


def filter_files(endings: str) -> str:
    return text(endings, "", "Files to show", options={"HIDDEN"})


class FilesOption:
    """A mixin of operators on files of a folder."""

    filepath: str = text("", "File", "File to add", **_PATH)
    directory: str = text(
        "", "Folder", "Folder of the files; adds all of them if none is chosen", **_FOLDER
    )
    files: Items[bpy.types.OperatorFileListElement] = collection(
        bpy.types.OperatorFileListElement,
        "Files",
        "Files of the folder to add",
        options={"SKIP_SAVE"},
    )


class CharacterOption:
    """A mixin of operators on files that may hold several characters."""

    character: str = text(
        "",
        "Character",
        "Character in files with several: the armature, or the root bone of a BVH file; empty for "
        "the only one",
        options={"SKIP_SAVE"},
    )


def find_chosen_files(operator: FilesOption, endings: tuple[str, ...]) -> list[Path]:
    """Return an operator's files, or its folder's. SettingsError if none, or of another kind."""
    folder = Path(operator.directory) if operator.directory else None
    chosen = [folder / file.name for file in operator.files if folder and file.name]
    if not chosen and operator.filepath and os.path.exists(operator.filepath):
        chosen = [Path(operator.filepath)]
    if not chosen and folder:
        chosen = [folder]
    kinds = " or ".join(endings)
    if not chosen:
        problem = f"'{operator.filepath}' does not exist"
        raise SettingsError(f"{problem}; choose {kinds} files, or a folder of them.")
    for path in chosen:
        if not os.path.exists(path):
            raise SettingsError(
                f"{path} does not exist; choose {kinds} files, or a folder of them."
            )
        if os.path.isfile(path) and path.suffix.lower() not in endings:
            problem = f"{path} is not a {kinds} file"
            raise SettingsError(f"{problem}; choose motion capture of that kind, or a folder.")
    return [file for path in chosen for file in find_files(path, endings)]


def find_files(path: Path, endings: tuple[str, ...]) -> list[Path]:
    """Return a file, or the files of these kinds below a folder. SettingsError if none."""
    if not os.path.isdir(path):
        return [path]
    files = (p for p in sorted(path.rglob("*")) if not p.name.startswith("."))
    found = [p for p in files if p.suffix.lower() in endings and p.is_file()]
    if not found:
        kinds = " or ".join(endings)
        raise SettingsError(f"The folder {path} holds no {kinds} file; choose another.")
    return found


# BVH files, which stay files


class _FilesOperator(CharacterOption, MirrorOption, base.Operator):
    requires = (*base.IDLE, base.has_armature_if_any)

    def find_paths(self) -> list[Path]:
        """Return the files to add."""
        raise NotImplementedError

    def run(self, context: bpy.types.Context) -> str:
        paths = self.find_paths()
        files = app.sources.source_files
        sources = engine.sources.sources
        found = {path: files.choose_character(path, self.character) for path in paths}
        obj = get_active_armature(context) or import_armature(paths, context, found[paths[0]])
        present = {(files.find_file(one), one.character) for one in settings_of(obj).sources}
        new = [one for one in found.items() if one not in present]
        for path, character in new:
            name = sources.name_of_file(path, character)
            uses = {"mirror": self.mirror}
            add_source(obj, name, kind="FILE", filepath=str(path), character=character, **uses)
        return describe_added(len(new), "file")


# bpy's types of both differ
class MOTION_MATCHING_OT_add_files(FilesOption, _FilesOperator, bpy.types.Operator, ImportHelper):  # type: ignore[misc]
    """Add BVH files, or a folder with its subfolders, as sources. Without a selected armature, \
one is created from the first file"""

    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filename_ext = EXTENSION
    filter_glob: str = filter_files("*.bvh;*.BVH")

    def find_paths(self) -> list[Path]:
        return find_chosen_files(self, (EXTENSION,))


class MOTION_MATCHING_OT_add_folder(_FilesOperator, bpy.types.Operator):
    """Add all BVH files of a folder and its subfolders as sources. Without a selected armature, \
one is created from the first file"""

    directory: str = text("", "Folder", "Folder of the files to add", **_FOLDER)
    filter_folder: bool = switch(True, "", "Show folders", options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def find_paths(self) -> list[Path]:
        if not os.path.isdir(self.directory):
            problem = f"The folder '{self.directory}' does not exist"
            raise SettingsError(f"{problem}; choose one that holds {EXTENSION} files.")
        return find_files(Path(self.directory), (EXTENSION,))


def import_armature(
    paths: Sequence[Path], context: bpy.types.Context, root: str = ""
) -> bpy.types.Object:
    """Create a character with the skeleton of files, named after their folder, and select it.

    `root` chooses one of several in the first, and MotionDataError is raised if it cannot be read.
    """
    character = scene.staging.character
    path = paths[0].absolute()
    name = to_readable(path.parent.name or path.stem)
    obj = character.create_character(character.load_for_character(paths, root or None), name)
    select_only(obj, context)
    return obj


# Files that become actions


class MOTION_MATCHING_OT_import_motion(  # type: ignore[misc]  # bpy's types of both differ
    FilesOption,
    CharacterOption,
    MirrorOption,
    base.BrowsingOperator,
    bpy.types.Operator,
    ImportHelper,
):
    """Import motion capture (BVH, FBX or glTF) as actions of this armature, and add them as \
sources. Without a selected armature, the character of an FBX or glTF file is used"""

    bl_label = "Import Motion"  # which fits the button of the file browser
    bl_options = {"REGISTER", "UNDO", "PRESET"}
    requires = (*base.IDLE, base.has_armature_if_any, base.in_object_mode)

    filter_glob: str = filter_files("*.bvh;*.fbx;*.glb;*.gltf;*.vrma")

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        imports = scene.reading.imports
        endings = (EXTENSION, *imports.ENDINGS)
        paths = find_chosen_files(self, endings)
        obj = get_active_armature(context)
        added = 0
        failed: list[str] = []
        notes: list[str] = []
        uid: int | None = obj.session_uid if obj else None
        new: set[int] = set()  # session_uids
        before = (len(settings_of(obj).sources), settings_of(obj).source_index) if obj else (0, 0)
        restore_scene_settings = imports.save_scene_settings()
        read: list[list[Clip]] = []  # which become actions at the end: each time, Blender redraws
        try:
            for number, path in enumerate(paths):
                yield f"Reading {path.name}", number / (2 * len(paths))
                try:
                    if uid is None:
                        present = imports.collect_uids()
                        obj, actions = _import_character(
                            context, paths[number:], self.character, notes
                        )
                        uid = obj.session_uid
                        new = imports.collect_uids() - present
                        added += add_action_sources(obj, actions, self.mirror)
                    else:
                        steps = _read_clips_steps(path, uid, self.character, notes)
                        work = app.steps.scale_progress_steps(steps, number, 2 * len(paths))
                        read.append((yield from work))
                except MotionMatchingError as error:
                    failed.append(str(error))
            for number, clips in enumerate(read):
                yield "Importing", 0.5 + 0.5 * number / len(read)
                obj = get_armature(uid or 0)
                try:
                    actions = scene.staging.demo.add_demo_actions(obj, clips)
                except MotionMatchingError as error:
                    failed.append(str(error))
                    continue
                new |= {action.session_uid for action in actions}
                added += add_action_sources(obj, actions, self.mirror)
        except GeneratorExit:  # cancelled, which leaves nothing behind
            _undo_import(uid, before, new)
            restore_scene_settings()
            raise
        app.database.status.invalidate()
        for sentence in (*(failed if added else failed[1:]), *notes):
            self.tell("WARNING", sentence)
        if failed and not added:
            raise SettingsError(failed[0])
        return describe_added(added, "action")


def _import_character(
    context: bpy.types.Context, paths: Sequence[Path], character: str, notes: list[str]
) -> tuple[bpy.types.Object, list[bpy.types.Action]]:
    """Import the character of the first file, and its motion; see `_read_clips_steps`."""
    path = paths[0]
    if path.suffix.lower() == EXTENSION:
        alike = [other for other in paths if other.suffix.lower() == EXTENSION]
        root = app.sources.source_files.choose_character(path, character)
        obj = import_armature(alike, context, root)
        steps = _read_clips_steps(path, obj.session_uid, character, notes)
        return obj, scene.staging.demo.add_demo_actions(obj, engine.progress.run_to_end(steps))
    choose = partial(scene.reading.imports.choose_if_several, path, character)
    obj, actions = scene.reading.imports.import_character(path, choose)
    select_only(obj, context)
    return obj, actions


def _undo_import(uid: int | None, before: tuple[int, int], new: set[int]) -> None:
    """Restore an armature's number of sources and the active one, and remove new blocks by uid."""
    obj = next((obj for obj in bpy.data.objects if obj.session_uid == uid), None)
    if obj:
        settings = settings_of(obj)
        (count, active) = before
        while len(settings.sources) > count:
            settings.sources.remove(len(settings.sources) - 1)
        settings.source_index = active
    scene.reading.imports.remove_blocks(new)


def _read_clips_steps(
    path: Path, uid: int, character: str, notes: list[str]
) -> app.steps.Steps[list[Clip]]:
    """Read the motion in a file for an armature; `notes` get what was assumed of it."""
    if path.suffix.lower() == EXTENSION:
        settings = settings_of(get_armature(uid))
        axes: Any = {"up": settings.up, "forward": settings.forward}
        scale = settings.file_scale or None
        root = app.sources.source_files.choose_character(path, character) or None
        clip = yield from app.steps.run_in_background_steps(
            lambda report: engine.bvh.bvh.load(path, **axes, scale=scale, root=root),
            f"Reading {path.name}",
        )
        notes += clip.warnings
        return [replace(clip, name=engine.sources.sources.name_of_file(path, root))]
    choose = partial(scene.reading.imports.choose_if_several, path, character)
    return scene.reading.imports.import_clips(path, choose)


# Actions of other Blender files


class _ActionsOperator(MirrorOption, base.Operator):
    link: bool = switch(False, "Link", "Leave the actions in their file, and follow its changes")

    def add(self, obj: bpy.types.Object, files: ActionNames, own: Actions = ()) -> str:
        """Add fitting actions of other files and of this one as sources."""
        fitting = scene.blender.animation.actions.find_actions(obj)
        actions = [action for action in dict.fromkeys(own) if action in fitting]
        if own and not actions and not files:
            problem = f"No selected action moves the bones of armature '{obj.name}'"
            raise SettingsError(f"{problem}; select others.")
        load = scene.reading.imports.load_library_actions
        for path, names in files.items():
            actions += load(path, obj, link=self.link, names=names)
        return describe_added(add_action_sources(obj, actions, self.mirror), "action")


# bpy's types of both differ
class MOTION_MATCHING_OT_add_blend_actions(_ActionsOperator, bpy.types.Operator, ImportHelper):  # type: ignore[misc]
    """Add the actions of another Blender file that move the bones of this armature, appended \
or linked"""

    bl_label = "Add From File"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filter_glob: str = filter_files("*.blend")
    filepath: str = text("", "File", "Blender file with the actions to add", **_PATH)

    def run(self, context: bpy.types.Context) -> str:
        path = Path(bpy.path.abspath(self.filepath))
        return self.add(get_active_armature(context), {path: None})


def has_selected_actions(context: bpy.types.Context) -> str:
    message = base.n_(
        "Select actions in the Outliner, in its Blender File mode, or in an asset browser"
    )
    return "" if any(_iter_selected_actions(context)) else message


class MOTION_MATCHING_OT_add_assets(_ActionsOperator, bpy.types.Operator):
    """Add the actions selected in the Outliner or an asset browser, from this file or asset \
libraries"""

    bl_label = "Add Selected Actions"
    requires = (*base.CHARACTER, has_selected_actions)

    link: bool = switch(True, "Link", "Leave the actions in their library, and follow its changes")

    def run(self, context: bpy.types.Context) -> str:
        own: list[bpy.types.Action] = []
        files: dict[Path, list[str]] = {}
        for path, action in _iter_selected_actions(context):
            if path is None:
                own.append(action)
            else:
                files.setdefault(path, []).append(action)
        return self.add(get_active_armature(context), files, own)


def _iter_selected_actions(context: bpy.types.Context) -> Iterator[tuple[Path | None, Any]]:
    """Iterate over selected actions: (None, action) of this file, or (file, name) of others."""
    for area in context.window.screen.areas if context.window else ():
        if area.ui_type not in ("OUTLINER", "ASSETS"):
            continue
        region = next(region for region in area.regions if region.type == "WINDOW")
        with context.temp_override(area=area, region=region):
            # which Blender 4.2 lacks without a window
            chosen = getattr(context, "selected_ids", ()) if area.ui_type == "OUTLINER" else ()
            assets = context.selected_assets or () if area.ui_type == "ASSETS" else ()
        for one in chosen:
            if isinstance(one, bpy.types.Action):
                yield None, one
        for asset in assets:
            if asset.id_type == "ACTION" and asset.local_id:
                yield None, asset.local_id
            elif asset.id_type == "ACTION":
                yield Path(asset.full_library_path), asset.name
