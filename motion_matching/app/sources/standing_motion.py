"""Built-in standing for a character whose sources never stand still: a new action to build from."""

from __future__ import annotations

import bpy

from ...engine.building.demo_clips import load_standing
from ...engine.errors import SettingsError
from ...scene.blender.animation import playback
from ...scene.retargeting import targets, transfer, writing
from ...scene.retargeting.sources import SourceMotion
from ...scene.retargeting.transfer import RetargetRequest
from ..character.characters import get_armature, get_bone_choice
from ..retarget.retargeting import get_leg_roles, get_write_options
from ..steps import Steps, run_in_background_steps


def add_standing_steps(obj: bpy.types.Object) -> Steps[bpy.types.Action]:
    """Retarget the built-in standing onto an armature, and return the new action.

    What the armature plays stays. Raises SettingsError for a body with four legs, and RigError as
    retargeting does; then nothing was added.
    """
    uid = obj.session_uid
    request = RetargetRequest(target_bones=get_leg_roles(obj))
    target = targets.read_target(obj, get_bone_choice(obj), request.target_bones)

    retargeted = yield from run_in_background_steps(
        lambda report: transfer.retarget([SourceMotion(load_standing())], target, request, report),
        "Adding Standing",
    )
    obj = get_armature(uid)
    if retargeted.mapping.target.four_legged:
        raise SettingsError(
            f"'{obj.name}' has four legs, and the built-in standing two; add a clip of standing."
        )
    yield "Writing", 1.0
    obj = get_armature(uid)
    with playback.preserve_animation(obj):
        [action] = writing.write_retargeted(obj, retargeted, get_write_options(obj))
    return action
