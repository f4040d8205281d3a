"""Plain functions on arrays and floats: planar turns, springs, easing, filters, orders."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import along_time, easing, kd_order, numeric, planar, rotations, springs
else:
    __getattr__ = load_on_use(__name__)
