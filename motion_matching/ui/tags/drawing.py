"""Tags in the Dope Sheet and the Timeline: a coloured band with the name of each range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import blf
import bpy
import numpy as np

from ... import app
from ...app.typed import settings_of
from .. import drawing
from .properties import get_tag_name

if TYPE_CHECKING:
    from ..database.properties import MotionMatchingSource

_MODES = ("DOPESHEET", "TIMELINE", "ACTION")
# heights in pixels at the interface's scale
_LANE = 16.0
_LOWEST_NAMED_LANE = 10.0  # a lower one holds no names
_THIN_LANE = 3.0  # where there is no room for more
_THIN_LANES = 9.0  # all of them together, at most
_MARGIN = 12.0  # below the lanes
_MARKERS = 42.0  # the same above markers
_RULER = 26.0
# widths, likewise
_NARROWEST_NAMED_BAND = 8.0
_INDENT = 4.0  # of names
_BASELINE = 0.28  # of names, in shares of a lane
_OPACITY, _ACTIVE_OPACITY = 0.5, 0.85


class Band(NamedTuple):
    """A visible range: its index in the list, its frames, and a lane for itself."""

    number: int
    first: int
    last: int
    lane: int


def get_shown_source(context: bpy.types.Context) -> MotionMatchingSource | None:
    """Return the source whose action the editor shows; without an action, the active source."""
    space: Any = context.space_data
    obj = app.characters.get_active_armature(context)
    if obj is None or space is None or space.type != "DOPESHEET_EDITOR" or space.mode not in _MODES:
        return None
    chosen, action = app.sources.get_active_source(obj), _get_shown_action(obj, space)
    if action is None or (chosen is not None and chosen.action == action):
        return chosen
    return next((source for source in settings_of(obj).sources if source.action == action), None)


def _get_shown_action(obj: bpy.types.Object, space: Any) -> Any:
    """Return the action that an editor shows. Before Blender 5.0, nobody may play it."""
    if space.mode == "ACTION" and hasattr(space, "action"):
        return space.action
    return obj.animation_data and obj.animation_data.action


def assign_lanes(firsts: Sequence[int], lasts: Sequence[int]) -> list[int]:
    """Return a lane for each range, both ends inclusive: the lowest that is free at its start."""
    lanes = [0] * len(firsts)
    free_from: list[int] = []  # the frame, by lane
    for index in sorted(range(len(firsts)), key=lambda n: (firsts[n], -lasts[n])):
        free = (lane for lane, frame in enumerate(free_from) if frame <= firsts[index])
        lane = next(free, len(free_from))
        free_from[lane : lane + 1] = [lasts[index] + 1]
        lanes[index] = lane
    return lanes


def build_bands(ranges: Any, first: float, last: float) -> tuple[list[Band], int]:
    """Return the ranges that overlap these frames, and the number of lanes of all ranges."""
    ends = np.empty((2, len(ranges)), np.int32)
    ranges.foreach_get("frame_start", ends[0])
    ranges.foreach_get("frame_end", ends[1])
    firsts, lasts = ends[0].tolist(), np.maximum(ends[0], ends[1]).tolist()
    lanes = assign_lanes(firsts, lasts)
    bands = map(Band, range(len(ranges)), firsts, lasts, lanes)
    seen = [band for band in bands if band.first <= last and band.last >= first]
    return seen, max(lanes, default=-1) + 1


# Drawing


def start() -> None:
    """Draw into Dope Sheets and Timelines from now on."""
    overlay.start()
    app.callbacks.redraw("WINDOW", "DOPESHEET_EDITOR")


def stop() -> None:
    """Stop drawing; may be called twice."""
    overlay.stop()
    app.callbacks.redraw("WINDOW", "DOPESHEET_EDITOR")


def _draw() -> None:
    context = bpy.context
    source = get_shown_source(context)
    if source is None or not source.tag_ranges or not settings_of(source.id_data).show_tags:
        return
    region, scale = context.region, context.preferences.system.ui_scale
    to_frame, to_pixel = region.view2d.region_to_view, region.view2d.view_to_region
    bands, lanes = build_bands(source.tag_ranges, to_frame(0, 0)[0], to_frame(region.width, 0)[0])
    margin = _MARKERS if _has_markers(context) else _MARGIN
    bottom, height = (scale * size for size in _fit_lanes(region.height / scale, lanes, margin))
    boxes = []
    for band in bands:
        left = to_pixel(band.first - 0.5, 0.0, clip=False)[0]
        right = to_pixel(band.last + 0.5, 0.0, clip=False)[0]
        low = bottom + band.lane * height
        boxes.append((left, low, max(right, left + 2), low + height - 1))
    if boxes:
        tags = [source.tag_ranges[band.number] for band in bands]
        alphas = [
            _ACTIVE_OPACITY if band.number == source.tag_index else _OPACITY for band in bands
        ]
        colours = [(*tag.color, alpha) for tag, alpha in zip(tags, alphas, strict=True)]
        drawing.draw_boxes(drawing.build_box_batch(np.array(boxes), np.array(colours)))
        if height >= _LOWEST_NAMED_LANE * scale:
            _draw_names(boxes, [get_tag_name(tag) for tag in tags])


def _fit_lanes(height: float, lanes: int, margin: float) -> tuple[float, float]:
    """Return the bottom and the height of the lanes; in a low editor, they are thin lines."""
    lane = min(_LANE, (height - margin - _RULER) / max(lanes, 1))
    if lane >= _THIN_LANE:
        return margin, lane
    return 0.0, min(_THIN_LANE, _THIN_LANES / max(lanes, 1))


def _has_markers(context: bpy.types.Context) -> bool:
    space: Any = context.space_data
    obj, action = app.characters.get_active_armature(context), None
    if space.mode == "ACTION" and space.show_pose_markers:
        action = _get_shown_action(obj, space)
    return bool(context.scene.timeline_markers or (action and action.pose_markers))


def _draw_names(boxes: Sequence[tuple[float, ...]], names: Sequence[str]) -> None:
    """Draw names into boxes, cut off where they end."""
    preferences = bpy.context.preferences
    scale, editor = preferences.system.ui_scale, preferences.themes[0].dopesheet_editor
    color = (*editor.space.text_hi[:3], 1.0)
    blf.size(0, drawing.SMALL_TEXT * scale)
    blf.enable(0, blf.CLIPPING)
    try:
        for (x0, y0, x1, y1), name in zip(boxes, names, strict=True):
            if x1 - x0 > _NARROWEST_NAMED_BAND * scale:
                x = max(x0, 0.0) + _INDENT * scale  # of a band that begins further left as well
                blf.clipping(0, x0, y0, x1, y1)
                drawing.draw_text(name, x, y0 + _BASELINE * (y1 - y0), color)
    finally:
        blf.disable(0, blf.CLIPPING)


overlay = drawing.Overlay((_draw, "POST_PIXEL"), space=bpy.types.SpaceDopeSheetEditor)
