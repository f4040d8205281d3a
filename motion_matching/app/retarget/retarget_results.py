"""List retargeted actions that differ from their sources, to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ...engine.errors import SettingsError
from ...engine.progress import map_steps
from ...engine.retargeting.result.result_check import ResultCheck
from ...scene.blender.animation import actions
from ...scene.blender.handle import Handle
from ...scene.retargeting.checking import Judge, ResultReader
from ...scene.retargeting.transfer import Retargeted
from ...scene.rig.bone_choice import select_bones
from .. import callbacks, property_access
from ..character.characters import get_armature
from ..property_access import settings_of
from ..runtime import runtime
from ..steps import EndedEarly, Steps, run_in_background_steps

_CHECKING = "Checking"


def is_checking() -> bool:
    """Return whether results are compared with their sources: what was made stays meanwhile."""
    return runtime.progress is not None and runtime.progress[0].startswith(_CHECKING)


def check_steps(
    obj: bpy.types.Object, made: Sequence[bpy.types.Action], reader: ResultReader
) -> Steps[str]:
    """Compare new actions of an armature with their sources, and list the wrong ones. Returns a
    sentence for the report. Ended early, the rest is not compared.
    """
    uid = obj.session_uid
    handles = [Handle.from_block(action, "actions") for action in made]
    settings_of(obj).retarget.results.clear()
    found: list[tuple[Handle, ResultCheck]] = []
    seen = 0
    try:
        for seen, handle in enumerate(handles):
            check = yield from _check_one_steps(uid, handle, reader, seen, len(handles))
            if check and check.is_wrong:
                found.append((handle, check))
        seen = len(handles)
    except EndedEarly:
        pass
    obj = get_armature(uid)
    for handle, check in sorted(found, key=lambda one: -one[1].excess):
        _add(settings_of(obj).retarget, handle.find(), check, reader.retargeted)
    callbacks.redraw()
    rest = f"; {len(handles) - seen} were not checked" if seen < len(handles) else ""
    if not found:
        return rest
    count = "It is" if len(handles) == 1 else f"{len(found)} are"
    return f". {count} differ from the source: see Results in the panel Retarget{rest}"


def _check_one_steps(
    uid: int, handle: Handle, reader: ResultReader, index: int, count: int
) -> Steps[ResultCheck | None]:
    action = handle.find()
    stage = (f"{_CHECKING} {handle.name}", index / count)
    yield stage
    if action is None:  # deleted meanwhile
        return None
    judge: Judge = yield from map_steps(
        reader.read_steps(get_armature(uid), action, index), lambda _: stage
    )

    return (yield from run_in_background_steps(lambda _: judge(), stage[0]))


def _add(
    group: Any, action: bpy.types.Action | None, check: ResultCheck, retargeted: Retargeted
) -> None:
    """List a result with the wrong bones of the target: the torn one, or all of the part."""
    if action is None:
        return
    names = retargeted.target.skeleton.names
    part = [names[bone] for bone in retargeted.mapping.target.chains.get(check.role, ())]
    item = property_access.add(group.results, action.name)
    item.action, item.text = action, f"{check.describe()}."
    item.role, item.bones = check.role, check.tear.bone if check.tear else ", ".join(part)
    item.frame = int(action.frame_range[0]) + check.frame


def show(obj: bpy.types.Object, index: int, scene: bpy.types.Scene) -> str:
    """Play a result that is wrong, at its worst frame, with the bones selected that are wrong.

    SettingsError if its action is gone.
    """
    group = settings_of(obj).retarget
    item = property_access.get_active(group.results, index)
    if item is None or item.action is None:
        raise SettingsError("The action of this result was deleted; clear the list of results.")
    group.result_index = index
    actions.assign(obj, item.action)
    scene.frame_set(item.frame)
    select_bones(obj, item.bones.split(", "))
    chosen = next((i for i, pair in enumerate(group.pairs) if pair.role == item.role), None)
    if chosen is not None:
        group.pair_index = chosen
    return item.text
