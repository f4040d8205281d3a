"""Motion of any skeleton onto a character of the open Blender file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import scene
from ..engine.body.axes import FileAxes, describe_mistake, find_all_better_axes
from ..engine.errors import SettingsError
from ..engine.retargeting.settings import RetargetSettings
from ..engine.sources.sources import BLEND, BVH, get_ending
from .motion import check_blender

if TYPE_CHECKING:
    import bpy

    from ..engine.sources.reel import BuildNote
    from ..scene.retargeting.sources import SourceMotion
    from ..scene.retargeting.transfer import RetargetRequest
    from ..scene.retargeting.writing import WriteOptions

Bones = Mapping[str, str | Sequence[str]]


def retarget_action(
    action: bpy.types.Action,
    armature: bpy.types.Object,
    *,
    source: bpy.types.Object | None = None,
    settings: RetargetSettings | None = None,
    source_bones: Bones | None = None,
    bones: Bones | None = None,
    name: str = "",
    fewer_keys: float = 0.0,
    legs: str = "ik",
    arms: str = "fk",
    force: bool = False,
    keep_frames: bool = False,
    figures: list[dict[str, Any]] | None = None,
    notes: list[str] | None = None,
) -> bpy.types.Action:
    """Put an action of another armature onto this one as a new action.

    Bones may have any names, axes and rest pose. The new action starts on the same frame.

    Parameters
    ----------
    action : bpy.types.Action
    armature : bpy.types.Object
        The character that gets the motion.
    source : bpy.types.Object, optional
        The armature object that the action was made for; by default the one whose bones it moves.
    settings : RetargetSettings, optional
    source_bones, bones : mapping, optional
        Names of bones by role (``{"left_thigh": "LThigh", "spine": ["Spine1", "Spine2"]}``) of the
        source and of the character, to correct what is found; ``""`` leaves a part out.
    name : str
        Name of the new action; by default that of the action and of the character.
    fewer_keys : float
        Largest error in metres allowed when removing keys; 0 keys every frame.
    legs, arms : str, str
        What moves the limbs of a control rig: ``"ik"`` or ``"fk"``.
    force : bool
        Whether to keep an action that differs from its source.
    keep_frames : bool
        Whether to use all frames as they are. Otherwise T-poses at the ends are removed, so that
        the action begins later, and single lost frames are interpolated.
    figures : list of dict, optional
        Receives measures of the new action as Blender plays it: whether it is ``"wrong"``;
        ``"parts"``, each with ``role``, ``kind``, ``median`` and ``p95`` in degrees, their bounds
        ``limit`` and ``most``, and the worst ``frame``; and a bone that is ``"torn"``, or None.
    notes : list of str, optional
        Receives a sentence on each fault of the source, mended or not.

    Returns
    -------
    bpy.types.Action
        It is assigned to the armature.

    Raises
    ------
    RigError
        If hips or legs of either character are missing, or a bone cannot take keys.
    SettingsError
        If it is not known which armature the action was made for.
    ResultError
        If the new action is not what the source does; it has the ``figures``. Nothing is kept.

    Examples
    --------
    >>> action = api.retarget_action(bpy.data.actions["Walk"], bpy.context.object)  # doctest: +SKIP
    """
    check_blender("retarget_action")
    sources = scene.retargeting.sources
    made_for = source or sources.find_source_armature(action, armature)
    motions = sources.read_actions(made_for, [action])
    options = make_options(fewer_keys, legs, arms, name)
    request = make_request(settings, source_bones, bones)
    mended, found = scene.retargeting.sources.mend_motions(motions, keep_frames)
    if notes is not None:
        notes += [note.text for note in found]
    return _retarget(mended, armature, request, options, force, figures)[0]


def retarget_file(
    path: str | Path,
    armature: bpy.types.Object,
    *,
    character: str | None = None,
    actions: Sequence[str] = (),
    up: str = "Y",
    forward: str = "Z",
    scale: float | None = None,
    settings: RetargetSettings | None = None,
    source_bones: Bones | None = None,
    bones: Bones | None = None,
    name: str = "",
    frame_start: int = 1,
    fewer_keys: float = 0.0,
    legs: str = "ik",
    arms: str = "fk",
    force: bool = False,
    keep_frames: bool = False,
    figures: list[dict[str, Any]] | None = None,
    notes: list[str] | None = None,
) -> list[bpy.types.Action]:
    """Put the motion in a BVH, FBX or glTF file onto an armature as new actions.

    Parameters
    ----------
    path : path
    armature : bpy.types.Object
        The character that gets the motion.
    character : str, optional
        The armature object of a file with several, or the root in a BVH file.
    actions : sequence of str, optional
        Names of actions in the file; by default all.
    up, forward, scale : str, str, float, optional
        As for `load`.
    settings, source_bones, bones, name : RetargetSettings, mapping, mapping, str, optional
        As for `retarget_action`.
    frame_start : int
        The frame of the scene on which each action starts.
    fewer_keys, legs, arms, force, keep_frames : float, str, str, bool, bool
        As for `retarget_action`; without its first frame, motion starts at `frame_start` too.
    figures, notes : list of dict, list of str, optional
        As for `retarget_action`, with figures of each action.

    Returns
    -------
    list of bpy.types.Action
        The first is assigned to the armature.

    Raises
    ------
    MotionDataError
        If the file cannot be used, or holds two characters and none is named.
    RigError
        If hips or legs of either character are missing, or a bone cannot take keys.
    SettingsError
        If the file does not exist or is a Blender file.
    ResultError
        If a new action is not what the source does, as in `retarget_action`.

    Examples
    --------
    >>> api.retarget_file("walk.bvh", bpy.context.object)  # doctest: +SKIP
    """
    check_blender("retarget_file")
    file = Path(path)
    if get_ending(file) == BLEND:
        raise SettingsError(
            f"{file} would replace the open file; append its character, and use retarget_action."
        )
    motions, misread, found = read_motions(
        file, FileAxes(up, forward), scale, character, actions, keep_frames
    )
    if notes is not None:
        notes += [*misread, *(note.text for note in found)]
    options = make_options(fewer_keys, legs, arms, name, frame_start)
    request = make_request(settings, source_bones, bones)
    return _retarget(motions, armature, request, options, force, figures)


def read_motions(
    file: Path,
    read_with: FileAxes,
    scale: float | None,
    character: str | None,
    actions: Sequence[str],
    keep_frames: bool,
) -> tuple[list[SourceMotion], list[str], list[BuildNote]]:
    """Return the motion in a file, mended; sentences on clips that seem misread; what was mended.

    Axes and scale are those of BVH files.
    """
    given: Any = {**read_with._asdict(), "scale": scale, "character": character, "chosen": actions}
    motions = scene.retargeting.files.read_file(file, **given)
    clips = [motion.clip for motion in motions]
    is_bvh = get_ending(file) == BVH
    better = find_all_better_axes(clips, read_with)
    misread = [
        describe_mistake(clip.name, axes if is_bvh else None)
        for clip, axes in zip(clips, better, strict=True)
        if axes
    ]
    mended, notes = scene.retargeting.sources.mend_motions(motions, keep_frames)
    return mended, misread, notes


def make_options(
    fewer_keys: float, legs: str, arms: str, name: str = "", frame_start: int = 1
) -> WriteOptions:
    """Return how new actions are written."""
    controls = scene.controls.bake_controls.ControlSettings(legs.upper(), arms.upper())
    options = scene.retargeting.writing.WriteOptions
    return options(name, frame_start, fewer_keys, controls)


def make_request(
    settings: RetargetSettings | None, source_bones: Bones | None, bones: Bones | None
) -> RetargetRequest:
    """Return how motion is retargeted."""
    request = scene.retargeting.transfer.RetargetRequest
    return request(settings or RetargetSettings(), source_bones or {}, bones or {})


def _retarget(
    motions: Sequence[SourceMotion],
    armature: bpy.types.Object,
    request: RetargetRequest,
    options: WriteOptions,
    force: bool,
    figures: list[dict[str, Any]] | None,
) -> list[bpy.types.Action]:
    onto = scene.retargeting.onto
    remedy = "" if force else onto.FORCE
    made, done = onto.retarget_onto(armature, motions, request, options, force=remedy)
    if figures is not None:
        figures += [check.to_dict() for check in done.checks]
    return made
