"""What steers a live session, as the panel Play has it: devices, a curve, an object to go to, or a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..engine.errors import SettingsError
from . import request
from .baking import parts_of

if TYPE_CHECKING:
    import bpy

    from ..engine.control.ground import Ground
    from ..engine.control.performance import Performance
    from ..engine.control.settings import PerformerSettings
    from ..live.inputs.base import Input
    from ..live.inputs.gamepad import Gamepad
    from ..live.inputs.keyboard import Keyboard

_MISSING = {
    "curve": "There is no curve to follow; choose a curve object in the panel Play, or steer by keys and gamepad.",
    "target": "There is no object to go to; choose one in the panel Play, or steer by keys and gamepad.",
    "take": "There is no recording to repeat; choose a recorded action in the panel Play, or steer by keys and gamepad.",
}


def check(play: Any) -> None:
    """SettingsError where what is to steer is not there, or cannot."""
    if play.steer != "devices" and getattr(play, play.steer) is None:
        raise SettingsError(_MISSING[play.steer])


def source(
    play: Any,
    keyboard: Keyboard,
    gamepad: Gamepad | None,
    settings: PerformerSettings,
    fps: float,
    ground: Ground,
) -> Input:
    """The input that the panel asks for. Errors as in `check`, and those of curves and recordings that make no sense."""
    from ..live.inputs.controls import PUSH_SPEED
    from ..live.inputs.led import Led
    from ..live.inputs.steering import Steering
    from ..scene.handle import Handle

    armature = Handle.of(play.id_data, "objects")

    def push_speed() -> float:
        obj = armature.find()
        return float(obj.motion_matching.play.push) if obj else PUSH_SPEED

    devices = Steering(keyboard, gamepad, push_speed)
    check(play)
    if play.steer == "devices":
        return devices
    return Led(_leader(play, settings, fps, ground), devices)


def _leader(play: Any, settings: PerformerSettings, fps: float, ground: Ground) -> Input:
    from ..live.inputs.path import Path
    from ..live.inputs.replay import Replay
    from ..live.inputs.target import Target
    from ..scene import places
    from ..scene.handle import Handle

    gait = float(play.gait == "run")
    if play.steer == "curve":
        path = places.path_of_curve(play.curve)
        speed = (settings.run if gait else settings.walk).forward
        return Path(path.points, speed, factors=path.radii, cyclic=path.cyclic, gait=gait)
    if play.steer == "target":
        target = Handle.of(play.target, "objects")
        return Target(
            lambda: places.place_of_object(target), settings, gait=gait, turns=True, ground=ground
        )
    return Replay(*_recorded(play.take, settings.weights, fps))


def _recorded(
    take: bpy.types.Action, weights: tuple[float, ...] | None, fps: float
) -> tuple[Performance, float, int]:
    """All that was wanted in a recording, with what was recorded into it later, at `fps`, and the ticks that lead in."""
    from ..engine.control import performance

    first, *others = parts_of(take)
    later = [part for part in others if part.collection == first.collection]
    lead_in, rate = round(first.lead_in * fps / first.wanted.fps), request.scene_rate()
    parts = []
    for part in later:
        place = lead_in + round((part.frame - first.frame) * fps / rate)
        left_out = max(lead_in - place, 0)  # it begins where the first one does
        leads, wanted = (
            round(part.lead_in * fps / part.wanted.fps) + left_out,
            _for_features(part.wanted, weights),
        )
        if leads < wanted.seconds * fps:
            parts.append((place + left_out, wanted, leads))
    return (
        performance.laid_over(_for_features(first.wanted, weights).at_rate(fps), parts),
        fps,
        lead_in,
    )


def _for_features(wanted: Performance, weights: tuple[float, ...] | None) -> Performance:
    """A performance without the weights of other features than those of a character, which has these `weights`."""

    def fitting(change: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: value
            for name, value in change.items()
            if not (
                name == "weights"
                and weights
                and isinstance(value, list)
                and len(value) != len(weights)
            )
        }

    return replace(
        wanted,
        settings=fitting(wanted.settings),
        changes=tuple((tick, fitting(change)) for tick, change in wanted.changes),
    )
