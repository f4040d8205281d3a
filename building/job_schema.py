"""The JSON Schema of batches, written from the options of all commands.

Editors complete and check a batch by it; the command checks with sentences of its own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from motion_matching.commands.options import COMMANDS, Option, list_options

FILE = Path(__file__).resolve().parents[1] / "motion_matching" / "batch" / "jobs.schema.json"
_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]}
_NUMBERS = {"type": "array", "items": {"type": "number"}, "minItems": 1}
_KINDS: dict[str, Any] = {
    "switch": {"type": "boolean"},
    "text": {"anyOf": [_TEXT, {"type": "number"}, _NUMBERS]},
    "texts": _TEXTS,
    "path": _TEXT,
    "paths": _TEXTS,
    "names": _TEXTS,
    "changes": {"anyOf": [{"type": "object"}, *_TEXTS["anyOf"]]},
    "whole": {"type": "integer"},
    "number": {"type": "number"},
}
_RANGE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["from", "count"],
    "properties": {
        "from": {"type": "integer", "minimum": 0, "description": "the first number"},
        "count": {"type": "integer", "minimum": 1, "description": "how many numbers"},
        "step": {"type": "integer", "minimum": 1, "description": "from one to the next"},
    },
}


def make_schema() -> dict[str, Any]:
    """Return the schema of batches, of JSON Schema 2020-12."""
    kinds = {name: {"anyOf": [kind, {"type": "null"}]} for name, kind in _KINDS.items()}
    many = {f"{name}_many": _make_many({"$ref": _point(name)}) for name in kinds}
    every = {"command": _make_choice(tuple(COMMANDS)), "name": _TEXT}
    for command in COMMANDS:
        every |= _describe_options(command, "", with_help=False)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A batch of commands",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "$schema": {"type": "string"},
            "defaults": {
                "description": "values of all rows whose command knows them",
                "type": "object",
                "additionalProperties": False,
                "properties": {key: {} for key in every},
            },
            "rows": {"type": "array", "items": _make_row("")},
            "products": {
                "description": "lists and ranges, of which all combinations are rows",
                "type": "array",
                "items": _make_row("_many"),
            },
        },
        "$defs": {
            **kinds,
            "range": _RANGE,
            **many,
            **{name + how: _make_command(name, how) for how in ("", "_many") for name in COMMANDS},
        },
    }


def _make_row(how: str) -> dict[str, Any]:
    """Return the schema of a row, or of a product: what its command knows, if it names one."""
    chosen = [
        {
            "if": {"required": ["command"], "properties": {"command": {"const": name}}},
            "then": {"$ref": _point(name + how)},
        }
        for name in COMMANDS
    ]
    command = _make_choice(tuple(COMMANDS))
    properties = {"command": _make_many(command) if how else command}
    return {"type": "object", "properties": properties, "allOf": chosen}


def _make_command(command: str, how: str) -> dict[str, Any]:
    own = {"command": _make_choice(tuple(COMMANDS)), "name": _TEXT}
    options = _describe_options(command, how, with_help=True)
    return {"type": "object", "additionalProperties": False, "properties": own | options}


def _describe_options(command: str, how: str, *, with_help: bool) -> dict[str, Any]:
    """Return the schema of each option of a command, in both spellings of its name."""
    found: dict[str, Any] = {}
    for option in list_options(command):
        value = _describe_value(option, how) | ({"description": option.help} if with_help else {})
        found |= dict.fromkeys((option.key, option.key.replace("_", "-")), value)
    return found


def _describe_value(option: Option, how: str) -> dict[str, Any]:
    if option.kind != "choice":
        return {"$ref": _point(option.kind + how)}
    choice = _make_choice((*option.choices, None))
    return _make_many(choice) if how else choice


def _make_choice(values: tuple[str | None, ...]) -> dict[str, Any]:
    return {"enum": list(values)}


def _make_many(value: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a product's value: one, a list of some, or a range."""
    some = {"type": "array", "items": value, "minItems": 1}
    return {"anyOf": [value, some, {"$ref": _point("range")}]}


def _point(name: str) -> str:
    return f"#/$defs/{name}"


def write_schema() -> str:
    """Return the text of the file."""
    return json.dumps(make_schema(), indent=1, ensure_ascii=False) + "\n"
