"""Draw the preview of a source into the 3D views: its skeleton, its path, and its frame number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import blf
import bpy
import numpy as np

from ... import app, engine
from ...app.runtime import runtime
from ..base import drawing
from ..base.panel_base import set_options

if TYPE_CHECKING:
    from ...app.sources.source_grounds import ShownGround
    from ...app.sources.source_preview import SourcePreview

# widths
_BONE = 4.0
_PATH = 1.5
_GROUND = 3.0
_FOOTING = 3.0
_FOOT = 0.11  # metres: half a stroke where a foot stands
_AROUND = 3.0  # seconds of the path before and after the frame that is shown


def _find_shown() -> tuple[SourcePreview, Any] | None:
    if runtime.source_preview is None:
        return None
    return app.sources.source_preview.find_shown(
        app.character.characters.get_active_armature(bpy.context)
    )


def _draw_skeleton() -> None:
    if (shown := _find_shown()) is None:
        return
    preview, source = shown
    frame, bones, original = app.sources.source_preview.find_bones(preview, source, _get_frame())
    lines = build_paths(preview, source, frame)
    for segments, role in ((bones, "chosen"), (original, "guide")):
        if segments is not None:
            lines.append((segments.reshape(-1, 3), _BONE, role))
    drawing.draw_lines(drawing.build_batches(lines))


def _get_frame() -> float:
    return bpy.context.scene.frame_current_final


def build_paths(
    preview: SourcePreview, source: Any, frame: float
) -> list[tuple[np.ndarray, float, str]]:
    """Return what shows the way around a frame, as far as it is used: points, width and colour.

    On ground that rises, that is its profile above the lowest part of it, and a stroke for each
    time that a foot stands. Points (2 N, 3) are pairs.
    """
    span = preview.compute_span(source)
    around = _AROUND * preview.fps
    first = int(max(frame - around, span.first) - preview.first)
    last = int(min(frame + around, span.last) - preview.first)
    if preview.shown.ground is not None:
        return _build_profile(preview.shown.ground, first, last)
    path = preview.body.positions[first : last + 1, preview.body.hips].copy()
    path[:, 2] = float(preview.body.positions[..., 2].min()) + drawing.ABOVE_GROUND
    return [(drawing.as_segments(path), _PATH, "guide")]


def _build_profile(
    ground: ShownGround, first: int, last: int
) -> list[tuple[np.ndarray, float, str]]:
    path = ground.path[first : last + 1].copy()
    path[:, 2] += drawing.ABOVE_GROUND
    is_near = (ground.feet[:, 4] >= first) & (ground.feet[:, 4] <= last)
    feet = ground.feet[is_near]
    level = float(ground.path[:, 2].min()) + drawing.ABOVE_GROUND
    ahead = _FOOT * engine.maths.planar.yaw_to_forward(feet[:, 3])
    along = np.pad(ahead, ((0, 0), (0, 1)))
    middles = feet[:, :3] + [0.0, 0.0, drawing.ABOVE_GROUND]
    below = middles.copy()
    shadow = path.copy()
    below[:, 2] = shadow[:, 2] = level
    return [
        (drawing.as_segments(shadow), _PATH, "guide"),
        (drawing.as_pairs(below, middles), _PATH, "guide"),
        (drawing.as_segments(path), _GROUND, "trajectory"),
        (drawing.as_pairs(middles - along, middles + along), _FOOTING, "contact"),
    ]


def _draw_words() -> None:
    """Name the source and its frame in the corner of the view, above the redo panel."""
    if (shown := _find_shown()) is None:
        return
    text = describe_frame(*shown)
    scale = bpy.context.preferences.system.ui_scale
    blf.size(0, drawing.TEXT * scale)
    left, _ = drawing.measure_overlap()
    margin = drawing.MARGIN * scale
    y = drawing.measure_redo_panel() + margin
    drawing.draw_text(text, left + margin, y, drawing.get_text_color())


def draw_button(layout: bpy.types.UILayout, source: Any) -> None:
    """Draw the buttons that preview the active source, and its mirror image."""
    preview = runtime.source_preview
    is_shown = preview is not None and app.sources.source_preview.is_shown(source.id_data, source)
    row = layout.row(align=True)
    name = "motion_matching.preview_source"
    is_mirrored = is_shown and preview.mirrored
    button = row.operator(name, icon="HIDE_OFF", depress=is_shown and not is_mirrored)
    set_options(button, mirrored=False)
    button = row.operator(name, text="", icon="MOD_MIRROR", depress=is_mirrored)
    set_options(button, mirrored=True)


def describe_climb(source: Any) -> str:
    """Return what the ground of a source is climbed by, if it is previewed."""
    preview = runtime.source_preview
    if preview is None or not app.sources.source_preview.is_shown(source.id_data, source):
        return ""
    return preview.shown.ground.told if preview.shown.ground else ""


def describe_frame(preview: SourcePreview, source: Any) -> str:
    """Return what is previewed: the source, its frame, and the frames that are used."""
    span = preview.compute_span(source)
    frame = _get_frame()
    shown = span.limit(span.to_source(frame))
    name = f"{preview.label} (mirrored)" if preview.mirrored else preview.label
    words = f"Preview of {name}: frame {shown:.0f} of {span.first:.0f} to {span.last:.0f}"
    if not span.loop and not np.isclose(shown, span.to_source(frame)):
        first, last = (span.to_timeline(end) for end in span[:2])
        words += f" (in the timeline from {first:.0f} to {last:.0f})"
    return f"{words}, Esc to stop"


overlay = drawing.Overlay((_draw_skeleton, "POST_VIEW"), (_draw_words, "POST_PIXEL"))
