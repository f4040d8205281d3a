"""Tags in the Dope Sheet and the Timeline: a coloured band for each range, with its name, at the foot of the editor."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np

from . import drawing, polls, status
from .properties_tags import name_of
from .request import armature_of

_MODES = ("DOPESHEET", "TIMELINE", "ACTION")
# in pixels at the interface's scale: a lane and the least that holds a name, the margin below without markers and with
# them, and the ruler above
_LANE, _NAMED, _MARGIN, _MARKERS, _RULER = 16.0, 10.0, 12.0, 42.0, 26.0
_LINE, _FOOT = 3.0, 9.0  # a lane where there is no room for more, and all of them
_FILL, _CHOSEN = 0.5, 0.85  # opacities


class Band(NamedTuple):
    """A range that is seen: its number in the list, and the lane that no other range has at its frames."""

    number: int
    first: int
    last: int
    lane: int


def source_shown(context: bpy.types.Context) -> Any:
    """The source whose action the editor shows, or the chosen one where the armature plays none; None for neither."""
    obj, space = armature_of(context), context.space_data
    if obj is None or space is None or space.type != "DOPESHEET_EDITOR" or space.mode not in _MODES:
        return None
    settings = obj.motion_matching
    chosen, action = polls.active(settings, "sources", "source_index"), _action_shown(obj, space)
    if action is None or (chosen is not None and chosen.action == action):
        return chosen
    return next((source for source in settings.sources if source.action == action), None)


def _action_shown(obj: bpy.types.Object, space: Any) -> Any:
    """The action whose keys an editor shows; until Blender 5.0 the Action Editor could show one that nobody plays."""
    if space.mode == "ACTION" and hasattr(space, "action"):
        return space.action
    return obj.animation_data and obj.animation_data.action


def lanes_of(firsts: Sequence[int], lasts: Sequence[int]) -> list[int]:
    """A lane for each range of frames, both ends inclusive: the lowest that is free where it begins."""
    lanes = [0] * len(firsts)
    free_from: list[int] = []  # of each lane, the frame
    for number in sorted(range(len(firsts)), key=lambda n: (firsts[n], -lasts[n])):
        lane = next(
            (k for k, frame in enumerate(free_from) if frame <= firsts[number]), len(free_from)
        )
        free_from[lane : lane + 1] = [lasts[number] + 1]
        lanes[number] = lane
    return lanes


def bands_of(ranges: Any, first: float, last: float) -> tuple[list[Band], int]:
    """The ranges of a source that meet these frames, and the number of lanes of them all."""
    ends = np.empty((2, len(ranges)), np.int32)
    ranges.foreach_get("frame_start", ends[0])
    ranges.foreach_get("frame_end", ends[1])
    firsts, lasts = ends[0].tolist(), np.maximum(ends[0], ends[1]).tolist()
    lanes = lanes_of(firsts, lasts)
    seen = [
        Band(*band)
        for band in zip(itertools.count(), firsts, lasts, lanes, strict=False)
        if band[1] <= last and band[2] >= first
    ]
    return seen, max(lanes, default=-1) + 1


# ---------------------------------------------------------------- drawing


def start() -> None:
    """Draw into Dope Sheets and Timelines from now on."""
    overlay.start()
    status.redraw("WINDOW", "DOPESHEET_EDITOR")


def stop() -> None:
    """Draw no more; twice does no harm."""
    overlay.stop()
    status.redraw("WINDOW", "DOPESHEET_EDITOR")


def _draw() -> None:
    context = bpy.context
    source = source_shown(context)
    if source is None or not source.tag_ranges or not source.id_data.motion_matching.show_tags:
        return
    region, scale = context.region, context.preferences.system.ui_scale
    to_frame, to_pixel = region.view2d.region_to_view, region.view2d.view_to_region
    bands, lanes = bands_of(source.tag_ranges, to_frame(0, 0)[0], to_frame(region.width, 0)[0])
    bottom, height = _room(
        region.height / scale, lanes, _MARKERS if _shows_markers(context) else _MARGIN
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
        drawing.fill(drawing.boxes(np.array(boxes), np.array(colours)))
        if height >= _NAMED * scale:
            _write(context, boxes, [name_of(tag) for tag in tags], scale)


def _room(height: float, lanes: int, margin: float) -> tuple[float, float]:
    """Where the lowest lane begins and how high each is; in an editor that shows little but its ruler, lines at its foot."""
    lane = min(_LANE, (height - margin - _RULER) / max(lanes, 1))
    return (margin, lane) if lane >= _LINE else (0.0, min(_LINE, _FOOT / max(lanes, 1)))


def _shows_markers(context: bpy.types.Context) -> bool:
    space: Any = context.space_data
    action = (
        _action_shown(armature_of(context), space)
        if space.mode == "ACTION" and space.show_pose_markers
        else None
    )
    return bool(context.scene.timeline_markers or (action and action.pose_markers))


def _write(
    context: bpy.types.Context,
    boxes: Sequence[tuple[float, ...]],
    names: Sequence[str],
    scale: float,
) -> None:
    """Names into boxes, as much of them as fits."""
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
