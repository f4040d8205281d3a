"""What is wrong with the sources of a character, found when they are added rather than when built.

Files are read up to their motion, and actions for the bones that they move.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

import bpy

from ..engine.database.parts import BuildNote
from ..engine.errors import MotionMatchingError, RigError
from ..engine.motion import bvh, bvh_text, rig
from ..engine.motion.bone_names import make_unique_names
from ..engine.motion.skeleton import Skeleton
from ..engine.names import to_readable
from ..scene.blender import actions
from ..scene.rig.armature import to_blender_names
from ..scene.rig.bone_choice import choose_bones
from ..scene.rig.fitting import ArmatureState, find_misfit
from .characters import get_armature, get_bone_choice
from .runtime import runtime
from .settings import get_build_settings, get_roles
from .source_files import find_file
from .sources import diagnose, get_label, get_source
from .steps import Steps
from .typed import armature_of, settings_of
from .warnings import SourceProblem


class Hierarchy(NamedTuple):
    """Names of bones, and the index of each one's parent or -1, parents first."""

    names: tuple[str, ...]
    parents: tuple[int, ...]

    @property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Return each bone's name with that of its parent, '' for roots, whatever their order."""
        above = (self.names[parent] if parent >= 0 else "" for parent in self.parents)
        return frozenset(zip(self.names, above, strict=True))


# by skeleton, the kind of what keeps it from playing on the armature, and why
Fits = dict[tuple[Any, ...], tuple[str, str]]


class _Skeletons(dict[tuple[Any, ...], Skeleton]):
    """Those of files that were read, by name, size, time and axes."""


class _Hierarchies(dict[tuple[str, int, int], Hierarchy]):
    """Those of files that were read, by name, size and time."""


def find_problems_steps(uid: int) -> Steps[tuple[SourceProblem, ...]]:
    """Find what is wrong with the sources that are on, one source between two yields."""
    count = len(settings_of(get_armature(uid)).sources)
    problems: list[SourceProblem] = []
    hierarchies: dict[tuple[str, str], Hierarchy] = {}  # of files, by name and label of sources
    fits: Fits = {}
    has_actions = False
    for index in range(count):
        obj, source = get_source(uid, index)
        if not source.enabled:
            continue
        name, label = source.name, get_label(source)
        kind, reason = _find_problem(obj, source, fits)
        if kind:
            problems.append(SourceProblem(name, label, kind, reason))
        elif source.kind == "FILE":
            hierarchies[name, label] = _read_hierarchy(find_file(source) or Path())
        else:
            has_actions = True
        yield "Looking at sources", index / count
    model = _read_armature(get_armature(uid)) if has_actions else None
    return (*problems, *_find_other_skeletons(hierarchies, model))


def _find_problem(obj: bpy.types.Object, source: Any, fits: Fits) -> tuple[str, str]:
    """Return the kind of what is wrong with a source by itself or for its armature, and why."""
    if kind := diagnose(source)[0]:
        return kind, str(find_file(source)) if kind == "missing" else ""
    if source.kind == "ACTION":
        return _check_action(obj, source.action)
    try:
        hierarchy = _read_hierarchy(find_file(source) or Path())
        if missing := _find_missing_bones(obj, hierarchy):
            return "bones", _format_missing(missing)
        return _find_misfit(obj, find_file(source) or Path(), fits)
    except MotionMatchingError as error:
        return "unreadable", str(error).rstrip(".")


def _find_misfit(obj: bpy.types.Object, file: Path, fits: Fits) -> tuple[str, str]:
    """Return 'size' or 'rest' if the skeleton of a file has another than the armature, and why.

    What keeps armatures and skeletons from being compared is told elsewhere.
    """
    skeleton = _read_skeleton(file, **get_build_settings(obj).get_axes())
    key = skeleton.names, skeleton.parents.tobytes(), skeleton.rest_positions.tobytes()
    if key not in fits:
        try:
            roles = rig.find_roles(skeleton, (), get_roles(settings_of(obj)))
            standing = ArmatureState.from_object(obj)
            carriers = skeleton.get_ancestors(roles.hips)
            kind, reason = find_misfit(obj, standing, skeleton, carriers)
            fits[key] = kind, reason.rstrip(".")
        except RigError:
            fits[key] = "", ""
    return fits[key]


def _check_action(obj: bpy.types.Object, action: bpy.types.Action) -> tuple[str, str]:
    curves = actions.get_active_curves(action, actions.find_slot(action, obj))
    moved = actions.find_moved_bones(curves)
    if not moved:
        return "still", ""
    missing = sorted(moved.difference(armature_of(obj).bones.keys()))
    # those of helpers that were removed do not matter, as in `actions.find_actions`
    return ("bones", _format_missing(missing)) if 2 * len(missing) >= len(moved) else ("", "")


def _format_missing(names: list[str]) -> str:
    more = len(names) - 1
    return f"'{names[0]}'" + (f" and {more} more" if more else "")


def _read_hierarchy(file: Path) -> Hierarchy:
    """Read the bones of a BVH file, once for each version of it."""
    known = runtime.get_cache(_Hierarchies)
    stat = file.stat()
    version = str(file), stat.st_size, stat.st_mtime_ns
    if version not in known:
        joints, parents = bvh_text.read_joints(file)
        names = make_unique_names(joint.name for joint in joints)
        known[version] = Hierarchy(names, tuple(parents.tolist()))
    return known[version]


def _read_skeleton(file: Path, **axes: Any) -> Skeleton:
    """Read the skeleton of a BVH file as armatures name bones, once for each version of it."""
    known, stat = runtime.get_cache(_Skeletons), file.stat()
    version = str(file), stat.st_size, stat.st_mtime_ns, *axes.values()
    if version not in known:
        skeleton = bvh.load_skeleton(file, **axes)
        known[version] = skeleton.with_names(to_blender_names(skeleton.names))
    return known[version]


def _read_armature(obj: bpy.types.Object) -> Hierarchy | None:
    """Return the bones that actions are read with; None if the armature has none."""
    try:
        names, parents = choose_bones(obj, get_bone_choice(obj))
    except RigError:  # which the panel Character reports
        return None
    return Hierarchy(names, tuple(parents.tolist()))


def _find_missing_bones(obj: bpy.types.Object, hierarchy: Hierarchy) -> list[str]:
    """Return the bones that an armature lacks; it may lack those that only carry the others."""
    bones, names = armature_of(obj).bones, to_blender_names(hierarchy.names)
    carrier = 0
    while hierarchy.parents.count(carrier) == 1 and names[carrier] not in bones:
        carrier = hierarchy.parents.index(carrier)
    return [name for name in names[carrier:] if name not in bones]


def _find_other_skeletons(
    hierarchies: dict[tuple[str, str], Hierarchy], model: Hierarchy | None
) -> list[SourceProblem]:
    """Return the sources with another skeleton than most, or than a model: they are left out."""
    if not hierarchies:
        return []
    pairs = {source: hierarchy.pairs for source, hierarchy in hierarchies.items()}
    expected = model.pairs if model else Counter(pairs.values()).most_common(1)[0][0]
    return [
        SourceProblem(*source, "skeleton", _describe_difference(expected, found))
        for source, found in pairs.items()
        if found != expected
    ]


def _describe_difference(
    expected: frozenset[tuple[str, str]], found: frozenset[tuple[str, str]]
) -> str:
    names, others = ({name for name, _ in pairs} for pairs in (expected, found))
    if missing := sorted(names - others):
        return f"without {_format_missing(missing)}"
    if added := sorted(others - names):
        return f"with {_format_missing(added)}"
    return f"{_format_missing(sorted(name for name, _ in found - expected))} elsewhere"


def match_notes(obj: bpy.types.Object, notes: Collection[BuildNote]) -> list[SourceProblem]:
    """Return notes of a build, which names sources by their files and actions, by source."""
    names: dict[str, str] = {}
    for source in settings_of(obj).sources if notes else ():
        if source.enabled:
            file = find_file(source)
            names.setdefault(to_readable(file.stem) if file else get_label(source), source.name)
    return [
        SourceProblem(names.get(name, name), name, kind, to_readable(text.rstrip(".")))
        for name, text, kind in notes
    ]
