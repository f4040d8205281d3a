"""Direct takes: marks in the scene become a shot, and the shot becomes a take."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import flipping, jumps, previewing, solving
else:
    __getattr__ = load_on_use(__name__)
