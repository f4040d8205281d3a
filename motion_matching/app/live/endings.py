"""End a live session from outside, by undo, files and saving; `handlers` calls it.

Undo, and files that Blender saved automatically, also bring back what the extension had put into
the file for a while.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import bpy

from ... import app, live, scene  # whose modules load on use: every undo calls this
from ...engine.errors import MotionMatchingError
from ...engine.files import own_files
from .. import callbacks
from ..property_access import settings_of
from ..runtime import runtime


def end_by_undo() -> None:
    """End the session before an undo, which its takes outlive as recovery files."""
    session = runtime.live
    left = app.live.host.end("Undo ended the live session.", leaves_recording=True)
    if session:
        session.may_push = False
    runtime.recovery_paths.extend(left)


def recover_takes() -> None:
    """Write the takes again whose session an undo has ended."""
    if not runtime.recovery_paths:
        return
    saved = []
    words = []
    while runtime.recovery_paths:
        try:
            saved += _recover_unless_present(runtime.recovery_paths.pop(0))
        except MotionMatchingError as error:
            words.append(str(error))
    if saved:
        names = " and ".join(f"'{name}'" for name in saved)
        words.insert(0, f"{names} {'was' if len(saved) == 1 else 'were'} kept.")
        callbacks.schedule(_push_undo_step)
    runtime.end_message = " ".join(["Undo ended the live session.", *words])


def _recover_unless_present(path: Path) -> list[str]:
    """Make a recovery file a take and return its name; nothing if the undone state has it."""
    recording = scene.writing.recording
    ticks = live.recovery.read(path).ticks
    same = (float(ticks.frames[0]), ticks.lead_in, ticks.performance)
    takes = filter(recording.has_performance, bpy.data.actions)
    parts = (part for action in takes for part in recording.read_recorded_parts(action))
    if any((part["frame"], part["lead_in"], part["performance"]) == same for part in parts):
        own_files.remove(path)
        app.takes.recordings.refresh()
        return []
    return [app.takes.recordings.recover(path).name]


def clean_up() -> None:
    """Remove evaluation copies and traces of a session that undo or a file has brought back."""
    scene.blender.evaluation.evaluation.remove_evaluation_copies()
    if runtime.live is None:
        scene.controls.live.proxy_writer.remove_proxies()
        scene.writing.recording.restore_abandoned_poses()


def prepare_saving() -> None:
    """End the session, because a file is saved without one."""
    if runtime.live:
        app.live.host.end("The live session ended: the file was saved.")
    for obj in bpy.data.objects:
        if obj.type == "ARMATURE" and obj.library is None:
            _make_groups(settings_of(obj))


def _make_groups(group: Any) -> None:
    """Make the groups within a group of properties, by reading them.

    When an override is opened again, it keeps only the changes in groups that the linked file has.
    """
    for prop in group.bl_rna.properties:
        if prop.type == "POINTER" and prop.fixed_type.identifier.startswith("MotionMatching"):
            _make_groups(getattr(group, prop.identifier))


def _push_undo_step() -> None:
    bpy.ops.ed.undo_push(message="Live Take")


def _is_quitting() -> bool:
    """Return whether all extensions are being disabled: the only sign that Blender quits."""
    frame = sys._getframe()
    while frame and frame.f_code.co_name != "disable_all":
        frame = frame.f_back
    return frame is not None


def stop() -> None:
    """End the session because the extension is disabled."""
    if runtime.live:
        reason = "The live session ended: the extension was disabled."
        app.live.host.end(reason, leaves_recording=_is_quitting())
