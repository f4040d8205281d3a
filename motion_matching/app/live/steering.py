"""Create the input of a live session: devices, a curve, an object to go to, or a recording."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeVar

import bpy

from ...engine.errors import MotionMatchingError
from ...engine.ground.ground import Ground
from ...engine.performance.settings import PerformerSettings
from ...live.inputs.base import Input
from ...live.inputs.devices.devices import PUSH_SPEED, Device
from ...live.inputs.devices.keyboard import Keyboard
from ...live.inputs.devices.steering import GuidedInput, SteeringInput
from ...live.inputs.leaders.path import PathInput
from ...live.session import Session
from ...scene.blender.handle import Handle
from ...scene.staging import placements
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


class FollowedCurve:
    """The curve that an armature is led along, if the input of its session follows one."""

    def __init__(self, armature: Handle, source: Input) -> None:
        self._armature = armature
        self._is_followed = find_leader(source, PathInput) is not None
        self._has_changed = False
        self._content = b""  # as it is followed

    def _find(self) -> bpy.types.Object | None:
        obj = self._armature.find()
        return settings_of(obj).play.curve if obj else None

    def note_update(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Note a change of the curve, which the next tick heeds."""
        curve = self._find() if self._is_followed and not self._has_changed else None
        if curve:
            uids = curve.session_uid, curve.data.session_uid
            changed = (update.id.original.session_uid for update in depsgraph.updates)
            self._has_changed = any(uid in uids for uid in changed)

    def follow_changes(self, session: Session) -> None:
        """Go on along the curve as it is now; one that cannot be followed leaves the last one."""
        if not self._has_changed:
            return
        self._has_changed = False
        curve = self._find()
        content = placements.read_curve_bytes(curve) if curve else b""
        if content == self._content:  # reading a curve has Blender report a change, too
            return
        self._content = content
        play = settings_of(self._armature.find()).play
        source = session.source
        followed = find_leader(source, PathInput)
        with suppress(MotionMatchingError):
            if isinstance(source, GuidedInput) and followed and curve:
                path = create_path(play, play.gait, session.performer.settings.steering)
                path.resume(followed)
                source.leader = path
