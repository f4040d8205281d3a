"""Define training qualities and their durations. No numpy: panels and help texts read it."""

from __future__ import annotations

from dataclasses import dataclass

from ...settings import check, describe

_GIVEN_RATE = 30.0  # ticks per second that `discount` and `sweeps` are given for


@dataclass(frozen=True)
class TrainingSettings:
    """How well and for how long a field is trained. Raises SettingsError for a wrong value."""

    states: int = describe(
        8000, "States", "Number of poses trained, evenly chosen; 0: all", most=10_000_000
    )
    neighbours: int = describe(
        15, "Neighbours", "Number of actions of each pose", least=1, most=100
    )
    drift: float = describe(
        0.1, "Drift Correction", "How strongly actions are drawn to the nearest pose", "share"
    )
    discount: float = describe(
        0.99,
        "Discount",
        "Share of its value that a reward keeps for every 1/30 s that it comes later",
        "share",
        most=0.9999,
    )
    sweeps: int = describe(
        300,
        "Sweeps",
        "Largest number of sweeps, each of which looks 1/30 s further ahead",
        least=1,
        most=100_000,
    )
    residual: float = describe(
        0.0, "Residual", "Training ends once no value changes by more than this"
    )

    def __post_init__(self) -> None:
        check(self)

    def compute_tick_discount(self, fps: float) -> float:
        """Return the weight of a tick relative to the one before it, at a frame rate."""
        return float(self.discount ** (_GIVEN_RATE / fps))

    def compute_sweeps(self, fps: float) -> int:
        """Return the number of sweeps at a frame rate, each looking one tick further ahead."""
        return max(round(self.sweeps * fps / _GIVEN_RATE), 1)


# from quick to good: settings of the training and number of directions
QUALITIES: dict[str, tuple[TrainingSettings, int]] = {
    "draft": (TrainingSettings(states=3000, neighbours=9, sweeps=200), 9),
    "quick": (TrainingSettings(states=5000, neighbours=12, sweeps=250), 13),
    "normal": (TrainingSettings(), 17),
    "fine": (TrainingSettings(states=20000), 25),
    "full": (TrainingSettings(states=0), 25),
}


NOTEBOOK = "notebook"
# choices of commands and scripts: the notebook's field is another kind, not a quality
TRAININGS = {**QUALITIES, NOTEBOOK: (TrainingSettings(states=0), 17)}


def describe_quality(quality: str) -> str:
    """Describe the training at a quality, in one line for a panel."""
    settings, directions = TRAININGS[quality]
    poses = f"about {settings.states}" if settings.states else "all"
    blended = f"{settings.neighbours} of them blended"
    return f"{quality.title()}: {poses} poses, {blended}, {directions} directions"
