"""What the 3D views show of the data: strands around the character, the frame that is inspected, and the map of poses.

All of it was found out before. Batches are made once, at the first drawing after that; a redraw only places them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import bpy

from . import insight, inspector, request, trail

if TYPE_CHECKING:
    import numpy as np

_ABOVE = 0.01  # metres over the ground
_LABEL = 2.0  # metres from the point that strands start from to their name
_MAP, _EDGE = 220, 20  # size of the map, and its distance from the corner of the view
_MOST_POSES = 3000
_DOT, _HEAD = 0.006, 0.018  # parts of the map's size
_PAPER = (0.05, 0.05, 0.05, 0.75)
_COLORS = {"body": "bone_solid", "position": "vertex_select", "velocity": "bone_pose_active", "trajectory": "bone_pose",
           "direction": "bone_pose", "wish": "object_active"}

spent: deque[float] = deque(maxlen=200)  # seconds that drawings of a view took
_handles: list[tuple[Any, str]] = []
_batches: dict[str, tuple[Any, Any]] = {}  # by what they show: what they were made of, and the batch
_places: dict[str, tuple[Any, Any]] = {}  # by the kind of map: what they were made of, and the places


def start() -> None:
    """Draw from now on, in all 3D views."""
    stop()
    for draw, when in ((_draw_scene, "POST_VIEW"), (_draw_pixels, "POST_PIXEL")):
        _handles.append((bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", when), "WINDOW"))


def stop() -> None:
    """Draw no more; twice does no harm."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(*_handles.pop())
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
    if seen and seen.spot and settings.show_features and trail.live is None and seen.armature.uid == obj.session_uid:
        _draw_features(seen, seen.spot.place)
    spent.append(time.perf_counter() - began)


def _draw_strands(obj: bpy.types.Object, found: insight.Measured, data: bool, simulation: bool) -> None:
    from mathutils import Matrix

    place = _stood(obj)
    if data:
        lines = _batch("strands", found.strands, lambda: _lines(*strand_segments(found.strands)))
        _draw_lines(lines, 1.5, place)
    if simulation:
        aside = Matrix.Translation((found.apart, 0.0, 0.0))
        lines = _batch("simulation", found.simulation, lambda: _lines(*strand_segments(found.simulation)))
        _draw_lines(lines, 1.5, place @ aside)


def _stood(obj: bpy.types.Object) -> Any:
    """The matrix of where a character is seen on the ground."""
    from mathutils import Matrix

    seen = trail.live
    x, y, yaw = seen.place if seen and seen.uid == obj.session_uid else request.standing_place(obj)
    return Matrix.Translation((x, y, obj.matrix_world[2][3] + _ABOVE)) @ Matrix.Rotation(yaw, 4, "Z")


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
    r, g, b = context.preferences.themes[0].view_3d.space.text_hi[:3]
    blf.color(0, r, g, b, 1.0)
    for text, left in labels:
        where = location_3d_to_region_2d(context.region, context.region_data, place @ Vector((left, _LABEL, 0.0)))
        if where is not None:
            blf.position(0, where.x - 0.5 * blf.dimensions(0, text)[0], where.y, 0.0)
            blf.draw(0, text)


def strand_segments(strands: Any) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of points (2 n, 3) as a character at the origin that faces -Y has them, and their colours (2 n, 4)."""
    import numpy as np

    from ..engine.matching.strands import colours

    ways = np.zeros((*strands.ways.shape[:2], 3), np.float32)
    ways[..., 0], ways[..., 1] = strands.ways[..., 0], -strands.ways[..., 1]
    pairs = np.stack([ways[:, :-1], ways[:, 1:]], axis=2).reshape(-1, 3)
    rgba = np.concatenate([colours(strands.speeds), np.full((len(strands.speeds), 1), 0.7)], axis=1).astype(np.float32)
    return pairs, np.repeat(rgba, 2 * (ways.shape[1] - 1), axis=0)


def _draw_features(seen: inspector.Inspector, place: tuple[float, float, float, float]) -> None:
    from mathutils import Matrix

    x, y, z, yaw = place
    there = Matrix.Translation((x, y, z + _ABOVE)) @ Matrix.Rotation(yaw, 4, "Z")
    body = _batch("body", seen.strokes, lambda: _strokes([s for s in seen.strokes if s.kind == "body"]))
    features = _batch("features", seen.strokes, lambda: _strokes([s for s in seen.strokes if s.kind != "body"]))
    wished = _batch("wish", seen.wished, lambda: _strokes([s._replace(kind="wish") for s in seen.wished]))
    for lines, width in ((body, 1.5), (wished, 5.0), (features, 3.0)):
        if lines is not None:
            _draw_lines(lines, width, there)


def _strokes(strokes: Any) -> Any:
    """A batch of lines in the theme's colours, or None."""
    import numpy as np

    if not strokes:
        return None
    theme = bpy.context.preferences.themes[0].view_3d
    pairs, colours = [], []
    for stroke in strokes:
        pairs += [pair for k in range(len(stroke.points) - 1) for pair in stroke.points[k : k + 2]]
        colours += [(*getattr(theme, _COLORS[stroke.kind])[:3], 1.0)] * (2 * (len(stroke.points) - 1))
    return _lines(np.array(pairs, np.float32), np.array(colours, np.float32))


def _lines(points: np.ndarray, colours: np.ndarray) -> Any:
    import gpu
    from gpu_extras.batch import batch_for_shader

    if not len(points):
        return None
    content: Any = {"pos": points, "color": colours}
    return batch_for_shader(gpu.shader.from_builtin("POLYLINE_FLAT_COLOR"), "LINES", content)


def _draw_lines(batch: Any, width: float, place: Any) -> None:
    import gpu

    if batch is None:
        return
    context = bpy.context
    shader = gpu.shader.from_builtin("POLYLINE_FLAT_COLOR")
    shader.bind()
    shader.uniform_float("viewportSize", (context.region.width, context.region.height))
    shader.uniform_float("lineWidth", width * context.preferences.system.ui_scale)
    gpu.state.blend_set("ALPHA")
    gpu.matrix.push()
    try:
        gpu.matrix.multiply_matrix(place)
        batch.draw(shader)
    finally:
        gpu.matrix.pop()
        gpu.state.blend_set("NONE")


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
        _draw_map(obj, mapped, _played(mapped) if is_live else _inspected(obj, mapped),
                  _blended(mapped) if is_live else ())
    if spent:
        spent[-1] += time.perf_counter() - began


def _is_live(obj: bpy.types.Object) -> bool:
    return trail.live is not None and trail.live.uid == obj.session_uid


def _shown_map(obj: bpy.types.Object) -> insight.Mapped | None:
    """The map of an armature, if it is to be shown."""
    shown = obj.motion_matching.play.show_map if _is_live(obj) else obj.motion_matching.insight.show_map
    return insight.mapped.get(obj.session_uid) if shown else None


def height_of_map(obj: bpy.types.Object) -> float:
    """What the map takes of the corner of the view, in pixels at a scale of 1."""
    return _MAP + _EDGE if _shown_map(obj) else 0.0


def _draw_map(obj: bpy.types.Object, found: insight.Mapped, marked: list[int], around: Sequence[int]) -> None:
    import gpu
    from mathutils import Matrix

    context = bpy.context
    scale = context.preferences.system.ui_scale
    sidebar = next((region.width for region in context.area.regions if region.type == "UI"), 0)
    places = places_of(found, obj.motion_matching.insight.map)
    gpu.state.blend_set("ALPHA")
    gpu.matrix.push()
    try:
        corner = (context.region.width - max(sidebar, 1) - (_MAP + _EDGE) * scale, _EDGE * scale, 0.0)
        gpu.matrix.multiply_matrix(Matrix.Translation(corner) @ Matrix.Scale(_MAP * scale, 4))
        _flat(_batch("map", places, lambda: _dots(places, found.colours)))
        if len(around):
            _draw_around(places[around])
        if marked:
            _draw_way(places[marked])
    finally:
        gpu.matrix.pop()
        gpu.state.blend_set("NONE")


def _played(found: insight.Mapped) -> list[int]:
    """The frames that were played last, if the map is of the data that they are from."""
    return list(trail.frames) if trail.live and trail.live.key == found.key else []


def _blended(found: insight.Mapped) -> Sequence[int]:
    """The frames of the neighbours that a motion field has blended last, if the map is of the data that they are from."""
    return trail.around if trail.live and trail.live.key == found.key else ()


def _inspected(obj: bpy.types.Object, found: insight.Mapped) -> list[int]:
    """The frame that is inspected, if it is one of the map."""
    seen = inspector.current
    if seen is None or seen.spot is None or (seen.armature.uid, seen.key) != (obj.session_uid, found.key):
        return []
    return [seen.spot.frame]


def places_of(found: insight.Mapped, kind: str) -> np.ndarray:
    """Places (N, 2) of all frames on a map between 0 and 1, as wide as they are, made once."""
    if kind not in _places or _places[kind][0] is not found:
        import numpy as np

        places = getattr(found.poses, kind)
        low, high = places.min(axis=0), places.max(axis=0)
        size = max(float((high - low).max()), 1e-9)
        _places[kind] = found, (0.05 + 0.9 * (0.5 + (places - 0.5 * (low + high)) / size)).astype(np.float32)
    return _places[kind][1]


def _dots(places: np.ndarray, colours: np.ndarray) -> Any:
    """A batch of the paper and a dot for each of some frames, evenly spread."""
    import numpy as np

    frames = np.arange(0, len(places), max(-(-len(places) // _MOST_POSES), 1))
    rgba = np.concatenate([colours[frames], np.full((len(frames), 1), 0.9)], axis=1)
    return _squares(np.concatenate([[[0.5, 0.5]], places[frames]]), np.array([0.5] + [_DOT] * len(frames)),
                    np.concatenate([[_PAPER], rgba]))


def _squares(centres: np.ndarray, sizes: np.ndarray, colours: np.ndarray) -> Any:
    """A batch of squares: points are drawn differently by each version of Blender, triangles are not."""
    import gpu
    import numpy as np
    from gpu_extras.batch import batch_for_shader

    corners = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    points = (centres[:, None] + sizes[:, None, None] * corners).reshape(-1, 2).astype(np.float32)
    indices = (4 * np.arange(len(centres))[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)
    content: Any = {"pos": np.pad(points, ((0, 0), (0, 1))), "color": np.repeat(colours, 4, axis=0).astype(np.float32)}
    return batch_for_shader(gpu.shader.from_builtin("FLAT_COLOR"), "TRIS", content, indices=indices.astype(np.int32))


def _flat(batch: Any) -> None:
    import gpu

    shader = gpu.shader.from_builtin("FLAT_COLOR")
    shader.bind()
    batch.draw(shader)


def _draw_around(places: np.ndarray) -> None:
    """Where the neighbours lie on the map."""
    import numpy as np

    color = (*bpy.context.preferences.themes[0].view_3d.object_active[:3], 1.0)
    _flat(_squares(places, np.full(len(places), 2.0 * _DOT), np.full((len(places), 4), color)))


def _draw_way(places: np.ndarray) -> None:
    """Where the last frames lie on the map, the older the fainter, and large where it has got to."""
    import numpy as np

    count = len(places)
    colours = np.ones((count, 4))
    colours[:, 3] = np.linspace(0.1, 1.0, count) if count > 1 else 1.0
    sizes = np.full(count, 1.5 * _DOT)
    sizes[-1] = _HEAD
    _flat(_squares(places, sizes, colours))
