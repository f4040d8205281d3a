"""Prepare clips for a database: sources, skeletons, floors, and checks."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import climbs, clip_checks, floors, own_grounds, reel, skeletons, sources
else:
    __getattr__ = load_on_use(__name__)
