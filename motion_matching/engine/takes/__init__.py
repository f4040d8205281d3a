"""Takes: solve a performance, plant its feet for a bake, and measure the result."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import baking, comparison, joining, performers, pruning, take_files, takes
else:
    __getattr__ = load_on_use(__name__)
