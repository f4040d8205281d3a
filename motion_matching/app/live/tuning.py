"""Tuning without a database: the simulation object alone, to feel speeds and halflives."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import bpy

from ...engine.control.method import Ideal
from ...engine.control.performer import Performer
from ...engine.database.database import Database
from ...engine.errors import MotionMatchingError
from ...engine.performance.settings import PerformerSettings
from ...engine.progress import run_to_end
from ...live.inputs.devices.devices import Device
from ...live.inputs.devices.keyboard import Keyboard
from ...live.session import Session
from ...scene.blender.animation.actions import get_scene_fps
from ...scene.staging.marker_writer import MarkerWriter
from ..character.characters import get_placement
from ..database.content import content_steps
from ..database.stored_databases import find_database
from ..property_access import settings_of
from ..settings import get_performer_settings, read_ground
from . import host, steering
from .host import LiveSession


class TuningSession(LiveSession):
    """A session that moves an empty; a recording leaves it as a path with its performance."""

    take_name = "Steered Path"
    speeds_database: Database | None = None  # whose speeds are the full ones, if that is chosen

    def _find_armature_change(self) -> str:
        if self.armature.find():
            return ""
        return f"The live session ended: armature '{self.armature.name}' was deleted."

    def _get_settings(self, obj: bpy.types.Object) -> PerformerSettings:
        return get_performer_settings(obj, self.speeds_database)

    def _list_take(self, action: bpy.types.Action) -> None:
        """Takes are of the armature, and this is none."""


def start(
    obj: bpy.types.Object, keyboard: Keyboard, others: Sequence[Device], now: float
) -> LiveSession:
    """Begin a session where an armature stands, with its settings. Errors leave all as it was."""
    return host.begin(obj, lambda: _create_tuning(obj, keyboard, others), now)


def _create_tuning(
    obj: bpy.types.Object, keyboard: Keyboard, others: Sequence[Device]
) -> TuningSession:
    fps, database = get_scene_fps(bpy.context.scene), None
    with suppress(MotionMatchingError):  # there is nothing to build one from
        database = find_database(obj, run_to_end(content_steps(obj.session_uid)))
    settings = get_performer_settings(obj, database)
    ground, walls = read_ground(obj)
    play = settings_of(obj).play
    source = steering.create_input(play, keyboard, others, settings, fps, ground)
    writer = MarkerWriter(TuningSession.take_name, get_placement(obj))
    performer = Performer(Ideal(fps), settings, ground)
    session = Session(performer, source, writer, walls=walls)
    live = TuningSession(obj, session, keyboard, None, walls)
    live.speeds_database = database
    return live
