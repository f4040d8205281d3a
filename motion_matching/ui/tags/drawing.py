"""Tags in the Dope Sheet and the Timeline: a coloured band for each range, with its name, at the
foot of the editor.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np

from ... import app
from ...app.typed import settings_of
from .. import drawing
from .properties import get_tag_name

if TYPE_CHECKING:
    from ..database.properties import MotionMatchingSource

_MODES = ("DOPESHEET", "TIMELINE", "ACTION")
# in pixels at the interface's scale: a lane and the least that holds a name, the margin below
# without markers and with them, and the ruler above
_LANE, _NAMED, _MARGIN, _MARKERS, _RULER = 16.0, 10.0, 12.0, 42.0, 26.0
_LINE, _FOOT = 3.0, 9.0  # a lane where there is no room for more, and all of them
_FILL, _CHOSEN = 0.5, 0.85  # opacities


class Band(NamedTuple):
    """A visible range: its index in the list, its frames, and a lane that no other range has at
    these frames.
    """

    number: int
    first: int
    last: int
    lane: int


def get_shown_source(context: bpy.types.Context) -> MotionMatchingSource | None:
    """Return the source whose action the editor shows, or the active one if the armature plays
    none, or None.
    """
    space: Any = context.space_data
    obj = app.characters.get_active_armature(context)
    if obj is None or space is None or space.type != "DOPESHEET_EDITOR" or space.mode not in _MODES:
        return None
    settings = settings_of(obj)
    chosen, action = (
        app.items.get_active(settings.sources, settings.source_index),
        _get_shown_action(obj, space),
    )
    if action is None or (chosen is not None and chosen.action == action):
        return chosen
    return next((source for source in settings.sources if source.action == action), None)


def _get_shown_action(obj: bpy.types.Object, space: Any) -> Any:
    """Return the action that an editor shows; before Blender 5.0 the Action Editor can show one
    that nobody plays.
    """
    if space.mode == "ACTION" and hasattr(space, "action"):
        return space.action
    return obj.animation_data and obj.animation_data.action


def assign_lanes(firsts: Sequence[int], lasts: Sequence[int]) -> list[int]:
    """Return a lane for each range of frames, both ends inclusive: the lowest that is free where
    the range begins.
    """
    lanes = [0] * len(firsts)
    free_from: list[int] = []  # the frame, by lane
    for index in sorted(range(len(firsts)), key=lambda n: (firsts[n], -lasts[n])):
        lane = next(
            (k for k, frame in enumerate(free_from) if frame <= firsts[index]), len(free_from)
        )
        free_from[lane : lane + 1] = [lasts[index] + 1]
        lanes[index] = lane
    return lanes


def build_bands(ranges: Any, first: float, last: float) -> tuple[list[Band], int]:
    """Return the ranges of a source that overlap these frames, and the number of lanes of all its
    ranges.
    """
    ends = np.empty((2, len(ranges)), np.int32)
    ranges.foreach_get("frame_start", ends[0])
    ranges.foreach_get("frame_end", ends[1])
    firsts, lasts = ends[0].tolist(), np.maximum(ends[0], ends[1]).tolist()
    lanes = assign_lanes(firsts, lasts)
    seen = [
        Band(*band)
        for band in zip(itertools.count(), firsts, lasts, lanes, strict=False)
        if band[1] <= last and band[2] >= first
    ]
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
    bottom, height = _fit_lanes(
        region.height / scale, lanes, _MARKERS if _has_markers(context) else _MARGIN
    )
    bottom, height = bottom * scale, height * scale
    boxes = []
    for band in bands:
        left, right = (
            to_pixel(frame, 0.0, clip=False)[0] for frame in (band.first - 0.5, band.last + 0.5)
        )
        boxes.append(
            (
                left,
                bottom + band.lane * height,
                max(right, left + 2),
                bottom + (band.lane + 1) * height - 1,
            )
        )
    if boxes:
        tags = [source.tag_ranges[band.number] for band in bands]
        colours = [
            (*tag.color, _CHOSEN if band.number == source.tag_index else _FILL)
            for band, tag in zip(bands, tags, strict=True)
        ]
        drawing.draw_boxes(drawing.build_box_batch(np.array(boxes), np.array(colours)))
        if height >= _NAMED * scale:
            _draw_names(context, boxes, [get_tag_name(tag) for tag in tags], scale)


def _fit_lanes(height: float, lanes: int, margin: float) -> tuple[float, float]:
    """Return the bottom and the height of the lanes; in an editor that shows little but its ruler,
    lines at its foot.
    """
    lane = min(_LANE, (height - margin - _RULER) / max(lanes, 1))
    return (margin, lane) if lane >= _LINE else (0.0, min(_LINE, _FOOT / max(lanes, 1)))


def _has_markers(context: bpy.types.Context) -> bool:
    space: Any = context.space_data
    obj, action = app.characters.get_active_armature(context), None
    if space.mode == "ACTION" and space.show_pose_markers:
        action = _get_shown_action(obj, space)
    return bool(context.scene.timeline_markers or (action and action.pose_markers))


def _draw_names(
    context: bpy.types.Context,
    boxes: Sequence[tuple[float, ...]],
    names: Sequence[str],
    scale: float,
) -> None:
    """Draw names into boxes, cut off where they end."""
    import blf

    blf.size(0, 11.0 * scale)
    red, green, blue = context.preferences.themes[0].dopesheet_editor.space.text_hi[:3]
    blf.color(0, red, green, blue, 1.0)
    blf.enable(0, blf.CLIPPING)
    try:
        for (x0, y0, x1, y1), name in zip(boxes, names, strict=True):
            if x1 - x0 > 8.0 * scale:
                x = max(x0, 0.0) + 4.0 * scale  # of a band that begins further left as well
                blf.clipping(0, x0, y0, x1, y1)
                blf.position(0, x, y0 + 0.28 * (y1 - y0), 0.0)
                blf.draw(0, name)
    finally:
        blf.disable(0, blf.CLIPPING)


overlay = drawing.Overlay((_draw, "POST_PIXEL"), space=bpy.types.SpaceDopeSheetEditor)
