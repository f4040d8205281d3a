"""Motion to retarget from files: BVH, FBX, glTF, and actions of other Blender files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import bpy

from ...engine.bvh import bvh
from ...engine.bvh.bvh_text import list_performers
from ...engine.errors import MotionDataError, SettingsError
from ...engine.files.file_paths import describe_no_file
from ..blender.animation import actions
from ..blender.files import find_armature, open_blend
from ..reading.blend_sources import find_chosen_actions
from ..reading.imports import ENDINGS, Moved, choose_named, name_characters, read_imported
from .sources import SourceMotion, read_actions

BVH = ".bvh"
BLEND = ".blend"
READABLE = (BVH, *ENDINGS)


def read_bvh(
    path: Path,
    *,
    up: str = "Y",
    forward: str = "Z",
    scale: float | None = None,
    character: str | None = None,
) -> SourceMotion:
    """Read a BVH file; `character` is the root of one of several.

    Needs no Blender, and may run in a thread. Raises MotionDataError, which names both, if there
    are two and none is chosen.
    """
    if character is None:
        _check_single(path, list_performers(path))
    return SourceMotion(bvh.load(path, up=up, forward=forward, scale=scale, root=character))


def read_imported_motions(path: Path, *, character: str | None = None) -> list[SourceMotion]:
    """Read an FBX or glTF file with Blender's importer, and leave the scene as it was.

    `character` is the armature object of one of several. Raises what importing and sampling raise,
    and MotionDataError, which names both, if two characters move and none is chosen.
    """

    def choose(moved: Moved) -> bpy.types.Object:
        if character is None:
            _check_single(path, list(name_characters(moved)))
            return next(iter(moved))
        return choose_named(path, character, moved)

    def read(obj: bpy.types.Object, found: list[bpy.types.Action]) -> list[SourceMotion]:
        motions = read_actions(obj, _find_own(obj, found))
        # FBX names the object before the action
        clips = [replace(m.clip, name=m.clip.name.rpartition("|")[2]) for m in motions]
        pairs = zip(motions, clips, strict=True)
        return [replace(motion, clip=clip, first_frame=None) for motion, clip in pairs]

    return read_imported(path, read, choose)


def _find_own(obj: bpy.types.Object, found: list[bpy.types.Action]) -> list[bpy.types.Action]:
    """Return the actions made for an armature; actions of a twin move the same bones."""
    twins = [other.name for other in bpy.data.objects if other.type == "ARMATURE" and other != obj]
    played = dict(actions.get_played_actions(obj))
    own = [a for a in found if a in played or a.name.partition("|")[0] not in twins]
    return own or found


def read_blend(
    path: Path,
    *,
    character: str | None = None,
    chosen: Sequence[str] = (),
) -> list[SourceMotion]:
    """Read actions (by default all) of an armature in a Blender file, which replaces the open one.

    Raises what opening and sampling raise, and SettingsError if an armature or action is missing,
    or the armature has to be named.
    """
    open_blend(path)
    obj = find_armature(path, character, "--character")
    motions = read_actions(obj, find_chosen_actions(path, obj, tuple(chosen)))
    return [replace(motion, first_frame=None) for motion in motions]


def read_file(
    path: Path,
    *,
    up: str = "Y",
    forward: str = "Z",
    scale: float | None = None,
    character: str | None = None,
    chosen: Sequence[str] = (),
) -> list[SourceMotion]:
    """Read all motion of one character in a file of any kind, or the actions that are `chosen`.

    Raises MotionDataError or SettingsError if it cannot be read, or has two characters.
    """
    ending = path.suffix.lower()
    if not path.is_file():
        raise SettingsError(f"{describe_no_file(path)}; give a file with motion.")
    if ending not in (*READABLE, BLEND):
        raise SettingsError(f"{path} is not a BVH, FBX, glTF or Blender file; give one of these.")
    if ending == BLEND:
        return read_blend(path, character=character, chosen=chosen)
    if ending == BVH:
        motions = [read_bvh(path, up=up, forward=forward, scale=scale, character=character)]
    else:
        motions = read_imported_motions(path, character=character)
    if missing := set(chosen) - {motion.clip.name for motion in motions}:
        raise SettingsError(f"{path} has no action '{min(missing)}'; leave it out.")
    return [motion for motion in motions if not chosen or motion.clip.name in chosen]


def _check_single(path: Path, names: Sequence[str]) -> None:
    if len(names) > 1:
        listed = " and ".join(f"'{name}'" for name in names)
        raise MotionDataError(
            f"{path} holds {len(names)} characters, {listed}; name the one to read as its "
            "Character, or with --character."
        )
