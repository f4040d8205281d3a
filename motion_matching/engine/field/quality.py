"""How well a motion field is trained and for how long; without numpy, so that panels and the help may tell it at once."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass

from ..control.settings import is_number
from ..errors import SettingsError

_RATE = 30.0  # ticks a second that a discount and sweeps are told for


@dataclass(frozen=True)
class TrainingSettings:
    """How well and for how long a field is trained.

    About `states` states, or all where that is 0; actions among `neighbours` neighbours, with a drift
    correction of `drift`; what comes a thirtieth of a second later counts `discount` times as much, at any frame rate; at
    most `sweeps`, each of which looks a thirtieth of a second further, and no more once the largest change of a value is
    `residual` or less.
    """

    states: int = 8000
    neighbours: int = 15
    drift: float = 0.1
    discount: float = 0.99
    sweeps: int = 300
    residual: float = 0.0

    def __post_init__(self) -> None:
        for name, (low, high) in {
            "states": (0, 10_000_000),
            "neighbours": (1, 100),
            "sweeps": (1, 100_000),
        }.items():
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                raise SettingsError(
                    f"The setting '{name}' is {reprlib.repr(value)}; give a whole number from {low} to "
                    f"{high}."
                )
        for name, most in {"drift": 1.0, "discount": 0.9999, "residual": 1000.0}.items():
            value = getattr(self, name)
            if not (is_number(value) and 0 <= value <= most):
                raise SettingsError(
                    f"The setting '{name}' is {reprlib.repr(value)}; give a number from 0 to {most:g}."
                )

    def discount_of_tick(self, fps: float) -> float:
        """How much a tick counts against the one before it, at so many a second."""
        return float(self.discount ** (_RATE / fps))

    def sweeps_at(self, fps: float) -> int:
        """How many sweeps it takes at so many ticks a second, each of which looks one tick further."""
        return max(round(self.sweeps * fps / _RATE), 1)


# from quick to good: settings of training, and directions of tasks
QUALITIES: dict[str, tuple[TrainingSettings, int]] = {
    "draft": (TrainingSettings(states=3000, neighbours=9, sweeps=200), 9),
    "quick": (TrainingSettings(states=5000, neighbours=12, sweeps=250), 13),
    "normal": (TrainingSettings(), 17),
    "fine": (TrainingSettings(states=20000), 25),
    "full": (TrainingSettings(states=0), 25),
}


def in_words(quality: str) -> str:
    """What is trained in a quality."""
    settings, directions = QUALITIES[quality]
    poses = f"about {settings.states}" if settings.states else "all"
    return f"{quality.title()}: {poses} poses, {settings.neighbours} of them blended, {directions} directions"
