"""Steer a character: each input turns a device, a path or a recording into intents."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import base, devices, leaders
else:
    __getattr__ = load_on_use(__name__)
