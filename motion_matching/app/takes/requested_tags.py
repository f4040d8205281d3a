"""Find the tags that a take requested, as ranges in the timeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...engine.errors import MotionMatchingError
from ...engine.maths.along_time import find_runs
from ...scene.blender.animation.actions import get_scene_fps
from ...scene.blender.handle import Handle
from ...scene.writing import recording
from .. import callbacks
from ..runtime import runtime
from .take_actions import TakePart, read_parts


class RequestedTag(NamedTuple):
    """A tag that was requested at frames of the timeline, both ends inclusive."""

    name: str
    first: int
    last: int


def get_requested_tags(action: bpy.types.Action) -> Sequence[RequestedTag]:
    """Return what is known of the tags that a take requested; it is read soon if nothing is."""
    if not recording.is_take(action):
        return ()
    known: dict[Any, tuple[RequestedTag, ...]] = runtime.known["requested tags"]
    state = _get_state(action)
    if state not in known:
        known[state] = ()
        callbacks.schedule(partial(_read, Handle.from_block(action, "actions")))
    return known[state]


def _get_state(action: bpy.types.Action) -> tuple[int, int, float]:
    return action.session_uid, recording.count_parts(action), get_scene_fps(bpy.context.scene)


def _read(take: Handle) -> None:
    action = take.find()
    if action is not None:
        runtime.known["requested tags"][_get_state(action)] = read_requested_tags(action)
        callbacks.redraw("WINDOW", editor="DOPESHEET_EDITOR")


def read_requested_tags(action: bpy.types.Action) -> tuple[RequestedTag, ...]:
    """Return the tags that a take requested, by name and frame; none if that cannot be read."""
    try:
        parts = read_parts(action)
    except MotionMatchingError:
        return ()
    return tuple(sorted(tag for part in parts for tag in _find_ranges(part)))


def _find_ranges(part: TakePart) -> Iterator[RequestedTag]:
    """Return the tags that a part of a take requested, without what leads in."""
    intents = part.performance.intents[part.lead_in :]
    step = get_scene_fps(bpy.context.scene) / part.performance.fps
    asked = [intent.tags | ({intent.jump_to} if intent.jump_to else set()) for intent in intents]
    for name in sorted(set().union(*asked)):
        for start, stop in find_runs(np.array([name in tags for tags in asked])).tolist():
            first = round(part.frame + start * step)
            last = round(part.frame + stop * step) - 1
            yield RequestedTag(name, first, max(first, last))
