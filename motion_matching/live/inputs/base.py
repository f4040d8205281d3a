"""What every input offers to a session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...engine.control.intent import Intent
from ...engine.control.performer import Placement


class Start(NamedTuple):
    """Where an input wants the character to begin, and with which changes of its settings."""

    place: Placement
    settings: Mapping[str, Any] = {}


class Situation(NamedTuple):
    """What an input may look at: where the character and the simulation object are, and where the view looks.

    `tick` counts from the session's start, `dt` is the length of one in seconds. `view_heading` is the heading in
    radians, as in an intent, of somebody who looks into the 3D view.
    """

    tick: int
    dt: float
    character: Placement
    simulation_object: Placement
    view_heading: float = 0.0


class Input:
    """A source of intents. A session opens it, asks it at every tick, and closes it."""

    @property
    def start(self) -> Start | None:
        """Where to begin; None: where the armature stands."""
        return None

    @property
    def lead_in(self) -> int:
        """Ticks that are played through before the character is seen."""
        return 0

    @property
    def is_finished(self) -> bool:
        """Whether there is nothing more to come."""
        return False

    def open(self) -> None:
        """Get hold of a device."""

    def close(self) -> None:
        """Let go of it; may be called twice."""

    def poll(self) -> None:
        """Look at the device, once before the ticks of a frame."""

    def settings_at(self, tick: int) -> Mapping[str, Any]:
        """Changes of the performer's settings that come with a tick."""
        return {}

    def intent(self, situation: Situation) -> Intent:
        """The wish of this tick."""
        raise NotImplementedError

    def take_commands(self) -> list[str]:
        """What was asked of the session since the last call, such as 'record'."""
        return []

    def take_messages(self) -> list[str]:
        """Sentences for the user since the last call."""
        return []
