"""How things stand with a character, and its warnings."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import state, warnings
else:
    __getattr__ = load_on_use(__name__)
