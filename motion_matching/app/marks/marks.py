"""Manage the marks of a character: empties in its collection, with their requests.

An empty that is copied is another mark, and one that is deleted is none any more. The frame of a
mark is that of the timeline marker of its name; only without one, the frame stored on the empty
counts. So nothing has to follow what Blender's own tools do.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import bpy

from ...engine.control.performer import Placement
from ...engine.database.tags.tags import parse_names
from ...engine.direct.shot.mark import CHARACTER, GOALS, MarkGoal
from ...engine.errors import SettingsError
from ...scene.blender.animation.actions import get_scene_fps
from ...scene.blender.handle import fit_name
from ...scene.direct import empties, timeline
from .. import callbacks
from ..character.characters import get_placement
from ..property_access import get_active, is_changed, read_names, settings_of, to_plain_value
from ..settings import read_ground

if TYPE_CHECKING:
    from ...engine.ground.ground import Ground
    from ...ui.director.properties import MotionMatchingMark

MARK = "MARK"
TEMPO = "TEMPO"
_PIN_SECONDS = 1.0  # that a limb stays at a new mark
_NUMBER_BYTES = 4  # such as .001
_LAST_WORDS = ("gait", "tags")
_READ: Any = {"gait": str.lower, "tags": parse_names}  # by entries of goals


def mark_of(empty: bpy.types.Object) -> MotionMatchingMark:
    """Return what an empty asks for."""
    return settings_of(empty).mark


def is_mark_of(empty: bpy.types.Object, obj: bpy.types.Object) -> bool:
    """Return whether an object is a mark of an armature."""
    return empty.type == "EMPTY" and mark_of(empty).character == obj


def is_of_part(empty: bpy.types.Object) -> bool:
    """Return whether the hips or a limb are to be where a mark is, and not the character."""
    mark = mark_of(empty)
    return mark.use_place and mark.part != CHARACTER


def is_of_hand(empty: bpy.types.Object) -> bool:
    """Return whether a hand is to be where a mark is."""
    return can_ask(empty, GOALS["palm"])


def can_ask(empty: bpy.types.Object, goal: MarkGoal) -> bool:
    """Return whether a goal is one of marks that lead as a mark does, and for its part."""
    mark = mark_of(empty)
    is_for = not goal.parts or (is_of_part(empty) and mark.part in goal.parts)
    return is_for and (mark.leads or not goal.steers)


def asks(empty: bpy.types.Object, goal: MarkGoal) -> bool:
    """Return whether a mark asks for a goal: its switch is on, or its value is not the initial."""
    return can_ask(empty, goal) and is_changed(mark_of(empty), goal.properties[:1])


def read_values(empty: bpy.types.Object) -> dict[str, Any]:
    """Return what the properties of a mark ask for, by the engine's fields; None for nothing."""
    values: dict[str, Any] = {}
    for name, goal in GOALS.items():
        if goal.default is None and (goal.is_placed or not asks(empty, goal)):
            values[name] = None
        else:
            value = to_plain_value(getattr(mark_of(empty), goal.properties[-1]))
            values[name] = _READ[goal.entry](value) if goal.entry in _READ else value
    return values


def list_marks(obj: bpy.types.Object, kind: str = MARK) -> list[bpy.types.Object]:
    """Return the marks, or the tempos, of an armature in the order of their frames."""
    collection = settings_of(obj).director.marks
    found: Any = [] if collection is None else collection.objects
    chosen = [each for each in found if is_mark_of(each, obj) and mark_of(each).kind == kind]
    return sorted(chosen, key=lambda each: (get_frame(each), each.name))


def list_leading(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the marks of an armature that it goes to, in the order of their frames."""
    return [each for each in list_marks(obj) if mark_of(each).leads]


def get_active_mark(obj: bpy.types.Object) -> bpy.types.Object | None:
    """Return the mark that is chosen in the list of an armature, or None."""
    director = settings_of(obj).director
    found: Any = director.marks.objects if director.marks else ()
    chosen = get_active(found, director.mark_index)
    return chosen if chosen and is_mark_of(chosen, obj) else None


def get_frame(empty: bpy.types.Object) -> int:
    """Return the frame of a mark: that of its timeline marker, or else the stored one."""
    marker = timeline.find_marker(_find_marker_name(empty))
    return marker.frame if marker else mark_of(empty).stored_frame


def is_stand(obj: bpy.types.Object, frame: int) -> bool:
    """Return whether a mark of an armature has it stand still at a frame, after the mark's own."""
    fps = get_scene_fps(bpy.context.scene)
    return any(0 < frame - get_frame(each) < fps * mark_of(each).hold for each in list_leading(obj))


def set_frame(empty: bpy.types.Object, frame: int) -> None:
    """Move a mark in time, and its timeline marker if it has one."""
    mark_of(empty).stored_frame = frame
    if marker := timeline.find_marker(_find_marker_name(empty)):
        marker.frame = frame


def _find_marker_name(empty: bpy.types.Object) -> str:
    """Return the name of a mark's timeline marker: its own, or that from before it was renamed."""
    mark = mark_of(empty)
    if mark.kind != MARK:
        return ""
    before = mark.marker_name
    if before in ("", empty.name) or timeline.find_marker(empty.name):
        return empty.name
    director = settings_of(mark.character).director if mark.character else None
    others: Any = director.marks.objects if director and director.marks else ()
    # the first is the one that was renamed, and those after it are copies of it
    first = next((each for each in others if mark_of(each).marker_name == before), None)
    return before if first == empty else empty.name


def add_mark(
    obj: bpy.types.Object, frame: int, placement: Placement, ground: Ground | None = None
) -> bpy.types.Object:
    """Add a mark for an armature on its ground. SettingsError if there is one at the frame.

    The ground is read unless it is given.
    """
    for other in list_leading(obj):
        if get_frame(other) == frame:
            raise SettingsError(
                f"The mark '{other.name}' is already at frame {frame}; go to another frame, or "
                "move that mark."
            )
    height = (ground or read_ground(obj)[0]).height(placement.x, placement.y)
    empty = empties.add_arrow(_ensure_collection(obj), "Mark", placement, height)
    _claim(empty, obj, MARK, frame)
    refresh_markers(obj)
    return empty


def add_pin(
    obj: bpy.types.Object, limb: str, frame: int, point: tuple[float, float, float]
) -> bpy.types.Object:
    """Add a mark that only brings a limb of an armature to it, for a second."""
    name = limb.replace("_", " ").title()
    empty = empties.add_sphere(_ensure_collection(obj), name, point)
    bring_limb(empty, limb, _PIN_SECONDS)
    _claim(empty, obj, MARK, frame)
    refresh_markers(obj)
    return empty


def bring_limb(empty: bpy.types.Object, limb: str, seconds: float) -> None:
    """Have a mark bring a limb to it for some seconds, without leading the character.

    It is not named after a marker that the timeline has for something else.
    """
    mark = mark_of(empty)
    mark.kind = MARK
    mark.leads = False
    mark.part = limb
    mark.hold = seconds
    mark.use_place = True
    mark.use_facing = False
    mark.use_height = True
    name = fit_name(empty.name, _NUMBER_BYTES)
    number = 0
    while timeline.find_marker(empty.name):
        number += 1
        empty.name = f"{name}.{number:03}"


def add_tempo(obj: bpy.types.Object, rate: float, frames: tuple[int, int]) -> bpy.types.Object:
    """Add a range of frames in which an armature is to be slower or faster."""
    name = "Slower" if rate < 1.0 else "Faster"
    place = get_placement(obj, frames[0])
    empty = empties.add_axes(_ensure_collection(obj), name, place)
    _claim(empty, obj, TEMPO, frames[0])
    mark_of(empty).rate = rate
    mark_of(empty).frame_end = frames[1]
    return empty


def list_all(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Return all marks and tempos of an armature."""
    return [each for kind in (MARK, TEMPO) for each in list_marks(obj, kind)]


def _claim(empty: bpy.types.Object, obj: bpy.types.Object, kind: str, frame: int) -> None:
    mark = mark_of(empty)
    mark.character = obj
    mark.kind = kind
    mark.stored_frame = frame
    bpy.context.view_layer.update()  # the place in the world is read before the next redraw
    choose(obj, empty)
    callbacks.redraw()


def choose(obj: bpy.types.Object, empty: bpy.types.Object) -> None:
    """Make a mark the active one in the list of an armature."""
    director = settings_of(obj).director
    director.mark_index = list(director.marks.objects).index(empty) if director.marks else 0


def select_chosen(obj: bpy.types.Object) -> None:
    """Select the mark that is chosen in the list of an armature, for it to be moved."""
    chosen = get_active_mark(obj)
    if chosen is None or not chosen.visible_get():
        return
    for other in bpy.context.selected_objects:
        other.select_set(False)
    chosen.select_set(True)
    bpy.context.view_layer.objects.active = chosen


def _ensure_collection(obj: bpy.types.Object) -> bpy.types.Collection:
    """Return the collection of an armature's marks; a copied armature gets one of its own."""
    director = settings_of(obj).director
    known = director.marks
    is_others = known is not None and any(
        mark_of(each).character not in (None, obj) for each in known.objects
    )
    director.marks = empties.ensure_collection(None if is_others else known, f"Marks of {obj.name}")
    return director.marks


def remove_mark(obj: bpy.types.Object, empty: bpy.types.Object) -> None:
    """Remove a mark with its timeline marker. SettingsError if it is linked."""
    if empty.library:
        raise SettingsError(f"'{empty.name}' comes from a linked file, and can be removed there.")
    marker = _find_marker_name(empty)
    bpy.data.objects.remove(empty)
    if marker:
        timeline.remove_marker(marker)
    refresh_markers(obj)
    director = settings_of(obj).director
    count = len(director.marks.objects) if director.marks else 0
    director.mark_index = max(0, min(director.mark_index, count - 1))
    callbacks.redraw()


def refresh_markers(obj: bpy.types.Object) -> None:
    """Give each mark a timeline marker of its name, and remove the markers of deleted marks."""
    director = settings_of(obj).director
    marks = list_marks(obj)
    frames = [get_frame(empty) for empty in marks]
    names = {empty.name for empty in marks}
    for name in {*(read_names(director.marker_names) or ())} - names:
        other: Any = bpy.data.objects.get(name)
        if other is None or mark_of(other).character is None:  # else of a copy of this armature
            timeline.remove_marker(name)
    for empty, frame in zip(marks, frames, strict=True):
        timeline.put_marker(empty.name, frame)
        mark_of(empty).stored_frame = frame
        mark_of(empty).marker_name = empty.name
    director.marker_names = json.dumps(sorted(names))


def describe(empty: bpy.types.Object) -> str:
    """Describe in a few words the requests of a mark beyond place and facing, or its end."""
    mark: Any = mark_of(empty)
    if mark.kind == TEMPO:
        return f"to {mark.frame_end}, {mark.rate:.0%}"
    limb = mark.part.replace("_", " ").title() if is_of_part(empty) else ""
    names = sorted(GOALS, key=lambda name: name in _LAST_WORDS)
    said = [_say(empty, GOALS[name]) for name in names if name != "palm"]
    wanted = {(True, True): "", (True, False): "Place", (False, True): "Facing"}
    place = wanted.get((mark.use_place, mark.use_facing), "" if any(said) else "Nothing")
    parts = (limb, _say(empty, GOALS["palm"]), place if mark.leads else "", *said)
    return ", ".join(part for part in parts if part)


def _say(empty: bpy.types.Object, goal: MarkGoal) -> str:
    """Return the words for what a mark asks, if it asks for it."""
    if not goal.words or not asks(empty, goal):
        return ""
    mark: Any = mark_of(empty)
    name = goal.properties[-1]
    described: Any = mark.bl_rna.properties[name]
    value = getattr(mark, name) or f"No {described.name}"
    if described.type == "ENUM":
        value = described.enum_items[value].name
    return goal.words.format(value)
