"""Bake a recording or a script again with the director: the same way, known in advance."""

from __future__ import annotations

import bpy

from ...engine.direct.shot import from_performance
from ...engine.errors import SettingsError
from ...scene.blender.handle import Handle
from ..character.characters import get_armature
from ..database.build import load_with_settings_steps
from ..marks.shots import Request
from ..steps import Steps
from ..takes import take_actions
from . import solving


def follow_steps(obj: bpy.types.Object, action: bpy.types.Action) -> Steps[str]:
    """Solve the way on which the simulation object of a take goes; return what to report.

    Raises SettingsError for takes of several recordings, or of a part of the body.
    """
    uid, take = obj.session_uid, Handle.from_block(action, "actions")
    obj, _, settings = yield from load_with_settings_steps(obj)
    action = take_actions.find_take_action(take)
    parts = take_actions.read_parts_on_ground(obj, action)
    if len(parts) > 1 or parts[0].collection:
        raise SettingsError(
            f"The take '{action.name}' was recorded in several pieces, or for a part of the body; "
            "use Take to Marks instead."
        )
    [part] = parts
    shot = from_performance.build_shot(part.performance, settings, part.lead_in)
    request = Request(shot, round(part.frame))
    return (yield from solving.solve_steps(get_armature(uid), lambda *_: request))
