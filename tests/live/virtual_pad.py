"""Gamepads without hardware: SDL's virtual joysticks, read by the real library."""

from __future__ import annotations

import ctypes
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import sdl2

_SYSTEMS = sdl2.SDL_INIT_JOYSTICK | sdl2.SDL_INIT_GAMECONTROLLER


class VirtualPad:
    """A pad that is connected within the block; values act from SDL's next update on."""

    def __init__(self, name: str = "Virtual Pad") -> None:
        self._name = name.encode()

    def __enter__(self) -> VirtualPad:
        sdl2.SDL_InitSubSystem(_SYSTEMS)
        description = sdl2.SDL_VirtualJoystickDesc()
        description.version = sdl2.SDL_VIRTUAL_JOYSTICK_DESC_VERSION
        description.type = sdl2.SDL_JOYSTICK_TYPE_GAMECONTROLLER
        description.naxes, description.nbuttons = 6, 15
        description.vendor_id, description.product_id = 0x045E, 0x028E
        description.axis_mask, description.button_mask = (1 << 6) - 1, (1 << 15) - 1
        description.name = self._name
        number = sdl2.SDL_JoystickAttachVirtualEx(ctypes.byref(description))
        assert number >= 0, sdl2.SDL_GetError()
        self._instance = sdl2.SDL_JoystickGetDeviceInstanceID(number)
        self._joystick = sdl2.SDL_JoystickOpen(number)
        return self

    def push_stick(self, x: float, y: float, right: bool = False) -> None:
        """Push a stick: x to the right, y away from the player; 1 is fully deflected."""
        first = 2 if right else 0
        sdl2.SDL_JoystickSetVirtualAxis(self._joystick, first, round(32767 * x))
        sdl2.SDL_JoystickSetVirtualAxis(self._joystick, first + 1, round(-32767 * y))

    def set_button(self, name: str, is_down: bool) -> None:
        code = sdl2.SDL_GameControllerGetButtonFromString(name.encode())
        sdl2.SDL_JoystickSetVirtualButton(self._joystick, code, int(is_down))

    def unplug(self) -> None:
        for number in range(sdl2.SDL_NumJoysticks()):
            if sdl2.SDL_JoystickGetDeviceInstanceID(number) == self._instance:
                sdl2.SDL_JoystickDetachVirtual(number)
                return

    def __exit__(self, *_: object) -> None:
        self.unplug()
        sdl2.SDL_JoystickClose(self._joystick)
        sdl2.SDL_QuitSubSystem(_SYSTEMS)
