"""The strip above all panels: the current state, the next step, and warnings."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import operators, panel
else:
    __getattr__ = load_on_use(__name__)
