"""Collect a character's state, its next step and all its warnings for the strip."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import bpy

from ..character import controls, rig_status
from ..database import status
from ..property_access import settings_of
from ..runtime import runtime
from .warnings import (
    SOURCE_KINDS,
    Area,
    Button,
    WarningItem,
    count_left_out,
    describe_notes,
    describe_rig_problem,
    get_undismissed,
    parse_notes,
)

if TYPE_CHECKING:
    from ..live.host import LiveSession

_IMPORT = Button("Import Motion Capture", "motion_matching.import_motion", "IMPORT")
_DEMO = Button("Add Demo Performer", "motion_matching.add_demo_performer", "OUTLINER_OB_ARMATURE")
_ADD = Button("Add Motion", "MOTION_MATCHING_MT_add_sources", "ADD")
_ADD_STANDING = Button("Add Standing", "motion_matching.add_standing", "ARMATURE_DATA")
_BUILD = Button("Build", "motion_matching.build", "MODIFIER")
START = Button("Start", "motion_matching.start", "PLAY")
BAKE = Button("Bake", "motion_matching.bake_script", "ACTION_TWEAK")
_RECORD = Button("Record", "motion_matching.record", "RADIOBUT_ON")
_STOP_RECORDING = Button("Stop Recording", "motion_matching.record", "SNAP_FACE")
_STOP = Button("Stop", "motion_matching.stop", "CANCEL")
CANCEL = Button("Cancel", "motion_matching.cancel", "X")

# the operators whose progress the strip shows in place of its buttons
STEPS = frozenset(
    button.operator for button in (_IMPORT, _DEMO, _BUILD, START, BAKE, _ADD_STANDING)
) | {
    *("motion_matching.bake_along", "motion_matching.direct"),
    *("motion_matching.direct_again", "motion_matching.direct_take"),
}


class Standing(NamedTuple):
    """The state in a few words, and the buttons of the next step."""

    icon: str
    text: str
    buttons: tuple[Button, ...]


def get_standing(context: bpy.types.Context, obj: bpy.types.Object | None) -> Standing:
    """Return how things stand with an armature, or without one."""
    if runtime.live:
        return _describe_live(runtime.live)
    if obj is None:
        is_any = any(other.type == "ARMATURE" for other in context.view_layer.objects)
        text = "Select an Armature" if is_any else "No Character"
        return Standing("INFO", text, (_IMPORT, _DEMO))
    found = status.get_status(obj)
    settings = settings_of(obj)
    rig = rig_status.get_rig_state(obj)
    if rig and rig.worst and rig.worst.serious:
        worst = describe_rig_problem(rig.worst)
        return Standing("ERROR", worst.about[0], worst.buttons or (_BUILD,))
    if found.kind == "empty" or not settings.sources:
        return Standing("INFO", "No Motion", (_ADD,))
    if runtime.interrupted and get_undismissed(obj.session_uid, [_describe_interrupted()]):
        return Standing("RECOVER_LAST", "Recording Cut Off", _RECOVER)
    icon, words = get_database_state(obj)
    if found.kind == "fresh" or (found.kind == "unknown" and settings.built_key):
        text = "Ready" if icon == "CHECKMARK" else f"Ready with {words} Sources"
        return Standing(icon, text if found.kind == "fresh" else words, (START, BAKE))
    if icon == "ERROR" and found.kind == "none":
        words = f"Not Built, {words} Fit"
    # a bake builds what it needs; what cannot be built is said by the other one
    return Standing(icon, words, (_BUILD,) if found.kind == "broken" else (_BUILD, BAKE))


def _describe_live(live: LiveSession) -> Standing:
    if live.session.is_recording:
        seconds = f"Recording  {live.session.recorded_seconds:.0f} s"
        return Standing("RADIOBUT_ON", seconds, (_STOP_RECORDING, _STOP))
    return Standing("PLAY", f"Live  {describe_rate(live)} Ticks/s", (_RECORD, _STOP))


def describe_rate(live: LiveSession) -> str:
    """Return how many ticks a second a session makes, of how many it should."""
    return f"{live.pace.rate:.0f} of {1.0 / live.session.performer.dt:.0f}"


def describe_driven(obj: bpy.types.Object) -> str:
    """Return what a live session drives of a control rig, and why; nothing if it drives bones."""
    state = controls.get_state(obj)
    live = runtime.live
    if live and live.armature.uid == obj.session_uid:
        return controls.describe_driven(live.session.writer)
    return f"Controls of {state.label}" if state else ""


# ---------------------------------------------------------------- the states of panels

_DATABASE_STATES = {
    "unknown": ("SORTTIME", "Looking"),
    "empty": ("LAYER_USED", "No Sources"),
    "broken": ("ERROR", "Needs Help"),
    "none": ("LAYER_USED", "Not Built"),
    "elsewhere": ("FILE_REFRESH", "Not Built Here"),
    "stale": ("FILE_REFRESH", "Stale"),
    "fresh": ("CHECKMARK", "Fresh"),
}


def get_database_state(obj: bpy.types.Object) -> tuple[str, str]:
    """Return the state of a database as an icon and two words; with a tick if it is whole."""
    found = status.get_status(obj)
    problems = found.problems
    if found.kind == "fresh":
        problems = parse_notes(settings_of(obj).built_notes)
    if found.kind in ("fresh", "none") and (left := count_left_out(problems)):
        return "ERROR", f"{found.source_count - left} of {found.source_count}"
    return _DATABASE_STATES[found.kind]


def get_character_state(obj: bpy.types.Object) -> tuple[str, str]:
    """Return the state of an armature as a character as an icon and two words."""
    rig = rig_status.get_rig_state(obj)
    problem = rig.worst if rig else None
    if problem and problem.serious:
        return "ERROR", problem.label
    for item in status.get_status(obj).warnings:
        if item.area == "character":
            return "ERROR", SOURCE_KINDS[item.kind].state
    return ("INFO", problem.label) if problem else ("CHECKMARK", "Ready")


def list_offers(obj: bpy.types.Object) -> list[Button]:
    """Return buttons that fix problems which are handled automatically."""
    rig = rig_status.get_rig_state(obj)
    handled = (problem for problem in (rig.problems if rig else ()) if problem.handled)
    return [button for problem in handled for button in describe_rig_problem(problem).buttons]


def get_warnings(obj: bpy.types.Object, area: Area | None = None) -> list[WarningItem]:
    """Return the warnings about an armature that were not dismissed, of a panel or of all."""
    items = get_undismissed(obj.session_uid, _collect(obj))
    return [item for item in items if area in (None, item.area)]


def _collect(obj: bpy.types.Object) -> Iterable[WarningItem]:
    found = status.get_status(obj)
    settings = settings_of(obj)
    rig = rig_status.get_rig_state(obj)
    live = runtime.live
    problems = rig.problems if rig else ()
    yield from (describe_rig_problem(problem) for problem in problems if not problem.handled)
    yield from found.warnings
    if found.problem and not found.warnings:
        yield WarningItem("broken", found.problem, "database", (found.problem,))
    if found.kind == "fresh":
        named = {problem.source for problem in found.problems}
        for item in describe_notes(settings.built_notes):
            if not named.issuperset(item.about):  # else it is already reported
                yield item
        if not found.stands:
            yield _RESTLESS if found.is_two_legged else replace(_RESTLESS, buttons=(_ADD,))
        for note in found.missing:
            if note.kind != _RESTLESS.kind:  # for which there is a button
                text = note.text.rstrip(".")
                yield WarningItem(note.kind, text, "database", buttons=(_ADD,))
    if compared := runtime.comparisons.get(obj.session_uid):
        actions = (take.action for take in settings.takes)
        listed = {action.name for action in actions if action}
        yield from (item for item in compared.warnings if listed.issuperset(item.about))
    if live and live.armature.uid == obj.session_uid:
        yield from live.warnings
    elif live is None:
        yield from _describe_endings()


def _describe_endings() -> Iterable[WarningItem]:
    """Return why the last session ended, and what of it can be recovered."""
    if runtime.end_message:
        yield WarningItem("ended", runtime.end_message, "play", (runtime.end_message,), (START,))
    if runtime.interrupted:
        yield _describe_interrupted()


def _describe_interrupted() -> WarningItem:
    count = len(runtime.interrupted)
    text = "A recording was cut off" if count == 1 else f"{count} recordings were interrupted"
    files = tuple(path.name for path in runtime.interrupted)
    return WarningItem("interrupted", text, "play", files, _RECOVER)


_RESTLESS = WarningItem(
    "standing",
    "No idle clip: the character holds one pose while it stands. Add a clip of standing",
    "database",
    buttons=(_ADD_STANDING, _ADD),
)
_RECOVER = (
    Button("Recover Take", "motion_matching.recover_take", "RECOVER_LAST"),
    Button("Discard", "motion_matching.discard_recording", "TRASH"),
)
