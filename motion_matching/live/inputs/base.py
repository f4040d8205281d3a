"""Define the interface of a session's inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...engine.control.performer import Placement
from ...engine.performance.intent import Intent
from ...engine.performance.start_state import StartState


class Start(NamedTuple):
    """Start of a session: the character's place, changes of its settings, and its pose."""

    placement: Placement
    settings: Mapping[str, Any] = {}
    state: StartState | None = None


class Situation(NamedTuple):
    """Situation at a tick, for inputs: the character, the simulation object and the view.

    `tick` counts from the session's start, `dt` is its length in seconds. `view_heading` is the
    heading of the 3D view in radians.
    """

    tick: int
    dt: float
    character: Placement
    simulation_object: Placement
    view_heading: float = 0.0


class Input:
    """A source of intents. A session opens it, calls it at every tick, and closes it.

    It starts at its `start`; None: where the armature stands. `lead_in` is the number of ticks
    played before the character is shown, `lap_seconds` those of the first lap of what begins anew
    by itself, 0 if it does not, and `ending` the message for the end of the input.
    """

    start: Start | None = None
    lead_in = 0
    lap_seconds = 0.0
    ending = "Reached the end"

    @property
    def is_finished(self) -> bool:
        """Return whether the input has ended."""
        return False

    @property
    def is_settled(self) -> bool:
        """Return whether the character has arrived, and would only go on standing."""
        return False

    def open(self) -> None:
        """Open the device."""

    def close(self) -> None:
        """Close the device; may be called twice."""

    def poll(self) -> None:
        """Read the device, once before the ticks of a picture."""

    def get_settings_at(self, tick: int) -> Mapping[str, Any]:
        """Return the changes of the performer's settings at a tick."""
        return {}

    def get_intent(self, situation: Situation) -> Intent:
        """Return the intent of this tick."""
        raise NotImplementedError

    def is_there(self, intent: Intent) -> bool:
        """Return whether an intent is one that a recording need wait for no longer."""
        return True

    def name_take(self, intents: Sequence[Intent]) -> str:
        """Return a telling name for a take of these intents; empty if there is none."""
        return ""

    def take_commands(self) -> list[str]:
        """Return the requests to the session since the last call, such as 'record'."""
        return []

    def take_messages(self) -> list[str]:
        """Return the messages for the user since the last call."""
        return []
