"""What Blender calls back, added once and taken back: timers that run once, and handlers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import bpy

Handlers = Iterable[tuple[Any, Callable[..., None]]]  # Blender's lists, and what is on each


def soon(call: Callable[[], Any], seconds: float = 0.0) -> None:
    """Have something called between two redraws, unless it will be; never without windows."""
    if not bpy.app.background and not bpy.app.timers.is_registered(call):
        bpy.app.timers.register(call, first_interval=seconds)


def not_soon(call: Callable[[], Any]) -> None:
    """Have it not called after all."""
    if bpy.app.timers.is_registered(call):
        bpy.app.timers.unregister(call)


def listen(handlers: Handlers) -> None:
    """Put handlers on their lists."""
    for listed, handler in handlers:
        listed.append(handler)


def unlisten(handlers: Handlers) -> None:
    """Take handlers off their lists, where they still are."""
    for listed, handler in handlers:
        if handler in listed:
            listed.remove(handler)
