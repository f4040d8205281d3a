"""Settings of retargeting; without numpy, as panels read them at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import SettingsError
from ..settings import LARGEST, check, describe, is_number

_ROOTS = {
    "source": ("As in Source", "Follows the source's root bone if that moves, else stays at rest"),
    "rest": ("At Rest", "Stays where it rests; the hips move below it"),
    "ground": ("Below the Hips", "Follows the hips on the ground and turns with them"),
}


@dataclass(frozen=True)
class RetargetSettings:
    """How motion is brought onto another skeleton; SettingsError for values that make no sense.

    `offsets` are rotations by role in degrees about the axes of the part's anatomical frame: of a
    limb X is the hinge of the knee or elbow, Y the way along it and Z the side that it points to;
    of the torso X is to the left, Y backward and Z upward.
    """

    foot_ik: bool = describe(
        True, "Pin Feet", "Puts the feet where the source's are, scaled, so that nothing slides"
    )
    hand_ik: float = describe(
        0.0,
        "Pin Hands",
        "How far hands follow the source's places, scaled, instead of its directions of arms; "
        "higher: claps and props meet, and arms bend otherwise",
        "share",
    )
    keep_translations: bool = describe(
        False,
        "Keep Translations",
        "Also moves the bones of trunk and arms in their parents as in the source, scaled",
    )
    scale: float | None = describe(
        None,
        "Scale",
        "How far the character goes for each metre of the source; none goes by the legs' lengths",
        least=1e-4,
    )
    fit_root: str = describe(
        "source", "Root Bone", "What a bone above the hips does", choices=_ROOTS
    )
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
