"""The database of a character: built, stored, and how it stands."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import build, content, databases, frame_numbers, library, status, stored_databases
else:
    __getattr__ = load_on_use(__name__)
