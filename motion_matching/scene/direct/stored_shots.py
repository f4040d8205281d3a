"""The shot of a directed take, stored on its action as JSON, so that it can be solved again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import bpy

from ...engine.direct import shot_file
from ...engine.direct.shot import KeptJump, Shot
from ...engine.errors import MotionMatchingError
from ...engine.json_files import EntryError, expect_number, expect_text
from ..blender import id_properties
from ..blender.actions import MAX_FRAME
from ..blender.handle import fit_name

SHOT = "motion_matching_shot"  # custom property of a directed take's action
TEXT = ".shot.json"  # in the name of its text
_JUMP = {"second", "from", "to", "price"}  # what each jump has
_TEXT_BYTES = len(TEXT) + len(".001")


def store_shot(
    action: bpy.types.Action, shot: Shot, frame: int, jumps: Sequence[Mapping[str, Any]]
) -> None:
    """Store a shot, which begins at a frame, as a text that an action points at, and its jumps."""
    text = bpy.data.texts.new(fit_name(action.name, _TEXT_BYTES) + TEXT)
    text.from_string(shot_file.to_json(shot))
    stored: Any = action
    seed = shot.current.seed
    stored[SHOT] = {"shot": text, "frame": frame, "jumps": json.dumps(jumps), "seed": str(seed)}
    store_kept(action, shot.current.kept)


def is_directed(action: bpy.types.Action | None) -> bool:
    """Return whether an action is a directed take, even if its shot was deleted."""
    return action is not None and id_properties.has(action, SHOT)


def find_text(action: bpy.types.Action) -> bpy.types.Text | None:
    """Return the text with the shot of a directed take; None if there is none."""
    stored = id_properties.read(action, SHOT) if is_directed(action) else None
    text = stored.get("shot") if isinstance(stored, dict) else None
    return text if isinstance(text, bpy.types.Text) else None


def read_jumps(action: bpy.types.Action) -> list[dict[str, Any]]:
    """Return the jumps of a directed take, as its report has them; none if they were edited."""
    stored = id_properties.read(action, SHOT) if is_directed(action) else None
    text = stored.get("jumps") if isinstance(stored, dict) else None
    try:
        listed = json.loads(text) if isinstance(text, str) else []
    except ValueError:
        return []
    return [each for each in listed if isinstance(each, dict) and each.keys() >= _JUMP]


def store_kept(action: bpy.types.Action, kept: Sequence[KeptJump]) -> None:
    """Store on a directed take which of its jumps later solves keep."""
    stored: Any = action
    stored[SHOT]["kept"] = json.dumps([shot_file.kept_to_dict(each) for each in kept])


def read_kept(action: bpy.types.Action) -> list[KeptJump]:
    """Return the jumps of a directed take that later solves keep; none if they were edited."""
    stored = id_properties.read(action, SHOT) if is_directed(action) else None
    text = stored.get("kept") if isinstance(stored, dict) else None
    try:
        listed = json.loads(text) if isinstance(text, str) else []
        return [shot_file.read_kept(each, "a kept jump") for each in listed]
    except (ValueError, TypeError, EntryError):
        return []


def read_seed(action: bpy.types.Action) -> int | None:
    """Return the seed of a directed take; None if it is not known."""
    stored = id_properties.read(action, SHOT) if is_directed(action) else None
    text = stored.get("seed") if isinstance(stored, dict) else None
    return int(text) if isinstance(text, str) and text.isdecimal() else None


def read_frame(action: bpy.types.Action) -> int:
    """Return the first frame of a directed take. MotionMatchingError if damaged."""
    stored = id_properties.read(action, SHOT)
    try:
        return round(expect_number(stored.get("frame"), "a frame", -MAX_FRAME, MAX_FRAME))
    except EntryError:
        raise MotionMatchingError(_describe_edited(action)) from None


def _describe_edited(action: bpy.types.Action) -> str:
    return (
        f"The take '{action.name}' does not hold its shot, because its property '{SHOT}' was "
        "edited; set marks, and solve them."
    )


def read_shot(action: bpy.types.Action) -> tuple[Shot, int]:
    """Return the shot of a directed take, and its first frame. MotionMatchingError if damaged."""
    text = find_text(action)
    if text is None:
        raise MotionMatchingError(
            f"The take '{action.name}' does not hold its shot, because its text was deleted; set "
            "marks, and solve them."
        )
    frame = read_frame(action)
    try:
        content = expect_text(text.as_string(), "the text")
    except EntryError:
        raise MotionMatchingError(_describe_edited(action)) from None
    return shot_file.from_json(content, f"of the take '{action.name}'"), frame
