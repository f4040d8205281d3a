"""Motion out of files that Blender itself imports or links: FBX, glTF, and actions of other Blender files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import bpy

from ..engine.errors import MotionDataError
from ..engine.motion.clip import Clip
from ..engine.silence import silent
from . import actions
from .sampling import sample

ENDINGS = (".fbx", ".glb", ".gltf")
_RATE = ("fps", "fps_base")
_RANGE = ("frame_start", "frame_end", "frame_current")


def import_character(path: Path) -> tuple[bpy.types.Object, list[bpy.types.Action]]:
    """Import a file with Blender's importer for it: its armature with most actions, and these, kept in this file.

    Nothing stays of a file without one. MotionDataError where it cannot be imported, or nothing of it moves bones.
    """
    before, set_back = uids(), remembered()
    try:
        _import(path)
        made = [
            obj
            for obj in bpy.data.objects
            if obj.session_uid not in before and obj.type == "ARMATURE"
        ]
        moved = {
            obj: [a for a in actions.actions_of(obj) if a.session_uid not in before] for obj in made
        }
        obj = max(moved, key=lambda one: len(moved[one]), default=None)
        if obj is None or not moved[obj]:
            raise MotionDataError(
                f"{path} has no {'animation of its armature' if made else 'armature'}; choose a file with "
                "a character that moves."
            )
    except BaseException:
        remove(uids() - before)
        set_back()
        raise
    for action in moved[obj]:
        action.use_fake_user = True
    return obj, moved[obj]


def imported_clips(path: Path) -> list[Clip]:
    """The motion in a file, read with Blender's importer for it; the scene is as before. Errors as of importing."""
    with _only_for_reading():
        obj, found = import_character(path)
        clips = [sampled.clip for sampled in sample(obj, found)]
        return [
            replace(clip, name=clip.name.rpartition("|")[2]) for clip in clips
        ]  # FBX names the object before it


@contextmanager
def _only_for_reading() -> Iterator[None]:
    """After the block all that was made in it is gone, and selection, frame rate and range are as before."""
    before, set_back = uids(), remembered()
    try:
        yield
    finally:
        remove(uids() - before)
        set_back()


def remembered() -> Callable[[], None]:
    """What sets selection, frame rate and range back to what they are now."""
    active, settings = bpy.context.view_layer.objects.active, _settings(bpy.context.scene)
    chosen = active.session_uid if active else None
    selected = [obj.session_uid for obj in bpy.context.selected_objects]

    def set_back() -> None:
        layer = bpy.context.view_layer
        layer.update()  # until then it lists what is gone
        layer.objects.active = next(
            (obj for obj in layer.objects if obj.session_uid == chosen), None
        )
        for obj in layer.objects:
            obj.select_set(obj.session_uid in selected)
        for (owner, name, now), (*_, value) in zip(
            _settings(bpy.context.scene), settings, strict=True
        ):
            if (
                now != value
            ):  # setting any of them counts as a change of frame, which ends poses without keys
                setattr(owner, name, value)

    return set_back


def _settings(scene: bpy.types.Scene) -> list[tuple[Any, str, Any]]:
    """Frame rate and range of a scene: what holds each, its name, and its value."""
    return [
        (owner, name, getattr(owner, name))
        for owner, names in ((scene.render, _RATE), (scene, _RANGE))
        for name in names
    ]


def _import(path: Path) -> None:
    """Run Blender's importer for a file. MotionDataError where there is none, or it fails."""
    ops: Any = bpy.ops
    if path.suffix.lower() == ".fbx":
        run: Callable[..., Any] = (
            ops.wm.fbx_import if "fbx_import" in dir(ops.wm) else ops.import_scene.fbx
        )
    else:
        run = ops.import_scene.gltf
    try:
        with silent():
            run(filepath=str(path))
    except (RuntimeError, AttributeError) as error:
        said = str(error).strip().splitlines()[-1:] or [""]
        raise MotionDataError(
            f"{path} cannot be imported by this Blender ({said[0]}); see that its importer is enabled and "
            "that it opens with File > Import."
        ) from error


def library_actions(
    path: Path, obj: bpy.types.Object, *, link: bool, names: Sequence[str] | None = None
) -> list[bpy.types.Action]:
    """The actions of a Blender file that animate an armature, or those of these names, appended or linked.

    Others do not stay. MotionDataError where the file cannot be read, or holds no such action.
    """
    if (
        bpy.data.filepath and path.resolve() == Path(bpy.data.filepath).resolve()
    ):  # which Blender 4.2 crashes on
        raise MotionDataError(
            f"{path} is the file that is open; use Add Actions for what it holds."
        )
    before, libraries = uids(), cast(Any, bpy.data.libraries)
    try:
        with silent(), libraries.load(str(path), link=link) as (there, wanted):
            wanted.actions = [name for name in there.actions if names is None or name in names]
    except OSError as error:
        raise MotionDataError(
            f"{path} cannot be read as a Blender file; choose one of this version or an older one."
        ) from error
    found = [action for action in wanted.actions if action is not None]
    fitting = [action for action in actions.actions_of(obj) if action in found]
    bpy.data.batch_remove([a for a in found if a not in fitting and a.session_uid not in before])
    if not fitting:
        raise MotionDataError(
            f"{path} has no action that moves the bones of armature '{obj.name}'; choose another file."
        )
    for action in fitting:
        if not action.library:
            action.use_fake_user = True
    return fitting


def _blocks() -> Iterator[Any]:
    for kind in bpy.data.bl_rna.properties:
        if kind.type == "COLLECTION":
            yield from getattr(bpy.data, kind.identifier)


def uids() -> set[int]:
    """The session_uids of all that is in this file."""
    return {block.session_uid for block in _blocks()}


def remove(unwanted: set[int]) -> None:
    """Remove what has these session_uids from this file."""
    bpy.data.batch_remove([block for block in _blocks() if block.session_uid in unwanted])
