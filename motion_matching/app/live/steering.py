"""Create the input of a live session: devices, a curve, an object to go to, or a recording."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ...engine.ground.ground import Ground
from ...engine.performance.settings import PerformerSettings
from ...live.inputs.base import Input
from ...live.inputs.devices.controls import PUSH_SPEED
from ...live.inputs.devices.devices import Device
from ...live.inputs.devices.keyboard import Keyboard
from ...live.inputs.devices.steering import SteeringInput
from ...live.inputs.leaders.guided import GuidedInput
from ...live.inputs.leaders.path import PathInput
from ...scene.blender.handle import Handle
from ..property_access import settings_of
from .leaders import LEADERS, Leading, check_steering, create_path, describe_leader

Leader = TypeVar("Leader", bound=Input)


def create_input(
    play: Any,
    keyboard: Keyboard,
    others: Sequence[Device],
    settings: PerformerSettings,
    fps: float,
    ground: Ground,
) -> Input:
    """Return the input that the panel chooses. Raises errors of `check_steering` and of it."""
    armature = Handle.from_block(play.id_data, "objects")

    def get_push_speed() -> float:
        obj = armature.find()
        return float(settings_of(obj).play.push) if obj else PUSH_SPEED

    devices = SteeringInput(keyboard, others, get_push_speed)
    check_steering(play)
    if play.steer == "devices":
        return devices
    leader = LEADERS[play.steer].create(Leading(play, play.gait, settings, fps, ground))
    return GuidedInput(leader, devices, describe_leader(play, play.steer, play.gait))


def find_leader(source: Input, kind: type[Leader]) -> Leader | None:
    """Return what leads the character instead of a device, if it is of a kind."""
    leader = source.leader if isinstance(source, GuidedInput) else None
    return leader if isinstance(leader, kind) else None


def follow_changed_curve(source: Input, play: Any, settings: PerformerSettings) -> None:
    """Go on along the curve as it is now, if one is followed. Raises errors of the path."""
    followed = find_leader(source, PathInput)
    if isinstance(source, GuidedInput) and followed and play.curve:
        path = create_path(play, play.gait, settings.steering)
        path.resume(followed)
        source.leader = path
