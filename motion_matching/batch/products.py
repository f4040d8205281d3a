"""Expand what a batch describes shortly: defaults of all rows, and products. No numpy here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from ..engine.files.json_files import EntryError, check_keys, expect_list, expect_whole_number
from .row_values import Values, normalise_keys

_RANGE = {"from", "count", "step"}
MOST_ROWS = 100_000  # of one product; more is a mistake in writing it


def expand_product(given: Values, where: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a product: all combinations of its lists and ranges, the last key fastest.

    Raises EntryError for an empty list, a wrong range, or far too many rows.
    """
    choices = {
        key: _list_choices(value, f"'{key}' of {where}")
        for key, value in normalise_keys(given).items()
    }
    if math.prod(map(len, choices.values())) > MOST_ROWS:
        raise EntryError(f"{where} has over {MOST_ROWS:,} rows; shorten its lists")
    for values in product(*choices.values()):
        yield dict(zip(choices, values, strict=True))


def _list_choices(value: Any, where: str) -> list[Any]:
    """Return what a value of a product stands for: a list, a range of numbers, or itself."""
    if isinstance(value, Mapping) and "count" in value and "from" in value:
        check_keys(value, _RANGE, where)
        first = expect_whole_number(value["from"], f"'from' in {where}", 0)
        count = expect_whole_number(value["count"], f"'count' in {where}", 1)
        step = expect_whole_number(value.get("step", 1), f"'step' in {where}", 1)
        if count > MOST_ROWS:
            raise EntryError(f"{where} has over {MOST_ROWS:,} numbers; lower its 'count'")
        return list(range(first, first + count * step, step))
    if not isinstance(value, list):
        return [value]
    if not expect_list(value, where):
        raise EntryError(f"{where} is empty; give at least one value, or leave it out")
    return value


def merge(defaults: Values, given: Values) -> dict[str, Any]:
    """Return the values of a row over the defaults; settings of both objects go together.

    A value of null means that the row does not take the default.
    """
    merged = dict(defaults)
    for key, value in given.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = {**merged[key], **value} if both else value
    return {key: value for key, value in merged.items() if value is not None}
