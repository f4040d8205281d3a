"""Requests to a performer: intents, scripts, settings, labels, and the start."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import intent, labels, performance, published, scripts, settings, start_state
else:
    __getattr__ = load_on_use(__name__)
