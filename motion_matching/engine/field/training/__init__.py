"""Train a field: its quality, and the iteration of its values."""

from typing import TYPE_CHECKING

from ...lazy import load_on_use

if TYPE_CHECKING:
    from . import quality, training
else:
    __getattr__ = load_on_use(__name__)
