"""Settings of retargeting, without numpy because panels read them at startup."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import SettingsError
from ..settings import LARGEST, check, describe, is_number

_ROOTS = {
    "source": ("As in Source", "Follow the source's root bone if it moves, else stay at rest"),
    "rest": ("At Rest", "Stay at rest; only the hips move"),
    "ground": ("Below the Hips", "Follow the hips over the ground, and turn with them"),
}


@dataclass(frozen=True)
class RetargetSettings:
    """Settings of retargeting; SettingsError for invalid values.

    `offsets` are rotations by role in degrees about the axes of the part's anatomical frame: of a
    limb X is the hinge of the knee or elbow, Y the way along it and Z the side that it points to;
    of the torso X is to the left, Y backward and Z upward.
    """

    foot_ik: bool = describe(
        True, "Pin Feet", "Place the feet at the source's places, scaled, so that nothing slides"
    )
    hand_ik: float = describe(
        0.0,
        "Pin Hands",
        "Balance between the source's arm directions (0) and its hand positions, scaled (1); "
        "higher: claps and props meet, arms bend differently",
        "share",
    )
    keep_translations: bool = describe(
        False,
        "Keep Translations",
        "Also move the bones of trunk and arms relative to their parents as in the source, scaled",
    )
    scale: float | None = describe(
        None,
        "Scale",
        "Distance the character moves for each metre of the source; none: found from the leg "
        "lengths",
        least=1e-4,
    )
    fit_root: str = describe("source", "Root Bone", "How to use the root bone", choices=_ROOTS)
    offsets: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check(self, "retargeting setting")
        for role, angles in self.offsets.items():
            if (
                len(angles) != 3
                or not all(map(is_number, angles))
                or max(map(abs, angles)) > LARGEST
            ):
                raise SettingsError(
                    f"The offset of '{role}' is {tuple(angles)!r}; give three angles in degrees."
                )
