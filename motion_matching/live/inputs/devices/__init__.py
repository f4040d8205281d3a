"""Devices that steer, and the controls that they share."""

from typing import TYPE_CHECKING

from ....engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import devices, gamepad, keyboard, steering
else:
    __getattr__ = load_on_use(__name__)
