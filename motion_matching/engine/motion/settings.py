"""Define settings of contacts and the simulation bone; no numpy, as panels read them at once."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import LARGEST, check, describe
from .rest import AT_REST

_LONGEST_WINDOW = 30.0
_METHODS = {
    "speed": ("Speed", "By the toe's speed, from central differences"),
    "displacement": ("Displacement", "By how far it moves to the next frame, as in the notebook"),
}
_HEADINGS = {
    "direction": ("Direction", "As a vector on the ground, as in the article"),
    "angle": ("Angle", "As an angle with full turns counted, as in the notebook"),
}
_SOURCES = {
    "spine": ("Spine and Hips", "Position of the upper spine and heading of the hips, smoothed"),
    "root": ("Root Bone", "An existing root bone, without smoothing"),
    "hips": ("Hips", "Position and heading of the hips, smoothed, as in the notebook"),
}


@dataclass(frozen=True)
class ContactSettings:
    """Settings for finding contacts; SettingsError for values that make no sense."""

    method: str = describe("speed", "Method", "How a toe at rest is recognised", choices=_METHODS)
    speed: float = describe(
        AT_REST.toe,
        "Contact Speed",
        "Toes slower than this count as planted; higher: feet stay planted longer, but may drag",
        "m/s",
        soft_most=1.0,
    )
    displacement: float = describe(
        0.01 * 0.1**0.5,
        "Contact Displacement",
        "Toes that move less than this in 1/30 s count as on the ground",
        "m",
    )
    median: float = describe(
        0.1, "Flicker", "Time over which the majority of frames decides; 0 keeps every frame", "s"
    )
    max_height: float | None = describe(
        None,
        "Highest Contact",
        "Toes higher above the ground are never in contact; none allows any height",
        "m",
        least=-LARGEST,
    )

    def __post_init__(self) -> None:
        check(self, "contact setting")


@dataclass(frozen=True)
class SimulationBoneSettings:
    """Settings for finding the simulation bone; the defaults are the article's.

    With `standing` below 1, long windows remove the sway of steps without blunting starts, stops
    and turns on the spot. SettingsError for values that make no sense.
    """

    position_window: float = describe(
        0.5,
        "Smooth Position",
        "Length of the smoothing of the position; longer: removes the sway of steps, blunts starts "
        "and stops",
        "s",
        most=_LONGEST_WINDOW,
        soft_most=3.0,
    )
    position_order: int = describe(
        3,
        "Position Order",
        "Polynomial order; higher: follows starts and stops more closely",
        most=9,
    )
    direction_window: float = describe(
        1.0,
        "Smooth Heading",
        "Length of the smoothing of the heading; longer: removes the swing of the hips, blunts "
        "turns",
        "s",
        most=_LONGEST_WINDOW,
        soft_most=3.0,
    )
    direction_order: int = describe(
        3, "Heading Order", "Polynomial order; higher: follows turns more closely", most=9
    )
    heading: str = describe(
        "direction", "Heading", "How the heading is smoothed", choices=_HEADINGS
    )
    source: str = describe("spine", "Source", "What the simulation bone follows", choices=_SOURCES)
    standing: float = describe(
        1.0,
        "While Standing",
        "Share of both times used while standing or turning sharply; lower: crisper starts, stops "
        "and turns, which allows longer times while moving",
        "share",
    )

    def __post_init__(self) -> None:
        check(self, "simulation bone setting")
