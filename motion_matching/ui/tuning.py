"""Tuning without a character: the simulation object alone, to feel speeds and halflives before there is a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ..engine.errors import MotionMatchingError
from . import performing, request, steering
from .performing import Live

if TYPE_CHECKING:
    from ..engine.control.settings import PerformerSettings
    from ..engine.matching.database import Database
    from ..live.inputs.gamepad import Gamepad
    from ..live.inputs.keyboard import Keyboard


class Tuning(Live):
    """A session whose simulation object is an empty; recorded, it stays as a path with its performance."""

    take_name = "Steered Path"
    speeds_of: Database | None = None  # whose speeds are the full ones, if that is wanted

    def _change(self) -> str:
        if self.armature.find():
            return ""
        return f"The live session has ended, because armature '{self.armature.name}' was deleted."

    def _settings(self, obj: bpy.types.Object) -> PerformerSettings:
        return request.performer_settings(obj, self.speeds_of)

    def _list(self, action: bpy.types.Action) -> None:
        """Takes are of the armature, and this is none."""


def start(obj: bpy.types.Object, keyboard: Keyboard, gamepad: Gamepad | None, now: float) -> Live:
    """Begin a session where an armature stands, with its settings and on its ground. Errors leave all as it was."""
    return performing.begin(obj, lambda: _tuning(obj, keyboard, gamepad), now)


def _tuning(obj: bpy.types.Object, keyboard: Keyboard, gamepad: Gamepad | None) -> Tuning:
    from ..engine.control.ideal import Ideal
    from ..engine.control.performance import Performance
    from ..engine.control.performer import Performer
    from ..live.session import Session
    from ..scene.bake import scene_fps
    from ..scene.marker import MarkerWriter

    fps, database = scene_fps(bpy.context.scene), _built(obj)
    settings = request.performer_settings(obj, database)
    place = request.on_ground_of(obj, Performance("", fps, ()))
    source = steering.source(
        obj.motion_matching.play, keyboard, gamepad, settings, fps, place.ground
    )
    writer = MarkerWriter(Tuning.take_name, request.standing_place(obj))
    session = Session(
        Performer(Ideal(fps), settings, place.ground), source, writer, walls=place.walls
    )
    live = Tuning(obj, session, keyboard, None, place.walls)
    live.speeds_of = database
    return live


def _built(obj: bpy.types.Object) -> Database | None:
    """The database of an armature, if it is there."""
    from .preferences import library

    try:
        key, databases = request.key(obj), library()
        return databases.load(key) if databases.has(key) else None
    except MotionMatchingError:  # there is nothing to build one from
        return None
