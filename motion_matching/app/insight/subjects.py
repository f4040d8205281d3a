"""What is inspected: a source, a take or the pose on the screen, and its current frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import bpy

from ...engine.control.method import Goal
from ...engine.database import frame_names
from ...engine.errors import SettingsError
from ...engine.insight.frames.watching import Choice
from ...engine.performance.settings import PerformerSettings
from ...scene.blender.animation import actions
from ...scene.writing import recording
from ..database.frame_numbers import get_clip_name
from ..property_access import get_active_take, settings_of
from ..runtime import runtime
from ..sources import source_preview
from ..sources.source_list import (
    check_source,
    find_first_frame,
    get_active_source,
    list_usable,
)

if TYPE_CHECKING:
    from .inspector import Inspector


class InspectedFrame(NamedTuple):
    """A frame of the database, and where it is seen (x, y, z, yaw).

    Of a take also the goal there with its settings, what a motion field chose from, and the part of
    the take with the tick of its next search.
    """

    frame: int
    position: tuple[float, float, float, float]
    goal: tuple[Goal, PerformerSettings] | None = None
    choice: Choice | None = None
    moment: tuple[int, int] | None = None


def find_subject(obj: bpy.types.Object) -> tuple[str, bpy.types.Action | None]:
    """Return what is to be inspected: 'source', 'take' or 'pose', and the action of a take.

    On screen is a take that can be performed again, or the pose of any other action. Where the
    armature plays none, or that of a source, or where a source is previewed, it is the active
    source.
    """
    settings = settings_of(obj)
    if settings.insight.inspect == "source" or source_preview.find_shown(obj):
        return "source", None
    if settings.insight.inspect == "take":
        return "take", get_active_take(obj)
    action = obj.animation_data and obj.animation_data.action
    if action and recording.has_performance(action):
        return "take", action
    listed = any(source.action == action for source in settings.sources) if action else False
    if listed or not (action or actions.has_nla_tracks(obj)):
        return "source", None
    return "pose", None


def locate(seen: Inspector, obj: bpy.types.Object, scene_frame: int) -> InspectedFrame | None:
    """Return the inspected frame at a frame of the scene; None for a pose, until it rests.

    SettingsError if something else is to be inspected now, or there is no such frame.
    """
    subject, action = find_subject(obj)
    if subject != seen.subject:
        raise SettingsError("Something else was inspected; inspect again for the current choice.")
    if subject == "source":
        return _locate_in_source(seen, obj, scene_frame)
    return _locate_in_take(seen, action, scene_frame) if subject == "take" else None


def _locate_in_source(seen: Inspector, obj: bpy.types.Object, scene_frame: int) -> InspectedFrame:
    database = seen.database
    source = get_active_source(obj)
    if source is None:
        raise SettingsError("No source is chosen; choose one in the panel Motion.")
    if not source.enabled:
        text = f"The source '{source.name}' is switched off"
        raise SettingsError(f"{text}; switch it on, build, and inspect again.")
    check_source(obj, source)
    clip = get_clip_name(source)
    shown = source_preview.find_shown_frame(source, scene_frame)
    number = max(shown - find_first_frame(obj, source), 0)
    index = _find_namesake_index(seen, obj, clip)
    frame = frame_names.find_frame(database, f"{clip}:{number}", index)
    x, y, yaw = database.track[frame].tolist()
    return InspectedFrame(frame, (x, y, float(database.poses[frame, 2, 0]), yaw))


def _find_namesake_index(seen: Inspector, obj: bpy.types.Object, clip: str) -> int:
    """Return the index of the chosen source among the database's sources of its name. Raises
    SettingsError if the list has another number of them.
    """
    settings = settings_of(obj)
    state = clip, runtime.statuses.change_count, bpy.data.actions.keys()
    # stored, as every frame would go through all sources, and see whether their files are there
    if seen.namesakes[0] != state or settings.source_index not in seen.namesakes[1]:
        alike = [source.name for source in list_usable(obj) if get_clip_name(source) == clip]
        seen.namesakes = state, tuple(map(settings.sources.find, alike))
    namesakes = seen.namesakes[1]
    originals = [each for each in seen.database.ranges if not each.mirrored and not each.is_copy]
    count = sum(origin.clip == clip for origin in originals)
    if count and count != len(namesakes):
        text = (
            f"The database has {count} clips named '{clip}', the list of sources {len(namesakes)}"
        )
        raise SettingsError(f"{text}; inspect again, or remove those that the build left out.")
    return namesakes.index(settings.source_index)


def _locate_in_take(
    seen: Inspector, chosen: bpy.types.Action | None, scene_frame: int
) -> InspectedFrame:
    action = seen.take.find() if seen.take else None
    if action is None or action != chosen:
        raise SettingsError("Another take was inspected; inspect again for the current choice.")
    rate = actions.get_scene_fps(bpy.context.scene)
    for number, (part, watched) in reversed(list(enumerate(seen.parts))):
        take = watched.take
        tick = round((scene_frame - part.frame) * take.fps / rate)
        if 0 <= tick < take.frame_count:
            x, y, yaw = take.character[tick].tolist()
            position = x, y, float(take.poses[tick, 2, 0]), yaw
            goal = watched.get_goal_after(tick)
            choice = watched.get_choice_after(tick)
            moment = number, min(tick + 1, take.frame_count - 1)
            return InspectedFrame(int(take.frames[tick]), position, goal, choice, moment)
    text = f"The take '{action.name}' has no frame {scene_frame}; go to one that it has."
    raise SettingsError(text)
