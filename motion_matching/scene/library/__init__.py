"""The library of databases on disk."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import library, library_moving
else:
    __getattr__ = load_on_use(__name__)
