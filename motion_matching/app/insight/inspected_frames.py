"""Use a frame that the inspector lists: play it, or go to its source."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import bpy

from ...engine.database import frame_names
from ...engine.database.database import Database
from ...engine.errors import SettingsError
from ...scene.blender.animation import actions
from ..character.characters import get_armature
from ..database.build import load_with_settings_steps
from ..database.content import content_steps
from ..database.frame_numbers import get_clip_name, get_numbered_source
from ..property_access import settings_of
from ..runtime import runtime
from ..sources import source_preview
from ..sources.source_list import find_first_frame, get_enabled_indices
from ..steps import Steps
from ..takes.take_actions import (
    BakeRequest,
    TakePart,
    perform_steps,
    prepare_takes_steps,
    read_parts_on_ground,
)
from .inspector import inspect_steps


class SourceFrame(NamedTuple):
    """A frame of a source, as its ranges of tags count: which source it is, and the frame.

    `step` frames of the source pass in one of the database.
    """

    source_index: int
    frame: int
    step: float
    mirrored: bool


def use_steps(obj: bpy.types.Object, frame: int) -> Steps[str]:
    """Perform the inspected take again, with a jump to a frame at the inspected moment.

    It becomes another take, which is then assigned and inspected. Raises SettingsError if no moment
    of such a take is inspected, and what performing and baking raise.
    """
    uid = obj.session_uid
    seen = runtime.inspector
    action = seen.take.find() if seen and seen.take else None
    inspected = seen.inspected if seen else None
    if seen is None or action is None or inspected is None or inspected.moment is None:
        raise SettingsError("No take is inspected; inspect a frame of one first.")
    number, tick = inspected.moment
    parts = list(read_parts_on_ground(obj, action))
    name = frame_names.format_frame(seen.database, frame)
    request = action.name
    parts[number] = _enter(parts[number], tick, name, seen.database.fps)
    _, database, settings = yield from load_with_settings_steps(obj)
    takes = yield from perform_steps(database, settings, parts)
    made = BakeRequest(request, tuple(parts), beside=request)
    bake = yield from prepare_takes_steps(get_armature(uid), made, takes, database)
    obj = get_armature(uid)
    (baked, _) = bake()
    actions.assign(obj, baked)
    source_preview.stop()
    yield from inspect_steps(obj)
    source = get_numbered_source(seen.database, seen.first_frames, frame)
    return f"Baked '{baked.name}', which continues with {source.clip_label} {source.frame}"


def _enter(part: TakePart, tick: int, name: str, fps: float) -> TakePart:
    """Return a part of a take that enters a frame of a name at a tick; ticks are at `fps`."""
    performed = part.performance.resample(fps)
    lead_in = part.count_lead_in(fps)
    intents = list(performed.intents)
    intents[lead_in + tick] = intents[lead_in + tick]._replace(enter=name)
    return part._replace(performance=replace(performed, intents=tuple(intents)), lead_in=lead_in)


def find_source_steps(obj: bpy.types.Object, database: Database, frame: int) -> Steps[SourceFrame]:
    """Find the source of a database's frame. SettingsError if it is not in the list any more."""
    uid = obj.session_uid
    number = int(database.range_of_frame[frame])
    origin = database.ranges[number]
    place = database.get_frame_source(frame)
    named = []
    if database.range_sources is not None:
        keys = (yield from content_steps(uid)).source_keys
        named = [i for i, key in keys.items() if key == database.range_sources[number].key]
    obj = get_armature(uid)
    sources = settings_of(obj).sources
    if not named:  # a database of an earlier version
        enabled = get_enabled_indices(obj)
        named = [index for index in enabled if get_clip_name(sources[index]) == origin.clip]
    if not named:
        text = f"The clip '{origin.clip}' is no longer among the sources"
        raise SettingsError(f"{text}; inspect again.")
    first = find_first_frame(obj, sources[named[0]])
    step = origin.source_frames_per_frame
    return SourceFrame(named[0], place.frame + first, step, place.mirrored)


def go_to_source_steps(obj: bpy.types.Object, frame: int) -> Steps[str]:
    """Choose the source of a frame of the inspected database, preview it, and go to the frame."""
    uid = obj.session_uid
    seen = runtime.inspector
    if seen is None:
        raise SettingsError("Nothing is inspected; inspect a frame first.")
    found = yield from find_source_steps(obj, seen.database, frame)
    return (yield from show_source_steps(uid, found))


def show_source_steps(uid: int, found: SourceFrame) -> Steps[str]:
    """Choose a source of the armature of a session_uid, preview it, and go to a frame of it."""
    settings = settings_of(get_armature(uid))
    if settings.source_index != found.source_index:
        settings.source_index = found.source_index
    preview = yield from source_preview.preview_steps(
        get_armature(uid), found.source_index, found.mirrored
    )
    source = settings_of(get_armature(uid)).sources[found.source_index]
    bpy.context.scene.frame_set(source_preview.to_timeline_frame(source, found.frame))
    return f"Frame {found.frame} of '{preview.label}'"
