"""Choose whether Blender files may run scripts, and name the drivers that stand still without."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from .loading import load_blender


@contextmanager
def limit_scripts(allow: bool) -> Iterator[list[str]]:
    """Let files that are opened in the block run scripts, or not; the user's choice comes back.

    Yields the names of drivers that are Python and do not run, which fills as files are opened.
    """
    load_blender()
    bpy: Any = import_module("bpy")
    stopped = list[str]()

    @bpy.app.handlers.persistent
    def note(*opened: object) -> None:
        stopped.extend(_list_stopped(bpy.data))

    handlers = bpy.app.handlers.load_post
    paths = bpy.context.preferences.filepaths
    before = paths.use_scripts_auto_execute
    paths.use_scripts_auto_execute = allow
    if not allow:
        handlers.append(note)
    try:
        yield stopped
    finally:
        bpy.context.preferences.filepaths.use_scripts_auto_execute = before
        if note in handlers:
            handlers.remove(note)


def _list_stopped(data: Any) -> Iterator[str]:
    """Yield the drivers of objects and armatures that only Python can compute."""
    for block in (*data.objects, *data.armatures):
        for curve in block.animation_data.drivers if block.animation_data else ():
            driver = curve.driver
            if driver.type == "SCRIPTED" and not driver.is_simple_expression:
                yield f"'{driver.expression}' of '{block.name}' ({curve.data_path})"
