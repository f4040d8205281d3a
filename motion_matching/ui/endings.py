"""What ends a live session from outside: undo, files, saving. And what it lives through: a change of frame.

Undo and files that Blender saved on its own also bring back what work of the extension had in the file for a while.

The handlers are there while the extension is, and do nothing without a session: a handler that took itself off its list
would have Blender skip the next one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..engine.errors import MotionMatchingError
from . import callbacks, performing, recordings
from .property_options import make_groups

_AT_START = 1.0  # seconds after which recordings that were cut off are looked for
_undone: list[
    Path
] = []  # takes of the session that an undo has ended, and the recording that it has cut off


@persistent
def _before_undo(*_: Any) -> None:
    live = performing.current
    left = performing.end("Undo has ended the live session.", leaves_recording=True)
    if live:
        live.may_push = False
    _undone.extend(left)


@persistent
def _after_undo(*_: Any) -> None:
    """Steps that were made while live give back what was found, and takes outlive the undo that ended their session."""
    _clear_up()
    if not _undone:
        return
    kept, words = [], []
    while _undone:
        try:
            kept += _kept(_undone.pop(0))
        except MotionMatchingError as error:
            words.append(str(error))
    if kept:
        names = " and ".join(f"'{name}'" for name in kept)
        words.insert(0, f"{names} {'was' if len(kept) == 1 else 'were'} kept.")
        callbacks.soon(_push)
    performing.last_words = " ".join(["Undo has ended the live session.", *words])


def _kept(path: Path) -> list[str]:
    """The name of the take that a recovery file was made into, none where the step that undo went to has it already."""
    from ..live import recovery
    from ..scene.recording import knows_performance, recorded_parts

    ticks = recovery.read(path).ticks
    same = (float(ticks.frames[0]), ticks.lead_in, ticks.performance)
    takes = filter(knows_performance, bpy.data.actions)
    parts = (part for action in takes for part in recorded_parts(action))
    if any((part["frame"], part["lead_in"], part["performance"]) == same for part in parts):
        path.unlink(missing_ok=True)
        recordings.look()
        return []
    return [recordings.recover(path).name]


def _clear_up() -> None:
    from ..scene import evaluation, undone

    evaluation.remove_doubles()
    if performing.current is None:
        undone.give_back_all()


@persistent
def _before_load(*_: Any) -> None:
    performing.end(
        "Another file was opened, and the live session has ended.", leaves_recording=True
    )


@persistent
def _after_load(*_: Any) -> None:
    _clear_up()  # Blender saves files on its own while live
    recordings.look()


@persistent
def _before_save(*_: Any) -> None:
    # what is saved is the file without a session
    performing.end("The file was saved, and the live session has ended.")
    for obj in bpy.data.objects:
        if obj.type == "ARMATURE" and obj.library is None:
            make_groups(obj.motion_matching)


@persistent
def _after_frame(scene: bpy.types.Scene, *_: Any) -> None:
    if performing.current:
        performing.current.frame_changed(scene)


def _push() -> None:
    bpy.ops.ed.undo_push(message="Live Take")


def _look() -> None:
    recordings.look()


def _quits() -> bool:
    """Whether all extensions are being disabled: Blender does that when it quits, and tells it in no other way."""
    frame = sys._getframe()
    while frame and frame.f_code.co_name != "disable_all":
        frame = frame.f_back
    return frame is not None


_TIMERS = (_push, _look)


def _handlers() -> Iterator[tuple[Any, Any]]:
    on = bpy.app.handlers
    for when in (on.undo_pre, on.redo_pre):
        yield when, _before_undo
    for when in (on.undo_post, on.redo_post):
        yield when, _after_undo
    yield on.load_pre, _before_load
    yield on.load_post, _after_load
    yield on.save_pre, _before_save
    yield on.frame_change_post, _after_frame


def start() -> None:
    """Watch for what ends a session."""
    callbacks.listen(_handlers())
    callbacks.soon(_look, _AT_START)


def stop() -> None:
    """End the session, and watch no more."""
    performing.end(
        "The extension was disabled, and the live session has ended.", leaves_recording=_quits()
    )
    callbacks.unlisten(_handlers())
    for timer in _TIMERS:
        callbacks.not_soon(timer)
    _undone.clear()
