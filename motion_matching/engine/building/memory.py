"""Give memory back to the system while a build goes on."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any


def give_back() -> None:
    """Return unused memory to the system.

    The C library of Linux keeps what thousands of small arrays have used, for as long as others
    lie between; other systems take it back by themselves.
    """
    trim = _find_trim()
    if trim is not None:
        trim(0)


@cache
def _find_trim() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
