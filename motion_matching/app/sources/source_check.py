"""Find problems of a character's sources when they are added rather than when built.

Files are read up to their motion, and actions for the bones that they move.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import bpy

from ...engine.errors import MotionMatchingError
from ...engine.names import to_readable
from ...engine.sources.reel import BuildNote
from ...engine.sources.sources import name_of_file
from ...scene.blender.animation import actions
from ..character.characters import get_armature
from ..mapping import source_skeletons
from ..mapping.mapping import SAME, SourceState
from ..property_access import armature_of, settings_of
from ..steps import Steps
from ..strip.warnings import SourceProblem, format_names
from .source_files import find_file
from .source_list import diagnose, get_label, get_source


def find_problems_steps(
    uid: int, states: Mapping[str, SourceState]
) -> Steps[tuple[SourceProblem, ...]]:
    """Find problems of the enabled sources, one source between two yields. `states` are the states
    of their skeletons, by name.
    """
    count = len(settings_of(get_armature(uid)).sources)
    problems: list[SourceProblem] = []
    for index in range(count):
        obj, source = get_source(uid, index)
        if not source.enabled:
            continue
        kind, reason = _find_problem(obj, source, states.get(source.name, SAME))
        if kind:
            problems.append(SourceProblem(source.name, get_label(source), kind, reason))
        yield "Looking at sources", index / count
    return tuple(problems)


def _find_problem(obj: bpy.types.Object, source: Any, state: SourceState) -> tuple[str, str]:
    """Return the kind of what is wrong with a source by itself or for its armature, and why."""
    if kind := diagnose(source)[0]:
        return kind, str(find_file(source)) if kind == "missing" else ""
    try:
        if source.kind == "FILE":
            source_skeletons.read_source_skeleton(obj, source)
        elif (found := _check_action(source.performer or obj, source.action))[0]:
            return found
    except MotionMatchingError as error:
        return "unreadable", str(error).rstrip(".")
    return ("skeleton", state.reason.rstrip(".")) if state.kind == "help" else ("", "")


def _check_action(obj: bpy.types.Object, action: bpy.types.Action) -> tuple[str, str]:
    curves = actions.get_active_curves(action, actions.find_slot(action, obj))
    moved = actions.find_moved_bones(curves)
    if not moved:
        return "still", ""
    missing = sorted(moved.difference(armature_of(obj).bones.keys()))
    if 2 * len(missing) < len(moved):
        return "", ""  # those of helpers that were removed, as in `actions.find_actions`
    return "bones", format_names([f"'{name}'" for name in missing], 1)


def match_notes(obj: bpy.types.Object, notes: Collection[BuildNote]) -> list[SourceProblem]:
    """Return notes of a build, which names sources by their files and actions, by source."""
    names: dict[str, str] = {}
    for source in settings_of(obj).sources if notes else ():
        if source.enabled:
            file = find_file(source)
            label = name_of_file(file, source.character) if file else get_label(source)
            names.setdefault(label, source.name)
    return [
        SourceProblem(names.get(name, name), name, kind, to_readable(text.rstrip(".")))
        for name, text, kind in notes
    ]
