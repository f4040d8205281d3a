"""Sources of other skeletons: how their bones are mapped to the character's.

A character whose sources all have its skeleton needs no mapping. If one has another, all sources
become motion of the character's own skeleton when its database is built.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

import bpy

from ..engine import json_files
from ..engine.database.skeletons import Character, compute_signature
from ..engine.errors import MotionMatchingError, RigError, SettingsError
from ..engine.json_files import expect_object, expect_text
from ..engine.motion import bvh
from ..engine.motion.bone_mapping import BoneMapping, map_bones
from ..engine.motion.clip import Clip
from ..engine.motion.skeleton import Skeleton
from ..scene.reading import sampling
from . import source_skeletons
from .characters import get_armature, get_axes, get_bone_choice, get_roles
from .runtime import runtime
from .source_files import find_file
from .sources import find_source_problem, get_source
from .steps import Steps, map_steps, run_in_background_steps
from .typed import settings_of

_READING = "Looking at bones"
_ENOUGH = 3000  # frames that bones are looked for in


class SourceState(NamedTuple):
    """How the skeleton of a source is used: a kind, as panels say it, and why it needs help."""

    kind: Literal["same", "mapped", "help"]
    text: str
    reason: str = ""
    mapping: BoneMapping | None = None
    signature: str = ""  # of the skeleton


SAME = SourceState("same", "Same")
AUTOMATIC, NO_BONE = "<automatic>", "<none>"  # choices beside the names of bones


class _States(dict[tuple[Any, ...], SourceState]):
    """Those of skeletons that were mapped, by both skeletons and what was chosen by hand."""


def find_character(obj: bpy.types.Object) -> Character | None:
    """Return what sources become motion of; None if they all have the armature's skeleton."""
    usable = list(_iterate_usable(obj))
    expected = _find_shared_bones(obj, usable)
    if all(_is_same(obj, source, expected) for source in usable):
        return None
    try:
        return _read_character(obj)
    except RigError:  # which the panel Character reports
        return None


def _read_character(obj: bpy.types.Object) -> Character:
    settings = settings_of(obj)
    skeleton = sampling.read_sampled_skeleton(obj, get_bone_choice(obj))
    roles = get_chosen_bones(settings.body_roles) | get_roles(settings)
    sources = {group.name: get_chosen_bones(group.roles) for group in settings.source_roles}
    return Character(skeleton, roles, {name: roles for name, roles in sources.items() if roles})


def get_chosen_bones(roles: Any) -> dict[str, str]:
    """Return the bones by role in a collection of those that were chosen by hand."""
    return {role.name: role.bone for role in roles}


def set_chosen_bones(roles: Any, bones: Mapping[str, str]) -> None:
    """Set the bones by role in a collection; others are found automatically."""
    roles.clear()
    for role, bone in bones.items():
        item = roles.add()
        item.name, item.bone = role, bone


def choose_bone(obj: bpy.types.Object, source: Any, of_source: bool, role: str, bone: str) -> None:
    """Choose the bone with a role in the skeleton of a source, or in the character's.

    `bone` may be AUTOMATIC or NO_BONE. What was chosen for a source holds for all of its skeleton.
    """
    roles = get_source_group(obj, source).roles if of_source else settings_of(obj).body_roles
    bones = get_chosen_bones(roles)
    bones.pop(role, None)
    if bone != AUTOMATIC:
        bones[role] = "" if bone == NO_BONE else bone
    set_chosen_bones(roles, bones)


def reset(obj: bpy.types.Object, source: Any) -> bool:
    """Forget what was chosen for a source's skeleton and the character; say if anything was."""
    chosen = get_source_group(obj, source).roles, settings_of(obj).body_roles
    is_any = any(map(len, chosen))
    for roles in chosen:
        roles.clear()
    return is_any


def collect_preset(obj: bpy.types.Object, source: Any) -> dict[str, Any]:
    """Return what a preset keeps: the bones of the parts of the body in both skeletons."""
    state = runtime.statuses.by_uid[obj.session_uid].states.get(source.name, SAME)
    if state.mapping is None:
        raise SettingsError(f"The bones of '{source.name}' are not mapped, so there is no preset.")
    pairs = [pair for pair in state.mapping.pairs if pair.source and pair.target]
    return {
        "source": {pair.role: pair.source[0] for pair in pairs},
        "character": {pair.role: pair.target[0] for pair in pairs},
    }


def apply_preset(obj: bpy.types.Object, source: Any, data: Any, preset: str) -> None:
    """Choose the bones that a preset names. SettingsError if it is no mapping, or lacks bones."""
    with json_files.name_file(f"The preset '{preset}'"):
        found = expect_object(data, "it", {"source", "character"})
        sides = [_parse_bones(found.get(key), f"'{key}'") for key in ("source", "character")]
    skeletons = (
        source_skeletons.read_source_skeleton(obj, source),
        source_skeletons.read_own_skeleton(obj),
    )
    for bones, skeleton in zip(sides, skeletons, strict=True):
        if missing := next((name for name in bones.values() if name not in skeleton.names), ""):
            raise SettingsError(
                f"The preset '{preset}' names the bone '{missing}', which is not there; choose "
                "another preset, or find all bones."
            )
    group = get_source_group(obj, source)
    set_chosen_bones(group.roles, sides[0])
    set_chosen_bones(settings_of(obj).body_roles, sides[1])
    group.preset = preset


def _parse_bones(data: Any, where: str) -> dict[str, str]:
    bones = expect_object(data, where)
    return {role: expect_text(bone, f"'{role}' of {where}") for role, bone in bones.items()}


def get_source_group(obj: bpy.types.Object, source: Any) -> Any:
    """Return what was chosen for the skeleton of a source, which may be nothing yet."""
    signature = compute_signature(source_skeletons.read_source_skeleton(obj, source))
    groups = settings_of(obj).source_roles
    if signature not in groups:
        groups.add().name = signature
    return groups[signature]


def _iterate_usable(obj: bpy.types.Object) -> Iterator[Any]:
    """Yield the sources that are on and have something to read."""
    for source in settings_of(obj).sources:
        if source.enabled and not find_source_problem(source):
            yield source


def _is_same(obj: bpy.types.Object, source: Any, expected: frozenset[tuple[str, str]]) -> bool:
    """Return whether a source can be used without mapping, beside others with `expected` bones."""
    if source.kind == "ACTION":
        return source.performer in (None, obj)
    file = find_file(source) or Path()
    try:
        if source_skeletons.find_difference(obj, file)[0]:
            return False
        return source_skeletons.read_file_hierarchy(file).pairs == expected
    except MotionMatchingError:  # it is left out
        return True


def _find_shared_bones(obj: bpy.types.Object, sources: Sequence[Any]) -> frozenset[tuple[str, str]]:
    """Return the hierarchy that sources have to share: the armature's, or the first file's."""
    if any(source.kind == "ACTION" for source in sources):
        own = source_skeletons.read_own_hierarchy(obj)
        return own.pairs if own else frozenset()
    for source in sources:
        with suppress(MotionMatchingError):
            return source_skeletons.read_file_hierarchy(find_file(source) or Path()).pairs
    return frozenset()


def find_state_steps(uid: int, index: int) -> Steps[SourceState]:
    """Return how a source is mapped to the character; its motion is read if names do not tell."""
    obj, source = get_source(uid, index)
    try:
        skeleton = source_skeletons.read_source_skeleton(obj, source)
        character = _read_character(obj)
    except RigError as error:
        return SourceState("help", "Needs Help", str(error))
    if _fits(obj, source, skeleton, character.skeleton):
        return SAME
    known, key = runtime.get_cache(_States), _make_key(skeleton, character)
    if key not in known:
        state = _map(skeleton, character)
        if state.kind == "help":  # motion tells more than a rest pose
            clip = yield from _read_steps(uid, index)
            state = _map(clip.skeleton, character, clip.crop(0, _ENOUGH))
        known[key] = state
    return known[key]


def find_source_state_steps(uid: int, index: int) -> Steps[SourceState]:
    """Return how a source is used beside the others: as it is, unless one needs a mapping."""
    if find_character(get_armature(uid)) is None:
        return SAME
    return (yield from find_state_steps(uid, index))


def _fits(obj: bpy.types.Object, source: Any, skeleton: Skeleton, own: Skeleton) -> bool:
    """Return whether a source is used as it is beside others that are mapped."""
    if source.kind == "ACTION":
        return source.performer in (None, obj)
    has_bones = skeleton.get_hierarchy() == own.get_hierarchy()
    return has_bones and not source_skeletons.find_difference(obj, find_file(source) or Path())[0]


def _make_key(skeleton: Skeleton, character: Character) -> tuple[Any, ...]:
    chosen = character.source_roles.get(compute_signature(skeleton), {})
    shapes = (
        (one.names, one.parents.tobytes(), one.rest_positions.tobytes())
        for one in (skeleton, character.skeleton)
    )
    return *shapes, *chosen.items(), *character.roles.items()


def _map(skeleton: Skeleton, character: Character, *clips: Clip) -> SourceState:
    signature = compute_signature(skeleton)
    chosen = character.source_roles.get(signature, {})
    try:
        mapping = map_bones(skeleton, character.skeleton, clips, (), chosen, character.roles)
    except RigError as error:
        return SourceState("help", "Needs Help", str(error), None, signature)
    if mapping.needs_help:
        return SourceState("help", "Needs Help", "", mapping, signature)
    text = f"Mapped {mapping.mapped_count} of {mapping.total}"
    return SourceState("mapped", text, "", mapping, signature)


def _read_steps(uid: int, index: int) -> Steps[Clip]:
    """Read the motion of a source on its own skeleton."""
    obj, source = get_source(uid, index)
    if source.kind == "FILE":
        file, axes = find_file(source) or "", get_axes(settings_of(obj))
        return (yield from run_in_background_steps(lambda _: bvh.load(file, **axes), _READING))
    owner = source.performer or obj
    steps = sampling.sample_steps(owner, source.action, bones=get_bone_choice(owner))
    finish = yield from map_steps(steps, lambda _: (_READING, 0.0))
    return (yield from run_in_background_steps(lambda _: finish().clip, _READING))


def find_states_steps(uid: int) -> Steps[Mapping[str, SourceState]]:
    """Return how each source that is on is used, by its name."""
    obj, states = get_armature(uid), {}
    needs_mapping = find_character(obj) is not None
    names = [source.name for source in _iterate_usable(obj)]
    for name in names:
        index = settings_of(get_armature(uid)).sources.find(name)
        if index < 0:
            continue
        try:
            states[name] = (yield from find_state_steps(uid, index)) if needs_mapping else SAME
        except MotionMatchingError:  # it cannot be read, which the panel Database reports
            continue
        yield _READING, 0.0
    return states
