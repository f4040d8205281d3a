"""Batches: many commands described in one JSON file, done in this process or in several."""

from typing import TYPE_CHECKING

from ..engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import farms, flow, job, run, state, workers
else:
    __getattr__ = load_on_use(__name__)
