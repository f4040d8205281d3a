"""Find the way of a take again as marks are moved, and draw it without changing the file.

While it is on, a timer looks whether a mark was moved or asks for something else. The way is then
sketched in a thread, with few states and only around that mark where the shot is long.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import bpy
from mathutils import Matrix

from ...engine.direct.director import Director
from ...engine.direct.shot.shot import Shot
from ...engine.direct.sketch import Sketch, Way, compute_way
from ...engine.errors import MotionMatchingError
from ...engine.progress import ReportProgress
from ...scene.blender.animation.actions import get_scene_fps
from ...scene.blender.handle import Handle
from ...scene.staging.placements import is_animated
from .. import callbacks
from ..character.characters import get_armature, resolve_armature
from ..database.build import load_with_settings_steps
from ..marks import marks, outcomes, shots
from ..property_access import settings_of
from ..runtime import runtime
from ..settings import get_performer_settings
from ..steps import Steps, run_in_background_steps
from . import solving

# seconds between two looks at the marks, and at the work
_LOOKS = 0.1
_WAITS = 0.02
_GONE = ("stale", "none", "elsewhere", "empty", "broken")  # kinds of status
_SHOT = ("gait", "seed", "use_range", "frame_start", "frame_end", "path_start", "path_end")

Values = tuple[Any, ...]


@dataclass(eq=False)
class MarkPreview:
    """The preview of an armature's shot: its inputs, and the last result. `asked` and `places` are
    the requests and places of the marks. The `way` is None before the first one, and `note` says
    why it is not that of the marks now.
    """

    armature: Handle
    key: str  # of the database
    director: Director
    asked: Values = ()
    places: Values = ()
    shot: Shot | None = None  # as of `asked` and `places`
    frame: int = 0
    sketch: Sketch | None = None
    way: Way | None = None
    note: str = ""
    work: Steps[tuple[Sketch, Way]] | None = None
    movable: list[int] = field(default_factory=list)  # the marks that are where their empty is

    def describe(self) -> str:
        """Return how many marks the way meets."""
        if self.way is None:
            return ""
        return f"{sum(self.way.met)} of {len(self.way.met)} Met"


def get_reason(obj: bpy.types.Object, empty: bpy.types.Object) -> str:
    """Return why the way that is shown misses a mark, empty if it does not."""
    preview = runtime.mark_preview
    if preview is None or preview.way is None or preview.armature.uid != obj.session_uid:
        return ""
    pairs = zip(marks.list_marks(obj), preview.way.reasons, strict=False)
    reasons = (reason for each, reason in pairs if each == empty)
    return shots.to_frames(next(reasons, ""), preview.frame)


def start_steps(obj: bpy.types.Object) -> Steps[str]:
    """Show the way of an armature's marks from now on; database and jumps are made if need be."""
    uid = obj.session_uid
    obj, database, settings = yield from load_with_settings_steps(obj)
    key = settings_of(obj).built_key
    known = runtime.get_cache(solving.Footages)
    make = partial(solving.make_director, database, settings, solving.find_table(key), known)
    director = yield from run_in_background_steps(make, "Finding Jumps")
    stop()
    obj = get_armature(uid)
    runtime.mark_preview = MarkPreview(Handle.from_block(obj, "objects"), key, director)
    callbacks.schedule(follow)
    return "The preview follows the marks until you switch it off"


def stop(reason: str = "") -> None:
    """Show no way any more, and say why if that was not asked for; may be called twice."""
    preview = runtime.mark_preview
    runtime.mark_preview = None
    callbacks.unschedule(follow)
    runtime.mark_preview_end = reason
    if preview is None:
        return
    if preview.work:
        preview.work.close()
    callbacks.redraw("WINDOW", "UI")


def follow() -> float | None:
    """Look once whether marks have changed and work is done.

    Return the seconds after which a timer calls this again, None at the end.
    """
    preview = runtime.mark_preview
    if preview is None:
        return None
    if reason := _find_end(preview):
        stop(reason)
        return None
    if preview.work is None:
        _begin_if_changed(preview)
    if preview.work is not None:
        _go_on(preview)
    return _LOOKS if preview.work is None else _WAITS


def _find_end(preview: MarkPreview) -> str:
    """Return why a preview cannot go on, or an empty string."""
    obj = preview.armature.find()
    if obj is None:
        return "Preview stopped: its character was deleted."
    windows = bpy.context.window_manager.windows
    active = resolve_armature((windows[0] if windows else bpy.context).view_layer.objects.active)
    if active not in (None, obj):
        return f"Preview stopped: '{obj.name}' is no longer the active character."
    status = runtime.statuses.by_uid.get(obj.session_uid)
    is_another = status is not None and status.kind == "fresh" and status.key != preview.key
    if is_another or (status is not None and status.kind in _GONE):
        return "Preview stopped: the sources changed. Start it again to update."
    return ""


def _begin_if_changed(preview: MarkPreview) -> None:
    """Start to find the way of the marks as they are now, if that is another one."""
    obj = preview.armature.find()
    asked = _list_asked(obj, preview)
    places = tuple(_to_tuple(each.matrix_world) for each in marks.list_all(obj))
    if asked != preview.asked:
        if _is_transforming():  # to read keyed marks needs a scene of its own
            return
        _read_shot(preview, obj)
    elif places != preview.places:
        _move_marks(preview, obj)
    else:
        return
    preview.asked = asked
    preview.places = places
    if preview.shot is not None:
        preview.work = _sketch_steps(preview, preview.shot)


def _is_transforming() -> bool:
    return any(
        operator.bl_idname.startswith("TRANSFORM_OT")
        for window in bpy.context.window_manager.windows
        for operator in window.modal_operators
    )


def _list_asked(obj: bpy.types.Object, preview: MarkPreview) -> Values:
    """Return everything that decides on the shot of an armature except the places of its marks."""
    settings = settings_of(obj)
    director: Any = settings.director
    path = director.path
    obstacles = settings.obstacles
    return (
        get_scene_fps(bpy.context.scene),
        bpy.context.scene.frame_start,
        tuple(getattr(director, name) for name in _SHOT),
        path and path.session_uid,
        obstacles and obstacles.session_uid,
        None if is_animated(obj) else _to_tuple(obj.matrix_world),
        get_performer_settings(obj, preview.director.footage.world),
        tuple((each.session_uid, *outcomes.list_settings(each)) for each in marks.list_all(obj)),
    )


def _to_tuple(matrix: Matrix) -> Values:
    return tuple(column.to_tuple() for column in matrix.col)


def _read_shot(preview: MarkPreview, obj: bpy.types.Object) -> None:
    """Read the shot of an armature anew; a note says what is wrong with it."""
    director = preview.director
    settings = get_performer_settings(obj, director.footage.world)
    if settings != director.settings:
        preview.director = Director(director.footage, director.table, settings)
        preview.sketch = None
    preview.shot = None
    listed = marks.list_marks(obj)
    if not marks.list_leading(obj) and settings_of(obj).director.path is None:
        _show(preview, None, None, "Add a mark to see the way to it.")
        return
    try:
        request = shots.build_request(obj, director.footage.world)
        preview.shot = shots.add_surroundings(obj, request)
        preview.frame = request.frame
    except MotionMatchingError as error:
        _show(preview, None, None, str(error))
        return
    preview.movable = [k for k, each in enumerate(listed) if not is_animated(each)]


def _move_marks(preview: MarkPreview, obj: bpy.types.Object) -> None:
    """Put the marks of the shot where their empties are now; keyed ones are where they were."""
    shot = preview.shot
    listed = marks.list_marks(obj)
    if shot is None or len(shot.marks) != len(listed):
        preview.asked = ()  # what was wrong may be right there
        return
    moved = list(shot.marks)
    try:
        for k in preview.movable:
            moved[k] = shots.place_mark(moved[k], listed[k], marks.get_frame(listed[k]))
    except MotionMatchingError as error:
        _show(preview, preview.sketch, preview.way, str(error))
        return
    first = (mark for mark in moved if mark.time == 0.0)
    start = next((mark for mark in first if mark.leads and not mark.is_of_part), None)
    if start is not None:
        shot = replace(
            shot,
            position=shot.position if start.position is None else start.position,
            facing=shot.facing if start.facing is None else start.facing,
        )
    preview.shot = replace(shot, marks=tuple(moved))


def _sketch_steps(preview: MarkPreview, shot: Shot) -> Steps[tuple[Sketch, Way]]:
    """Sketch a shot in a thread, around what has changed if possible."""
    director = preview.director
    before = preview.sketch

    def find(report: ReportProgress) -> tuple[Sketch, Way]:
        sketch = director.sketch(shot, before, progress=lambda part: report("", part))
        return sketch, compute_way(sketch, director.footage)

    return run_in_background_steps(find, "Preview")


def _go_on(preview: MarkPreview) -> None:
    """Continue the work, and show its result once it is done."""
    assert preview.work is not None
    try:
        next(preview.work)
    except StopIteration as done:
        preview.work = None
        _show(preview, *done.value)
    except MotionMatchingError as error:
        preview.work = None
        note = shots.to_frames(str(error), preview.frame)
        _show(preview, preview.sketch, preview.way, note)
    except BaseException:
        preview.work = None
        stop("Preview stopped by an error; Blender's console shows it.")
        raise


def _show(preview: MarkPreview, sketch: Sketch | None, way: Way | None, note: str = "") -> None:
    preview.sketch = sketch
    preview.way = way
    preview.note = note
    callbacks.redraw("WINDOW", "UI")
