"""What Blender gets from this extension: one ordered list, and its exact reverse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from . import app, ui
from .app.runtime import runtime
from .ui.database import ground_paths, preview_drawing
from .ui.director import drawing as mark_drawing
from .ui.insight import charts
from .ui.insight import drawing as data_drawing
from .ui.play import drawing as live_drawing
from .ui.tags import drawing as tag_drawing
from .ui.takes import drawing as take_drawing

COMMAND = "motion_matching"

Remove = Callable[[], None]


def _add_command_line() -> Remove:
    """`blender --command motion_matching …` does what `python -m motion_matching …` does."""
    # it does return a handle
    handle = bpy.utils.register_cli_command(COMMAND, _run_command)  # type: ignore[func-returns-value]
    return lambda: bpy.utils.unregister_cli_command(handle)


def _run_command(argv: list[str]) -> int:
    from . import cli  # only commands need it and what it loads

    return cli.main(argv)


def _add_presets() -> Remove:
    """Blender's preset menus find what lies under `presets/motion_matching/`."""
    ui.presets.add_shipped()
    return ui.presets.remove_shipped


def _add_classes() -> Remove:
    """Settings, operators, lists and panels."""
    added: list[type] = []

    def remove() -> None:
        while added:
            bpy.utils.unregister_class(added.pop())

    try:
        for cls in ui.classes.ALL:
            bpy.utils.register_class(cls)
            added.append(cls)
    except Exception:
        remove()
        raise
    return remove


def _add_settings() -> Remove:
    """`object.motion_matching` holds the settings of a character, and is kept in its file."""
    owner: Any = bpy.types.Object
    # it does return a property
    owner.motion_matching = bpy.props.PointerProperty(  # type: ignore[func-returns-value]
        type=ui.properties.MotionMatchingSettings,
        name="Motion Matching",
        override={"LIBRARY_OVERRIDABLE"},
        description="Motion matching for this armature",
    )

    def remove() -> None:
        del owner.motion_matching

    return remove


def _add_menus() -> Remove:
    ui.menus.add()
    return ui.menus.remove


def _add_listeners() -> Remove:
    """Subscribe to changes; modules are loaded when something happens."""
    runtime.subscribe("database", lambda: app.database.status.mark_stale())
    for kind in ("database", "path", "selection"):
        runtime.subscribe(kind, ground_paths.schedule_refresh)
    runtime.subscribe(
        "selection", lambda: app.insight.inspector.refresh() if runtime.inspector else None
    )
    runtime.subscribe("selection", lambda: _follow_preview(lambda p: p.follow_selection()))
    runtime.subscribe("database", lambda: _follow_preview(lambda p: p.follow_changes()))
    runtime.subscribe("live", lambda: _follow_preview(lambda p: p.close()))
    runtime.subscribe(
        "selection", lambda: app.takes.playing_beside.follow_selection() if runtime.beside else None
    )
    runtime.subscribe("live", lambda: app.takes.playing_beside.stop() if runtime.beside else None)
    runtime.subscribe("live", _end_mark_preview)
    runtime.subscribe("weights", lambda: runtime.live.note_weights() if runtime.live else None)
    runtime.subscribe("live", live_drawing.follow_session)
    runtime.subscribe("tick", live_drawing.show_tick)
    return runtime.listeners.clear


def _follow_preview(follow: Callable[[Any], None]) -> None:
    """Have the preview of a source follow something, if there is one."""
    if runtime.source_preview:
        follow(app.sources.source_preview)


def _end_mark_preview() -> None:
    """End the preview of marks as a live session begins."""
    if runtime.mark_preview and runtime.live:
        app.direct.previewing.stop("Preview stopped: the character is live.")


def _add_handlers() -> Remove:
    """Follow undo, files, saving, and changes of data and of the frame."""

    def remove() -> None:
        app.handlers.stop()
        app.callbacks.unschedule_all()

    app.handlers.start()
    return remove


def _add_drawing() -> Remove:
    """Draw tags into animation editors, and the path and what is known of the data into views."""
    found = data_drawing, charts, preview_drawing, take_drawing, mark_drawing
    overlays = (each.overlay for each in found)
    parts: tuple[Any, ...] = (tag_drawing, *overlays, ground_paths)
    for part in parts:
        part.start()

    def remove() -> None:
        for part in reversed(parts):
            part.stop()

    return remove


def _add_work() -> Remove:
    """Cancel work that goes on before anything else is removed."""

    def remove() -> None:
        if runtime.mark_preview:
            app.direct.previewing.stop()
        if runtime.work:
            app.steps.stop()
        app.steps.join_threads()

    return remove


def _add_shortcuts() -> Remove:
    """In the 3D view, Ctrl Alt M starts a live session; there and in the Dope Sheet, Esc ends the \
preview of a source, and hides what plays beside a character."""
    manager: Any = bpy.context.window_manager
    config = manager.keyconfigs.addon
    if config is None:  # without a window
        return lambda: None
    view = config.keymaps.new("3D View", space_type="VIEW_3D")
    sheet = config.keymaps.new("Dopesheet", space_type="DOPESHEET_EDITOR")
    start, end, hide = (
        f"motion_matching.{name}" for name in ("start", "stop_preview", "hide_beside")
    )
    keys: Any = (
        (view, view.keymap_items.new(start, *ui.keymaps.SHORTCUT, ctrl=True, alt=True)),
        (view, view.keymap_items.new(end, "ESC", "PRESS")),
        (sheet, sheet.keymap_items.new(end, "ESC", "PRESS")),
        (view, view.keymap_items.new(hide, "ESC", "PRESS")),
        (sheet, sheet.keymap_items.new(hide, "ESC", "PRESS")),
    )

    def remove() -> None:
        for keymap, item in keys:
            keymap.keymap_items.remove(item)

    return remove


def _add_keys() -> Remove:
    """The keys of a live session are a keymap, in which the user changes them."""
    ui.preferences.create_keys()
    return ui.keymaps.remove_keys


def _add_live() -> Remove:
    """End a live session before anything else is removed."""
    return lambda: app.live.endings.stop() if runtime.live else None


# Each entry adds one thing to Blender and returns what removes it again.
ENTRIES: tuple[Callable[[], Remove], ...] = (
    _add_command_line,
    _add_presets,
    _add_classes,
    _add_settings,
    _add_menus,
    _add_listeners,
    _add_handlers,
    _add_drawing,
    _add_work,
    _add_shortcuts,
    _add_keys,
    _add_live,
)


def register() -> None:
    """Add every entry of the list in its order; if one fails, remove those before it and raise."""
    unregister()
    try:
        for add in ENTRIES:
            runtime.registered.callback(add())
    except Exception:
        unregister()
        raise


def unregister() -> None:
    """Remove what is registered, in reverse order; may be called twice."""
    runtime.close()
