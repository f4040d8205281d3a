"""TEMPORARY: until the engine's settings of retargeting are here."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import check, describe


@dataclass(frozen=True)
class RetargetSettings:
    """How motion is brought from one character onto another."""

    foot_ik: bool = describe(
        True, "Foot IK", "Put the feet where the source has them, scaled by the length of the legs"
    )
    hand_ik: float = describe(0.0, "Hand IK", "How much hands", "share")
    keep_translations: bool = describe(False, "Keep Translations", "Move bones off")
    scale: float = describe(0.0, "Scale", "Size", most=100.0)

    def __post_init__(self) -> None:
        check(self, "retarget setting")
