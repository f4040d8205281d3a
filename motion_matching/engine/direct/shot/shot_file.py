"""Read and write shots as JSON: metres, radians, seconds, and headings as in performances."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...errors import SettingsError
from ...files import file_paths, json_files
from ...files.json_files import (
    EntryError,
    expect_flag,
    expect_list,
    expect_name,
    expect_number,
    expect_object,
    expect_pair,
    expect_text,
    expect_whole_number,
)
from ...ground.ground import Wall
from ...performance.performance import FARTHEST, LARGEST_ANGLE, boxes_from_list, wall_from_list
from .mark import CHARACTER, GOALS, LONGEST_SHOT, Mark, Point, Pose
from .shot import FASTEST, GAITS, SLOWEST, ForbiddenJump, KeptJump, Piece, Shot, Tempo, TimedPath

_SHORTEST_SHOT = 0.5  # seconds
_ENTRIES = tuple(name for name in GOALS if name not in ("position", "height"))  # one value each
_SHOT_KEYS = (
    *("start", "seconds", "gait", "marks", "paths", "pins", "forbid", "keep"),
    *("tempos", "obstacles", "walls", "seed", "name", "pieces"),
)


def load(path: Path | str) -> Shot:
    """Read a shot from a JSON file. Raises SettingsError, which names the wrong entry."""
    data = json_files.read(path, "scene")
    with json_files.name_file(f"scene {path}"):
        return _from_dict(data, Path(path).stem)


def from_json(text: str, where: str) -> Shot:
    """Return the shot in JSON text that was read from `where`. Raises SettingsError as `load`."""
    data = json_files.parse(text, f"scene {where}")
    with json_files.name_file(f"scene {where}"):
        return _from_dict(data, "direct")


def save(shot: Shot, path: Path | str) -> None:
    """Write a shot as a JSON file. Raises SettingsError if it cannot be written."""
    file_paths.write_text(path, to_json(shot), SettingsError)


def to_json(shot: Shot) -> str:
    """Return a shot as JSON text."""
    return json_files.to_text(_to_dict(shot), indent=1)


def _to_dict(shot: Shot) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": shot.name,
        "start": {"position": shot.position, "facing": shot.facing},
        "seconds": shot.seconds,
        "gait": shot.gait,
        "marks": [_mark_to_dict(mark) for mark in shot.marks],
        "paths": [
            {name: value for name, value in vars(path).items() if value is not None}
            for path in shot.paths
        ],
        "forbid": [_forbidden_to_dict(jump) for jump in shot.forbidden],
        "seed": shot.seed,
    }
    more = {
        "keep": [kept_to_dict(jump) for jump in shot.kept],
        "tempos": [vars(tempo) for tempo in shot.tempos],
        "obstacles": [box._asdict() for box in shot.obstacles],
        "walls": shot.walls,
        "pieces": [
            {"start": piece.start, "stop": piece.stop, "scene": _to_dict(piece.shot)}
            for piece in shot.pieces
        ],
    }
    return data | {name: value for name, value in more.items() if value}


def _forbidden_to_dict(jump: ForbiddenJump) -> dict[str, Any]:
    """Return a forbidden jump as JSON data, with its times unless it is forbidden everywhere."""
    data: dict[str, Any] = {"from": jump.source, "to": jump.target}
    if (jump.start, jump.stop) != (0.0, LONGEST_SHOT):
        data |= {"start": jump.start, "stop": jump.stop}
    return data


def _mark_to_dict(mark: Mark) -> dict[str, Any]:
    """Return the entries of a mark that differ from those of an empty one."""
    empty = vars(Mark(math.nan))
    data = {name: value for name, value in vars(mark).items() if value != empty[name]}
    if mark.position is not None and (height := data.pop("height", None)) is not None:
        data["position"] = *mark.position, height
    return data | ({"pose": pose_to_dict(mark.pose)} if isinstance(mark.pose, Pose) else {})


def pose_to_dict(pose: Pose) -> dict[str, Any]:
    """Return a pose as JSON data."""
    height = {} if pose.height is None else {"height": pose.height}
    return {"rotations": {bone: list(q) for bone, q in pose.rotations}} | height


def read_pose(data: Any, where: str) -> Pose | str:
    """Read a pose, or the frame of a clip with it. Raises EntryError, which says `where`."""
    if isinstance(data, str):
        return expect_text(data, where)
    expect_object(data, f"{where} (else give the frame of a clip)", ("rotations", "height"))
    listed = data.get("rotations", {})
    if not isinstance(listed, dict):
        raise EntryError(f"'rotations' of {where} are no object; give each bone its four numbers")
    rotations = tuple(
        (bone, _read_rotation(value, f"'{bone}' of {where}")) for bone, value in listed.items()
    )
    if (height := data.get("height")) is None:
        return Pose(rotations)
    return Pose(rotations, expect_number(height, f"'height' of {where}", -FARTHEST, FARTHEST))


def _read_rotation(value: Any, where: str) -> tuple[float, float, float, float]:
    w, x, y, z = _expect_numbers(value, where, 4, 1.5)
    if not any((w, x, y, z)):
        raise EntryError(f"{where} is no rotation; give w, x, y and z of one")
    return w, x, y, z


def _from_dict(data: Any, name: str) -> Shot:
    expect_object(data, "the file", _SHOT_KEYS)
    start = expect_object(data.get("start", {}), "'start'", ("position", "facing"))
    seconds = expect_number(data.get("seconds"), "'seconds'", _SHORTEST_SHOT, LONGEST_SHOT)

    def read(key: str, parse: Callable[[Any, str, float], Any], label: str) -> tuple[Any, ...]:
        entries = expect_list(data.get(key, ()), f"'{key}'")
        return tuple(parse(each, f"{label} {i}", seconds) for i, each in enumerate(entries, 1))

    return Shot(
        seconds,
        expect_pair(start.get("position", (0.0, 0.0)), "'position' of 'start'", FARTHEST),
        _expect_angle(start.get("facing", 0.0), "'facing' of 'start'"),
        _expect_gait(data.get("gait", "walk"), "'gait'"),
        read("marks", _read_mark, "mark"),
        read("paths", _read_path, "path"),
        read("pins", _read_pin, "pin"),
        read("forbid", _read_forbidden, "entry of 'forbid'"),
        boxes_from_list(data.get("obstacles", ()), "'obstacles'"),
        read("walls", _read_wall, "wall"),
        expect_whole_number(data.get("seed", 0), "'seed'", 0),
        expect_name(data.get("name", name), "'name'"),
        read("pieces", _read_piece, "piece"),
        read("keep", read_kept, "entry of 'keep'"),
        read("tempos", _read_tempo, "tempo"),
    )


def _read_mark(data: Any, where: str, seconds: float) -> Mark:
    expect_object(data, where, (*_ENTRIES, "position"))
    read = {}
    for name in _ENTRIES:
        if (value := data.get(name)) is not None or name == "time":
            read[name] = _read_goal(name, value, f"'{name}' of {where}", seconds)
    read = {name: value for name, value in read.items() if value is not None}
    position, height = _read_position(data.get("position"), where, read.get("part", CHARACTER))
    return Mark(position=position, height=height, **read)


def _read_goal(name: str, value: Any, where: str, seconds: float) -> Any:
    """Read what a mark asks for, by how files write it; a tolerance of 0 is that of the field."""
    goal = GOALS[name]
    if reader := _READERS.get(goal.entry or goal.unit or type(goal.default).__name__):
        return reader(value, where)
    if goal.entry == "tolerance":
        return expect_number(value, where, 0.0, FARTHEST if goal.unit == "m" else math.pi) or None
    most = seconds if goal.unit == "s" else goal.most
    return expect_number(value, where, goal.least, most)


def _read_position(data: Any, where: str, part: str) -> tuple[Point | None, float | None]:
    """Read the position of a part of the body: two numbers, or three with its height."""
    name = f"'position' of {where}"
    if data is None or not isinstance(data, (list, tuple)) or len(data) != 3:
        return None if data is None else expect_pair(data, name, FARTHEST), None
    if part == CHARACTER:
        raise EntryError(
            f"{name} has three numbers, but the height counts only for a 'part' of the body; give "
            "two, or name the part"
        )
    x, y, z = _expect_numbers(data, name, 3)
    return (x, y), z


def _read_path(data: Any, where: str, seconds: float) -> TimedPath:
    expect_object(data, where, ("times", "positions", "yaws"))
    times = tuple(
        _expect_time(t, f"a time of {where}", seconds)
        for t in expect_list(data.get("times"), f"'times' of {where}")
    )
    if len(times) < 2 or any(a >= b for a, b in itertools.pairwise(times)):
        raise EntryError(f"'times' of {where} do not ascend; give two or more, each later")
    listed = expect_list(data.get("positions"), f"'positions' of {where}", len(times))
    positions = tuple(expect_pair(p, f"a position of {where}", FARTHEST) for p in listed)
    if data.get("yaws") is None:
        return TimedPath(times, positions)
    yaws = expect_list(data["yaws"], f"'yaws' of {where}", len(times))
    return TimedPath(
        times, positions, tuple(_expect_angle(yaw, f"a yaw of {where}") for yaw in yaws)
    )


def _read_pin(data: Any, where: str, seconds: float) -> Mark:
    """Read a mark that does not lead from a file of an earlier version."""
    expect_object(data, where, ("limb", "start", "stop", "position"))
    start, stop = _read_span(data, where, seconds)
    x, y, z = _expect_numbers(data.get("position"), f"'position' of {where}", 3)
    limb = expect_name(data.get("limb"), f"'limb' of {where}")
    return Mark.from_pin(limb, start, stop, (x, y, z))


def _read_forbidden(data: Any, where: str, _seconds: float) -> ForbiddenJump:
    expect_object(data, where, ("from", "to", "start", "stop"))
    always = {"start": 0.0, "stop": LONGEST_SHOT}
    start, stop = _read_span(always | data, where, LONGEST_SHOT)
    return ForbiddenJump(*_read_ends(data, where), start, stop)


def kept_to_dict(jump: KeptJump) -> dict[str, Any]:
    """Return a required jump as JSON data."""
    return {"from": jump.source, "to": jump.target, "time": jump.time}


def read_kept(data: Any, where: str, seconds: float = LONGEST_SHOT) -> KeptJump:
    """Read a required jump of a shot of some seconds. Raises EntryError, which says `where`."""
    expect_object(data, where, ("from", "to", "time"))
    time = _expect_time(data.get("time"), f"'time' of {where}", seconds)
    return KeptJump(*_read_ends(data, where), time)


def _read_tempo(data: Any, where: str, seconds: float) -> Tempo:
    expect_object(data, where, ("start", "stop", "rate"))
    start, stop = _read_span(data, where, seconds)
    rate = expect_number(data.get("rate"), f"'rate' of {where}", SLOWEST, FASTEST)
    return Tempo(start, stop, rate)


def _read_times(data: Any, where: str, seconds: float) -> list[float]:
    names = ("start", "stop")
    return [_expect_time(data.get(key), f"'{key}' of {where}", seconds) for key in names]


def _read_span(data: Any, where: str, seconds: float) -> tuple[float, float]:
    start, stop = _read_times(data, where, seconds)
    if stop <= start:
        raise EntryError(f"'stop' of {where} is not after its 'start'; give a later time")
    return start, stop


def _read_ends(data: Any, where: str) -> tuple[str, str]:
    source, target = (expect_text(data.get(key), f"'{key}' of {where}") for key in ("from", "to"))
    return source, target


def _read_piece(data: Any, where: str, seconds: float) -> Piece:
    expect_object(data, where, ("start", "stop", "scene"))
    start, stop = _read_times(data, where, seconds)
    scene = expect_object(data.get("scene"), f"'scene' of {where}", set(_SHOT_KEYS) - {"pieces"})
    return Piece(start, stop, _from_dict(scene, "direct"))


def _read_wall(data: Any, where: str, _seconds: float) -> Wall:
    return wall_from_list(data, f"{where} of 'walls'")


def _expect_time(value: Any, where: str, seconds: float) -> float:
    return expect_number(value, where, 0.0, seconds)


def _expect_angle(value: Any, where: str) -> float:
    return expect_number(value, where, -LARGEST_ANGLE, LARGEST_ANGLE)


def _expect_direction(value: Any, where: str) -> tuple[float, float, float]:
    x, y, z = _expect_numbers(value, where, 3)
    if not any((x, y, z)):
        raise EntryError(f"{where} is no direction; give x, y and z of one")
    return x, y, z


def _expect_numbers(value: Any, where: str, count: int, limit: float = FARTHEST) -> list[float]:
    listed = expect_list(value, where, count)
    name = f"a number of {where}"
    return [expect_number(each, name, -limit, limit) for each in listed]


def _expect_gait(value: Any, where: str) -> str:
    if value not in GAITS:
        raise EntryError(f"{where} is {value!r}; give {' or '.join(map(repr, GAITS))}")
    return str(value)


def _expect_tags(value: Any, where: str) -> tuple[str, ...]:
    return tuple(expect_name(tag, f"a tag of {where}") for tag in expect_list(value, where))


_READERS: Mapping[str, Callable[[Any, str], Any]] = MappingProxyType(
    {
        "bool": expect_flag,
        "direction": _expect_direction,
        "gait": _expect_gait,
        "own": read_pose,
        "rad": _expect_angle,
        "str": expect_name,
        "tags": _expect_tags,
        "text": expect_text,
    }
)
