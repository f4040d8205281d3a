"""From when on the motion counts as what, where tags are found from it."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import FloatProperty

from ..engine.matching.thresholds import AutoTagSettings
from .property_options import OVERRIDE, changed

_DEFAULT = AutoTagSettings()


def _threshold(label: str, name: str, description: str, most: float, **options: Any) -> Any:
    return FloatProperty(
        name=label,
        default=getattr(_DEFAULT, name),
        description=description,
        min=0.0,
        max=most,
        precision=options.pop("precision", 2),
        update=changed,
        **options,
        **OVERRIDE,
    )


def _speed(label: str, name: str, description: str) -> Any:
    return _threshold(label, name, description, 20.0, unit="VELOCITY")


def _angle(label: str, name: str, description: str) -> Any:
    return _threshold(label, name, description, 6.2832, subtype="ANGLE", precision=1)


def _seconds(label: str, name: str, description: str) -> Any:
    return _threshold(label, name, description, 10.0, subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE")


def _part(label: str, name: str, description: str) -> Any:
    return _threshold(label, name, description, 0.99, subtype="FACTOR")


class MotionMatchingThresholds(bpy.types.PropertyGroup):
    """From when on the motion counts as what"""

    idle_speed: _speed("Idle Below", "idle_speed", "Slower than this is idle")
    run_speed: _speed("Run Above", "run_speed", "Faster than this is run, and between both is walk")
    strafe_angle: _angle(
        "Strafe Above", "strafe_angle", "Moving further than this from where it faces is strafe"
    )
    back_angle: _angle(
        "Back Above", "back_angle", "Moving further than this from where it faces is back"
    )
    turn_rate: _angle(
        "Turn Above",
        "turn_rate",
        "Turning faster than this, in a second, is a turn to the left or right",
    )
    least_turn: _angle("Least Turn", "least_turn", "A turn goes on for at least this")
    hysteresis: _part(
        "Hysteresis",
        "hysteresis",
        "Part of each threshold by which it has to be passed; higher: fewer and longer ranges",
    )
    shortest: _seconds(
        "Shortest", "shortest", "Ranges shorter than this go to those beside them, or away"
    )
    speed_window: _seconds(
        "Speed Over", "speed_window", "Time that the speed is averaged over, which holds a step"
    )
    turn_window: _seconds(
        "Turning Over",
        "turn_window",
        "Time that the turning is averaged over, which holds two steps",
    )
    change_time: _seconds(
        "Start Within",
        "change_time",
        "A start leads from rest to full speed within this, and a stop the other way round",
    )
    arrived: _part(
        "Full Speed", "arrived", "Part of the fastest speed around at which a start ends"
    )


CLASSES = (MotionMatchingThresholds,)
