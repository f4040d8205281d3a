"""Define how hard made motion may be, relative to the hardest in its data."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class Margins:
    """Shares of what the data does at most, and which of its measures count as that."""

    pop: float = tune(1.2, "1", "a joint that accelerates harder is seen to pop")
    leap: float = tune(1.1, "1", "a jump that hardly shows yet: a calmer frame is looked for")
    blend: float = tune(0.95, "1", "of a bone's own limit; the motion that is entered has a rest")
    knee: float = tune(0.8, "1", "a knee that the floor bends: its foot accelerates as well")
    foot: float = tune(0.8, "1", "toes and ankles that are moved: the knee above goes harder")
    lift: float = tune(0.5, "1", "a foot that is lifted: its swing accelerates it as well")
    knee_rate: float = tune(0.99, "1", "of the fastest knee: poses are rounded")
    played: float = tune(99.0, "%", "of ticks played: single ones are faults of a capture")
    knees: float = tune(99.5, "%", "of a knee's accelerations, as `played`")
    fall: float = tune(9.81, "m/s²", "that of a fall: no joint that is slower pops")


MARGINS = Margins()
