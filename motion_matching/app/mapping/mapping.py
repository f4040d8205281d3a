"""Sources of other skeletons: how their bones are mapped to the character's.

A character whose sources all have its skeleton needs no mapping. If one has another, all sources
become motion of the character's own skeleton when its database is built.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import bpy

from ...engine.errors import MotionMatchingError, RigError, SettingsError
from ...engine.motion.clip import Clip
from ...engine.retargeting.pairs import mapping_preset
from ...engine.retargeting.pairs.bone_mapping import BoneMapping, map_bones
from ...engine.skeleton.skeleton import Skeleton
from ...engine.sources.skeletons import Character, compute_signature, retarget_clips
from ...scene.reading import sampling
from ..character.characters import get_armature, get_bone_choice
from ..property_access import settings_of
from ..retarget import retargeting
from ..runtime import runtime
from ..sources.source_list import get_source, list_usable
from ..sources.source_motion import read_steps
from ..steps import Steps, run_in_background_steps
from . import bone_table, source_skeletons

_READING = "Looking at bones"
_ENOUGH = 3000  # frames that bones are looked for in


class SourceState(NamedTuple):
    """Use of a source's skeleton: a kind, as panels say it, and why it needs help."""

    kind: Literal["same", "mapped", "help"]
    text: str
    reason: str = ""
    mapping: BoneMapping | None = None


SAME = SourceState("same", "Same")
# choices beside the names of bones
AUTOMATIC = "<automatic>"
NO_BONE = "<none>"


def find_character(obj: bpy.types.Object) -> Character | None:
    """Return what sources become motion of; None if they all have the armature's skeleton."""
    usable = list_usable(obj)
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
    request = retargeting.get_request(obj)
    sources = {group.name: get_chosen_bones(group.roles) for group in settings.source_roles}
    return Character(
        skeleton,
        request.target_bones,
        {name: roles for name, roles in sources.items() if roles},
        request.settings,
    )


def get_chosen_bones(roles: Any) -> dict[str, str]:
    """Return the bones by role in a collection of bones chosen by hand."""
    return {role.name: role.bone for role in roles}


def set_chosen_bones(roles: Any, bones: Mapping[str, str]) -> None:
    """Set the bones by role in a collection; others are found automatically."""
    roles.clear()
    for role, bone in bones.items():
        item = roles.add()
        item.name = role
        item.bone = bone


def choose_bone(obj: bpy.types.Object, source: Any, of_source: bool, role: str, bone: str) -> None:
    """Choose the bone with a role in the skeleton of a source, or in the character's.

    `bone` may be AUTOMATIC or NO_BONE. What was chosen for a source holds for all of its skeleton.
    """
    chosen = {AUTOMATIC: None, NO_BONE: ""}.get(bone, bone)
    if not of_source:
        bone_table.give_bone(settings_of(obj).retarget, role, "target", chosen)
        return
    roles = get_source_group(obj, source).roles
    bones = get_chosen_bones(roles)
    bones.pop(role, None)
    set_chosen_bones(roles, bones if chosen is None else bones | {role: chosen})


def reset(obj: bpy.types.Object, source: Any) -> bool:
    """Forget what was chosen for a source's skeleton and the character; say if anything was."""
    roles = get_source_group(obj, source).roles
    group = settings_of(obj).retarget
    given = bone_table.get_given_bones(group.pairs, "target")
    for role in given:
        bone_table.give_bone(group, role, "target", None)
    is_any = bool(given or len(roles))
    roles.clear()
    return is_any


def collect_preset(obj: bpy.types.Object, source: Any) -> tuple[dict[str, Any], Any]:
    """Return the mapping of a source as a preset stores it, and its group."""
    status = runtime.statuses.by_uid.get(obj.session_uid)
    state = status.states.get(source.name, SAME) if status else SAME
    if state.mapping is None:
        raise SettingsError(f"The bones of '{source.name}' are not mapped, so there is no preset.")
    data: dict[str, Any] = {"version": mapping_preset.VERSION}
    for side in ("source", "target"):
        data[side] = {
            pair.role: list(bones) for pair in state.mapping.pairs if (bones := getattr(pair, side))
        }
    return data, get_source_group(obj, source)


def apply_preset(obj: bpy.types.Object, source: Any, path: str, preset: str) -> None:
    """Choose the bones that a preset names. SettingsError if it is no mapping, or lacks bones."""
    mapping = mapping_preset.load_mapping(path)
    sides = (
        (mapping.source, source_skeletons.read_source_skeleton(obj, source)),
        (mapping.target, source_skeletons.read_own_skeleton(obj)),
    )
    for bones, skeleton in sides:
        named = (name for names in bones.values() for name in _as_list(names))
        if missing := next((name for name in named if name not in skeleton.names), ""):
            raise SettingsError(
                f"The preset '{preset}' names the bone '{missing}', which is not there; choose "
                "another preset, or find all bones."
            )
    group = get_source_group(obj, source)
    firsts = {role: next(iter(_as_list(names)), "") for role, names in mapping.source.items()}
    set_chosen_bones(group.roles, firsts)
    for role, names in mapping.target.items():
        bone_table.give_bone(settings_of(obj).retarget, role, "target", names)
    group.preset = preset


def _as_list(names: str | Sequence[str]) -> Sequence[str]:
    """Return the bones of a part of the body: none for an empty text."""
    return [names] if isinstance(names, str) and names else list(names)


def get_source_group(obj: bpy.types.Object, source: Any) -> Any:
    """Return what was chosen for the skeleton of a source, which may be nothing yet."""
    signature = compute_signature(source_skeletons.read_source_skeleton(obj, source))
    groups = settings_of(obj).source_roles
    if signature not in groups:
        groups.add().name = signature
    return groups[signature]


def _is_same(obj: bpy.types.Object, source: Any, expected: frozenset[tuple[str, str]]) -> bool:
    """Return whether a source needs no mapping, which also holds for one that is left out."""
    try:
        return _fits(obj, source, expected)
    except MotionMatchingError:
        return True


def _find_shared_bones(obj: bpy.types.Object, sources: Sequence[Any]) -> frozenset[tuple[str, str]]:
    """Return the hierarchy that sources have to share: the armature's, or the first file's."""
    if any(source.kind == "ACTION" for source in sources):
        return source_skeletons.read_own_hierarchy(obj)
    for source in sources:
        with suppress(MotionMatchingError):
            return source_skeletons.read_file_skeleton(source).get_hierarchy()
    return frozenset()


def find_state_steps(uid: int, index: int, character: Character) -> Steps[SourceState]:
    """Return how a source is mapped to a character; its motion is read if names are not enough."""
    obj, source = get_source(uid, index)
    try:
        skeleton = source_skeletons.read_source_skeleton(obj, source)
    except RigError as error:
        return SourceState("help", "Needs Help", str(error))
    if _fits(obj, source, character.skeleton.get_hierarchy()):
        return SAME
    known: dict[Any, SourceState] = runtime.known["mapped skeletons"]
    key = _make_key(skeleton, character)
    if key not in known:
        state = yield from _map_steps(skeleton, character)
        if state.kind == "help":  # motion shows more than a rest pose
            _, clip = yield from read_steps(uid, index, _READING)
            state = yield from _map_steps(clip.skeleton, character, clip.crop(0, _ENOUGH))
        known[key] = state
    return known[key]


def find_source_state_steps(uid: int, index: int) -> Steps[SourceState]:
    """Return how a source is used beside the others: as it is, unless one needs a mapping."""
    character = find_character(get_armature(uid))
    return (yield from find_state_steps(uid, index, character)) if character else SAME


def retarget_source(obj: bpy.types.Object, source: Any, clip: Clip) -> Clip:
    """Return the clip of a source as the character's motion, if it is known to be mapped."""
    status = runtime.statuses.by_uid.get(obj.session_uid)
    state = status.states.get(source.name, SAME) if status else SAME
    character = find_character(obj) if state.kind == "mapped" else None
    return retarget_clips([clip], character)[0][0] if character else clip


def _fits(obj: bpy.types.Object, source: Any, expected: frozenset[tuple[str, str]]) -> bool:
    """Return whether a source is used as it is, beside others with `expected` bones."""
    if source.kind == "ACTION":
        return source.performer in (None, obj)
    has_bones = source_skeletons.read_file_skeleton(source).get_hierarchy() == expected
    return has_bones and not source_skeletons.find_difference(obj, source)[0]


def _make_key(skeleton: Skeleton, character: Character) -> tuple[Any, ...]:
    chosen = character.source_roles.get(compute_signature(skeleton), {})
    shapes = (
        (one.names, one.parents.tobytes(), one.rest_positions.tobytes())
        for one in (skeleton, character.skeleton)
    )
    return *shapes, repr(chosen), repr(character.roles)


def _map_steps(skeleton: Skeleton, character: Character, *clips: Clip) -> Steps[SourceState]:
    return run_in_background_steps(lambda _: _map(skeleton, character, *clips), _READING)


def _map(skeleton: Skeleton, character: Character, *clips: Clip) -> SourceState:
    chosen = character.source_roles.get(compute_signature(skeleton), {})
    try:
        mapping = map_bones(skeleton, character.skeleton, clips, (), chosen, character.roles)
    except RigError as error:
        return SourceState("help", "Needs Help", str(error))
    if mapping.needs_help:
        return SourceState("help", "Needs Help", next(iter(mapping.problems), ""), mapping)
    return SourceState("mapped", f"Mapped {mapping.mapped_count} of {mapping.total}", "", mapping)


def find_states_steps(uid: int) -> Steps[Mapping[str, SourceState]]:
    """Return how each source that is on is used, by its name."""
    obj = get_armature(uid)
    states = {}
    character = find_character(obj)
    for name in [source.name for source in list_usable(obj)]:
        index = settings_of(get_armature(uid)).sources.find(name)
        if index < 0:
            continue
        try:
            if character:
                states[name] = yield from find_state_steps(uid, index, character)
            else:
                states[name] = SAME
        except MotionMatchingError:  # it cannot be read, which the panel Motion reports
            continue
        yield _READING, 0.0
    return states
