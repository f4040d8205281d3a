"""How legs are measured and bent: numbers no user changes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class LegNumbers:
    """Shares are of a limb's or a foot's own length."""

    close: float = tune(
        1e-5,
        "m",
        "a joint this near to its target needs no bending; no eye sees a hundredth of a millimetre",
    )
    firm_share: float = tune(
        0.92,
        "1",
        "of its length, up to which a leg reaches as far as asked; with more, knees snap straight",
    )
    standing_percentile: int = tune(
        2, "%", "of a joint's heights: its height when it stands; less are faults of a capture"
    )
    tip_share: float = tune(
        0.6,
        "1",
        "of a foot, from the toe joint to the tip, where the rig has no tip: chosen by eye",
    )
    extra_bend: float = tune(
        math.radians(2.0), "rad", "by which a knee may be bent beyond the data: chosen by eye"
    )
    folded: float = tune(
        1e-3,
        "m",
        "by which an ankle stays farther from the hip than bones allow: a folded leg has no plane",
    )
    straight_sine: float = tune(
        0.2, "1", "sine of a bend; below, the hinge is more exact than the plane of the two bones"
    )
    straightest_share: float = tune(
        0.9995, "1", "of a limb's length: the side of a straight knee or elbow is not defined"
    )
    folded_share: float = tune(
        1e-3,
        "1",
        "of a limb's length, by which it stays longer than its bones allow; `folded`, to scale",
    )


NUMBERS = LegNumbers()
