"""Fill the table of bones by role of a source and an armature: found, chosen, or in presets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ...engine.body.body_roles import BODY_ROLES, BodyRoles
from ...engine.errors import SettingsError
from ...engine.retargeting.pairs import mapping_preset
from ...engine.retargeting.pairs.bone_mapping import LEAST_CONFIDENCE, BoneMapping
from ...engine.skeleton.skeleton import Skeleton
from .. import callbacks, property_access
from ..property_access import settings_of

_SEPARATOR = ", "
_UNKNOWN = "?"  # no bone that was found
SIDES = ("source", "target")


def show_mapping(
    obj: bpy.types.Object, mapping: BoneMapping, source: Skeleton, target: Skeleton
) -> None:
    """List the bones of both characters by role; what was set by hand stays so."""
    group = settings_of(obj).retarget
    given = [get_given_bones(group.pairs, side) for side in SIDES]
    by_hand = {role for bones in given for role in bones}
    offsets = {pair.role: tuple(pair.offset) for pair in group.pairs}
    both = mapping.source, mapping.target
    pairs = zip(both, (source, target), strict=True)
    names = [_list_names(roles, skeleton) for roles, skeleton in pairs]
    group.pairs.clear()
    for role in BODY_ROLES:
        if role not in by_hand and not any(role in by_role for by_role in names):
            continue
        pair = _add_pair(group.pairs, role)
        sure = [roles.confidence[role] for roles in both if role in roles.chains]
        pair.confidence, pair.offset = min(sure, default=0.0), offsets.get(role, (0.0, 0.0, 0.0))
        for side, by_role, own in zip(SIDES, names, given, strict=True):
            setattr(pair, side, by_role.get(role, _SEPARATOR.join(own.get(role, ()))))
            # what would be found is not known where bones are given
            setattr(pair, f"found_{side}", _UNKNOWN if role in own else getattr(pair, side))
    group.summary = "Needs Help" if mapping.needs_help else ""
    group.summary = group.summary or f"Mapped {mapping.mapped_count} of {mapping.total}"
    callbacks.redraw()


def _list_names(roles: BodyRoles, skeleton: Skeleton) -> dict[str, str]:
    return {
        role: _SEPARATOR.join(skeleton.names[bone] for bone in chain)
        for role, chain in roles.chains.items()
    }


def _join_names(names: str | Sequence[str]) -> str:
    return names if isinstance(names, str) else _SEPARATOR.join(names)


def _add_pair(pairs: Any, role: str) -> Any:
    pair = property_access.add(pairs, role.replace("_", " ").title())
    pair.role = role
    return pair


def load_bones(group: Any, path: str, preset: str) -> None:
    """List the bones of a preset as set by hand; all others are found. SettingsError if it is none.

    What was listed stays then.
    """
    mapping = mapping_preset.load_mapping(path)
    group.pairs.clear()
    sides = {"source": mapping.source, "target": mapping.target}
    for role in BODY_ROLES:
        if not any(role in bones for bones in sides.values()):
            continue
        pair = _add_pair(group.pairs, role)
        for side, bones in sides.items():
            if role in bones:
                setattr(pair, side, _join_names(bones[role]))
                setattr(pair, f"found_{side}", _UNKNOWN)
    group.preset = preset
    group.summary = ""


def get_mapping_data(group: Any) -> dict[str, Any]:
    """Return the bones in the table as a preset holds them. SettingsError if there are none."""
    if not group.pairs:
        raise SettingsError("There are no bones to save; use Find Bones, or retarget something.")
    data: dict[str, Any] = {"version": mapping_preset.VERSION}
    for side in SIDES:
        given = get_given_bones(group.pairs, side)
        found = {pair.role: split_names(getattr(pair, side)) for pair in group.pairs}
        listed = {role: given.get(role, names) for role, names in found.items()}
        data[side] = {r: names if any(names) else "" for r, names in listed.items() if names}
    return data


def clear_bones(obj: bpy.types.Object) -> None:
    """Forget bones that were found or set by hand."""
    group = settings_of(obj).retarget
    group.pairs.clear()
    group.summary = group.preset = ""


def get_given_bones(pairs: Any, side: str) -> dict[str, list[str]]:
    """Return the bones by role of a 'source' or 'target' that differ from the found ones."""
    return {
        pair.role: split_names(getattr(pair, side)) or [""]
        for pair in pairs
        if getattr(pair, side) != getattr(pair, f"found_{side}")
    }


def give_bone(group: Any, role: str, side: str, bones: str | Sequence[str] | None) -> None:
    """Give the bones of a role by hand: '' for none. With None, they are found."""
    pair = next((pair for pair in group.pairs if pair.role == role), None)
    if pair is None:
        pair = _add_pair(group.pairs, role)
    setattr(pair, side, _join_names(bones or ""))
    setattr(pair, f"found_{side}", getattr(pair, side) if bones is None else _UNKNOWN)


def is_doubtful(confidence: float) -> bool:
    """Return whether a part of the body was found with so little confidence as to need a look."""
    return confidence < LEAST_CONFIDENCE


def split_names(text: str) -> list[str]:
    """Return the names of bones in a text of the table."""
    return [name.strip() for name in text.split(",") if name.strip()]
