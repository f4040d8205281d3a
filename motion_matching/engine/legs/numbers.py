"""Tuned numbers for measuring and bending legs; no user changes them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class LegNumbers:
    """Shares are of a limb's or a foot's own length."""

    close: float = tune(1e-5, "m", "nearer joints need no bending: nobody sees 0.01 mm")
    firm_share: float = tune(0.92, "1", "of a leg, kept exactly; with more, knees snap straight")
    standing_percentile: int = tune(2, "%", "of a joint's heights when it stands, as MANN has it")
    tip_share: float = tune(0.6, "1", "of a foot, for a tip that the rig lacks: by eye")
    extra_bend: float = tune(math.radians(2.0), "rad", "of a knee beyond the data: by eye")
    folded: float = tune(1e-3, "m", "more than bones allow: a folded leg has no plane")
    straight_sine: float = tune(
        0.2, "1", "sine of a bend; below, the hinge is more exact than the plane of the two bones"
    )
    straightest_share: float = tune(
        0.9995, "1", "of a limb's length: the side of a straight knee or elbow is not defined"
    )
    folded_share: float = tune(1e-3, "1", "of a limb: `folded`, to scale")


NUMBERS = LegNumbers()
