"""Preview a source: its motion as a skeleton over the character, following the timeline.

Nothing in the file changes: no action is assigned or imported. What was read is kept here until
the preview ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...engine.errors import MotionMatchingError
from ...engine.progress import ReportProgress
from ...scene.blender.animation.actions import get_scene_fps
from ...scene.blender.handle import Handle
from .. import callbacks
from ..character.characters import get_armature
from ..mapping import mapping
from ..property_access import settings_of
from ..retarget import retargeting
from ..runtime import runtime
from ..settings import get_simulation_bone_settings
from ..steps import Steps, run_in_background_steps
from . import source_grounds
from .shown_motion import PreviewedMotion, ShownBody, ShownMotion, Stage
from .source_list import check_source, get_source
from .source_motion import read_steps

_READING = "Reading"


class Span(NamedTuple):
    """The used frames of a source, and how many of them pass in a frame of the timeline.

    The first one is shown at the frame of the timeline with its number.
    """

    first: float
    last: float
    rate: float
    loop: bool

    def to_source(self, frame: float) -> float:
        """Return the frame of the source at a frame of the timeline, used or not."""
        return self.first + (frame - self.first) * self.rate

    def to_timeline(self, frame: float) -> float:
        """Return the frame of the timeline that shows a frame of the source."""
        return self.first + (frame - self.first) / self.rate

    def limit(self, frame: float) -> float:
        """Return a used frame of the source: loops start again, others stay at their ends."""
        if self.loop and self.last > self.first:
            return self.first + (frame - self.first) % (self.last - self.first)
        return min(max(frame, self.first), self.last)


@dataclass(frozen=True)
class SourcePreview:
    """The motion of a source of an armature, which is `shown` from frame `first` of the source on.

    `read_from` identifies what was read, and `ground_of` what its ground was read from. The scene
    of that name was at the frame it `returns_to` as the preview began.
    """

    armature: Handle
    source: str  # its name in the list
    label: str
    read_from: tuple[Any, ...]
    mirrored: bool
    fps: float
    first: int
    scene: str
    returns_to: int
    motion: PreviewedMotion
    shown: ShownMotion
    ground_of: tuple[Any, ...]

    def find_source(self) -> Any:
        """Return the source, or None if it or its armature is gone, or reads something else now."""
        obj = self.armature.find()
        source = settings_of(obj).sources.get(self.source) if obj else None
        if source is None or _identify(obj, source) != self.read_from:
            return None
        return source

    def compute_span(self, source: Any) -> Span:
        """Return the frames of its source that are used now."""
        last = self.first + len(self.body.positions) - 1
        start = self.first
        stop = last
        if source.use_range:
            start = max(start, source.frame_start)
            stop = min(last, source.frame_end)
        speed = source.speed * settings_of(source.id_data).speed
        rate = speed * self.fps / get_scene_fps(bpy.context.scene)
        return Span(start, max(start, stop), rate, source.loop)

    @property
    def body(self) -> ShownBody:
        """Return the motion that the character has in it."""
        return self.shown.body


def _identify(obj: bpy.types.Object, source: Any) -> tuple[Any, ...]:
    """Return a key of the data that the motion of a source is read from."""
    settings = settings_of(obj)
    groups = [tuple(mapping.get_chosen_bones(one.roles).items()) for one in settings.source_roles]
    chosen = *groups, repr(retargeting.get_request(obj))
    if source.kind == "FILE":
        return source.filepath, settings.up, settings.forward, settings.file_scale, *chosen
    owner = source.performer or obj
    uid = source.action and source.action.session_uid
    return uid, settings.bones, owner.data.session_uid, *chosen


def preview_steps(
    obj: bpy.types.Object, index: int, mirrored: bool = False
) -> Steps[SourcePreview]:
    """Preview a source of an armature. Raises errors of reading it."""
    uid = obj.session_uid
    source = settings_of(obj).sources[index]
    check_source(obj, source)
    name = source.name
    read_from = _identify(obj, source)
    first, clip = yield from read_steps(uid, index, _READING)
    obj, source = get_source(uid, index)
    state = yield from mapping.find_source_state_steps(uid, index)
    obj, source = get_source(uid, index)
    character = mapping.find_character(obj) if state.kind == "mapped" else None
    ground_of = _identify_ground(source)
    stage = Stage.from_source(source, first, clip, mirrored, character)

    def compute(_: ReportProgress) -> tuple[PreviewedMotion, ShownMotion]:
        motion = PreviewedMotion.from_clip(clip, character)
        return motion, stage.show(motion)

    motion, shown = yield from run_in_background_steps(compute, _READING)
    scene = bpy.context.scene
    close()
    preview = SourcePreview(
        armature=Handle.from_block(get_armature(uid), "objects"),
        source=name,
        label=clip.name,
        read_from=read_from,
        mirrored=mirrored,
        fps=clip.fps,
        first=first,
        scene=scene.name,
        returns_to=scene.frame_current,
        motion=motion,
        shown=shown,
        ground_of=ground_of,
    )
    runtime.source_preview = preview
    _enter_used_frames(preview)
    _redraw()
    return preview


def _identify_ground(source: Any) -> tuple[Any, ...]:
    """Return a key of the data that the ground of a source is read from."""
    settings = settings_of(source.id_data)
    known = tuple(source_grounds.get_content(source, source.id_data).items())
    bone = get_simulation_bone_settings(source.id_data)
    return source.keep_floor, known, settings.contact_speed, bone


def _enter_used_frames(preview: SourcePreview) -> None:
    """Go to the first used frame, if the current one of the timeline shows none of its own."""
    if source := preview.find_source():
        span = preview.compute_span(source)
        scene = bpy.context.scene
        frame = span.to_source(scene.frame_current)
        if frame != span.limit(frame):
            scene.frame_set(round(span.to_timeline(span.first)))


def stop() -> None:
    """End the preview, and go back to the frame that was shown before."""
    preview = runtime.source_preview
    if preview is None:
        return
    close()
    scene: bpy.types.Scene | None = bpy.data.scenes.get(preview.scene)
    if scene and scene.frame_current != preview.returns_to:
        scene.frame_set(preview.returns_to)


def close() -> None:
    """End the preview where the frame is; may be called twice."""
    if runtime.source_preview is not None:
        runtime.source_preview = None
        _redraw()


def follow_changes() -> None:
    """End the preview if its source is gone, or reads something else now; show its ground anew."""
    if runtime.source_preview and runtime.source_preview.find_source() is None:
        close()
    if runtime.source_preview:
        callbacks.schedule(follow_ground)


def follow_ground() -> None:
    """Show the ground of the source that is previewed as it is now, if that has changed."""
    preview = runtime.source_preview
    source = preview.find_source() if preview else None
    if preview is None or source is None:
        return
    try:
        ground_of = _identify_ground(source)
        if ground_of == preview.ground_of:
            return
        character = mapping.find_character(source.id_data) if preview.shown.original else None
        clip = preview.motion.clip
        stage = Stage.from_source(source, preview.first, clip, preview.mirrored, character)
        shown = stage.show(preview.motion)
    except MotionMatchingError:  # the list of sources says it
        return
    runtime.source_preview = replace(preview, shown=shown, ground_of=ground_of)
    _redraw()


def follow_selection() -> None:
    """End the preview if another source was chosen."""
    preview = runtime.source_preview
    if preview is None:
        return
    obj = preview.armature.find()
    settings = settings_of(obj) if obj else None
    if settings is None or settings.sources.find(preview.source) != settings.source_index:
        stop()


def _redraw() -> None:
    callbacks.redraw("WINDOW", "UI")
    callbacks.redraw("WINDOW", editor="DOPESHEET_EDITOR")


def find_shown(obj: bpy.types.Object | None) -> tuple[SourcePreview, Any] | None:
    """Return the preview of an armature's source, and that source."""
    preview = runtime.source_preview
    if preview is None or obj is None or preview.armature.uid != obj.session_uid:
        return None
    source = preview.find_source()
    return None if source is None else (preview, source)


def is_shown(obj: bpy.types.Object, source: Any) -> bool:
    """Return whether a source of an armature is previewed."""
    shown = find_shown(obj)
    return shown is not None and shown[1] == source


def to_source_frame(source: Any, frame: float) -> int:
    """Return the frame of a source at a frame of the timeline: another one only if previewed."""
    span = _find_span(source)
    return round(span.to_source(frame) if span else frame)


def find_shown_frame(source: Any, frame: float) -> int:
    """Return the frame of a source that a preview shows at a frame of the timeline.

    Without one, they are the same.
    """
    span = _find_span(source)
    return round(span.limit(span.to_source(frame)) if span else frame)


def to_timeline_frame(source: Any, frame: float) -> int:
    """Return the frame of the timeline of a source's frame: another one only if previewed."""
    span = _find_span(source)
    return round(span.to_timeline(frame) if span else frame)


def _find_span(source: Any) -> Span | None:
    shown = find_shown(source.id_data)
    return shown[0].compute_span(source) if shown and shown[1] == source else None


def find_bones(
    preview: SourcePreview, source: Any, frame: float
) -> tuple[float, np.ndarray, np.ndarray | None]:
    """Return the frame of the source at a frame of the timeline, and its bones (N, 2, 3).

    If its motion comes from another skeleton, the last value is the bones of that one.
    """
    span = preview.compute_span(source)
    shown = span.limit(span.to_source(frame))
    row = shown - preview.first
    original = preview.shown.original
    beside = original.compute_segments(row) if original else None
    return shown, preview.body.compute_segments(row), beside
