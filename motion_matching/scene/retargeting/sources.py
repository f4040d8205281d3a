"""Actions of any armature as motion to retarget, seen from where its object stands."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...engine.errors import SettingsError
from ...engine.maths.rotations import quat
from ...engine.mending.mending import mend_clip
from ...engine.motion.clip import Clip
from ...engine.retargeting.bodies import group_by_skeleton
from ...engine.sources.clip_checks import check_clip_roots
from ...engine.sources.reel import BuildNote
from ..blender.animation import actions
from ..blender.evaluation.evaluation import compute_world_matrix
from ..blender.evaluation.object_motion import find_steady_world, may_move, sample_world
from ..blender.files import format_names, list_armatures
from ..blender.transforms.transforms import Transform, decompose_similarity, invert
from ..reading.sampling import SampledClip, sample, sample_steps
from ..rig.armature import extract_turn_about_z
from ..rig.root_target import move_clip


@dataclass(frozen=True)
class SourceMotion:
    """A clip around the origin, whether it loops, and the frame of the scene that it begins at.

    Without such a frame it comes from a file, and may begin anywhere. The first frames that were
    `skipped` are not in the clip.
    """

    clip: Clip
    is_cyclic: bool = False
    first_frame: int | None = None
    skipped: int = 0


def read_actions(
    obj: bpy.types.Object, chosen: Sequence[bpy.types.Action], *, bones: str | None = None
) -> list[SourceMotion]:
    """Read actions of an armature object, without the place of an object that they do not move.

    `bones` is as for `read_skeleton`. Raises what sampling raises.
    """
    samples = sample(obj, chosen, bones=bones)
    pairs = zip(chosen, samples, strict=True)
    return [_center(one, _find_source_origin(obj, action)) for action, one in pairs]


def read_action_steps(
    obj: bpy.types.Object, action: bpy.types.Action, *, bones: str | None = None
) -> Generator[None, None, SourceMotion]:
    """Read one action as `read_actions` does, in small pieces between which Blender may go on."""
    origin = _find_source_origin(obj, action)
    join = yield from sample_steps(obj, action, bones=bones)
    return _center(join(), origin)


def _find_source_origin(obj: bpy.types.Object, action: bpy.types.Action) -> Transform:
    """Return where an action starts from: the origin of the world if anything moves the object."""
    nowhere = quat.IDENTITY.copy(), np.zeros(3)
    if actions.moves_object(action, obj):
        return nowhere
    if not may_move(obj, by_itself=False):
        return find_origin(obj)
    curves = actions.get_active_curves(action, actions.find_slot(action, obj))
    first, last = actions.compute_frame_range(action, curves)
    world = find_steady_world(obj, range(first, last + 1))
    return nowhere if world is None else _find_standing(world, obj.name)


def find_origin(obj: bpy.types.Object, frame: int | None = None) -> Transform:
    """Return where an object stands and faces: its turn about Z and its position.

    With a `frame`, where its animation has it then; without one, on the frame that is shown.
    """
    if frame is None or not may_move(obj):
        return _find_standing(compute_world_matrix(obj), obj.name)
    return _find_standing(sample_world(obj, [frame])[0], obj.name)


def _find_standing(world: np.ndarray, name: str) -> Transform:
    rotation, position, _ = decompose_similarity(world, name)
    return extract_turn_about_z(rotation), position


def _center(sampled: SampledClip, origin: Transform) -> SourceMotion:
    clip = move_clip(sampled.clip, invert(origin))
    return SourceMotion(clip, sampled.cyclic, sampled.first)


def find_source_armature(
    action: bpy.types.Action, target: bpy.types.Object | None = None
) -> bpy.types.Object:
    """Return the armature object of an action, which is not the target.

    It is the one that plays it, else the one whose bones it moves. Objects with one armature count
    as one. Raises SettingsError, which says what to do, if there is none, or more than one.
    """
    fitting = [obj for obj in list_armatures() if action in actions.find_actions(obj)]
    others = [obj for obj in fitting if obj != target]
    players = [obj for obj in others if action in dict(actions.get_played_actions(obj))]
    found = players or others
    if len({obj.data.name_full for obj in found}) == 1:
        return found[0]
    if found:
        raise SettingsError(
            f"The action '{action.name}' fits {len(found)} armatures, {format_names(found)}; "
            "choose its own as the source."
        )
    if target in fitting:
        raise SettingsError(
            f"The action '{action.name}' moves the bones of '{target.name}' itself, so there is "
            "nothing to retarget; assign it, or choose an action of another armature."
        )
    raise SettingsError(
        f"This file has no armature for the action '{action.name}'; import or append its character "
        "first."
    )


def mend_motions(
    motions: Sequence[SourceMotion], keep_frames: bool = False
) -> tuple[list[SourceMotion], list[BuildNote]]:
    """Return motion without T-poses at its ends and with lost frames filled, and notes on it.

    The notes also name other problems, as for a database. Actions keep their place in time, so one
    without its first frame begins a frame later. With `keep_frames`, everything is only reported.
    """
    mended = []
    notes = []
    for motion in motions:
        first = motion.first_frame
        loop = motion.is_cyclic
        found = mend_clip(motion.clip, first or 0, loop=loop, keep_frames=keep_frames)
        later = None if first is None else first + found.skipped
        mended.append(replace(motion, clip=found.clip, first_frame=later, skipped=found.skipped))
        notes += found.notes
    for group in group_by_skeleton(mended, lambda motion: motion.clip.skeleton):
        notes += check_clip_roots([motion.clip for motion in group])
    return mended, notes
