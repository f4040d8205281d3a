"""Read marks, path and walls of a scene as a shot, in seconds from its first frame."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...engine.control.performer import Placement
from ...engine.database.database import Database
from ...engine.database.frame_names import find_frame
from ...engine.direct.shot.mark import CHARACTER, LONGEST_SHOT, Mark
from ...engine.direct.shot.shot import Piece, Shot, Tempo, TimedPath
from ...engine.errors import SettingsError
from ...engine.performance.performance import Performance
from ...scene.blender.animation.actions import get_scene_fps
from ...scene.direct import empties
from ...scene.staging import placements
from ..character.characters import get_placement
from ..direct import jumps
from ..property_access import settings_of, to_plain_value
from ..settings import add_obstacles
from . import keeping_poses, marks, outcomes

_SHORTEST_SHOT = 0.5  # seconds
_AFTER_LAST = 1.0  # seconds that a shot without an end goes on after its last mark
_PER_SECOND = 10.0  # points of a timed path
_SECONDS = re.compile(r"\b(at|until|from|to) (\d+(?:\.\d+)?(?:e-?\d+)?) s\b")


Noted = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Request:
    """A shot that begins at a frame, and its marks and tempos: session_uids, and requests.

    `put_marks` adds the marks of one that was not made from marks, once it is solved. A `piece` of
    it is solved anew. `variations` is the number of takes to solve.
    """

    shot: Shot
    frame: int
    marks: Noted = ()
    tempos: Noted = ()
    put_marks: Callable[[bpy.types.Object], Noted] | None = None
    piece: Piece | None = None
    variations: int = 1


def build_request(obj: bpy.types.Object, database: Database) -> Request:
    """Return what an armature's marks and path ask for. SettingsError for what cannot be."""
    director = settings_of(obj).director
    bpy.context.view_layer.update()
    start = get_start(obj)
    fps = get_scene_fps(bpy.context.scene)
    listed = marks.list_marks(obj)
    tempos = marks.list_marks(obj, marks.TEMPO)
    end = _find_end(obj, listed, tempos)
    _check_length((end - start) / fps)
    read = [_read_mark(empty, start, end, fps, database) for empty in listed]
    position, facing = _find_start(obj, start, listed)
    shot = Shot(
        (end - start) / fps,
        position,
        facing,
        director.gait,
        tuple(read),
        _read_path(obj, start, end, fps),
        seed=director.seed,
        name="Directed",
        kept=jumps.list_kept(obj, start, end),
        tempos=tuple(_read_tempo(empty, start, end, fps) for empty in tempos),
    )
    return Request(shot, start, _note(listed), _note(tempos))


def _note(listed: list[bpy.types.Object]) -> Noted:
    return tuple((empty.session_uid, outcomes.describe_request(empty)) for empty in listed)


def add_surroundings(obj: bpy.types.Object, request: Request) -> Shot:
    """Return a shot on the ground and among the walls that an armature has now."""
    around = add_obstacles(obj, Performance("", 1.0, ()))
    return replace(request.shot, walls=around.walls, floor=around.floor)


def get_start(obj: bpy.types.Object) -> int:
    """Return the first frame of an armature's shot."""
    director = settings_of(obj).director
    if director.use_range:
        return director.frame_start
    return bpy.context.scene.frame_start


def to_frames(text: str, frame: int) -> str:
    """Return a sentence of the engine with frames of the scene in place of times of a shot."""
    fps = get_scene_fps(bpy.context.scene)

    def name_frame(match: re.Match[str]) -> str:
        return f"{match[1]} frame {frame + round(float(match[2]) * fps)}"

    return _SECONDS.sub(name_frame, text)


def _find_end(
    obj: bpy.types.Object, listed: list[bpy.types.Object], tempos: list[bpy.types.Object]
) -> int:
    """Return the last frame of a shot: the given one, or a second after all that is asked for."""
    director = settings_of(obj).director
    fps = get_scene_fps(bpy.context.scene)
    if director.use_range:
        return director.frame_end
    ends = [marks.get_frame(each) + marks.mark_of(each).hold * fps for each in listed]
    ends += [marks.mark_of(each).frame_end for each in tempos]
    ends += [director.path_end] if director.path else []
    return math.ceil(max(ends, default=get_start(obj)) + _AFTER_LAST * fps)


def _check_length(seconds: float) -> None:
    if seconds < _SHORTEST_SHOT:
        raise SettingsError(
            "The shot ends before it starts; set a later end, or move its marks behind the start "
            "of the scene."
        )
    if seconds > LONGEST_SHOT:
        raise SettingsError(
            f"The shot lasts {seconds / 60.0:.0f} minutes, and {LONGEST_SHOT / 60.0:.0f} are the "
            "most; set a range, and direct the rest as another take."
        )


def _find_start(
    obj: bpy.types.Object, start: int, listed: list[bpy.types.Object]
) -> tuple[tuple[float, float], float]:
    """Return where a shot begins: at the mark on its first frame, or at the path from there on.

    Without either, it begins where the character is.
    """
    director = settings_of(obj).director
    x, y, yaw = get_placement(obj, start)
    if director.path and director.path_start == start:
        points = placements.read_curve_path(director.path).points
        (x, y), way = points[0].tolist(), points[min(1, len(points) - 1)] - points[0]
        yaw = math.atan2(way[0], -way[1])
    for empty in listed:
        mark = marks.mark_of(empty)
        if mark.leads and marks.get_frame(empty) == start:
            place = read_place(empty, start)
            is_there = mark.use_place and mark.part == CHARACTER
            x, y = (place.x, place.y) if is_there else (x, y)
            yaw = place.yaw if mark.use_facing else yaw
    return (x, y), yaw


def read_place(empty: bpy.types.Object, frame: int) -> Placement:
    """Return where a mark is and points at a frame. SettingsError if that is no number."""
    place = empties.read_arrow(_find_matrix(empty, frame))
    _check_numbers(empty, frame, "location or rotation", place)
    return place


def _check_numbers(
    empty: bpy.types.Object, frame: int, what: str, numbers: tuple[float, ...]
) -> None:
    if not all(map(math.isfinite, numbers)):
        raise SettingsError(
            f"The mark '{empty.name}' at frame {frame} has no place: its {what} is not a number; "
            "type another."
        )


def place_mark(mark: Mark, empty: bpy.types.Object, frame: int) -> Mark:
    """Return a mark where its empty is at a frame. SettingsError if that is no number."""
    place = read_place(empty, frame)
    asked = marks.mark_of(empty)
    return replace(
        mark,
        position=(place.x, place.y) if asked.use_place else None,
        facing=place.yaw if asked.use_facing and asked.leads else None,
        height=read_height(empty, frame),
        palm=read_palm(empty, frame),
    )


def read_height(empty: bpy.types.Object, frame: int) -> float | None:
    """Return how high a mark asks the part of the body to be that is there, if it does.

    SettingsError if that is no number.
    """
    mark = marks.mark_of(empty)
    if not (mark.use_height and marks.is_of_part(empty)):
        return None
    height: float = _find_matrix(empty, frame).translation.z
    _check_numbers(empty, frame, "height", (height,))
    return height


def read_palm(empty: bpy.types.Object, frame: int) -> tuple[float, float, float] | None:
    """Return where the palm of a mark's hand is to face, as a direction in the world."""
    mark = marks.mark_of(empty)
    if not marks.is_of_hand(empty) or mark.palm == "FREE":
        return None
    if mark.palm == "ARROW":
        return empties.read_direction(_find_matrix(empty, frame))
    return (0.0, 0.0, 1.0 if mark.palm == "UP" else -1.0)


def _find_matrix(empty: bpy.types.Object, frame: int) -> placements.Matrix:
    if placements.is_animated(empty):
        return placements.sample_matrices(empty, [frame])[0]
    return empty.matrix_world


def _read_mark(
    empty: bpy.types.Object, start: int, end: int, fps: float, database: Database
) -> Mark:
    mark = marks.mark_of(empty)
    frame = marks.get_frame(empty)
    label = f"The mark '{empty.name}' at frame {frame}"
    if not start <= frame <= end:
        limit = f"before the shot begins at {start}" if frame < start else f"after its end at {end}"
        raise SettingsError(f"{label} is {limit}; move it, or change the range of the shot.")
    if mark.moment and mark.leads:
        try:
            find_frame(database, mark.moment)
        except SettingsError as error:
            raise SettingsError(f"{label} asks for a source frame. {error}") from None
    values = marks.read_values(empty)
    values |= {
        "time": (frame - start) / fps,
        "hold": min(values["hold"], (end - frame) / fps),
        "pose": keeping_poses.read_pose(empty),
        "part": mark.part if marks.is_of_part(empty) else CHARACTER,
    }
    return place_mark(Mark(**values), empty, frame)


def _read_tempo(empty: bpy.types.Object, start: int, end: int, fps: float) -> Tempo:
    mark = marks.mark_of(empty)
    frame = marks.get_frame(empty)
    _check_range(f"The tempo '{empty.name}' holds", (frame, mark.frame_end), start, end)
    span = (frame - start) / fps, (mark.frame_end - start) / fps
    return Tempo(*span, to_plain_value(mark.rate))


def _check_range(text: str, frames: tuple[int, int], start: int, end: int) -> None:
    """Check that an item, described by a text, is within a shot. Raises SettingsError."""
    if not start <= frames[0] < frames[1] <= end:
        raise SettingsError(
            f"{text} from frame {frames[0]} to {frames[1]}, and the shot lasts from {start} to "
            f"{end}; give it frames within that, the first before the last."
        )


def _read_path(obj: bpy.types.Object, start: int, end: int, fps: float) -> tuple[TimedPath, ...]:
    """Return the curve to be followed, if any; radii of its points are factors of the speed."""
    director = settings_of(obj).director
    curve = director.path
    first = director.path_start
    last = director.path_end
    if curve is None:
        return ()
    _check_range(f"The path '{curve.name}' is followed", (first, last), start, end)
    path = placements.read_curve_path(curve)
    points = path.points
    speeds = path.radii
    if path.cyclic:
        points = np.vstack([points, points[:1]])
        speeds = np.append(speeds, speeds[:1])
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if not lengths.sum() > 0.0:
        raise SettingsError(f"The path '{curve.name}' has no length; draw a longer one.")
    if not (speeds > 0.0).all():
        raise SettingsError(
            f"The path '{curve.name}' has points with a radius of 0, which would stop the "
            "character; give them a larger radius, which multiplies the speed."
        )
    gone = np.append(0.0, np.cumsum(lengths / (0.5 * (speeds[1:] + speeds[:-1]))))
    seconds = (last - first) / fps
    shares = np.linspace(0.0, 1.0, max(round(seconds * _PER_SECOND), 1) + 1)
    x, y = (np.interp(shares * gone[-1], gone, points[:, axis]) for axis in (0, 1))
    times = (first - start) / fps + shares * seconds
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    return (TimedPath(tuple(times.tolist()), tuple(pairs)),)
