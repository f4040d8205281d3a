"""Gamepads through SDL2, without its video and signal handlers.

The library is loaded when a gamepad is opened. The pad touched last steers; pads can come and go.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Mapping
from typing import Any

from .devices import Controls, Device, Vector

# SDL's names of buttons by action
BUTTONS: Mapping[str, str] = {
    "run": "rightshoulder",
    "strafe": "leftshoulder",
    "push": "x",
    "tag": "y",
    "record": "start",
}
_RELEASED = ((0.0, 0.0), (0.0, 0.0))  # both sticks
_FULL = 32767.0
_REACH = 0.95  # share of its range that a stick reaches in every direction
_HINTS = {
    b"SDL_NO_SIGNAL_HANDLERS": b"1",  # Ctrl-C stays Blender's
    b"SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS": b"1",  # SDL has no window that could have the focus
    b"SDL_JOYSTICK_THREAD": b"1",  # nor a message loop, which Windows would need
}


def apply_response(x: float, y: float, dead_zone: float, curve: float) -> Vector:
    """Return a stick's deflection after a radial dead zone and a power curve, up to length 1."""
    length = math.hypot(x, y)
    if length <= dead_zone:
        return 0.0, 0.0
    far = min((length - dead_zone) / max(_REACH - dead_zone, 1e-6), 1.0) ** curve
    return far * x / length, far * y / length


class Gamepad(Device):
    """The controls of the connected gamepads; neutral if there is no pad or no library.

    `buttons` are SDL's names by action. `response` is the dead zone of sticks, below 0.9, and their
    curve: above 1 it gives finer control of slow movement. Messages report a pad that was connected
    or disconnected, or why none can be.
    """

    label = "Gamepad"

    def __init__(
        self, buttons: Mapping[str, str] | None = None, hold: Collection[str] = ()
    ) -> None:
        super().__init__(hold)
        self.response = 0.15, 1.5
        self._buttons = {**BUTTONS, **(buttons or {})}
        self._sdl: Any = None
        self._pads: dict[int, Any] = {}  # by SDL's instance
        self._steering: int | None = None
        self._codes: dict[str, int] = {}
        self._down: set[str] = set()
        self._sticks: tuple[Vector, Vector] = _RELEASED

    def open(self) -> None:
        """Load SDL, if there is one, and find the pads."""
        if self._sdl is not None:
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it warns where its library is
                import sdl2
        except ImportError:
            self._messages.append(
                "No gamepad: the SDL2 library is not installed. The keyboard steers."
            )
            return
        for action, button in self._buttons.items():
            self._codes[action] = sdl2.SDL_GameControllerGetButtonFromString(button.encode())
        for hint, value in _HINTS.items():
            sdl2.SDL_SetHint(hint, value)
        if sdl2.SDL_InitSubSystem(sdl2.SDL_INIT_JOYSTICK | sdl2.SDL_INIT_GAMECONTROLLER) != 0:
            self._messages.append(
                f"No gamepad: SDL2 does not start ({sdl2.SDL_GetError().decode()}). The keyboard "
                "steers."
            )
            return
        # states are polled; events that nobody reads would pile up
        sdl2.SDL_JoystickEventState(sdl2.SDL_IGNORE)
        sdl2.SDL_GameControllerEventState(sdl2.SDL_IGNORE)
        self._sdl = sdl2
        self._look_for_pads()

    def close(self) -> None:
        """Close all pads; may be called twice."""
        sdl = self._sdl
        self._sdl = None
        if sdl is None:
            return
        for pad in self._pads.values():
            sdl.SDL_GameControllerClose(pad)
        self._pads = {}
        self._steering = None
        self.release_all()
        sdl.SDL_QuitSubSystem(sdl.SDL_INIT_JOYSTICK | sdl.SDL_INIT_GAMECONTROLLER)

    def poll(self) -> None:
        """Read the pads."""
        if self._sdl is None:
            return
        self._sdl.SDL_GameControllerUpdate()
        self._look_for_pads()
        for instance in self._pads:
            if instance != self._steering and self._is_touched(instance):
                self.release_all()
                self._steering = instance
        if self._steering is not None:
            self._sticks = self._read_sticks(self._steering)
            self._read_buttons(self._pads[self._steering])

    def read_controls(self) -> Controls:
        """Return the current controls; a push is reported once."""
        (x, y), (face_x, face_y) = self._sticks
        return self.make_controls((-x + 0.0, -y + 0.0), (-face_x + 0.0, -face_y + 0.0))

    def _look_for_pads(self) -> None:
        sdl = self._sdl
        for instance, pad in list(self._pads.items()):
            if not sdl.SDL_GameControllerGetAttached(pad):
                self._messages.append(f"The gamepad '{self._get_name(pad)}' was disconnected.")
                sdl.SDL_GameControllerClose(pad)
                del self._pads[instance]
                if self._steering == instance:
                    self._steering = None
                    self.release_all()
        for number in range(sdl.SDL_NumJoysticks()):
            instance = sdl.SDL_JoystickGetDeviceInstanceID(number)
            if instance in self._pads or not sdl.SDL_IsGameController(number):
                continue
            if pad := sdl.SDL_GameControllerOpen(number):
                self._pads[instance] = pad
                self._messages.append(f"The gamepad '{self._get_name(pad)}' is connected.")

    def _get_name(self, pad: Any) -> str:
        return (self._sdl.SDL_GameControllerName(pad) or b"unknown").decode(errors="replace")

    def _is_touched(self, instance: int) -> bool:
        pad = self._pads[instance]
        is_down = self._sdl.SDL_GameControllerGetButton
        buttons = any(is_down(pad, code) for code in self._codes.values())
        return buttons or self._read_sticks(instance) != _RELEASED

    def _read_sticks(self, instance: int) -> tuple[Vector, Vector]:
        """Return both sticks (right, down) after the response curve."""
        pad = self._pads[instance]
        read = self._sdl.SDL_GameControllerGetAxis
        x, y, face_x, face_y = (max(read(pad, axis) / _FULL, -1.0) for axis in range(4))
        return apply_response(x, y, *self.response), apply_response(face_x, face_y, *self.response)

    def _read_buttons(self, pad: Any) -> None:
        for action, code in self._codes.items():
            is_down = bool(self._sdl.SDL_GameControllerGetButton(pad, code))
            if is_down and action not in self._down:
                self._down.add(action)
                self.press(action)
            elif not is_down and action in self._down:
                self._down.discard(action)
                self.release(action)

    def release_all(self) -> None:
        super().release_all()
        self._sticks = _RELEASED
        self._down.clear()
