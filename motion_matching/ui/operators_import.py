"""Operators that bring motion from elsewhere as sources: folders, FBX and glTF, other Blender files, and assets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, StringProperty
from bpy_extras.io_utils import ImportHelper

from ..engine.errors import MotionMatchingError, SettingsError
from . import polls, request, status
from .operators_source_edit import counted
from .operators_sources import MIRROR, add_action_sources, choose, chosen_paths
from .work import Steps, Working, in_background, one_of


def _files() -> Any:
    return CollectionProperty(
        name="Files",
        type=bpy.types.OperatorFileListElement,
        options={"SKIP_SAVE"},
        description="Files of the folder that are added",
    )


def _directory() -> Any:
    return StringProperty(
        name="Folder", subtype="DIR_PATH", options={"SKIP_SAVE"}, description="Folder of the files"
    )


class _Chosen(Working, ImportHelper):
    """A mixin of operators on files: chosen in the file browser and worked on in slices, or given by a script at once."""

    _asked = False

    def invoke(self: Any, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self._asked = True
        return ImportHelper.invoke(self, context, event)

    def execute(self: Any, context: bpy.types.Context) -> set[str]:
        at_once = bpy.app.background or not self._asked
        self._asked = False  # Adjust Last Operation runs this again, and cannot have a registered operator go on in slices
        return Working.execute(self, context) if at_once else Working.invoke(self, context, None)


class MOTION_MATCHING_OT_import_motion(_Chosen, bpy.types.Operator):
    """Import motion capture (BVH, FBX or glTF) as actions of this armature, and add them as sources. Without a selected \
armature, the character of an FBX or glTF file becomes it"""

    bl_idname = "motion_matching.import_motion"
    bl_label = "Import Motion"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filter_glob: StringProperty(
        default="*.bvh;*.fbx;*.glb;*.gltf", options={"HIDDEN"}, description="Files that are shown"
    )
    filepath: StringProperty(
        name="File", subtype="FILE_PATH", options={"SKIP_SAVE"}, description="File that is imported"
    )
    directory: _directory()
    files: _files()
    mirror: BoolProperty(**MIRROR)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        free = (
            polls.is_idle(cls)
            if request.armature_of(context) is None
            else polls.has_armature(cls, context)
        )
        if free and context.mode != "OBJECT":
            cls.poll_message_set("Go to Object Mode first")
        return free and context.mode == "OBJECT"

    def steps(self, context: bpy.types.Context) -> Steps[str]:
        from ..scene import imports

        endings = (".bvh", *imports.ENDINGS)
        paths = [
            path for chosen in chosen_paths(self, endings) for path in _in_folder(chosen, endings)
        ]
        obj, made, failed = request.armature_of(context), 0, []
        uid: int | None = obj.session_uid if obj else None
        new: set[int] = set()  # session_uids
        there = (
            (len(obj.motion_matching.sources), obj.motion_matching.source_index) if obj else (0, 0)
        )
        set_back = imports.remembered()
        try:
            for number, path in enumerate(paths):
                yield f"Importing {path.name}", number / len(paths)
                try:
                    if uid is None:
                        before = imports.uids()
                        obj, found = self._character(context, path)
                        uid, new = obj.session_uid, imports.uids() - before
                    else:
                        found = yield from one_of(_actions_from(path, uid), number, len(paths))
                        new |= {action.session_uid for action in found}
                except MotionMatchingError as error:
                    failed.append(str(error))
                    continue
                made += add_action_sources(request.held(uid), found, self.mirror)
        except GeneratorExit:  # cancelled, which leaves nothing behind
            _take_back(uid, there, new)
            set_back()
            raise
        status.forget()
        for sentence in failed if made else failed[1:]:
            self.report({"WARNING"}, sentence)
        if failed and not made:
            raise SettingsError(failed[0])
        return f"Added {counted(made, 'action')}"

    def _character(
        self, context: bpy.types.Context, path: Path
    ) -> tuple[bpy.types.Object, list[bpy.types.Action]]:
        from ..scene import imports
        from .operators_sources import armature_from

        if path.suffix.lower() == ".bvh":
            obj = armature_from(path, context)
            return obj, _finished(_actions_from(path, obj.session_uid))
        obj, found = imports.import_character(path)
        choose(obj, context)
        return obj, found


def _in_folder(path: Path, endings: tuple[str, ...]) -> list[Path]:
    """The files of these kinds in a folder and below it, sorted; a file as it is. SettingsError for a folder without."""
    if not path.is_dir():
        return [path]
    found = sorted(
        p for p in path.rglob("*") if p.suffix.lower() in endings and not p.name.startswith(".")
    )
    if not found:
        raise SettingsError(
            f"The folder {path} holds no {' or '.join(endings)} file; choose another."
        )
    return found


def _take_back(uid: int | None, there: tuple[int, int], new: set[int]) -> None:
    """Leave an armature the count of sources it had, and the active one, and remove what is new, by session_uid."""
    from ..scene import imports

    obj = next((obj for obj in bpy.data.objects if obj.session_uid == uid), None)
    if obj:
        sources, (count, index) = obj.motion_matching.sources, there
        for place in reversed(range(count, len(sources))):
            sources.remove(place)
        obj.motion_matching.source_index = index
    imports.remove(new)


def _actions_from(path: Path, uid: int) -> Steps[list[bpy.types.Action]]:
    """Work that makes actions of an armature from the motion in a file. Errors as of reading and baking."""
    from ..engine.motion import bvh
    from ..scene import demo, imports

    if path.suffix.lower() == ".bvh":
        settings = request.held(uid).motion_matching
        axes = {
            "up": settings.up,
            "forward": settings.forward,
            "scale": settings.file_scale or None,
        }
        clips = [
            (yield from in_background(lambda tell: bvh.load(path, **axes), f"Reading {path.name}"))
        ]
    else:
        clips = imports.imported_clips(path)
    return demo.add_demo_actions(request.held(uid), clips)


def _finished(work: Steps[Any]) -> Any:
    while True:
        try:
            next(work)
        except StopIteration as done:
            return done.value


class MOTION_MATCHING_OT_add_blend_actions(bpy.types.Operator, ImportHelper):
    """Add the actions of another Blender file that move the bones of this armature, appended or linked"""

    bl_idname = "motion_matching.add_blend_actions"
    bl_label = "Add From Blender File"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filter_glob: StringProperty(
        default="*.blend", options={"HIDDEN"}, description="Files that are shown"
    )
    filepath: StringProperty(
        name="File",
        subtype="FILE_PATH",
        options={"SKIP_SAVE"},
        description="Blender file whose actions are added",
    )
    link: BoolProperty(
        name="Link",
        default=False,
        description="Leave the actions in their file, and follow its changes",
    )
    mirror: BoolProperty(**MIRROR)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_armature(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        return _add_from(self, context, [(Path(bpy.path.abspath(self.filepath)), None)], [])


class MOTION_MATCHING_OT_add_assets(bpy.types.Operator):
    """Add the actions that are selected in the Outliner or in an asset browser, of this file and of asset libraries"""

    bl_idname = "motion_matching.add_assets"
    bl_label = "Add Selected Actions"
    bl_options = {"REGISTER", "UNDO"}

    link: BoolProperty(
        name="Link",
        default=True,
        description="Leave the actions in their library, and follow its changes",
    )
    mirror: BoolProperty(**MIRROR)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not polls.has_armature(cls, context):
            return False
        if not _selected_actions(context):
            cls.poll_message_set(
                "Select actions in the Outliner, as a Blender File, or in an asset browser first"
            )
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        own: list[bpy.types.Action] = []
        wanted: dict[Path, list[str]] = {}
        for path, found in _selected_actions(context):
            if path is None:
                own.append(found)
            else:
                wanted.setdefault(path, []).append(found)
        return _add_from(self, context, list(wanted.items()), own)


def _selected_actions(context: bpy.types.Context) -> list[tuple[Path | None, Any]]:
    """The actions that are selected in the window's Outliners and asset browsers: those of this file with None, else file
    and name."""
    selected: list[tuple[Path | None, Any]] = []
    for area in context.window.screen.areas if context.window else ():
        if area.ui_type in ("OUTLINER", "ASSETS"):
            with context.temp_override(
                area=area, region=next(r for r in area.regions if r.type == "WINDOW")
            ):
                if area.ui_type == "OUTLINER":
                    found = getattr(
                        context, "selected_ids", ()
                    )  # which Blender 4.2 lacks without a window
                    selected += [(None, one) for one in found if isinstance(one, bpy.types.Action)]
                    continue
                for asset in context.selected_assets or ():
                    if asset.id_type == "ACTION":
                        own = asset.local_id
                        selected.append(
                            (None, own) if own else (Path(asset.full_library_path), asset.name)
                        )
    return selected


def _add_from(
    operator: Any,
    context: bpy.types.Context,
    wanted: list[tuple[Path, list[str] | None]],
    own: list[bpy.types.Action],
) -> set[str]:
    """Add those actions of this file that fit as sources, and of others: those of a name, or all that fit."""
    from ..scene import actions, imports

    obj = request.armature_of(context)
    fitting = actions.actions_of(obj)
    found = [action for action in dict.fromkeys(own) if action in fitting]
    try:
        if own and not found and not wanted:
            raise SettingsError(
                f"No selected action moves the bones of armature '{obj.name}'; select others."
            )
        for path, names in wanted:
            found += imports.library_actions(path, obj, link=operator.link, names=names)
    except MotionMatchingError as error:
        operator.report({"ERROR"}, str(error))
        return {"CANCELLED"}
    made = add_action_sources(obj, found, operator.mirror)
    operator.report(
        {"INFO"},
        f"Added {counted(made, 'action')}" if made else "All of these actions are sources already",
    )
    return {"FINISHED"} if made else {"CANCELLED"}


CLASSES = (
    MOTION_MATCHING_OT_import_motion,
    MOTION_MATCHING_OT_add_blend_actions,
    MOTION_MATCHING_OT_add_assets,
)
