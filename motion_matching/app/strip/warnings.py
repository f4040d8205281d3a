"""Collect warnings about a character for all panels: problems, with buttons to fix them. Every
check turns its findings into `WarningItem`s. Panels draw these in one way. A warning that was
dismissed stays away until what it is about changes.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ... import engine  # whose modules load on use: panels need this one
from ...engine.errors import SettingsError
from ...engine.files import json_files
from ..runtime import runtime

if TYPE_CHECKING:
    from ...scene.rig.problems import Problem

Area = Literal["character", "database", "play", "takes", "insight"]  # the panel it belongs to

SLOPE = "slope"  # the kind of what climbs, with which nothing need be wrong


class Button(NamedTuple):
    """A button: its label and icon, its operator (or menu), and the properties it runs with."""

    label: str
    operator: str
    icon: Any = "NONE"
    properties: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class WarningItem:
    """Something that is wrong: a `kind`, a sentence, the names it is `about`, and its buttons.

    A serious one keeps a database from being built.
    """

    kind: str
    text: str
    area: Area
    about: tuple[str, ...] = ()
    buttons: tuple[Button, ...] = ()
    is_serious: bool = False

    @property
    def identity(self) -> tuple[str, ...]:
        """Return what makes it the same warning, even if figures in its text have changed."""
        return self.kind, *self.about


class SourceProblem(NamedTuple):
    """A problem of a source: its name, its shown name, a kind of `SOURCE_KINDS`, and the reason if
    any.
    """

    source: str
    label: str
    kind: str
    reason: str = ""


class _Kind(NamedTuple):
    """Wording of similar problems, for one source and for several, and their fix."""

    one: str
    several: str
    state: str
    is_left_out: bool = True
    button: Button | None = None
    advice: str = ""
    area: Area = "database"


_SELECT = "motion_matching.select_source"
_EDIT = "motion_matching.edit_named_sources"
_AGAIN = Button("Build Again", "motion_matching.build", "FILE_REFRESH")
_COMPUTED = Button("Back to Computed", "motion_matching.use_computed_paths", "LOOP_BACK")
_SPINE = Button("Use Spine and Hips", "motion_matching.smooth_path", "BONE_DATA")
_USE_AXES = "motion_matching.use_axes"
_OF_SOURCES = (_EDIT, _COMPUTED.operator)  # operators that are given the names


def _edit(label: str, icon: str) -> Button:
    """Return the button that edits sources by the name of its label."""
    return Button(label, _EDIT, icon, (("edit", label.lower().replace(" ", "_")),))


_KEEP_FRAMES = _edit("Keep Frames", "LOOP_BACK")
_FIND_GROUND = _edit("Find Ground", "TOOL_SETTINGS")


def _tell(one: str, several: str, button: Button | None = None) -> _Kind:
    """Return a kind of problem with motion that is in the database all the same."""
    return _Kind(one, several, "Check Motion", False, button)


RIG_KIND = "rig"
LIVE_KINDS = ("speed", "slow", "slow rig", "missing tags", "tags at once", "untrained tags")
SOURCE_KINDS = {
    "lost": _Kind("has lost its motion", "have lost their motion", "Lost Motion"),
    "missing": _Kind("has a missing file", "have missing files", "Files Missing"),
    "range": _Kind(
        "ends before it starts",
        "end before they start",
        "Wrong Range",
        button=Button("Whole Range", _EDIT, "FULLSCREEN_ENTER", (("edit", "whole"),)),
    ),
    "path": _Kind(
        "has lost its hand-edited path",
        "have lost their hand-edited paths",
        "Path Lost",
        button=_COMPUTED,
    ),
    "no ground": _Kind(
        "has no object for its ground",
        "have no objects for their grounds",
        "Ground Lost",
        button=_FIND_GROUND,
    ),
    "unreadable": _Kind("cannot be read", "cannot be read", "Unreadable"),
    "still": _Kind("moves no bone", "move no bone", "No Motion"),
    "short": _Kind("is too short", "are too short", "Too Short"),
    "skeleton": _Kind(
        "has unrecognised bones",
        "have unrecognised bones",
        "Needs Help",
        advice="choose them in Source, Bones",
    ),
    "body": _Kind(
        "has bones that do not form a body",
        "have bones that do not form a body",
        "Needs Help",
        False,
    ),
    "bones": _Kind(
        "moves bones that this armature lacks",
        "move bones that this armature lacks",
        "Bones Missing",
        advice="import motion of another character separately, with Import Motion Capture",
        area="character",
    ),
    "loop": _Kind(
        "does not end as it starts",
        "do not end as they start",
        "Open Loops",
        False,
        Button("Do Not Loop", _EDIT, "X", (("edit", "no_loop"),)),
    ),
    "tag": _Kind("has a tag on none of its frames", "have tags on no frame", "Empty Tags", False),
    "file": _Kind("may be read wrongly", "may be read wrongly", "Check Import", False),
    "axes": _Kind("lies or stands on its head", "lie or stand on their head", "Check Axes", False),
    "root": _Kind(
        "has a root that stays still", "have roots that stay still", "Still Root", False, _SPINE
    ),
    "alien": _tell("has frames unlike the others", "have frames unlike the others", _KEEP_FRAMES),
    "glitch": _tell("has glitches", "have glitches", _KEEP_FRAMES),
    "leap": _tell("leaps", "leap", _KEEP_FRAMES),
    "frozen": _tell("has frozen frames", "have frozen frames", _KEEP_FRAMES),
    "repeated": _tell("repeats frames", "repeat frames", _KEEP_FRAMES),
    "stepped": _tell("moves in steps", "move in steps"),
    "floor": _tell(
        "stands on another floor", "stand on other floors", _edit("Keep Floor", "LOOP_BACK")
    ),
    "kept frames": _tell(
        "keeps frames that the build would repair",
        "keep frames that the build would repair",
        _edit("Mend Frames", "TOOL_SETTINGS"),
    ),
    "kept floor": _tell(
        "keeps a floor that the build would correct",
        "keep floors that the build would correct",
        _edit("Mend Floor", "TOOL_SETTINGS"),
    ),
    SLOPE: _tell(
        "climbs a slope or stairs", "climb slopes or stairs", _edit("Level Ground", "LOOP_BACK")
    ),
    "ground": _tell("is not on its ground", "are not on their grounds", _FIND_GROUND),
    "in place": _tell("walks in place", "walk in place"),
    "units": _tell("has hips in another unit", "have hips in another unit"),
    "unmended": _tell("would be repaired by a build", "would be repaired by a build", _AGAIN),
}
# by `rig_check.Problem.fix`: the button, and what it does
FIXES = {
    "scale": (
        "Apply Scale",
        "Apply the object's scale to the bones, and to the location keys of all its actions",
    ),
    "front": (
        "Turn to the Front",
        "Turn the rest pose to face -Y, and the object back, so that all animation stays in place",
    ),
    "deform": ("Use Deform Bones", "Use only deform bones"),
    "roles": ("Find Roles", "Clear the bones chosen by role, to find them automatically"),
}


def count_left_out(problems: Iterable[SourceProblem]) -> int:
    """Return how many sources are not in a database because of their problems."""
    return len({one.source for one in problems if SOURCE_KINDS[one.kind].is_left_out})


def group_source_problems(problems: Iterable[SourceProblem]) -> tuple[WarningItem, ...]:
    """Return a warning for each kind of problem: alike ones are one."""
    by_kind: dict[str, list[SourceProblem]] = {}
    for problem in problems:
        by_kind.setdefault(problem.kind, []).append(problem)
    return tuple(_describe_sources(kind, alike) for kind, alike in by_kind.items())


def _describe_sources(kind: str, alike: Sequence[SourceProblem]) -> WarningItem:
    words = SOURCE_KINDS[kind]
    names = tuple(problem.source for problem in alike)
    labels = [problem.label for problem in alike]
    if len(alike) == 1:
        text = f"'{labels[0]}' {words.one}"
    else:
        text = f"{len(alike)} sources {words.several}: {format_names(labels)}"
    if reason := alike[0].reason:
        text += f" ({reason})"
    if words.advice:
        text += f": {words.advice}"
    listed = (("names", json.dumps(names)),)
    buttons = [Button("Select", _SELECT, "RESTRICT_SELECT_OFF", listed)]
    if words.is_left_out:
        off = (("edit", "off"), *listed)
        buttons.append(Button("Switch Off", _EDIT, "CHECKBOX_DEHLT", off))
    if button := words.button:
        given = listed if button.operator in _OF_SOURCES else ()
        buttons.append(button._replace(properties=(*button.properties, *given)))
    if axes := engine.body.axes.FileAxes.from_text(reason):
        buttons.append(Button("Use These Axes", _USE_AXES, "EMPTY_AXIS", tuple(axes.get_items())))
    return WarningItem(kind, text, words.area, names, tuple(buttons))


def format_names(names: Sequence[str], most: int = 3) -> str:
    """Return the first names of a list, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def describe_rig_problem(problem: Problem) -> WarningItem:
    """Return the warning of a problem of an armature."""
    buttons: tuple[Button, ...] = ()
    if problem.fix:
        given = (("fix", problem.fix),)
        label = FIXES[problem.fix][0]
        buttons = (Button(label, "motion_matching.fix_rig", "TOOL_SETTINGS", given),)
    about = (problem.label,)
    serious = problem.serious
    return WarningItem(RIG_KIND, problem.sentence, "character", about, buttons, serious)


def notes_to_text(notes: Iterable[SourceProblem]) -> str:
    """Return a text that stores the notes on a build in a Blender file."""
    found = [list(note) for note in notes]
    return json.dumps(found, ensure_ascii=False) if found else ""


@lru_cache(maxsize=32)
def parse_notes(text: str) -> tuple[SourceProblem, ...]:
    """Return the notes on a build; notes of earlier versions were sentences, and are dropped."""
    try:
        notes = tuple(
            SourceProblem(*map(str, note)) for note in json_files.parse(text or "[]", "notes")
        )
    except (SettingsError, TypeError):
        return ()
    return tuple(note for note in notes if note.kind in SOURCE_KINDS)


@lru_cache(maxsize=32)
def find_notes(text: str) -> Mapping[str, SourceProblem]:
    """Return the first of the notes on each source, by its name."""
    return {note.source: note for note in reversed(parse_notes(text))}


@lru_cache(maxsize=32)
def describe_notes(text: str) -> tuple[WarningItem, ...]:
    """Return the warnings of the notes on a build; panels ask for them at every redraw."""
    return group_source_problems(parse_notes(text))


def get_undismissed(uid: int, items: Iterable[WarningItem]) -> list[WarningItem]:
    """Return the warnings of an armature that were not dismissed."""
    dismissed = runtime.dismissed.get(uid, ())
    return [item for item in items if item.identity not in dismissed]


def dismiss(uid: int, identity: tuple[str, ...]) -> None:
    """Hide a warning of an armature until it is about something else, or comes again."""
    if identity:  # a script may name none
        runtime.dismissed.setdefault(uid, set()).add(identity)


def forget_resolved(uid: int, kinds: Container[str], items: Iterable[WarningItem]) -> None:
    """Forget dismissed warnings of these kinds that are not among the items: they were resolved."""
    if dismissed := runtime.dismissed.get(uid):
        present = {item.identity for item in items}
        dismissed -= {one for one in dismissed if one[0] in kinds and one not in present}
