"""What steers a live session, as the panel Play has it: devices, a curve, an object to go to, or a
recording.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy

from ...engine.control import performance
from ...engine.errors import SettingsError
from ...live.inputs.controls import PUSH_SPEED
from ...live.inputs.guided import GuidedInput
from ...live.inputs.path import PathInput
from ...live.inputs.replay import ReplayInput
from ...live.inputs.steering import SteeringInput
from ...live.inputs.target import TargetInput
from ...scene.blender.actions import get_scene_fps
from ...scene.blender.handle import Handle
from ...scene.staging import placements
from ..takes import read_parts
from ..typed import settings_of

if TYPE_CHECKING:
    from ...engine.control.ground import Ground
    from ...engine.control.performance import Performance
    from ...engine.control.settings import PerformerSettings
    from ...live.inputs.base import Input
    from ...live.inputs.gamepad import Gamepad
    from ...live.inputs.keyboard import Keyboard

_MISSING = {
    "curve": "There is no curve to follow; choose a curve object in the panel Play, or steer by "
    "keys and gamepad.",
    "target": "There is no object to go to; choose one in the panel Play, or steer by keys and "
    "gamepad.",
    "take": "There is no recording to repeat; choose a recorded action in the panel Play, or "
    "steer by keys and gamepad.",
}


def check(play: Any) -> None:
    """Raise SettingsError where what is chosen to steer is missing."""
    if play.steer != "devices" and getattr(play, play.steer) is None:
        raise SettingsError(_MISSING[play.steer])


def create_input(
    play: Any,
    keyboard: Keyboard,
    gamepad: Gamepad | None,
    settings: PerformerSettings,
    fps: float,
    ground: Ground,
) -> Input:
    """Return the input that the panel chooses. Errors as in `check`, and those of curves and
    recordings.
    """
    armature = Handle.from_block(play.id_data, "objects")

    def get_push_speed() -> float:
        obj = armature.find()
        return float(settings_of(obj).play.push) if obj else PUSH_SPEED

    devices = SteeringInput(keyboard, gamepad, get_push_speed)
    check(play)
    if play.steer == "devices":
        return devices
    return GuidedInput(_create_leader(play, settings, fps, ground), devices)


def _create_leader(play: Any, settings: PerformerSettings, fps: float, ground: Ground) -> Input:
    gait = float(play.gait == "run")
    if play.steer == "curve":
        path = placements.read_curve_path(play.curve)
        speed = (settings.run if gait else settings.walk).forward
        return PathInput(path.points, speed, factors=path.radii, cyclic=path.cyclic, gait=gait)
    if play.steer == "target":
        target = Handle.from_block(play.target, "objects")
        return TargetInput(
            lambda: placements.read_object_placement(target),
            settings,
            gait=gait,
            turns=True,
            ground=ground,
        )
    return ReplayInput(*_read_recording(play.take, settings.weights, fps))


def _read_recording(
    take: bpy.types.Action, weights: tuple[float, ...] | None, fps: float
) -> tuple[Performance, float, int]:
    """Return the whole performance of a recording, with what was recorded into it later, `fps`, and
    its lead-in ticks.
    """
    first, *others = read_parts(take)
    later = [part for part in others if part.collection == first.collection]
    lead_in, rate = (
        round(first.lead_in * fps / first.performance.fps),
        get_scene_fps(bpy.context.scene),
    )
    parts = []
    for part in later:
        tick = lead_in + round((part.frame - first.frame) * fps / rate)
        left_out = max(lead_in - tick, 0)  # it begins where the first one does
        leads = round(part.lead_in * fps / part.performance.fps) + left_out
        performed = _drop_foreign_weights(part.performance, weights)
        if leads < performed.seconds * fps:
            parts.append((tick + left_out, performed, leads))
    return (
        performance.overlay(_drop_foreign_weights(first.performance, weights).resample(fps), parts),
        fps,
        lead_in,
    )


def _drop_foreign_weights(performed: Performance, weights: tuple[float, ...] | None) -> Performance:
    """Return a performance without weights of other features than those of a character, which has
    these `weights`.
    """

    def drop_weights(change: Mapping[str, Any]) -> dict[str, Any]:
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
        performed,
        settings=drop_weights(performed.settings),
        changes=tuple((tick, drop_weights(change)) for tick, change in performed.changes),
    )
