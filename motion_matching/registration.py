"""What Blender gets from this extension: one ordered list, and its exact reverse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

COMMAND = "motion_matching"


def _add_command_line() -> Callable[[], None]:
    """`blender --command motion_matching …` does what `python -m motion_matching …` does."""
    import bpy

    # it does
    handle = bpy.utils.register_cli_command(COMMAND, _run_command)  # type: ignore[func-returns-value]
    return lambda: bpy.utils.unregister_cli_command(handle)


def _run_command(argv: list[str]) -> int:
    from . import cli  # brings numpy and, with most commands, scipy: not before they are asked for

    return cli.main(argv)


def _add_presets() -> Callable[[], None]:
    """Blender's preset menus find what lies under `presets/motion_matching/`."""
    from .ui import presets

    presets.add_shipped()
    return presets.remove_shipped


def _add_classes() -> Callable[[], None]:
    """Settings, operators, lists and panels."""
    import bpy

    from .ui import classes

    added: list[type] = []

    def remove() -> None:
        while added:
            bpy.utils.unregister_class(added.pop())

    try:
        for cls in classes.ALL:
            bpy.utils.register_class(cls)
            added.append(cls)
    except Exception:
        remove()
        raise
    return remove


def _add_settings() -> Callable[[], None]:
    """`object.motion_matching` holds the settings of a character, and is kept in its file."""
    import bpy

    from .ui import properties

    owner: Any = bpy.types.Object
    # it does
    owner.motion_matching = bpy.props.PointerProperty(  # type: ignore[func-returns-value]
        type=properties.MotionMatchingSettings,
        name="Motion Matching",
        override={"LIBRARY_OVERRIDABLE"},
        description="Motion matching of this armature",
    )

    def remove() -> None:
        del owner.motion_matching

    return remove


def _add_tag_bands() -> Callable[[], None]:
    """Tags are drawn into the Dope Sheet and the Timeline."""
    from .ui.tags import drawing as tags_drawing

    tags_drawing.start()
    return tags_drawing.stop


def _add_menus() -> Callable[[], None]:
    from .ui import menus

    menus.add()
    return menus.remove


def _add_listeners() -> Callable[[], None]:
    """Say who is told of what; modules are loaded when something happens."""
    from . import app, ui
    from .app.runtime import runtime

    runtime.subscribe("database", lambda: app.status.mark_stale())
    runtime.subscribe("database", lambda: runtime.curves.clear())
    runtime.subscribe("database", lambda: ui.database.ground_paths.schedule_refresh())
    runtime.subscribe("path", lambda: ui.database.ground_paths.schedule_refresh())
    runtime.subscribe("selection", lambda: ui.database.ground_paths.schedule_refresh())
    runtime.subscribe("selection", lambda: app.inspector.refresh() if runtime.inspector else None)
    runtime.subscribe("weights", lambda: runtime.live.note_weights() if runtime.live else None)
    runtime.subscribe("live", lambda: ui.play.drawing.follow_session())
    runtime.subscribe("tick", lambda live, frame: ui.play.drawing.show_tick(live, frame))
    return runtime.listeners.clear


def _add_handlers() -> Callable[[], None]:
    """Follow undo, files, saving, and changes of data and of the frame."""
    from .app import callbacks, handlers

    def remove() -> None:
        handlers.stop()
        callbacks.unschedule_all()

    handlers.start()
    return remove


def _add_drawing() -> Callable[[], None]:
    """Draw what is known of the data, and the path of the simulation bone, into the 3D views."""
    from .ui.database import ground_paths
    from .ui.insight import charts, learning_drawing
    from .ui.insight import drawing as insight_drawing

    parts: Any = (insight_drawing.overlay, charts.overlay, learning_drawing, ground_paths)
    for part in parts:
        part.start()

    def remove() -> None:
        for part in reversed(parts):
            part.stop()

    return remove


def _add_work() -> Callable[[], None]:
    """Work that goes on is cancelled before anything else is taken back."""
    from . import app
    from .app.runtime import runtime

    return lambda: app.steps.stop() if runtime.work else None


def _add_shortcut() -> Callable[[], None]:
    """Ctrl Alt M in the 3D view starts a live session."""
    import bpy

    from .ui.play.operators import MOTION_MATCHING_OT_start

    manager: Any = bpy.context.window_manager
    config = manager.keyconfigs.addon
    if config is None:  # without a window
        return lambda: None
    keymap = config.keymaps.new("3D View", space_type="VIEW_3D")
    item = keymap.keymap_items.new(
        MOTION_MATCHING_OT_start.bl_idname, "M", "PRESS", ctrl=True, alt=True
    )
    return lambda: keymap.keymap_items.remove(item)


def _add_live() -> Callable[[], None]:
    """A live session ends before anything else is taken back."""
    from . import app
    from .app.runtime import runtime

    return lambda: app.live.endings.stop() if runtime.live else None


# Each entry adds one thing to Blender and returns what takes it back.
ENTRIES: tuple[Callable[[], Callable[[], None]], ...] = (
    _add_command_line,
    _add_presets,
    _add_classes,
    _add_settings,
    _add_menus,
    _add_tag_bands,
    _add_listeners,
    _add_handlers,
    _add_drawing,
    _add_work,
    _add_shortcut,
    _add_live,
)


def register() -> None:
    """Add every entry of the list, in its order; where one fails, take back those before it and
    raise.
    """
    from .app.runtime import runtime

    unregister()
    try:
        for add in ENTRIES:
            runtime.registered.callback(add())
    except Exception:
        unregister()
        raise


def unregister() -> None:
    """Take back what is registered, in reverse order; once nothing is, do nothing."""
    from .app.runtime import runtime

    runtime.close()
