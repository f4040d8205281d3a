"""The preview of a source: its motion as a skeleton over the character, as the timeline goes.

Nothing in the file changes: no action is assigned or imported. What was read is kept here until
the preview ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import bpy
import numpy as np

from ..engine.errors import RigError
from ..engine.maths import quat
from ..engine.motion import bvh, mirror, rig
from ..engine.motion.clip import Clip
from ..engine.progress import ReportProgress
from ..scene.blender.actions import get_scene_fps
from ..scene.blender.handle import Handle
from ..scene.reading import sampling
from . import callbacks
from .characters import get_armature, get_bone_choice, get_placement
from .runtime import runtime
from .settings import get_build_settings, get_roles
from .source_files import find_file
from .sources import check_source, get_source
from .steps import Steps, map_steps, run_in_background_steps
from .typed import settings_of

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
    """The motion of a source of an armature: `positions` (F, B, 3) of bones in the world.

    They begin at frame `first` of the source. Only the body is shown: what hangs from the `hips`.
    `read_from` identifies what was read.
    """

    armature: Handle
    source: str  # its name in the list
    label: str
    read_from: tuple[Any, ...]
    mirrored: bool
    positions: np.ndarray
    parents: np.ndarray
    hips: int
    fps: float
    first: int
    scene: str  # where the frame was `returns_to` as it began
    returns_to: int

    def find_source(self) -> Any:
        """Return the source, or None if it or its armature is gone, or reads something else now."""
        obj = self.armature.find()
        source = settings_of(obj).sources.get(self.source) if obj else None
        if source is None or _identify(obj, source) != self.read_from:
            return None
        return source

    def compute_span(self, source: Any) -> Span:
        """Return the frames of its source that are used now."""
        last = self.first + len(self.positions) - 1
        start, stop = self.first, last
        if source.use_range:
            start, stop = max(start, source.frame_start), min(last, source.frame_end)
        speed = source.speed * settings_of(source.id_data).speed
        rate = speed * self.fps / get_scene_fps(bpy.context.scene)
        return Span(start, max(start, stop), rate, source.loop)

    def list_body(self) -> np.ndarray:
        """Return the bones below the hips."""
        parents = self.parents.tolist()
        body = {self.hips}
        below = []
        for bone, parent in enumerate(parents):  # parents come first
            if parent in body:
                body.add(bone)
                below.append(bone)
        return np.array(below, int)

    def interpolate(self, frame: float) -> np.ndarray:
        """Return the positions of bones (B, 3) at a frame of the source."""
        row = min(max(frame - self.first, 0.0), len(self.positions) - 1.0)
        before = min(int(row), len(self.positions) - 2) if len(self.positions) > 1 else 0
        here, there = (
            self.positions[before],
            self.positions[min(before + 1, len(self.positions) - 1)],
        )
        between: np.ndarray = here + np.float32(row - before) * (there - here)
        return between


def _identify(obj: bpy.types.Object, source: Any) -> tuple[Any, ...]:
    """Return what the motion of a source is read from."""
    settings = settings_of(obj)
    if source.kind == "FILE":
        return source.filepath, settings.up, settings.forward, settings.file_scale
    return source.action and source.action.session_uid, settings.bones, obj.data.session_uid


# ---------------------------------------------------------------- beginning and end


def preview_steps(
    obj: bpy.types.Object, index: int, mirrored: bool = False
) -> Steps[SourcePreview]:
    """Preview a source of an armature. Errors are those of reading it."""
    uid, source = obj.session_uid, settings_of(obj).sources[index]
    check_source(obj, source)
    name, read_from = source.name, _identify(obj, source)
    first, clip = yield from _read_steps(uid, index)
    obj, source = get_source(uid, index)
    span_start = max(source.frame_start - first, 0) if source.use_range else 0
    place = get_placement(obj) if source.kind == "FILE" else None
    ground, roles = float(obj.matrix_world[2][3]), get_roles(settings_of(obj))

    def compute(_: ReportProgress) -> tuple[np.ndarray, int]:
        start, hips = min(span_start, clip.frame_count - 1), _find_hips(clip, roles)
        shown = clip.compute_world()[1].astype(np.float32)
        if mirrored:
            found = rig.find_roles(clip.skeleton, [clip], roles)
            begin = shown[start, hips, :2].copy()
            shown = mirror.mirror(clip, found).compute_world()[1].astype(np.float32)
            shown[..., :2] += begin - shown[start, hips, :2]  # it begins at the same place
        if place is not None:
            shown[..., :2] -= shown[start, hips, :2].copy()
            shift = np.array((place.x, place.y, ground))
            turned = quat.mul_vec(quat.from_yaw(np.array(place.yaw)), shown)
            shown = (turned + shift).astype(np.float32)
        return shown, hips

    positions, hips = yield from run_in_background_steps(compute, _READING)
    scene = bpy.context.scene
    close()
    preview = SourcePreview(
        armature=Handle.from_block(get_armature(uid), "objects"),
        source=name,
        label=clip.name,
        read_from=read_from,
        mirrored=mirrored,
        positions=positions,
        parents=clip.skeleton.parents,
        hips=hips,
        fps=clip.fps,
        first=first,
        scene=scene.name,
        returns_to=scene.frame_current,
    )
    runtime.source_preview = preview
    _enter_used_frames(preview)
    _redraw()
    return preview


def _enter_used_frames(preview: SourcePreview) -> None:
    """Go to the first used frame, if the current one of the timeline shows none of its own."""
    if source := preview.find_source():
        span, scene = preview.compute_span(source), bpy.context.scene
        frame = span.to_source(scene.frame_current)
        if frame != span.limit(frame):
            scene.frame_set(round(span.to_timeline(span.first)))


def _find_hips(clip: Clip, roles: Mapping[str, str]) -> int:
    """Return the bone that the body hangs from; the root if the skeleton is none that is known."""
    try:
        return rig.find_roles(clip.skeleton, [clip], roles).hips
    except RigError:
        return 0


def _read_steps(uid: int, index: int) -> Steps[tuple[int, Clip]]:
    """Return the motion of a source without its range, and the frame at which it begins."""
    obj, source = get_source(uid, index)
    if source.kind == "FILE":
        file, axes = find_file(source), get_build_settings(obj).get_axes()
        clip = yield from run_in_background_steps(lambda _: bvh.load(file or "", **axes), _READING)
        return 0, clip
    steps = sampling.sample_steps(obj, source.action, bones=get_bone_choice(obj))
    finish = yield from map_steps(steps, lambda _: (_READING, 0.0))
    sampled = yield from run_in_background_steps(lambda _: finish(), _READING)
    return sampled.first, sampled.clip


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
    """End the preview if its source is gone, or reads something else now."""
    if runtime.source_preview and runtime.source_preview.find_source() is None:
        close()


def follow_selection() -> None:
    """End the preview if another source was chosen."""
    preview = runtime.source_preview
    if preview is None:
        return
    obj = preview.armature.find()
    if (
        obj is None
        or settings_of(obj).sources.find(preview.source) != settings_of(obj).source_index
    ):
        stop()


def _redraw() -> None:
    callbacks.redraw("WINDOW")
    callbacks.redraw("WINDOW", "DOPESHEET_EDITOR")
    callbacks.redraw()


# ---------------------------------------------------------------- what it shows


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


def find_bones(preview: SourcePreview, source: Any, frame: float) -> tuple[float, np.ndarray]:
    """Return the frame of the source at a frame of the timeline, and its bones (B, 2, 3)."""
    span = preview.compute_span(source)
    shown = span.limit(span.to_source(frame))
    positions, children = preview.interpolate(shown), preview.list_body()
    return shown, np.stack([positions[preview.parents[children]], positions[children]], axis=1)
