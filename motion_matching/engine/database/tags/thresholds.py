"""Set the thresholds of tags that are proposed from motion."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ...errors import SettingsError
from ...motion.rest import AT_REST
from ...performance.settings import WALK_TO_RUN
from ...settings import check, check_names, describe

PLANT_ANGLE = math.radians(60.0)  # a usual one
_speed = partial(describe, unit="m/s", most=100.0, soft_most=20.0)
_angle = partial(describe, unit="rad", most=100.0, soft_most=math.tau)
_turn_rate = partial(describe, unit="rad/s", most=100.0, soft_most=math.tau)
_seconds = partial(describe, unit="s", most=100.0, soft_most=10.0)
_share = partial(describe, unit="share", most=0.99)


@dataclass(frozen=True)
class AutoTagSettings:
    """Thresholds between the tags that are proposed from motion.

    Every frame is 'idle', 'walk' or 'run' by its speed; 'strafe', 'back', 'turn_left',
    'turn_right', 'start', 'stop' and, on request, 'plant' lie on top of these. A stop is a start in
    reverse.

    Raises SettingsError for values out of range or out of order.
    """

    idle_speed: float = _speed(AT_REST.moving, "Idle Below", "Slower motion is tagged 'idle'")
    run_speed: float = _speed(
        WALK_TO_RUN, "Run Above", "Faster motion is tagged 'run'; between idle and run it is 'walk'"
    )
    strafe_angle: float = _angle(
        math.radians(45.0),
        "Strafe Above",
        "Moving at a larger angle from the facing direction is tagged 'strafe'",
    )
    back_angle: float = _angle(
        math.radians(135.0),
        "Back Above",
        "Moving at a larger angle from the facing direction is tagged 'back'",
    )
    turn_rate: float = _turn_rate(
        math.radians(25.0),
        "Turn Above",
        "Turning faster, per second, is tagged 'turn_left' or 'turn_right'",
    )
    least_turn: float = _angle(
        math.radians(30.0), "Least Turn", "A turn must go at least this far to be tagged"
    )
    plant_angle: float = _angle(
        0.0,
        "Plant Above",
        "A larger turn of the path or the body within Speed Average is tagged 'plant'; 60° is "
        "usual, 0: off",
    )
    hysteresis: float = _share(
        0.15,
        "Hysteresis",
        "Margin around each threshold, as a share of it; higher: fewer, longer ranges",
    )
    shortest: float = _seconds(
        0.45, "Shortest", "Shorter ranges are merged with their neighbours or dropped"
    )
    speed_window: float = _seconds(
        0.5, "Speed Average", "Time to average the speed over; it should cover one step"
    )
    turn_window: float = _seconds(
        1.0,
        "Turn Average",
        "Time to average the turn rate over; it should cover two steps",
    )
    change_time: float = _seconds(
        1.5,
        "Start Within",
        "Longest time from rest to full speed in a start, and from full speed to rest in a stop",
    )
    arrived: float = _share(0.9, "Full Speed", "Share of the top speed at which a start ends")

    def __post_init__(self) -> None:
        check(self)
        for low, high in (("idle_speed", "run_speed"), ("strafe_angle", "back_angle")):
            if getattr(self, low) >= getattr(self, high):
                raise SettingsError(
                    f"The setting '{low}' must be below '{high}'; change one of them."
                )

    def at_pace(self, pace: float) -> AutoTagSettings:
        """Return the settings for a creature that is `pace` times as fast as people.

        Speeds that differ from the defaults stay.
        """
        default = AutoTagSettings()
        speeds = (self.idle_speed, self.run_speed)
        if pace == 1.0 or speeds != (default.idle_speed, default.run_speed):
            return self
        return replace(self, idle_speed=pace * speeds[0], run_speed=pace * speeds[1])

    def with_changes(self, changes: Mapping[str, Any]) -> AutoTagSettings:
        """Return these settings with some replaced; SettingsError names an unknown one."""
        check_names(changes, self, "auto-tag setting")
        return replace(self, **changes)
