"""The Controller panel."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import operators, panel, panel_labels, properties
else:
    __getattr__ = load_on_use(__name__)
