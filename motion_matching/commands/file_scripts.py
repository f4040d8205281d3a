"""Choose whether Blender files may run scripts, and name the drivers that fail without."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from .loading import load_blender


@contextmanager
def limit_scripts(allow: bool) -> Iterator[list[str]]:
    """Let files that are opened in the block run scripts, or not; the user's choice comes back.

    Yields the names of drivers that fail without, a list that fills as files are opened.
    """
    load_blender()
    bpy: Any = import_module("bpy")
    stopped = list[str]()

    @bpy.app.handlers.persistent
    def note(*opened: object) -> None:
        bpy.context.view_layer.update()  # drivers know only then that they fail
        stopped.extend(_list_failing(bpy.data))

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


def _list_failing(data: Any) -> Iterator[str]:
    """Yield the drivers of objects and armatures that could not be computed."""
    for block in (*data.objects, *data.armatures):
        for curve in block.animation_data.drivers if block.animation_data else ():
            if not curve.driver.is_valid:
                yield f"'{curve.driver.expression}' of '{block.name}' ({curve.data_path})"
