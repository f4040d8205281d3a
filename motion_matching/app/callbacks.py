"""Register callbacks in Blender: timers that run once, timers of windows, handlers, and redraws."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import bpy

from .runtime import runtime

Handlers = Iterable[tuple[Any, Callable[..., None]]]  # Blender's lists, and what is on each


def schedule(call: Callable[[], Any], seconds: float = 0.0) -> None:
    """Call something once between two redraws, if it is not scheduled and Blender has windows."""
    if not bpy.app.background and not bpy.app.timers.is_registered(call):
        bpy.app.timers.register(call, first_interval=seconds)
        runtime.scheduled.add(call)


def unschedule(call: Callable[[], Any]) -> None:
    """Cancel what is scheduled."""
    if bpy.app.timers.is_registered(call):
        bpy.app.timers.unregister(call)


def unschedule_all() -> None:
    """Cancel all that is scheduled."""
    while runtime.scheduled:
        unschedule(runtime.scheduled.pop())


def start_timer(window: bpy.types.Window, seconds: float) -> Callable[[], None]:
    """Send timer events to a window's operators; return what ends that, even without the window."""
    timer = bpy.context.window_manager.event_timer_add(seconds, window=window)
    timers = runtime.window_timers
    timers.append(timer)

    def end() -> None:
        timers.remove(timer)
        with suppress(ReferenceError):  # its window is gone
            bpy.context.window_manager.event_timer_remove(timer)

    return end


def add_handlers(handlers: Handlers) -> None:
    """Put handlers on their lists."""
    for listed, handler in handlers:
        listed.append(handler)


def remove_handlers(handlers: Handlers) -> None:
    """Remove handlers from their lists, if they are there."""
    for listed, handler in handlers:
        if handler in listed:
            listed.remove(handler)


def redraw(*kinds: str, editor: str = "VIEW_3D") -> None:
    """Redraw some kinds of regions in all 3D views, or in all editors of another type.

    The sidebars, which are the default, cost much less than the views ("WINDOW").
    """
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == editor:
                for region in area.regions:
                    if region.type in (kinds or ("UI",)):
                        region.tag_redraw()
