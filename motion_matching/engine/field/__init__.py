"""Motion fields: a controller that blends the motion states around it (notebook 003)."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import field_controller, ghosts, method, states, training
else:
    __getattr__ = load_on_use(__name__)
