"""Create the input of a live session: devices, a curve, an object to go to, or a recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import bpy

from ...engine.control.performer import Placement
from ...engine.errors import SettingsError
from ...engine.ground.ground import Ground
from ...engine.performance import performance
from ...engine.performance.performance import Performance
from ...engine.performance.settings import PerformerSettings
from ...live.inputs.base import Input
from ...live.inputs.devices.controls import PUSH_SPEED
from ...live.inputs.devices.devices import Device
from ...live.inputs.devices.keyboard import Keyboard
from ...live.inputs.devices.steering import SteeringInput
from ...live.inputs.leaders.guided import GuidedInput
from ...live.inputs.leaders.path import PathInput
from ...live.inputs.leaders.replay import ReplayInput
from ...live.inputs.leaders.target import PointInput, TargetInput
from ...scene.blender.animation.actions import get_scene_fps
from ...scene.blender.handle import Handle
from ...scene.staging import placements
from ..property_access import settings_of
from ..takes.take_actions import read_parts

Leader = TypeVar("Leader", bound=Input)

_MISSING = {
    "curve": "There is no curve to follow; choose a curve object",
    "target": "There is no object to go to; choose one",
    "take": "There is no recording to repeat; choose a recorded action",
}

_WORDS = {"curve": "Along", "target": "To"}


def check(play: Any) -> None:
    """Raise SettingsError if the chosen curve, target or recording is missing."""
    if play.steer in _MISSING:
        check_leader(play, play.steer, "in the panel Perform, or steer by keys and gamepad")


def check_leader(play: Any, leader: str, advice: str) -> None:
    """Raise SettingsError if the curve, target or recording is missing; `advice` says where."""
    if getattr(play, leader) is None:
        raise SettingsError(f"{_MISSING[leader]} {advice}.")


def describe(play: Any, leader: str, gait: str) -> str:
    """Return the name of what is performed along a curve, to a target or by a recording."""
    if leader == "take":
        return f"Repeat of {play.take.name}"
    return f"{_WORDS[leader]} {getattr(play, leader).name} {gait.title()}"


def create_input(
    play: Any,
    keyboard: Keyboard,
    others: Sequence[Device],
    settings: PerformerSettings,
    fps: float,
    ground: Ground,
) -> Input:
    """Return the input that the panel chooses. Raises errors of `check` and of the input."""
    armature = Handle.from_block(play.id_data, "objects")

    def get_push_speed() -> float:
        obj = armature.find()
        return float(settings_of(obj).play.push) if obj else PUSH_SPEED

    devices = SteeringInput(keyboard, others, get_push_speed)
    check(play)
    if play.steer == "devices":
        return devices
    if play.steer == "click":
        gait = float(play.gait == "run")
        return GuidedInput(PointInput(settings, gait=gait, ground=ground), devices)
    leader = create_leader(play, play.steer, play.gait, settings, fps, ground)
    return GuidedInput(leader, devices, describe(play, play.steer, play.gait))


def create_leader(
    play: Any,
    leader: str,
    gait: str,
    settings: PerformerSettings,
    fps: float,
    ground: Ground,
    get_target: Callable[[], Placement | None] | None = None,
) -> Input:
    """Return the input that leads along the curve, to the target or by the recording of `play`.

    `get_target` returns the target's placement, tick by tick, unless it is where it is now.
    """
    share = float(gait == "run")
    if leader == "curve":
        return _create_path(play, share, settings)
    if leader == "target":
        target = Handle.from_block(play.target, "objects")
        read_target = get_target or partial(placements.read_object_placement, target)
        return TargetInput(read_target, settings, gait=share, turns=True, ground=ground)
    return ReplayInput(*_read_recording(play.take, settings.weights, fps))


def find_leader(source: Input, kind: type[Leader]) -> Leader | None:
    """Return what leads the character instead of a device, if it is of a kind."""
    leader = source.leader if isinstance(source, GuidedInput) else None
    return leader if isinstance(leader, kind) else None


def follow_changed_curve(source: Input, play: Any, settings: PerformerSettings) -> None:
    """Go on along the curve as it is now, if one is followed. Raises errors of the path."""
    followed = find_leader(source, PathInput)
    if isinstance(source, GuidedInput) and followed and play.curve:
        path = _create_path(play, float(play.gait == "run"), settings)
        path.resume(followed)
        source.leader = path


def _create_path(play: Any, gait: float, settings: PerformerSettings) -> PathInput:
    """Return the input along the curve of `play`, at a gait from 0, walking, to 1, running."""
    path = placements.read_curve_path(play.curve)
    speed = (settings.run if gait else settings.walk).forward
    return PathInput(path.points, speed, factors=path.radii, cyclic=path.cyclic, gait=gait)


def _read_recording(
    take: bpy.types.Action, weights: tuple[float, ...] | None, fps: float
) -> tuple[Performance, float, int]:
    """Return a recording's performance with later recordings, `fps`, and its lead-in ticks."""
    first, *others = read_parts(take)
    later = [part for part in others if part.collection == first.collection]
    lead_in, rate = first.count_lead_in(fps), get_scene_fps(bpy.context.scene)
    parts = []
    for part in later:
        tick = lead_in + round((part.frame - first.frame) * fps / rate)
        left_out = max(lead_in - tick, 0)  # it begins where the first one does
        leads = part.count_lead_in(fps) + left_out
        performed = _drop_foreign_weights(part.performance, weights)
        if leads < performed.seconds * fps:
            parts.append((tick + left_out, performed, leads))
    whole = _drop_foreign_weights(first.performance, weights).resample(fps)
    return performance.overlay(whole, parts), fps, lead_in


def _drop_foreign_weights(performed: Performance, weights: tuple[float, ...] | None) -> Performance:
    """Return a performance without weights of other features than those with these `weights`."""

    def drop_weights(change: Mapping[str, Any]) -> dict[str, Any]:
        value = change.get("weights")
        is_foreign = weights and isinstance(value, list) and len(value) != len(weights)
        return {name: each for name, each in change.items() if name != "weights" or not is_foreign}

    changes = tuple((tick, drop_weights(change)) for tick, change in performed.changes)
    return replace(performed, settings=drop_weights(performed.settings), changes=changes)
