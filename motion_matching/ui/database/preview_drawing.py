"""The preview of a source in the 3D views: its skeleton, its path, and which frame is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import blf
import bpy
import numpy as np

from ... import app
from ...app.runtime import runtime
from .. import colors, drawing
from ..panel_base import set_options

if TYPE_CHECKING:
    from ...app.source_preview import SourcePreview

_BONE, _PATH = 4.0, 1.5  # widths
_PATH_POINTS = 2000  # at most


class PreviewCache:
    """The batch of the path that was drawn last, with what it was built from."""

    def __init__(self) -> None:
        self.path: tuple[Any, Any] = (None, None)


def _find_shown() -> tuple[SourcePreview, Any] | None:
    if runtime.source_preview is None:
        return None
    return app.source_preview.find_shown(app.characters.get_active_armature(bpy.context))


def _draw_skeleton() -> None:
    if (shown := _find_shown()) is None:
        return
    preview, source = shown
    _, bones = app.source_preview.find_bones(preview, source, _get_frame())
    body = drawing.build_line_batch(bones.reshape(-1, 3), colors.get_color("chosen"))
    drawing.draw_lines([(_get_path(preview, source), _PATH), (body, _BONE)])


def _get_frame() -> float:
    return bpy.context.scene.frame_current_final


def _get_path(preview: SourcePreview, source: Any) -> drawing.Batch | None:
    """Return the batch of the path of the root through the frames that are used."""
    span, cache = preview.compute_span(source), runtime.get_cache(PreviewCache)
    state = preview, span, colors.get_color("guide")
    if cache.path[0] is None or cache.path[0][1:] != state[1:] or cache.path[0][0] is not preview:
        first, last = (int(frame) - preview.first for frame in span[:2])
        path = preview.positions[
            first : last + 1 : max((last - first) // _PATH_POINTS, 1), 0
        ].copy()
        path[:, 2] = preview.positions[..., 2].min() + drawing.ABOVE_GROUND
        batch = drawing.build_line_batch(drawing.as_segments(path), state[2])
        cache.path = state, batch
    return cache.path[1]


def _draw_words() -> None:
    """Name the source and its frame in the corner of the view."""
    if (shown := _find_shown()) is None:
        return
    text, scale = describe_frame(*shown), bpy.context.preferences.system.ui_scale
    blf.size(0, drawing.TEXT * scale)
    left, _ = drawing.measure_overlap()
    margin = drawing.MARGIN * scale
    drawing.draw_text(text, left + margin, margin, drawing.get_text_color())


def draw_button(layout: bpy.types.UILayout, source: Any) -> None:
    """Draw the buttons that preview the active source, and its mirror image."""
    preview = runtime.source_preview
    is_shown = preview is not None and app.source_preview.is_shown(source.id_data, source)
    row, name = layout.row(align=True), "motion_matching.preview_source"
    is_mirrored = is_shown and preview.mirrored
    button = row.operator(name, icon="HIDE_OFF", depress=is_shown and not is_mirrored)
    set_options(button, mirrored=False)
    button = row.operator(name, text="", icon="MOD_MIRROR", depress=is_mirrored)
    set_options(button, mirrored=True)


def describe_frame(preview: SourcePreview, source: Any) -> str:
    """Return what is previewed: the source, its frame, and the frames that are used."""
    span, frame = preview.compute_span(source), _get_frame()
    shown = span.limit(span.to_source(frame))
    name = f"{preview.label} (mirrored)" if preview.mirrored else preview.label
    words = f"Preview of {name}: frame {shown:.0f} of {span.first:.0f} to {span.last:.0f}"
    if not span.loop and not np.isclose(shown, span.to_source(frame)):
        first, last = (span.to_timeline(end) for end in span[:2])
        words += f" (in the timeline from {first:.0f} to {last:.0f})"
    return f"{words}, Esc to stop"


overlay = drawing.Overlay((_draw_skeleton, "POST_VIEW"), (_draw_words, "POST_PIXEL"))
