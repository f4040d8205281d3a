"""Handle Blender's callbacks: undo, files, saving, and changes of data and of the frame.

They are there from `register` to `unregister`, and say in one place who follows what. A handler
that took itself off its list would have Blender skip the next one. Modules that they call are
loaded when they are first needed.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent

from .. import app
from . import callbacks
from .runtime import runtime

_STARTUP_DELAY = 1.0  # seconds after which the open file and cut-off recordings are looked at


@persistent
def _after_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if runtime.action_digests and depsgraph.id_type_updated("ACTION"):
        uids = (update.id.original.session_uid for update in depsgraph.updates)
        runtime.action_digests.forget(uids)
    # to Blender, every pose that a session shows changes the armature: only the restored one counts
    if runtime.live:
        runtime.live.curve.note_update(depsgraph)
    elif runtime.statuses.by_uid:
        app.database.status.check_update(depsgraph)


@persistent
def _after_frame_change(scene: bpy.types.Scene, *_: Any) -> None:
    if runtime.inspector and runtime.trail is None:
        app.insight.inspector.follow_frame()
    if runtime.live:
        runtime.live.handle_frame_change(scene)


@persistent
def _before_undo(*_: Any) -> None:
    if runtime.live:
        app.live.endings.end_by_undo()


@persistent
def _after_undo(*_: Any) -> None:
    _forget_data()
    if runtime.source_preview:
        app.sources.source_preview.follow_changes()
    if runtime.beside:
        app.takes.playing_beside.follow_changes()
    app.live.endings.clean_up()
    app.live.endings.recover_takes()


@persistent
def _before_load(*_: Any) -> None:
    if runtime.inspector:
        app.insight.inspector.close()
    if runtime.source_preview:
        app.sources.source_preview.close()
    if runtime.beside:
        app.takes.playing_beside.stop()
    if runtime.mark_preview or runtime.mark_preview_end:
        app.direct.previewing.stop()
    if runtime.live:
        reason = "The live session ended: another file was opened."
        app.live.host.end(reason, leaves_recording=True)


@persistent
def _after_load(*_: Any) -> None:
    app.loaded_settings.repair_all()  # first, for all that reads them
    _forget_data()
    runtime.coverage_reports.clear()
    runtime.pose_maps.clear()
    app.live.endings.clean_up()  # Blender saves files on its own while live
    app.takes.recordings.refresh()


@persistent
def _after_import(*_: Any) -> None:
    """Blocks were appended or linked."""
    app.loaded_settings.repair_all()


@persistent
def _before_save(path: str = "", *_: Any) -> None:
    app.sources.source_files.store_relative_paths(path)
    app.live.endings.prepare_saving()


def _forget_data() -> None:
    """After undo, redo and loading, other data may have the known names."""
    statuses = runtime.statuses
    statuses.refresh = None
    statuses.change_count += 1
    if runtime.action_digests:
        runtime.action_digests.clear()
    for known in (statuses.by_uid, statuses.stale, statuses.watched):
        known.clear()


def _get_handlers() -> callbacks.Handlers:
    on = bpy.app.handlers
    imported = getattr(on, "blend_import_post", None)  # not in Blender 4.2
    return (
        *([] if imported is None else [(imported, _after_import)]),
        (on.depsgraph_update_post, _after_update),
        (on.frame_change_post, _after_frame_change),
        (on.undo_pre, _before_undo),
        (on.redo_pre, _before_undo),
        (on.undo_post, _after_undo),
        (on.redo_post, _after_undo),
        (on.load_pre, _before_load),
        (on.load_post, _after_load),
        (on.save_pre, _before_save),
    )


def _look_at_start() -> None:
    app.loaded_settings.repair_all()  # of the file that was open before
    app.takes.recordings.refresh()


def start() -> None:
    """Follow what happens in Blender."""
    callbacks.add_handlers(_get_handlers())
    callbacks.schedule(_look_at_start, _STARTUP_DELAY)


def stop() -> None:
    """Follow nothing any more."""
    callbacks.remove_handlers(_get_handlers())
