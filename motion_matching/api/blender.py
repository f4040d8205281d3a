"""Takes as actions and files of Blender."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import scene
from ..engine.control.rollout import Take
from ..engine.database.database import Database
from ..engine.errors import SettingsError
from ..engine.feet.contact_ranges import ContactRange
from ..engine.motion.clip import Clip
from ..engine.takes import baking
from .motion import check_blender
from .performing import FloorAndWalls

if TYPE_CHECKING:
    import bpy

    from ..scene.rig.root_target import RootTarget


def write_action(
    motion: Take | Clip,
    armature: bpy.types.Object,
    database: Database | None = None,
    *,
    name: str = "",
    frame_start: int = 1,
    root: str | None = None,
    root_bone: str = "",
    fewer_keys: float = 0.0,
    track: str | None = None,
) -> bpy.types.Action:
    """Write a take or a clip as a new action onto an armature object of the open Blender file.

    Parameters
    ----------
    motion : Take or Clip
        Moves the bones of the armature that have the same names.
    armature : bpy.types.Object
    database : Database, optional
        The database of a take: it knows the hips, and when feet stand, which becomes markers.
    name : str
        Name of the action; by default that of the motion.
    frame_start : int
        The frame of the scene on which the motion starts.
    root : str, optional
        What carries the character: ``"object"``, ``"bone"``, ``"hips"`` or ``"in-place"``; by
        default found on the armature.
    root_bone : str
        The bone for ``root="bone"``, if it cannot be found.
    fewer_keys : float
        Largest error in metres allowed when removing keys; 0 keys every frame.
    track : str, optional
        A new NLA track to put the action onto; by default it becomes the active action.

    Returns
    -------
    bpy.types.Action

    Raises
    ------
    RigError
        If the armature does not fit the motion.
    SettingsError
        If `root` is another word, or this Python has no Blender.

    Examples
    --------
    >>> action = api.write_action(take, bpy.context.object, database)  # doctest: +SKIP
    """
    check_blender("write_action")
    clip = motion.to_clip() if isinstance(motion, Take) else motion
    action = scene.writing.bake.bake(
        clip,
        armature,
        name=name or clip.name,
        frame_start=frame_start,
        root=_find_root(root),
        root_bone=root_bone,
        hips=database.role_names["hips"] if database else None,
        fewer_keys=fewer_keys,
        track=track,
    )
    if database and isinstance(motion, Take):
        ranges = baking.find_contact_ranges(motion, database)
        legs = database.roles.leg_names
        write = scene.reading.markers.make_marker_writer(ranges, legs, motion.fps)
        write(action, frame_start)
    return action


def write_blend(
    take: Take,
    path: str | Path,
    database: Database,
    *,
    contacts: Sequence[ContactRange] | None = None,
    onto: str | Path | None = None,
    armature: str | None = None,
    frame_start: int | None = None,
    root: str | None = None,
    root_bone: str = "",
    fewer_keys: float = 0.0,
    track: str | None = None,
) -> None:
    """Write a take as a Blender file: with a body on a small stage, or as a copy of another file.

    Parameters
    ----------
    take : Take
    path : path
    database : Database
        The database of the take.
    contacts : sequence of ContactRange, optional
        When feet stand, which becomes markers; by default as the feet of the take do.
    onto : path, optional
        A Blender file whose copy gets the take; it stays as it is.
    armature : str, optional
        The armature object in that file; by default its only one.
    frame_start : int, optional
        The frame on which the take starts in a copy; by default where its scene starts.
    root, root_bone, fewer_keys, track : str, str, float, str, optional
        As for `write_action`.

    Raises
    ------
    MotionMatchingError
        If a file cannot be read or written, or the armature does not fit.

    Notes
    -----
    This replaces the file that is open, so it works in the background only.

    Examples
    --------
    >>> api.write_blend(take, "take.blend", database)  # doctest: +SKIP
    """
    check_blender("write_blend")
    scene.staging.take_file.write_take(
        take,
        baking.find_contact_ranges(take, database) if contacts is None else contacts,
        database,
        Path(path),
        onto=Path(onto) if onto else None,
        armature=armature,
        frame_start=frame_start,
        root=_find_root(root),
        root_bone=root_bone,
        fewer_keys=fewer_keys,
        track=track,
    )


def read_ground(
    path: str | Path, collection: str, *, frame_start: int | None = None
) -> FloorAndWalls:
    """Read the meshes of a collection in a Blender file as ground to walk on and walls in the way.

    Parameters
    ----------
    path : path
    collection : str
        Its visible meshes are floor and obstacles: faces steeper than 50 degrees, from 0.3 m to
        1.8 m above the floor, stand in the way.
    frame_start : int, optional
        The frame to read it on; by default where the scene starts.

    Returns
    -------
    tuple
        The floor and a tuple of walls, for `perform` and `direct`.

    Raises
    ------
    SettingsError, MotionDataError
        If the file shows no such collection, or cannot be opened.

    Notes
    -----
    This replaces the file that is open, so it works in the background only.

    Examples
    --------
    >>> ground = api.read_ground("set.blend", "Stairs")  # doctest: +SKIP
    >>> take = api.perform(database, ground=ground)  # doctest: +SKIP
    """
    check_blender("read_ground")
    return scene.staging.ground.read_ground(Path(path), collection, frame_start)


def _find_root(word: str | None) -> RootTarget | None:
    """Return what carries the character over the ground, also by the panel's names."""
    targets = {target.value: target for target in scene.rig.root_target.RootTarget}
    known = word.lower().replace("_", "-") if word else word
    if known is not None and known not in targets:
        raise SettingsError(f"The root cannot be '{word}'; use one of {', '.join(targets)}.")
    return targets[known] if known else None
