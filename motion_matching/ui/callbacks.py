"""What Blender calls back, added once and taken back: timers that run once, timers of windows, and handlers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import bpy

Handlers = Iterable[tuple[Any, Callable[..., None]]]  # Blender's lists, and what is on each

ticking: list[bpy.types.Timer] = []  # of windows; Blender does not list them


def soon(call: Callable[[], Any], seconds: float = 0.0) -> None:
    """Have something called between two redraws, unless it will be; never without windows."""
    if not bpy.app.background and not bpy.app.timers.is_registered(call):
        bpy.app.timers.register(call, first_interval=seconds)


def not_soon(call: Callable[[], Any]) -> None:
    """Have it not called after all."""
    if bpy.app.timers.is_registered(call):
        bpy.app.timers.unregister(call)


def tick(window: bpy.types.Window, seconds: float) -> Callable[[], None]:
    """Have a window's operators hear of a timer; returns what ends that, also once the window is closed."""
    timer = bpy.context.window_manager.event_timer_add(seconds, window=window)
    ticking.append(timer)

    def end() -> None:
        ticking.remove(timer)
        with suppress(ReferenceError):  # its window is gone
            bpy.context.window_manager.event_timer_remove(timer)

    return end


def listen(handlers: Handlers) -> None:
    """Put handlers on their lists."""
    for listed, handler in handlers:
        listed.append(handler)


def unlisten(handlers: Handlers) -> None:
    """Take handlers off their lists, where they still are."""
    for listed, handler in handlers:
        if handler in listed:
            listed.remove(handler)
