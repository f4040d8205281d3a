"""Inspect the data and the search: coverage, maps, the frame inspector, pictures."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import coverage, frames, maps, plots, take_sheet
else:
    __getattr__ = load_on_use(__name__)
