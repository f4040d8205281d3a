"""Store the outcome of the last solve on marks, until they change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import bpy

from ...engine.direct.shot.mark import GOALS
from ...scene.blender.animation.actions import get_scene_fps
from ...scene.staging.placements import is_animated
from ..property_access import is_changed, settings_of
from . import marks

Outcome = Literal["", "met", "missed", "changed"]
_ASKED = (
    *("kind", "use_place", "use_facing", "hold", "moment", "gait", "use_tags", "tags"),
    *("tolerance", "facing_tolerance", "use_pose", "pose", "pose_tolerance", "pose_fade", "part"),
    *("use_height", "limb", "frame_end", "rate"),
)  # as the first versions stored it; all else is stored only where it is set
_UNNAMED = ("palm", "leads")
_GOALS = {name: goal for goal in GOALS.values() for name in goal.properties}
_LATER = {name: _GOALS[name] for name in (*_UNNAMED, *_GOALS) if name not in ("frame", *_ASKED)}


def describe_request(empty: bpy.types.Object) -> str:
    """Return a text that differs once a mark asks for something else, or elsewhere."""
    values = list_settings(empty)
    if not is_animated(empty):  # keys move it from frame to frame, which is no change
        matrix = empty.matrix_world
        values += (col.to_tuple(4) for col in matrix.col[1:])
    return repr(tuple(values))


def list_settings(empty: bpy.types.Object) -> list[Any]:
    """Return what a mark asks for, and when, but not where it is."""
    mark: Any = marks.mark_of(empty)
    values = [marks.get_frame(empty), *(getattr(mark, name) for name in _ASKED)]
    for name, goal in _LATER.items():
        if marks.can_ask(empty, goal) and is_changed(mark, (name,)):
            value = getattr(mark, name)
            values.append(value if name in _UNNAMED else (name, value))
    return values


def get_outcome(empty: bpy.types.Object) -> Outcome:
    """Return what the last solve did about a mark, nothing if it has not been solved."""
    mark = marks.mark_of(empty)
    if not mark.asked:
        return ""
    if mark.asked != describe_request(empty):
        return "changed"
    return "missed" if mark.reason else "met"


def store_outcomes(
    requests: Sequence[tuple[bpy.types.Object | None, str]], entries: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Store on empties, with what they asked for, the entries of a report; return the misses.

    Empties that were deleted meanwhile are None.
    """
    missed = []
    for (empty, asked), entry in zip(requests, entries, strict=True):
        if not entry["reached"]:
            name = f"'{empty.name}'" if empty else "A deleted mark"
            missed.append(f"{name}: {entry['reason']}")
        if empty:
            marks.mark_of(empty).asked = asked
            marks.mark_of(empty).reason = "" if entry["reached"] else entry["reason"]
    return missed


def get_state(obj: bpy.types.Object) -> tuple[str, str] | None:
    """Return the state of an armature's marks as an icon and words; None without marks."""
    director = settings_of(obj).director
    if director.marks is None:
        return None
    listed = marks.list_all(obj)
    if not listed:
        return None
    outcomes = [get_outcome(empty) for empty in listed]
    if any(outcome in ("", "changed") for outcome in outcomes):
        count = len(listed)
        return "EMPTY_SINGLE_ARROW", f"{count} Mark{'' if count == 1 else 's'}"
    if missed := outcomes.count("missed"):
        return "ERROR", f"{missed} of {len(listed)} Missed"
    return "CHECKMARK", "Solved"


def update_pin(empty: bpy.types.Object) -> None:
    """Make a pin, as earlier versions have them, a mark that asks for the same.

    What became of it still counts.
    """
    bpy.context.view_layer.update()  # a file that was just opened does not say where objects are
    mark = marks.mark_of(empty)
    outcome = get_outcome(empty)
    frames = max(mark.frame_end - marks.get_frame(empty), 0)
    marks.bring_limb(empty, mark.limb, frames / get_scene_fps(bpy.context.scene))
    if outcome in ("met", "missed"):
        mark.asked = describe_request(empty)
