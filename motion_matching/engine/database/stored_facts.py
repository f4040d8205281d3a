"""Store what functions derive from a database in its file, and read it by their return types.

Tuples, named tuples, data classes, numbers and texts become JSON, and arrays members of the file.
What is not of the type that the function declares is as good as missing: it is derived anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..files import array_files
from ..files.json_files import EntryError, expect_list

Derived = TypeVar("Derived")

PREFIX = "facts/"  # of the names of arrays


def store(results: Mapping[Callable[..., Any], Any]) -> dict[str, Any]:
    """Return what is stored of functions' results, by name: arrays, and JSON data of the rest."""
    return {
        _name(make): value if isinstance(value, np.ndarray) else _encode(value)
        for make, value in results.items()
    }


def recall(
    make: Callable[..., Derived], stored: Mapping[str, Any], sizes: Mapping[str, int]
) -> tuple[Derived] | None:
    """Return a function's stored result in a tuple, or None.

    Arrays are declared as `Annotated[np.ndarray, dtype, shape]`; letters of a shape are `sizes`.
    """
    name = _name(make)
    if name not in stored:
        return None
    try:
        kind = get_type_hints(make, include_extras=True)["return"]
        return (_decode(kind, stored[name], sizes),)
    except EntryError:
        return None


def _name(make: Callable[..., Any]) -> str:
    return PREFIX + getattr(make, "__name__", "")


def _encode(value: Any) -> Any:
    """Return a value as JSON data. TypeError for numbers that would come back as others."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return value.tolist()
    if isinstance(value, tuple):
        return [_encode(each) for each in value]
    if is_dataclass(value):
        return [_encode(getattr(value, field.name)) for field in fields(value)]
    if type(value) is float and not math.isfinite(value):
        return str(value)
    if type(value) not in (float, int, bool, str, NoneType):
        raise TypeError(f"{value!r} cannot be stored")
    return value


def _decode(kind: Any, value: Any, sizes: Mapping[str, int]) -> Any:
    """Return the value of a type. EntryError if it is not of that type."""
    origin, among = get_origin(kind), get_args(kind)
    if origin is Annotated:
        _, dtype, shape = among
        return _expect_array(value, dtype, shape, sizes)
    if origin in (Union, UnionType):  # of a type and None
        return None if value is None else _decode(among[0], value, sizes)
    if origin is tuple:
        values = expect_list(value, "a tuple")
        kinds = among[:1] * len(values) if among[-1] is Ellipsis else among
        return tuple(_decode_all(kinds, values, sizes))
    if kind is float:
        return _expect_float(value)
    if kind in (int, bool, str):
        if type(value) is not kind:
            raise EntryError(f"{value!r} is no {kind.__name__}")
        return value
    parts = get_type_hints(kind, include_extras=True).values()
    return kind(*_decode_all(parts, value, sizes))


def _decode_all(kinds: Any, values: Any, sizes: Mapping[str, int]) -> list[Any]:
    kinds = list(kinds)
    values = expect_list(values, "a stored fact", len(kinds))
    return [_decode(kind, each, sizes) for kind, each in zip(kinds, values, strict=True)]


def _expect_float(value: Any) -> float | int:
    if isinstance(value, str) and value in ("inf", "-inf"):
        return float(value)
    if type(value) not in (float, int) or not abs(value) <= array_files.LARGEST_VALUE:
        raise EntryError(f"{value!r} is no number")
    return value


def _expect_array(
    value: Any, dtype: Any, shape: tuple[Any, ...], sizes: Mapping[str, int]
) -> np.ndarray:
    if isinstance(value, list):
        kind = type(np.zeros((), dtype).item())
        value = np.array([_decode(kind, each, sizes) for each in value], dtype)
    if not isinstance(value, np.ndarray) or value.dtype != np.dtype(dtype):
        raise EntryError("an array is of another type")
    if not array_files.fits_shape(value, tuple(sizes.get(n, n) for n in shape)):
        raise EntryError(f"an array is {value.shape}")
    return value
