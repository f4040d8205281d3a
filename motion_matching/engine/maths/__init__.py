"""Plain functions on arrays and floats: rotations, turns in the plane, springs, smooth steps,
orders of points.
"""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        component_quat,
        easing,
        euler,
        kd_order,
        planar,
        quat,
        runs,
        scalar_quat,
        springs,
    )
else:
    __getattr__ = load_on_use(__name__)
