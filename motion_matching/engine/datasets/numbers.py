"""Tuned numbers for data sets; no user changes them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class DataSetNumbers:
    """Times are those of the motion."""

    # what is counted
    window: float = tune(1.0, "s", "averages speed and turning, as in maps of coverage")
    turning: float = tune(
        math.radians(25.0), "rad/s", "from which motion turns: as tags are proposed"
    )
    near: float = tune(0.05, "1", "off what is asked for: five points of a hundred")
    # wishes
    piece: tuple[float, float] = tune(
        (1.0, 3.0), "s", "of a clip whose way is wished for: a step or two, up to a curve"
    )
    shortest_piece: float = tune(0.5, "s", "left of a clip: less is over before it is answered")
    ahead: float = tune(2.0, "s", "of a piece that tell what is in it: as long as most pieces are")
    rakings: int = tune(100, "1", "rounds of fitting shares, at most: more change nothing")
    rarest: float = tune(1e-3, "1", "share that is aimed at, and how exactly: less is not seen")
    # choosing
    attempts: int = tune(4, "1", "at a take unlike the frames it plays: more hide what is wrong")
    more: float = tune(1.0, "1", "takes drawn to replace others, for each take: time doubles")
    # scenes
    leg: tuple[float, float] = tune((1.5, 4.0), "s", "between marks: as studies direct them")
    stands: float = tune(0.2, "1", "of marks are held: as in these")
    stand: tuple[float, float] = tune((1.0, 3.0), "s", "for which: as in these")
    rest: float = tune(0.5, "s", "after the last mark: until the last step is done")


NUMBERS = DataSetNumbers()
