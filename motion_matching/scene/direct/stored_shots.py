"""Store the shot of a directed take on its action as JSON, to solve it again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import bpy

from ...engine.direct.shot import shot_file
from ...engine.direct.shot.shot import LONGEST_SHOT, KeptJump, Shot
from ...engine.errors import MotionMatchingError, SettingsError
from ...engine.files.array_files import LARGEST_VALUE
from ...engine.files.json_files import (
    EntryError,
    expect_list,
    expect_name,
    expect_number,
    expect_object,
    parse,
)
from ..blender import id_properties
from ..blender.animation.actions import MAX_FRAME
from ..blender.handle import fit_name

SHOT = "motion_matching_shot"  # custom property of a directed take's action
TEXT = ".shot.json"  # in the name of its text
_MOST_DIGITS = 18  # of a seed, which are far fewer
_TEXT_BYTES = len(TEXT) + len(".001")
_Read = TypeVar("_Read")


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


class StoredJump(NamedTuple):
    """A jump of a take as its report has it: the runner-up is another target, and how much dearer.

    Prices are in metre-seconds.
    """

    second: float
    source: str
    target: str
    price: float | None
    runner_up: tuple[str, float] | None


def is_directed(action: bpy.types.Action | None) -> bool:
    """Return whether an action is a directed take, even if its shot was deleted."""
    return action is not None and id_properties.has(action, SHOT)


def _read_entry(action: bpy.types.Action, name: str) -> Any:
    """Return an entry of what is stored on an action; None if there is none."""
    stored = id_properties.read(action, SHOT) if is_directed(action) else None
    return stored.get(name) if isinstance(stored, dict) else None


def _read_list(action: bpy.types.Action, name: str, read: Callable[[Any], _Read]) -> list[_Read]:
    """Return the entries of a list that is stored as JSON; none of them if it was edited."""
    text = _read_entry(action, name)
    try:
        listed = parse(text, name) if isinstance(text, str) else []
        return [read(each) for each in expect_list(listed, name)]
    except (EntryError, SettingsError):
        return []


def find_text(action: bpy.types.Action) -> bpy.types.Text | None:
    """Return the text with the shot of a directed take; None if there is none."""
    text = _read_entry(action, "shot")
    return text if isinstance(text, bpy.types.Text) else None


def read_jumps(action: bpy.types.Action) -> list[StoredJump]:
    """Return the jumps of a directed take; none if they were edited."""
    return _read_list(action, "jumps", _read_jump)


def _read_jump(data: Any) -> StoredJump:
    """Read a jump of a report. Raises EntryError."""
    expect_object(data, "a jump")
    second = expect_number(data.get("second"), "'second'", 0.0, LONGEST_SHOT)
    source, target = (expect_name(data.get(name), name) for name in ("from", "to"))
    price = data.get("price")
    other = data.get("runner_up")
    if price is not None:
        price = expect_number(price, "'price'", 0.0, LARGEST_VALUE)
    if other is None:
        return StoredJump(second, source, target, price, None)
    expect_object(other, "'runner_up'")
    dearer = expect_number(other.get("dearer"), "'dearer'", -LARGEST_VALUE, LARGEST_VALUE)
    runner_up = expect_name(other.get("to"), "'to' of 'runner_up'"), dearer
    return StoredJump(second, source, target, price, runner_up)


def store_kept(action: bpy.types.Action, kept: Sequence[KeptJump]) -> None:
    """Store on a directed take which of its jumps later solves keep."""
    stored: Any = action
    stored[SHOT]["kept"] = json.dumps([shot_file.kept_to_dict(each) for each in kept])


def read_kept(action: bpy.types.Action) -> list[KeptJump]:
    """Return the jumps of a directed take that later solves keep; none if they were edited."""
    return _read_list(action, "kept", lambda each: shot_file.read_kept(each, "a kept jump"))


def read_seed(action: bpy.types.Action) -> int | None:
    """Return the seed of a directed take; None if it is not known."""
    text = _read_entry(action, "seed")
    is_known = isinstance(text, str) and text.isdecimal() and len(text) <= _MOST_DIGITS
    return int(text) if is_known else None


def find_frame(action: bpy.types.Action) -> int | None:
    """Return the first frame of a directed take; None if it was edited."""
    try:
        return round(expect_number(_read_entry(action, "frame"), "", -MAX_FRAME, MAX_FRAME))
    except EntryError:
        return None


def read_shot(action: bpy.types.Action) -> tuple[Shot, int]:
    """Return the shot of a directed take, and its first frame. MotionMatchingError if damaged."""
    text = find_text(action)
    frame = find_frame(action)
    content = text.as_string() if text else ""
    if frame is None or not content:
        edited = f"property '{SHOT}' was edited" if frame is None else "text was edited"
        raise MotionMatchingError(
            f"The take '{action.name}' has lost its shot, because its "
            f"{edited if text else 'text was deleted'}; set marks, and solve them."
        )
    return shot_file.from_json(content, f"of the take '{action.name}'"), frame
