"""Steer a character: each input turns a device, a path or a recording into intents."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import base, controls, devices, gamepad, guided, keyboard, path, replay, steering, target
else:
    __getattr__ = load_on_use(__name__)
