"""Databases: arrays of poses and features, with statistics of what they hold."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import database, features, frame_names, gaits, limits, statistics, tags
else:
    __getattr__ = load_on_use(__name__)
