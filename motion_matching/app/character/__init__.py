"""Characters: their armatures, rigs and controls."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import characters, controls, rig_status
else:
    __getattr__ = load_on_use(__name__)
