"""Run a live session: devices in, a character that moves, keys out."""

from typing import TYPE_CHECKING

from ..engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import inputs, recorder, recovery, session, stepper
else:
    __getattr__ = load_on_use(__name__)
