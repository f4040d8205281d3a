"""Save and load the manual entries of a bone mapping, as a JSON file to share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...body.body_roles import BODY_ROLES, BodyRoles
from ...errors import SettingsError
from ...files import file_paths, json_files
from ...skeleton.skeleton import Skeleton

VERSION = 1
_MOST_BONES = 200  # of one part

Overrides = Mapping[str, str | list[str]]


@dataclass(frozen=True)
class MappingPreset:
    """Bone names by role for the source and the target.

    One name stands for the first bone of a part, a list for all of them, '' for no bone.
    """

    source: Overrides = field(default_factory=dict)
    target: Overrides = field(default_factory=dict)

    @classmethod
    def from_roles(
        cls, source: tuple[Skeleton, BodyRoles], target: tuple[Skeleton, BodyRoles]
    ) -> MappingPreset:
        """Return all bones of the roles of a source and a target, found or set by hand.

        A part that only one of them has is '' for the other, so that no bone is found for it.
        """
        missing = dict.fromkeys({*source[1].chains, *target[1].chains}, "")
        names = [{**missing, **roles.to_names(skeleton)} for skeleton, roles in (source, target)]
        return cls(names[0], names[1])


def save_mapping(preset: MappingPreset, path: Path | str) -> None:
    """Write a preset to a JSON file. Raises SettingsError, which names the file."""
    sides = {"source": _sort(preset.source), "target": _sort(preset.target)}
    text = json.dumps({"version": VERSION, **sides}, indent=1, ensure_ascii=False)
    file_paths.write_text(path, f"{text}\n", SettingsError)


def load_mapping(path: Path | str) -> MappingPreset:
    """Read a preset from a JSON file. Raises SettingsError, which names file, entry and remedy."""
    with json_files.name_file(f"mapping {path}"):
        data = json_files.expect_object(
            json_files.read(path, "mapping"), "the file", ("version", "source", "target")
        )
        version = json_files.expect_whole_number(data.get("version", VERSION), "'version'", 1)
        if version > VERSION:
            raise json_files.EntryError(
                f"'version' is {version}, which a newer version of the extension wrote; update it"
            )
        sides = [_read_side(data.get(side, {}), side) for side in ("source", "target")]
    return MappingPreset(sides[0], sides[1])


def _sort(overrides: Overrides) -> dict[str, str | list[str]]:
    """Return overrides in the order of the body."""
    return {role: overrides[role] for role in BODY_ROLES if role in overrides}


def _read_side(data: Any, side: str) -> dict[str, str | list[str]]:
    entries = json_files.expect_object(data, f"'{side}'", BODY_ROLES)
    return {role: _read_bones(bones, f"'{role}' of '{side}'") for role, bones in entries.items()}


def _read_bones(bones: Any, where: str) -> str | list[str]:
    if bones == "":
        return ""
    if isinstance(bones, str):
        return json_files.expect_name(bones, where)
    names = json_files.expect_list(bones, where)
    if not names or len(names) > _MOST_BONES:
        raise json_files.EntryError(
            f"{where} lists {len(names)} bones; give 1 to {_MOST_BONES}, or an empty text"
        )
    return [json_files.expect_name(name, f"a bone of {where}") for name in names]
