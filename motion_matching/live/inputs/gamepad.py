"""Gamepads through SDL2: joysticks and controllers only, without video, without signal handlers.

The library is loaded when a gamepad is opened, and not before. The pad that was touched last steers; pads come and go.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...engine.errors import SettingsError
from .controls import Controls, Switch, Vector

# SDL's names of buttons by action
BUTTONS: Mapping[str, str] = {
    "run": "rightshoulder",
    "strafe": "leftshoulder",
    "push": "x",
    "tag": "y",
    "record": "start",
}
_SWITCHED = ("run", "strafe")
_FULL = 32767.0
_REACH = 0.95  # of its way that a stick surely reaches in every direction
_HINTS = {
    b"SDL_NO_SIGNAL_HANDLERS": b"1",  # Ctrl-C stays Blender's
    b"SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS": b"1",  # there is no window of SDL's that could have the focus
    b"SDL_JOYSTICK_THREAD": b"1",  # nor a loop of messages, which Windows would need
}


def response(x: float, y: float, dead_zone: float, curve: float) -> Vector:
    """A stick's deflection with a radial dead zone: nothing inside, then up to 1 as a power, in the same direction."""
    length = math.hypot(x, y)
    if length <= dead_zone:
        return 0.0, 0.0
    far = min((length - dead_zone) / max(_REACH - dead_zone, 1e-6), 1.0) ** curve
    return far * x / length, far * y / length


@dataclass(frozen=True)
class PadSettings:
    """How a pad answers. Above 1, `curve` gives finer control of slow movement.

    `buttons` by action, as SDL names them; `hold` names those of 'run' and 'strafe' that count while held.
    """

    dead_zone: float = 0.15
    curve: float = 1.5
    buttons: Mapping[str, str] = field(default_factory=dict)
    hold: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0.0 <= self.dead_zone < 0.9:
            raise SettingsError(
                f"The dead zone of the gamepad is {self.dead_zone}; give a number from 0 to 0.9."
            )
        if not 0.1 <= self.curve <= 10.0:
            raise SettingsError(
                f"The response curve of the gamepad is {self.curve}; give a number from 0.1 to 10."
            )
        if unknown := sorted(set(self.buttons) - set(BUTTONS)):
            raise SettingsError(
                f"There is no action '{unknown[0]}' to bind buttons to; known are {', '.join(BUTTONS)}."
            )


class Gamepad:
    """Controls from the gamepads that are connected; none, where there is no pad or no library.

    `messages` says in one line what changed: a pad that came or went, or why there is none.
    """

    def __init__(self, settings: PadSettings | None = None) -> None:
        self._settings = settings or PadSettings()
        self._sdl: Any = None
        self._pads: dict[int, Any] = {}  # by SDL's instance
        self._steering: int | None = None
        self._codes: dict[str, int] = {}
        self._down: set[str] = set()
        self._switches = {action: Switch(action in self._settings.hold) for action in _SWITCHED}
        self._sticks: tuple[Vector, Vector] = ((0.0, 0.0), (0.0, 0.0))
        self._push = False
        self._commands: list[str] = []
        self._messages: list[str] = []

    def open(self) -> None:
        """Load SDL and find the pads. SettingsError for a button that SDL does not know; its absence is a message."""
        if self._sdl is not None:
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it tells where its library lies
                import sdl2
        except ImportError:
            self._messages.append(
                "No gamepad: the SDL2 library is not installed. The keyboard steers."
            )
            return
        for action, button in {**BUTTONS, **self._settings.buttons}.items():
            self._codes[action] = sdl2.SDL_GameControllerGetButtonFromString(button.encode())
            if self._codes[action] == sdl2.SDL_CONTROLLER_BUTTON_INVALID:
                raise SettingsError(
                    f"The gamepad has no button '{button}' for '{action}'; use SDL's names, such as 'a', "
                    "'leftshoulder' or 'start'."
                )
        for hint, value in _HINTS.items():
            sdl2.SDL_SetHint(hint, value)
        if sdl2.SDL_InitSubSystem(sdl2.SDL_INIT_JOYSTICK | sdl2.SDL_INIT_GAMECONTROLLER) != 0:
            self._messages.append(
                f"No gamepad: SDL2 does not start ({sdl2.SDL_GetError().decode()}). The keyboard steers."
            )
            return
        # states are asked for; events that nobody takes would pile up
        sdl2.SDL_JoystickEventState(sdl2.SDL_IGNORE)
        sdl2.SDL_GameControllerEventState(sdl2.SDL_IGNORE)
        self._sdl = sdl2
        self._look_for_pads()
        if not self._pads:
            self._messages.append("No gamepad is connected. The keyboard steers until one is.")

    def close(self) -> None:
        """Let go of all pads; may be called twice."""
        sdl, self._sdl = self._sdl, None
        if sdl is None:
            return
        for pad in self._pads.values():
            sdl.SDL_GameControllerClose(pad)
        self._pads, self._steering = {}, None
        self._let_go()
        sdl.SDL_QuitSubSystem(sdl.SDL_INIT_JOYSTICK | sdl.SDL_INIT_GAMECONTROLLER)

    def poll(self) -> None:
        """Look at the pads."""
        if self._sdl is None:
            return
        self._sdl.SDL_GameControllerUpdate()
        self._look_for_pads()
        for instance in self._pads:
            if instance != self._steering and self._is_touched(instance):
                self._let_go()
                self._steering = instance
        if self._steering is not None:
            self._sticks = self._read_sticks(self._steering)
            self._read_buttons(self._pads[self._steering])

    def controls(self) -> Controls:
        """What is asked for now; a push is reported once."""
        (x, y), (face_x, face_y) = self._sticks
        push, self._push = self._push, False
        return Controls(
            (-x + 0.0, -y + 0.0),
            (-face_x + 0.0, -face_y + 0.0),
            self._switches["run"].is_on,
            self._switches["strafe"].is_on,
            push,
        )

    def take_commands(self) -> list[str]:
        commands, self._commands = self._commands, []
        return commands

    def take_messages(self) -> list[str]:
        messages, self._messages = self._messages, []
        return messages

    def _look_for_pads(self) -> None:
        sdl = self._sdl
        for instance, pad in list(self._pads.items()):
            if not sdl.SDL_GameControllerGetAttached(pad):
                self._messages.append(f"The gamepad '{self._name(pad)}' was disconnected.")
                sdl.SDL_GameControllerClose(pad)
                del self._pads[instance]
                if self._steering == instance:
                    self._steering = None
                    self._let_go()
        for number in range(sdl.SDL_NumJoysticks()):
            instance = sdl.SDL_JoystickGetDeviceInstanceID(number)
            if instance in self._pads or not sdl.SDL_IsGameController(number):
                continue
            if pad := sdl.SDL_GameControllerOpen(number):
                self._pads[instance] = pad
                self._messages.append(f"The gamepad '{self._name(pad)}' is connected.")

    def _name(self, pad: Any) -> str:
        return (self._sdl.SDL_GameControllerName(pad) or b"unknown").decode(errors="replace")

    def _is_touched(self, instance: int) -> bool:
        pad = self._pads[instance]
        buttons = any(
            self._sdl.SDL_GameControllerGetButton(pad, code) for code in self._codes.values()
        )
        return buttons or self._read_sticks(instance) != ((0.0, 0.0), (0.0, 0.0))

    def _read_sticks(self, instance: int) -> tuple[Vector, Vector]:
        """Both sticks, to the right and down, as the response has them."""
        pad, read, settings = (
            self._pads[instance],
            self._sdl.SDL_GameControllerGetAxis,
            self._settings,
        )
        x, y, face_x, face_y = (max(read(pad, axis) / _FULL, -1.0) for axis in range(4))
        move = response(x, y, settings.dead_zone, settings.curve)
        return move, response(face_x, face_y, settings.dead_zone, settings.curve)

    def _read_buttons(self, pad: Any) -> None:
        for action, code in self._codes.items():
            is_down = bool(self._sdl.SDL_GameControllerGetButton(pad, code))
            if is_down and action not in self._down:
                self._down.add(action)
                self._press(action)
            elif not is_down and action in self._down:
                self._down.discard(action)
                if action in self._switches:
                    self._switches[action].release()

    def _press(self, action: str) -> None:
        if action in self._switches:
            self._switches[action].press()
        elif action == "push":
            self._push = True
        else:
            self._commands.append(action)

    def _let_go(self) -> None:
        """Nobody holds a stick or a button."""
        self._sticks = ((0.0, 0.0), (0.0, 0.0))
        self._down.clear()
        for switch in self._switches.values():
            switch.release()
