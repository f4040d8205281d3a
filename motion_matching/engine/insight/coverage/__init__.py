"""Measure what the data covers, on level ground and on slopes, and where it leads."""

from typing import TYPE_CHECKING

from ...lazy import load_on_use

if TYPE_CHECKING:
    from . import coverage, inspection, strands
else:
    __getattr__ = load_on_use(__name__)
