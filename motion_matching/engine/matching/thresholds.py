"""From when on a motion counts as what."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from ..control.settings import WALK_TO_RUN, is_number
from ..errors import SettingsError


@dataclass(frozen=True)
class AutoTagSettings:
    """When frames are tagged as what, in m/s, radians and seconds. SettingsError for values that make no sense.

    Slower than `idle_speed` is 'idle', faster than `run_speed` 'run', and between them 'walk'. Who moves at more than
    `strafe_angle` from where they face strafes, at more than `back_angle` goes back. A turn is faster than `turn_rate`
    and goes on for `least_turn`. Thresholds have to be passed by the part `hysteresis` of them; ranges shorter than
    `shortest` go to their neighbours, or away. Speed is averaged over `speed_window`, which holds a step, turning over
    `turn_window`, which holds two. A start leads from rest to the part `arrived` of the fastest within `change_time`; a
    stop is a start in reverse.
    """

    idle_speed: float = 0.3
    run_speed: float = WALK_TO_RUN
    strafe_angle: float = math.radians(45.0)
    back_angle: float = math.radians(135.0)
    turn_rate: float = math.radians(25.0)
    least_turn: float = math.radians(30.0)
    hysteresis: float = 0.15
    shortest: float = 0.45
    speed_window: float = 0.5
    turn_window: float = 1.0
    change_time: float = 1.5
    arrived: float = 0.9

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not (is_number(value) and 0 <= value <= 100):
                raise SettingsError(
                    f"The threshold '{field.name}' of tags is {value!r}; give a number from 0 to 100."
                )
        for low, high in (("idle_speed", "run_speed"), ("strafe_angle", "back_angle")):
            if getattr(self, low) >= getattr(self, high):
                raise SettingsError(
                    f"The threshold '{low}' of tags must lie below '{high}'; change one of them."
                )
        for name in ("hysteresis", "arrived"):
            if getattr(self, name) >= 1:
                raise SettingsError(
                    f"The threshold '{name}' of tags is {getattr(self, name)}; give a part below 1."
                )

    def changed(self, changes: Mapping[str, Any]) -> AutoTagSettings:
        """These thresholds with some replaced; SettingsError names an unknown one."""
        known = [field.name for field in fields(self)]
        for name in changes:
            if name not in known:
                raise SettingsError(
                    f"There is no threshold '{name}' of tags; known ones are {', '.join(known)}."
                )
        return replace(self, **changes)
