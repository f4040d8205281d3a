"""What the 3D views show of the data: strands around the character, the frame that is inspected, and the map of poses.

All of it was found out before. Batches are made once, at the first drawing after that; a redraw only places them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import bpy

from . import drawing, insight, inspector, request, status, trail

if TYPE_CHECKING:
    import numpy as np

_ABOVE = 0.01  # metres over the ground
_LABEL = 2.0  # metres from the point that strands start from to their name
_STRAND = 1.5  # width
_MAP = 220.0  # size of the map
_MOST_POSES = 3000
_DOT, _HEAD = 0.006, 0.018  # parts of the map's size
_PAPER = (0.05, 0.05, 0.05, 0.75)
_COLORS = {
    "body": "bone_solid",
    "position": "vertex_select",
    "velocity": "bone_pose_active",
    "trajectory": "bone_pose",
    "direction": "bone_pose",
    "wish": "object_active",
}

spent: deque[float] = deque(maxlen=200)  # seconds that drawings of a view took
_batches: dict[
    str, tuple[Any, Any]
] = {}  # by what they show: what they were made of, and the batch
_places: dict[
    str, tuple[Any, Any]
] = {}  # by the kind of map: what they were made of, and the places


def start() -> None:
    """Draw from now on, in all 3D views."""
    overlay.start()


def stop() -> None:
    """Draw no more; twice does no harm."""
    overlay.stop()
    _batches.clear()
    _places.clear()


def _batch(name: str, made_of: Any, make: Any) -> Any:
    """The batch of that name, made anew where it shows something else than before."""
    if name not in _batches or _batches[name][0] is not made_of:
        _batches[name] = made_of, make()
    return _batches[name][1]


# ---------------------------------------------------------------- in the scene


def _draw_scene() -> None:
    obj = request.armature_of(bpy.context)
    if obj is None:
        return
    began = time.perf_counter()
    found = insight.measured.get(obj.session_uid)
    settings = obj.motion_matching.insight
    if found and (settings.show_strands or settings.show_simulation):
        _draw_strands(obj, found, settings.show_strands, settings.show_simulation)
    seen = inspector.current
    if (
        seen
        and seen.spot
        and settings.show_features
        and trail.live is None
        and seen.armature.uid == obj.session_uid
    ):
        _draw_features(seen, seen.spot.place)
    spent.append(time.perf_counter() - began)


def _draw_strands(
    obj: bpy.types.Object, found: insight.Measured, data: bool, simulation: bool
) -> None:
    from mathutils import Matrix

    place = _stood(obj)
    if data:
        lines = _batch(
            "strands", found.strands, lambda: drawing.lines(*strand_segments(found.strands))
        )
        with drawing.placed(place):
            drawing.draw_lines([(lines, _STRAND)])
    if simulation:
        aside = Matrix.Translation((found.apart, 0.0, 0.0))
        lines = _batch(
            "simulation",
            found.simulation,
            lambda: drawing.lines(*strand_segments(found.simulation)),
        )
        with drawing.placed(place @ aside):
            drawing.draw_lines([(lines, _STRAND)])


def _stood(obj: bpy.types.Object) -> Any:
    """The matrix of where a character is seen on the ground."""
    from mathutils import Matrix

    seen = trail.live
    x, y, yaw = seen.place if seen and seen.uid == obj.session_uid else request.standing_place(obj)
    return Matrix.Translation((x, y, obj.matrix_world[2][3] + _ABOVE)) @ Matrix.Rotation(
        yaw, 4, "Z"
    )


def _draw_labels(obj: bpy.types.Object, found: insight.Measured) -> None:
    """What strands are of, behind the point that they start from."""
    settings = obj.motion_matching.insight
    labels = [("Data", 0.0)] if settings.show_strands else []
    labels += [("Simulation Object", found.apart)] if settings.show_simulation else []
    if not labels:
        return
    import blf
    from bpy_extras.view3d_utils import location_3d_to_region_2d
    from mathutils import Vector

    context, place = bpy.context, _stood(obj)
    blf.size(0, 12.0 * context.preferences.system.ui_scale)
    for text, left in labels:
        where = location_3d_to_region_2d(
            context.region, context.region_data, place @ Vector((left, _LABEL, 0.0))
        )
        if where is not None:
            drawing.write(
                text, where.x - 0.5 * blf.dimensions(0, text)[0], where.y, drawing.text_color()
            )


def strand_segments(strands: Any) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of points (2 n, 3) as a character at the origin that faces -Y has them, and their colours (2 n, 4)."""
    import numpy as np

    from ..engine.matching.strands import colours

    ways = np.zeros((*strands.ways.shape[:2], 3), np.float32)
    ways[..., 0], ways[..., 1] = strands.ways[..., 0], -strands.ways[..., 1]
    pairs = np.stack([ways[:, :-1], ways[:, 1:]], axis=2).reshape(-1, 3)
    rgba = np.concatenate(
        [colours(strands.speeds), np.full((len(strands.speeds), 1), 0.7)], axis=1
    ).astype(np.float32)
    return pairs, np.repeat(rgba, 2 * (ways.shape[1] - 1), axis=0)


def _draw_features(seen: inspector.Inspector, place: tuple[float, float, float, float]) -> None:
    from mathutils import Matrix

    x, y, z, yaw = place
    there = Matrix.Translation((x, y, z + _ABOVE)) @ Matrix.Rotation(yaw, 4, "Z")
    body = _batch(
        "body", seen.strokes, lambda: _strokes([s for s in seen.strokes if s.kind == "body"])
    )
    features = _batch(
        "features", seen.strokes, lambda: _strokes([s for s in seen.strokes if s.kind != "body"])
    )
    wished = _batch(
        "wish", seen.wished, lambda: _strokes([s._replace(kind="wish") for s in seen.wished])
    )
    with drawing.placed(there):
        drawing.draw_lines([(body, 1.5), (wished, 5.0), (features, 3.0)])


def _strokes(strokes: Any) -> drawing.Batch | None:
    """A batch of lines in the theme's colours, or None."""
    import numpy as np

    if not strokes:
        return None
    pairs = [drawing.pairs_of(stroke.points) for stroke in strokes]
    colours = [drawing.theme_color(_COLORS[stroke.kind]) for stroke in strokes]
    return drawing.lines(
        np.concatenate(pairs), np.repeat(np.array(colours), [len(found) for found in pairs], axis=0)
    )


# ---------------------------------------------------------------- the map of poses


def _draw_pixels() -> None:
    """Comes after the scene of the same view."""
    obj = request.armature_of(bpy.context)
    if obj is None:
        return
    began = time.perf_counter()
    if measured := insight.measured.get(obj.session_uid):
        _draw_labels(obj, measured)
    is_live = _is_live(obj)
    if mapped := _shown_map(obj):
        _draw_map(
            obj,
            mapped,
            _played(mapped) if is_live else _inspected(obj, mapped),
            _blended(mapped) if is_live else (),
        )
    if spent:
        spent[-1] += time.perf_counter() - began


def _is_live(obj: bpy.types.Object) -> bool:
    return trail.live is not None and trail.live.uid == obj.session_uid


def _shown_map(obj: bpy.types.Object) -> insight.Mapped | None:
    """The map of an armature, if it is to be shown."""
    shown = (
        obj.motion_matching.play.show_map if _is_live(obj) else obj.motion_matching.insight.show_map
    )
    return insight.mapped.get(obj.session_uid) if shown else None


def height_of_map(obj: bpy.types.Object) -> float:
    """What the map takes of the corner of the view, in pixels at a scale of 1."""
    return _MAP + drawing.EDGE if _shown_map(obj) else 0.0


def _draw_map(
    obj: bpy.types.Object, found: insight.Mapped, marked: list[int], around: Sequence[int]
) -> None:
    import gpu

    places = places_of(found, obj.motion_matching.insight.map)
    with drawing.in_corner(_MAP):
        gpu.matrix.scale_uniform(_MAP)
        drawing.fill(_batch("map", places, lambda: _dots(places, found.colours)))
        if len(around):
            drawing.fill(_around(places[around]))
        if marked:
            drawing.fill(_way(places[marked]))


def _played(found: insight.Mapped) -> list[int]:
    """The frames that were played last, if the map is of the data that they are from."""
    return list(trail.frames) if _is_played(found) else []


def _blended(found: insight.Mapped) -> Sequence[int]:
    """The frames of the neighbours that a motion field has blended last, if the map is of the data that they are from."""
    return trail.around if _is_played(found) else ()


def _is_played(found: insight.Mapped) -> bool:
    """Whether the map is of the data that plays live; nothing is built meanwhile."""
    return (
        trail.live is not None
        and trail.live.key == found.key
        and status.edition(found.key) == found.edition
    )


def _inspected(obj: bpy.types.Object, found: insight.Mapped) -> list[int]:
    """The frame that is inspected, if it is one of the map."""
    seen = inspector.current
    if (
        seen is None
        or seen.spot is None
        or (seen.armature.uid, seen.key, seen.edition) != (obj.session_uid, *found[:2])
    ):
        return []
    return [seen.spot.frame]


def places_of(found: insight.Mapped, kind: str) -> np.ndarray:
    """Places (N, 2) of all frames on a map between 0 and 1, as wide as they are, made once."""
    if kind not in _places or _places[kind][0] is not found:
        import numpy as np

        places = getattr(found.poses, kind)
        low, high = places.min(axis=0), places.max(axis=0)
        size = max(float((high - low).max()), 1e-9)
        _places[kind] = (
            found,
            (0.05 + 0.9 * (0.5 + (places - 0.5 * (low + high)) / size)).astype(np.float32),
        )
    return _places[kind][1]


def _dots(places: np.ndarray, colours: np.ndarray) -> Any:
    """A batch of the paper and a dot for each of some frames, evenly spread."""
    import numpy as np

    frames = np.arange(0, len(places), max(-(-len(places) // _MOST_POSES), 1))
    rgba = np.concatenate([colours[frames], np.full((len(frames), 1), 0.9)], axis=1)
    return _squares(
        np.concatenate([[[0.5, 0.5]], places[frames]]),
        np.array([0.5] + [_DOT] * len(frames)),
        np.concatenate([[_PAPER], rgba]),
    )


def _squares(centres: np.ndarray, sizes: np.ndarray, colours: np.ndarray) -> drawing.Batch:
    """A batch of squares at centres (N, 2), so far to each side (N,)."""
    import numpy as np

    return drawing.boxes(
        np.concatenate([centres - sizes[:, None], centres + sizes[:, None]], axis=1), colours
    )


def _around(places: np.ndarray) -> drawing.Batch:
    """Where the neighbours lie on the map."""
    import numpy as np

    count = len(places)
    return _squares(
        places,
        np.full(count, 2.0 * _DOT),
        np.tile(drawing.theme_color("object_active"), (count, 1)),
    )


def _way(places: np.ndarray) -> drawing.Batch:
    """Where the last frames lie on the map, the older the fainter, and large where it has got to."""
    import numpy as np

    count = len(places)
    colours = np.ones((count, 4))
    colours[:, 3] = np.linspace(0.1, 1.0, count) if count > 1 else 1.0
    sizes = np.full(count, 1.5 * _DOT)
    sizes[-1] = _HEAD
    return _squares(places, sizes, colours)


overlay = drawing.Overlay((_draw_scene, "POST_VIEW"), (_draw_pixels, "POST_PIXEL"))
