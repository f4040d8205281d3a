"""Motion from files that Blender imports or links: FBX, glTF, USD, actions of Blender files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

import bpy

from ...engine.errors import MotionDataError
from ...engine.files.digests import Part, make_keys
from ...engine.motion.clip import Clip
from ...engine.silence import silence_output
from ...engine.skeleton.bone_names import join_quoted
from ...engine.sources.sources import IMPORTED
from ..blender.animation import actions, curves
from .gltf_skins import find_rate, with_skins
from .sampling import sample

ENDINGS = IMPORTED
USD = (".usd", ".usda", ".usdc", ".usdz")
Moved = dict[bpy.types.Object, list[bpy.types.Action]]  # armatures, each with the actions it has
Choose = Callable[[Moved], bpy.types.Object]
Result = TypeVar("Result")
_NUMBER = re.compile(r"\.\d{3}$")  # that Blender adds to names that are taken
_KEYS_RATE = 30  # at which the keys of imported files are read, whatever the scene's rate is
_RATE = ("fps", "fps_base")
_RANGE = ("frame_start", "frame_end", "frame_current")


def choose_most_moved(moved: Moved) -> bpy.types.Object:
    """Return the armature that has the most actions."""
    return max(moved, key=lambda other: len(moved[other]))


def name_characters(moved: Moved) -> dict[str, bpy.types.Object]:
    """Return armatures by their names in the file, without the numbers that Blender gives."""
    names = {_NUMBER.sub("", obj.name): obj for obj in moved}
    if len(names) < len(moved):  # they differ by the numbers alone
        names = {obj.name: obj for obj in moved}
    return names


def choose_named(path: Path, name: str, moved: Moved) -> bpy.types.Object:
    """Return the armature of this name in a file. MotionDataError lists the moving ones."""
    names = name_characters(moved)
    if name not in names:
        raise MotionDataError(
            f"{path} has no character '{name}' that moves; choose {join_quoted(names)}."
        )
    return names[name]


def choose_if_several(path: Path, name: str, moved: Moved) -> bpy.types.Object:
    """Return the armature that moves; of several the one of this name, or that moves most."""
    if name and len(moved) > 1:
        return choose_named(path, name, moved)
    return choose_most_moved(moved)


def import_character(
    path: Path, choose: Choose = choose_most_moved
) -> tuple[bpy.types.Object, list[bpy.types.Action]]:
    """Import a file with Blender's importer; return one of its armatures and its actions.

    `choose` is called with all armatures that move. Raises MotionDataError, with nothing left
    behind, if the file cannot be imported or moves no bones, and what `choose` raises.
    """
    before = collect_uids()
    restore = save_scene_settings()

    def is_new(block: bpy.types.ID) -> bool:
        return block.session_uid not in before

    try:
        _import(path)
        armatures = [obj for obj in bpy.data.objects if is_new(obj) and obj.type == "ARMATURE"]
        found = {obj: list(filter(is_new, actions.find_actions(obj))) for obj in armatures}
        moved = {obj: its for obj, its in found.items() if its}
        if not moved:
            missing = "animation of its armature" if armatures else "armature"
            raise MotionDataError(
                f"{path} has no {missing}; choose a file with a moving character."
            )
        obj = choose(moved)
    except BaseException:
        remove_blocks(collect_uids() - before)
        restore()
        raise
    for action in moved[obj]:
        action.use_fake_user = True
    return obj, moved[obj]


def import_clips(path: Path, choose: Choose = choose_most_moved) -> list[Clip]:
    """Read the motion in a file as `import_character` does, and leave the scene as it was."""

    def read(obj: bpy.types.Object, found: list[bpy.types.Action]) -> list[Clip]:
        # FBX names the object before the action
        clips = [sampled.clip for sampled in sample(obj, found)]
        return [replace(clip, name=clip.name.rpartition("|")[2]) for clip in clips]

    return read_imported(path, read, choose)


def read_imported(
    path: Path,
    read: Callable[[bpy.types.Object, list[bpy.types.Action]], Result],
    choose: Choose = choose_most_moved,
) -> Result:
    """Read a file as `import_character` imports it, and leave the scene as it was."""
    before = collect_uids()
    restore = save_scene_settings()
    if path.suffix.lower() != ".fbx" and (rate := find_rate(path)):
        render = bpy.context.scene.render
        render.fps = rate
        render.fps_base = 1.0
    try:
        return read(*import_character(path, choose))
    finally:
        remove_blocks(collect_uids() - before)
        restore()


def read_keys(path: Path) -> list[Part]:
    """Return the keys in a .blend, FBX or USD file: all curves of its actions, by name.

    Files that are imported have their keys at 30 frames per second. The scene stays as it was.
    Raises MotionDataError if a file cannot be read, or has no keys.
    """
    before = collect_uids()
    restore = save_scene_settings()
    render = bpy.context.scene.render
    render.fps, render.fps_base = _KEYS_RATE, 1.0
    try:
        if path.suffix.lower() == ".blend":
            _load_actions(path, link=True)
        else:
            _import(path)
        new = [action for action in bpy.data.actions if action.session_uid not in before]
        parts = [part for action in new for part in _read_action(action)]
    finally:
        remove_blocks(collect_uids() - before)
        restore()
    if not parts:
        raise MotionDataError(f"{path} has no keys; give a file with an animation.")
    return sorted(parts, key=lambda part: part.name)


def _read_action(action: bpy.types.Action) -> Iterator[Part]:
    """Yield the keys of each curve of an action, named by action, slot, bone and property."""
    for slot, bag in actions.list_channelbags(action):
        owner = f"action '{action.name}'" + (f", slot '{slot}'" if slot else "")
        for curve in bag.fcurves:
            place = f"{owner}, {_describe_channel(curve)}"
            yield make_keys(place, *curves.read_shape(curve))


def _describe_channel(curve: bpy.types.FCurve) -> str:
    """Return what a curve moves, such as "bone 'Hips', location[0]"."""
    bone = curves.parse_bone_name(curve.data_path)
    channel = f"{curve.data_path}[{curve.array_index}]"
    if bone is None:
        return channel
    return f"bone '{bone}', {channel.removeprefix(curves.build_bone_path(bone)).lstrip('.')}"


def save_scene_settings() -> Callable[[], None]:
    """Return a function that restores the current selection, frame rate and range."""
    active = bpy.context.view_layer.objects.active
    settings = _read_settings(bpy.context.scene)
    chosen = active.session_uid if active else None
    selected = [obj.session_uid for obj in bpy.context.selected_objects]

    def restore() -> None:
        layer = bpy.context.view_layer
        layer.update()  # until then it lists what was removed
        found = (obj for obj in layer.objects if obj.session_uid == chosen)
        layer.objects.active = next(found, None)
        for obj in layer.objects:
            obj.select_set(obj.session_uid in selected)
        current = _read_settings(bpy.context.scene)
        for (owner, name, value), (*_, before) in zip(current, settings, strict=True):
            # setting any of them counts as a change of frame, which discards poses without keys
            if value != before:
                setattr(owner, name, before)

    return restore


def _read_settings(scene: bpy.types.Scene) -> list[tuple[Any, str, Any]]:
    """Return a scene's frame rate and range: what holds each, its name, and its value."""
    settings = [*((scene.render, name) for name in _RATE), *((scene, name) for name in _RANGE)]
    return [(owner, name, getattr(owner, name)) for owner, name in settings]


def _import(path: Path) -> None:
    """Run Blender's importer for a file; raise MotionDataError if there is none, or it fails."""
    ops: Any = bpy.ops
    if path.suffix.lower() in USD:
        run = ops.wm.usd_import
        readable: AbstractContextManager[Path] = nullcontext(path)
    elif path.suffix.lower() == ".fbx":
        run = ops.wm.fbx_import if "fbx_import" in dir(ops.wm) else ops.import_scene.fbx
        readable = nullcontext(path)
    else:
        run = ops.import_scene.gltf
        readable = with_skins(path)
    try:
        # USD prints errors itself, beside the one that is raised
        with silence_output(with_errors=path.suffix.lower() in USD), readable as file:
            run(filepath=str(file))
    except (RuntimeError, AttributeError) as error:
        message = str(error).strip().splitlines()[-1:] or [""]
        raise MotionDataError(
            f"{path} cannot be imported by this Blender ({message[0]}); see that its importer is "
            "enabled and that it opens with File > Import."
        ) from error


def load_library_actions(
    path: Path, obj: bpy.types.Object, *, link: bool, names: Sequence[str] | None = None
) -> list[bpy.types.Action]:
    """Load actions (of these names) that animate an armature; raise MotionDataError without any."""
    before = collect_uids()
    loaded = _load_actions(path, link=link, names=names)
    fitting = [action for action in actions.find_actions(obj) if action in loaded]
    bpy.data.batch_remove([a for a in loaded if a not in fitting and a.session_uid not in before])
    if not fitting:
        raise MotionDataError(
            f"{path} has no action that moves bones of armature '{obj.name}'; choose another file."
        )
    for action in fitting:
        if not action.library:
            action.use_fake_user = True
    return fitting


def _load_actions(
    path: Path, *, link: bool, names: Sequence[str] | None = None
) -> list[bpy.types.Action]:
    """Load actions (of these names) of another Blender file; raise MotionDataError."""
    # Blender 4.2 crashes on that
    if bpy.data.filepath and path.resolve() == Path(bpy.data.filepath).resolve():
        raise MotionDataError(f"{path} is the open file; use Add Actions instead.")
    libraries = cast(Any, bpy.data.libraries)
    try:
        with silence_output(), libraries.load(str(path), link=link) as (available, requested):
            requested.actions = [n for n in available.actions if names is None or n in names]
    except OSError as error:
        raise MotionDataError(
            f"{path} cannot be read as a Blender file; choose one of this version or an older one."
        ) from error
    return [action for action in requested.actions if action is not None]


def _iterate_blocks() -> Iterator[Any]:
    for kind in bpy.data.bl_rna.properties:
        if kind.type == "COLLECTION":
            yield from getattr(bpy.data, kind.identifier)


def collect_uids() -> set[int]:
    """Return the session_uids of all blocks in this file."""
    return {block.session_uid for block in _iterate_blocks()}


def remove_blocks(unwanted: set[int]) -> None:
    """Remove the blocks with these session_uids from this file."""
    bpy.data.batch_remove([block for block in _iterate_blocks() if block.session_uid in unwanted])
