"""Custom properties, in which the file of a stranger, or a script, may hold anything."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.files.json_files import EntryError, expect_list, expect_number

_MOST = 1e30  # of a number


def has(owner: Any, name: str) -> bool:
    """Return whether a block has a custom property; Blender's types know no `in`."""
    return name in owner.keys()  # noqa: SIM118


def read(owner: Any, name: str) -> Any:
    """Return a custom property as plain data, to be checked with `engine.files.json_files`.

    Groups become dicts, arrays lists, and blocks stay. What is missing or no text is None.
    """
    try:
        return _to_plain(owner.get(name))
    except (UnicodeError, SystemError):  # bytes that are no text
        return None


def expect_rows(values: Any, width: int, count: int | None = None) -> np.ndarray:
    """Return numbers as rows (N, width), `count` of them if given. EntryError for anything else."""
    numbers = [expect_number(v, "a number", -_MOST, _MOST) for v in expect_list(values, "a list")]
    if len(numbers) % width or count not in (None, len(numbers) // width):
        raise EntryError(f"a list has {len(numbers)} numbers; give rows of {width}")
    return np.array(numbers, np.float32).reshape(-1, width)


def _to_plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return {name: _to_plain(each) for name, each in value.items()}
    if hasattr(value, "to_list"):
        return value.to_list()
    return [_to_plain(each) for each in value] if isinstance(value, list) else value
