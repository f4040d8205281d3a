"""The Direct panel."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import drawing, mark_drawing, operators, panel, properties
else:
    __getattr__ = load_on_use(__name__)
