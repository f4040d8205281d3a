"""Marks from a take: where it goes, stops and turns, for the director to solve the same."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import bpy
import numpy as np

from ...engine.control.performer import Placement
from ...engine.control.rollout import Take
from ...engine.database.database import Database
from ...engine.direct.shot.shot import Mark, Shot
from ...engine.maths import planar
from ...engine.maths.along_time import find_runs
from ...engine.maths.numeric import arctan2
from ...engine.motion.rest import AT_REST
from ...scene.blender.animation.actions import get_scene_fps
from ...scene.blender.handle import Handle
from ..character.characters import get_armature
from ..database.build import load_with_settings_steps
from ..direct import solving
from ..property_access import settings_of
from ..settings import read_ground
from ..steps import Steps
from ..takes import take_actions
from . import marks, outcomes
from .shots import Request

# seconds between two marks: usually, and at least
_EVERY = 2.0
_NEAREST = 0.7
_STOP = 0.6  # seconds of standing that count as a stop
_SMOOTH = 0.25  # seconds on both sides over which the speed is averaged
# radians and seconds of a sharp turn
_TURN = 0.9
_TURN_TIME = 0.5
_LEVEL = 1e-3  # radians by which turns that are as sharp differ


class Traced(NamedTuple):
    """A mark of a take: its tick, and the seconds that it is held for."""

    tick: int
    hold: float = 0.0


def trace(track: np.ndarray, fps: float) -> list[Traced]:
    """Return where to put marks on a track (T, 3): at stops, at sharp turns, and between these."""
    speed = _measure_speed(track, fps)
    last = len(track) - 1
    slow = find_runs(speed < AT_REST.settled_speed).tolist()
    stops = [run for run in slow if run[1] - run[0] >= _STOP * fps]
    found = [Traced(0)]
    found += [Traced(a, (min(b, last) - a) / fps) for a, b in stops if b > 1 and a > 0]
    if stops and stops[0][0] == 0:
        found[0] = Traced(0, stops[0][1] / fps)
    for tick in (last, *_find_turns(track, speed, fps)):
        found = _add_apart(found, tick, fps)
    return _fill(sorted(found), fps)


def _measure_speed(track: np.ndarray, fps: float) -> np.ndarray:
    steps = np.linalg.norm(np.diff(track[:, :2], axis=0), axis=1) * fps
    around = max(round(_SMOOTH * fps), 1)
    padded = np.pad(np.append(steps, steps[-1:]), around, mode="edge")
    width = 2 * around + 1
    return np.convolve(padded, np.full(width, 1.0 / width), mode="valid")


def _find_turns(track: np.ndarray, speed: np.ndarray, fps: float) -> list[int]:
    """Return the ticks in the middle of sharp turns of the way, the sharpest first."""
    ahead = max(round(_TURN_TIME * fps / 2.0), 1)
    steps = np.diff(track[:, :2], axis=0)
    if len(steps) <= 2 * ahead:
        return []
    ways = np.unwrap(arctan2(steps[:, 0], -steps[:, 1]))
    turned = np.abs(ways[2 * ahead :] - ways[: -2 * ahead])
    middle = np.arange(len(turned)) + ahead
    turned[speed[middle] < AT_REST.settled_speed] = 0.0  # the way of one who stands is noise
    runs = find_runs(turned > _TURN).tolist()
    runs.sort(key=lambda run: -turned[run[0] : run[1]].max())
    return [_find_peak(turned, *run) + ahead for run in runs]


def _find_peak(values: np.ndarray, start: int, stop: int) -> int:
    """Return the index in the middle of where values are highest within a range."""
    span = values[start:stop]
    return start + round(float(np.flatnonzero(span > span.max() - _LEVEL).mean()))


def _add_apart(found: list[Traced], tick: int, fps: float) -> list[Traced]:
    """Add a tick unless it is within a stop, or close to another mark."""
    for mark in found:
        if mark.tick - _NEAREST * fps < tick < mark.tick + (mark.hold + _NEAREST) * fps:
            return found
    return [*found, Traced(tick)]


def _fill(found: list[Traced], fps: float) -> list[Traced]:
    result = []
    for mark, after in zip(found, [*found[1:], None], strict=True):
        result.append(mark)
        begin = mark.tick + mark.hold * fps
        gap = 0.0 if after is None else (after.tick - begin) / fps
        pieces = max(round(gap / _EVERY), 1)
        result += [Traced(round(begin + k * gap * fps / pieces)) for k in range(1, pieces)]
    return result


def direct_take_steps(obj: bpy.types.Object, action: bpy.types.Action) -> Steps[str]:
    """Solve a take anew from marks along it, which replace those there are.

    Nothing is changed before the end.
    """
    uid = obj.session_uid
    take = Handle.from_block(action, "actions")
    obj, database, settings = yield from load_with_settings_steps(obj)
    parts = take_actions.read_parts_on_ground(obj, take_actions.find_take_action(take))
    performed = yield from take_actions.perform_steps(database, settings, parts, as_recorded=True)
    joined = take_actions.join_takes(parts, performed, database)
    frame = round(min(part.frame for part in parts))
    shot = make_shot(joined, database, settings_of(get_armature(uid)).director.seed)
    request = Request(shot, frame, put_marks=partial(_put_marks, shot, frame))
    return (yield from solving.solve_steps(get_armature(uid), lambda *_: request))


def make_shot(taken: Take, database: Database, seed: int) -> Shot:
    """Return a shot with marks along a take."""
    track = taken.character
    fps = taken.fps
    speed = _measure_speed(track, fps)
    traced = trace(track, fps)
    ends = [mark.tick for mark in traced[1:]] + [taken.frame_count]
    listed: list[Mark] = []
    gait = ""
    for mark, end in zip(traced, ends, strict=True):
        x, y, yaw = track[mark.tick].tolist()
        own = "run" if speed[mark.tick : end].mean() > database.walk_to_run else "walk"
        changed = own if own != gait else None
        gait = own
        facing = float(planar.wrap(yaw))
        listed.append(Mark(mark.tick / fps, (x, y), facing, mark.hold, gait=changed))
    x, y, yaw = track[0].tolist()
    seconds = (taken.frame_count - 1) / fps
    gait = listed[0].gait or "walk"
    return Shot(seconds, (x, y), float(planar.wrap(yaw)), gait, tuple(listed), seed=seed)


def _put_marks(shot: Shot, frame: int, obj: bpy.types.Object) -> tuple[tuple[int, str], ...]:
    """Replace the marks of an armature with the marks of a shot, which begins at a frame."""
    for empty in marks.list_all(obj):
        marks.remove_mark(obj, empty)
    fps = get_scene_fps(bpy.context.scene)
    director = settings_of(obj).director
    director.use_range = True
    director.frame_start = frame
    director.frame_end = frame + math.ceil(shot.seconds * fps)
    director.gait = shot.gait
    director.path = None
    listed = []
    (ground, _) = read_ground(obj)
    for mark in shot.marks:
        x, y = mark.position or shot.position
        place = Placement(x, y, mark.facing or 0.0)
        empty = marks.add_mark(obj, frame + round(mark.time * fps), place, ground)
        group = marks.mark_of(empty)
        group.gait = (mark.gait or "same").upper()
        group.hold = mark.hold
        listed.append(empty)
    bpy.context.view_layer.update()
    return tuple((each.session_uid, outcomes.describe_request(each)) for each in listed)
