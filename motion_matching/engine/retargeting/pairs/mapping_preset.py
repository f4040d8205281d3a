"""Load the manual entries of a bone mapping from a JSON file to share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...body.body_roles import BODY_ROLES
from ...files import json_files

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
        sides = []
        for side in ("source", "target"):
            listed = json_files.expect_object(data.get(side, {}), f"'{side}'", BODY_ROLES).items()
            sides.append({r: _read_bones(bones, f"'{r}' of '{side}'") for r, bones in listed})
    return MappingPreset(*sides)


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
