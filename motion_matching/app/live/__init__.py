"""The host of a live session."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        alerts,
        changes,
        display_transform,
        endings,
        host,
        performing,
        recorded_takes,
        steering,
        tag_requests,
        tick_rate,
        timeline,
        tuning,
    )
else:
    __getattr__ = load_on_use(__name__)
