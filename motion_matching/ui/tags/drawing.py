"""Tags in the Dope Sheet and the Timeline: a coloured band with the name of each range."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import blf
import bpy
import numpy as np

from ... import app
from ...app.property_access import settings_of
from ..base import drawing
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
_OPACITY = 0.5
_ACTIVE_OPACITY = 0.85


class Band(NamedTuple):
    """A visible range: its index in the list, its frames, and a lane for itself."""

    number: int
    first: int
    last: int
    lane: int


def get_shown_source(context: bpy.types.Context) -> MotionMatchingSource | None:
    """Return the source that is previewed, or else whose action the editor shows.

    Without an action, it is the active source.
    """
    space: Any = context.space_data
    obj = app.character.characters.get_active_armature(context)
    if obj is None or not _is_editor(space):
        return None
    if (previewed := app.sources.source_preview.find_shown(obj)) is not None:
        source: MotionMatchingSource = previewed[1]
        return source
    chosen = app.sources.source_list.get_active_source(obj)
    action = _get_shown_action(obj, space)
    if action is None or (chosen is not None and chosen.action == action):
        return chosen
    return next((source for source in settings_of(obj).sources if source.action == action), None)


def _is_editor(space: Any) -> bool:
    return space is not None and space.type == "DOPESHEET_EDITOR" and space.mode in _MODES


def get_shown_requests(
    context: bpy.types.Context,
) -> Sequence[app.takes.requested_tags.RequestedTag]:
    """Return the tags that the take requested whose action the editor shows."""
    space: Any = context.space_data
    obj = app.character.characters.get_active_armature(context)
    action = _get_shown_action(obj, space) if obj is not None and _is_editor(space) else None
    return () if action is None else app.takes.requested_tags.get_requested_tags(action)


def _get_shown_action(obj: bpy.types.Object, space: Any) -> Any:
    """Return the action that an editor shows. Before Blender 5.0, nobody may play it."""
    if space.mode == "ACTION" and hasattr(space, "action"):
        return space.action
    return obj.animation_data and obj.animation_data.action


def assign_lanes(firsts: Sequence[int], lasts: Sequence[int]) -> list[int]:
    """Return a lane for each range, both ends inclusive: the lowest that is free at its start."""
    lanes = [0] * len(firsts)
    # heaps: a file may hold thousands of ranges, and editors draw them at every redraw
    taken: list[tuple[int, int]] = []  # the last frame of each lane that is not free, and the lane
    free: list[int] = []
    for index in sorted(range(len(firsts)), key=lambda n: (firsts[n], -lasts[n])):
        while taken and taken[0][0] < firsts[index]:
            heapq.heappush(free, heapq.heappop(taken)[1])
        lanes[index] = heapq.heappop(free) if free else len(taken)
        heapq.heappush(taken, (lasts[index], lanes[index]))
    return lanes


def build_bands(ranges: Any, first: float, last: float) -> tuple[list[Band], int]:
    """Return the ranges that overlap these frames, and the number of lanes of all ranges."""
    ends = np.empty((2, len(ranges)), np.int32)
    ranges.foreach_get("frame_start", ends[0])
    ranges.foreach_get("frame_end", ends[1])
    firsts = ends[0].tolist()
    lasts = np.maximum(ends[0], ends[1]).tolist()
    lanes = assign_lanes(firsts, lasts)
    bands = map(Band, range(len(ranges)), firsts, lasts, lanes)
    seen = [band for band in bands if band.first <= last and band.last >= first]
    return seen, max(lanes, default=-1) + 1


# Drawing


def start() -> None:
    """Draw into Dope Sheets and Timelines from now on."""
    overlay.start()
    app.callbacks.redraw("WINDOW", editor="DOPESHEET_EDITOR")


def stop() -> None:
    """Stop drawing; may be called twice."""
    overlay.stop()
    app.callbacks.redraw("WINDOW", editor="DOPESHEET_EDITOR")


def _draw() -> None:
    """Draw the ranges of the shown source, or the requested tags of the shown take."""
    context = bpy.context
    source = get_shown_source(context)
    if source is not None:
        if source.tag_ranges and settings_of(source.id_data).show_tags:
            _draw_source(context, source)
    elif requests := get_shown_requests(context):
        obj = app.character.characters.get_active_armature(context)
        if obj is not None and settings_of(obj).show_tags:
            _draw_requests(context, requests)


def _draw_source(context: bpy.types.Context, source: MotionMatchingSource) -> None:
    to_frame = context.region.view2d.region_to_view
    width = context.region.width
    visible = (
        app.sources.source_preview.to_source_frame(source, to_frame(x, 0)[0]) for x in (0, width)
    )
    bands, lanes = build_bands(source.tag_ranges, *visible)
    shown = []
    for band in bands:
        tag = source.tag_ranges[band.number]
        is_active = band.number == source.tag_index
        ends = (
            app.sources.source_preview.to_timeline_frame(source, frame)
            for frame in (band.first, band.last)
        )
        alpha = _ACTIVE_OPACITY if is_active else _OPACITY
        shown.append((*ends, band.lane, get_tag_name(tag), (*tag.color, alpha)))
    _draw_bands(context, shown, lanes)


def _draw_requests(
    context: bpy.types.Context, requests: Sequence[app.takes.requested_tags.RequestedTag]
) -> None:
    lanes = assign_lanes([tag.first for tag in requests], [tag.last for tag in requests])
    shown = [
        (
            tag.first,
            tag.last,
            lane,
            tag.name,
            (*app.controller.tag_colors.get_tag_color(tag.name), _OPACITY),
        )
        for tag, lane in zip(requests, lanes, strict=True)
    ]
    _draw_bands(context, shown, max(lanes) + 1)


def _draw_bands(context: bpy.types.Context, shown: Sequence[tuple[Any, ...]], lanes: int) -> None:
    """Draw bands: their first and last frame in the timeline, lane, name, and colour."""
    region = context.region
    scale = context.preferences.system.ui_scale
    to_pixel = region.view2d.view_to_region
    margin = _MARKERS if _has_markers(context) else _MARGIN
    bottom, height = (scale * size for size in _fit_lanes(region.height / scale, lanes, margin))
    boxes = []
    for first, last, lane, *_ in shown:
        left = to_pixel(first - 0.5, 0.0, clip=False)[0]
        right = to_pixel(last + 0.5, 0.0, clip=False)[0]
        low = bottom + lane * height
        boxes.append((left, low, max(right, left + 2), low + height - 1))
    if boxes:
        colours = np.array([color for *_, color in shown])
        drawing.draw_boxes(drawing.build_box_batch(np.array(boxes), colours))
        if height >= _LOWEST_NAMED_LANE * scale:
            _draw_names(boxes, [name for *_, name, _ in shown])


def _fit_lanes(height: float, lanes: int, margin: float) -> tuple[float, float]:
    """Return the bottom and the height of the lanes; in a low editor, they are thin lines."""
    lane = min(_LANE, (height - margin - _RULER) / max(lanes, 1))
    if lane >= _THIN_LANE:
        return margin, lane
    return 0.0, min(_THIN_LANE, _THIN_LANES / max(lanes, 1))


def _has_markers(context: bpy.types.Context) -> bool:
    space: Any = context.space_data
    obj = app.character.characters.get_active_armature(context)
    action = None
    if space.mode == "ACTION" and space.show_pose_markers:
        action = _get_shown_action(obj, space)
    return bool(context.scene.timeline_markers or (action and action.pose_markers))


def _draw_names(boxes: Sequence[tuple[float, ...]], names: Sequence[str]) -> None:
    """Draw names into boxes, cut off where they end."""
    preferences = bpy.context.preferences
    scale = preferences.system.ui_scale
    editor = preferences.themes[0].dopesheet_editor
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
