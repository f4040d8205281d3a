"""What Blender gets from this extension: one ordered list, and its exact reverse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

COMMAND = "motion_matching"

_undo: list[
    Callable[[], None]
] = []  # how to take back what is registered now, in the order it was added


def _command_line() -> Callable[[], None]:
    """`blender --command motion_matching …` does what `python -m motion_matching …` does."""
    import bpy

    handle = bpy.utils.register_cli_command(COMMAND, _run_command)  # type: ignore[func-returns-value]  # it does
    return lambda: bpy.utils.unregister_cli_command(handle)


def _run_command(argv: list[str]) -> int:
    from . import cli  # brings numpy and, with most commands, scipy: not before they are asked for

    return cli.main(argv)


def _presets() -> Callable[[], None]:
    """Blender's preset menus find what lies under `presets/motion_matching/`."""
    from .ui import operators_presets

    operators_presets.add_shipped()
    return operators_presets.remove_shipped


def _classes() -> Callable[[], None]:
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


def _settings() -> Callable[[], None]:
    """`object.motion_matching` holds the settings of a character, and is kept in its file."""
    import bpy

    from .ui import properties

    owner: Any = bpy.types.Object
    owner.motion_matching = bpy.props.PointerProperty(  # type: ignore[func-returns-value]  # it does
        type=properties.MotionMatchingSettings,
        name="Motion Matching",
        override={"LIBRARY_OVERRIDABLE"},
        description="Motion matching of this armature",
    )

    def remove() -> None:
        del owner.motion_matching

    return remove


def _tag_bands() -> Callable[[], None]:
    """Tags are drawn into the Dope Sheet and the Timeline."""
    from .ui import tag_bands

    tag_bands.start()
    return tag_bands.stop


def _source_files() -> Callable[[], None]:
    """Files of sources are found where the Blender file has moved along with them."""
    from .ui import source_files

    source_files.start()
    return source_files.stop


def _menus() -> Callable[[], None]:
    from .ui import menus

    menus.add()
    return menus.remove


def _status() -> Callable[[], None]:
    """Panels show how databases stand: changes are followed."""
    from .ui import rig_status, status

    def stop() -> None:
        rig_status.stop()
        status.stop()

    status.start()
    return stop


def _ground_paths() -> Callable[[], None]:
    """The path of the simulation bone is drawn where that is wanted."""
    from .ui import ground_paths

    ground_paths.start()
    return ground_paths.stop


def _work() -> Callable[[], None]:
    """What is going on is given up before anything else is taken back."""
    from .ui import work

    return work.stop


def _insight() -> Callable[[], None]:
    """What was found out about the data is drawn, and forgotten with the file."""
    from .ui import charts, insight, insight_drawing, inspector, learning_drawing

    for part in (insight, inspector, insight_drawing, charts, learning_drawing):
        part.start()

    def remove() -> None:
        for part in (learning_drawing, charts, insight_drawing, inspector, insight):
            part.stop()

    return remove


def _shortcut() -> Callable[[], None]:
    """Ctrl Alt M in the 3D view starts a live session."""
    import bpy

    from .ui.operators_live import MOTION_MATCHING_OT_start

    manager: Any = bpy.context.window_manager
    config = manager.keyconfigs.addon
    if config is None:  # without a window
        return lambda: None
    keymap = config.keymaps.new("3D View", space_type="VIEW_3D")
    item = keymap.keymap_items.new(
        MOTION_MATCHING_OT_start.bl_idname, "M", "PRESS", ctrl=True, alt=True
    )
    return lambda: keymap.keymap_items.remove(item)


def _live() -> Callable[[], None]:
    """A live session ends before anything else is taken back."""
    from .ui import endings

    endings.start()
    return endings.stop


# Each entry adds one thing to Blender and returns what takes it back.
REGISTERED: tuple[Callable[[], Callable[[], None]], ...] = (
    _command_line,
    _presets,
    _classes,
    _settings,
    _source_files,
    _menus,
    _tag_bands,
    _status,
    _insight,
    _ground_paths,
    _work,
    _shortcut,
    _live,
)


def register() -> None:
    """Add every entry of the list, in its order; where one fails, take back those before it and raise."""
    unregister()
    try:
        for add in REGISTERED:
            _undo.append(add())
    except Exception:
        unregister()
        raise


def unregister() -> None:
    """Take back what is registered, in reverse order; once nothing is, do nothing."""
    while _undo:
        _undo.pop()()
