"""Plain functions on arrays and floats: rotations, planar turns, springs, easing, orders."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        component_quat,
        easing,
        euler,
        fading,
        kd_order,
        planar,
        quat,
        runs,
        scalar_quat,
        springs,
    )
else:
    __getattr__ = load_on_use(__name__)
