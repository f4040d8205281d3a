"""Record a performance: start, settings, obstacles and the intent of every tick."""

from __future__ import annotations

import itertools
import math
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..errors import SettingsError
from ..files import file_paths, json_files
from ..files.json_files import (
    EntryError,
    expect_list,
    expect_name,
    expect_number,
    expect_object,
    expect_pair,
    expect_text,
    expect_whole_number,
)
from ..ground.ground import FLAT, Box, Boxes, Ground, Wall
from .intent import FuturePath, Intent
from .settings import LARGEST_SPEED
from .start_state import StartState

FORMAT = "motion-matching performance"
LONGEST_TAKE = 36_000.0  # seconds
SHORTEST_TAKE = 5  # ticks, the fewest from which accelerations can be measured
_NO_REQUESTS: dict[str, Any] = {"jump_to": None, "push": None, "enter": None}  # of one tick
# limits beyond which an entry of a file is a mistake
# ticks per second, times the full speed
HIGHEST_RATE = 1000
_LARGEST_MOVE = 10
# metres, metres, radians
FARTHEST = 1e5
_LARGEST_BOX = 1000.0
LARGEST_ANGLE = 1e5
_BEFORE = MappingProxyType(
    {  # behaviour before these settings existed
        "idle": False,
        "breathing": 0.0,
        "catch_up": 0.0,
        "strafe": True,
        "turning_speed": 1.0,
        "inertialization": "spring",
        "blend_time": 0.3,
        "blend_stretch": 3.0,
        "blend_root": True,
        "root_halflife": 0.0,
        "price_weight": 0.0,
        "support_weight": 0.0,
        "posture_weight": 0.0,
        "prediction": "spring",
        "skip_ahead": False,
        "wait": True,
        "tempo": 0.0,
        "object_waits": True,
        "look": 0.0,
        "look_ahead": 0.7,
        "look_halflife": 0.15,
        "look_limit": math.radians(80.0),
        "look_tilt": math.radians(45.0),
        "look_spine": 0.2,
        "field": "by_gait",
        "labels": [],
        "label_blend": 0.3,
    }
)


@dataclass(frozen=True)
class Performance:
    """`intents` at `fps` ticks per second, from a start position and heading.

    `settings` are changes of a performer's defaults; `changes` are further ones by tick.
    `obstacles` and `walls` stand in the way and feet stand on the `floor`, if the performer is
    given the `ground` of the performance. The floor is not saved to files. `method` names the
    method for the take, empty for motion matching. `terms` names the cost terms that it was made
    with. With a `start`, it goes on from that moving pose at the start position and heading; else
    the character stands there.
    """

    name: str
    fps: float
    intents: tuple[Intent, ...]
    position: tuple[float, float] = (0.0, 0.0)
    facing: float = 0.0
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    changes: tuple[tuple[int, Mapping[str, Any]], ...] = ()
    obstacles: tuple[Box, ...] = ()
    walls: tuple[Wall, ...] = ()
    floor: Ground = FLAT
    method: str = ""
    terms: tuple[str, ...] = ()
    start: StartState | None = None

    @property
    def seconds(self) -> float:
        return len(self.intents) / self.fps

    @property
    def ground(self) -> Ground:
        """Return the floor with the obstacles and walls on it."""
        if self.obstacles or self.walls:
            return Boxes(self.obstacles, self.floor, self.walls)
        return self.floor

    def with_tags(self, tags: frozenset[str]) -> Performance:
        """Return the same performance with these tags added to every intent."""
        intents = (intent._replace(tags=intent.tags | tags) for intent in self.intents)
        return replace(self, intents=tuple(intents))

    def resample(self, fps: float) -> Performance:
        """Return the same performance at another tick rate; jumps and pushes still happen once.

        Raises SettingsError if that is too short for a take.
        """
        rate = fps / self.fps
        last = len(self.intents) - 1
        count = len(self.intents) if rate == 1.0 else round(self.seconds * fps)
        if count < SHORTEST_TAKE:
            raise SettingsError(
                f"The performance '{self.name}' is {count} ticks long at {fps:g} per second, but a "
                f"take needs at least {SHORTEST_TAKE}; make it longer."
            )
        if rate == 1.0:
            return self

        def find_tick(tick: int) -> int:
            """Return the first new tick that takes its intent from `tick` or a later one."""
            return math.ceil(tick * rate - 1e-6)

        intents = [
            self.intents[min(int(i / rate + 1e-6), last)]._replace(**_NO_REQUESTS)
            for i in range(count)
        ]
        for tick, intent in enumerate(self.intents):
            i = min(find_tick(tick), count - 1)
            asked = {name: getattr(intent, name) for name in _NO_REQUESTS}
            asked = {name: value for name, value in asked.items() if value is not None}
            intents[i] = intents[i]._replace(**asked) if asked else intents[i]
        changes = tuple((find_tick(tick), change) for tick, change in self.changes)
        return replace(self, fps=fps, intents=tuple(intents), changes=changes)


def overlay(first: Performance, parts: Sequence[tuple[int, Performance, int]]) -> Performance:
    """Lay performances over another, given as (first tick, performance, ticks of its lead-in).

    Lead-ins are left out. The settings of a part apply while it lasts; if `first` goes on after it,
    its own settings apply again from there. Gaps between parts are filled with empty intents.
    """
    intents = list(first.intents)
    changes = group_changes_by_tick(first.changes)
    for at, part, lead_in in parts:
        part = part if part.fps == first.fps else part.resample(first.fps)  # however short it is
        end = at + len(part.intents) - lead_in
        before = {end: _get_settings_at(first.settings, changes, end)} if end < len(intents) else {}
        within = group_changes_by_tick(part.changes)
        changes = {tick: change for tick, change in changes.items() if not at <= tick <= end}
        changes |= {at: _get_settings_at(part.settings, within, lead_in), **before}
        changes |= {at + t - lead_in: change for t, change in within.items() if t > lead_in}
        intents += [Intent()] * (end - len(intents))
        intents[at:end] = part.intents[lead_in:]
    return replace(first, intents=tuple(intents), changes=tuple(sorted(changes.items())))


def concatenate(parts: Sequence[Performance]) -> Performance:
    """Return performances one after the other, with start, settings and obstacles of the first."""
    intents: list[Intent] = []
    changes: list[tuple[int, Mapping[str, Any]]] = []
    for part in parts:
        changes += [(len(intents) + tick, change) for tick, change in part.changes]
        intents += part.intents
    return replace(parts[0], intents=tuple(intents), changes=tuple(changes))


def group_changes_by_tick(
    changes: Sequence[tuple[int, Mapping[str, Any]]],
) -> dict[int, dict[str, Any]]:
    """Return all settings that change at each tick, for ticks with changes."""
    result: dict[int, dict[str, Any]] = {}
    for tick, change in changes:
        result.setdefault(tick, {}).update(change)
    return result


def _get_settings_at(
    settings: Mapping[str, Any], changes: Mapping[int, Mapping[str, Any]], tick: int
) -> dict[str, Any]:
    """Return the settings with all changes up to a tick."""
    result = dict(settings)
    for at in sorted(changes):
        if at <= tick:
            result |= changes[at]
    return result


# ---------------------------------------------------------------- files


def save(performance: Performance, path: Path | str) -> None:
    """Write a performance as a JSON file. Raises SettingsError if it cannot be written."""
    file_paths.write_text(path, to_json(performance), SettingsError)


def load(path: Path | str) -> Performance:
    """Read a performance from a JSON file. Raises SettingsError, which names the wrong entry."""
    return _from_data(json_files.read(path, "performance"), str(path), Path(path).stem)


def to_json(performance: Performance) -> str:
    """Return a performance as JSON text; a run of equal intents is written once with its length."""
    runs = [
        {"ticks": len(list(run))} | _intent_to_dict(intent)
        for intent, run in itertools.groupby(performance.intents)
    ]
    data = {
        "format": FORMAT,
        "name": performance.name,
        "fps": performance.fps,
        "position": performance.position,
        "facing": performance.facing,
        "seed": performance.seed,
        "settings": dict(performance.settings),
        "changes": [[tick, dict(change)] for tick, change in performance.changes],
    }
    if performance.obstacles:
        data["obstacles"] = [box._asdict() for box in performance.obstacles]
    if performance.walls:
        data["walls"] = performance.walls
    if performance.method:
        data["method"] = performance.method
    if performance.terms:
        data["terms"] = performance.terms
    if performance.start:
        data["start"] = performance.start.to_dict()
    data["intents"] = runs
    return json_files.to_text(data, indent=1)


def from_json(text: str, where: str) -> Performance:
    """Return the performance in JSON text, read from `where`. Raises SettingsError as `load`."""
    return _from_data(json_files.parse(text, f"performance {where}"), where, "performance")


def load_obstacles(path: Path | str) -> tuple[Box, ...]:
    """Read boxes from a JSON list, as in a performance. Raises SettingsError as `load`."""
    data = json_files.read(path, "obstacle file")
    with json_files.name_file(f"obstacle file {path}"):
        return boxes_from_list(data, "the list")


def _from_data(data: Any, where: str, name: str) -> Performance:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise SettingsError(
            f"{where} is not a recorded performance; give one that 'take --save-performance' wrote."
        )
    with json_files.name_file(f"performance {where}"):
        return _performance_from_dict(data, name)


def _intent_to_dict(intent: Intent) -> dict[str, Any]:
    """Return the entries that differ from an empty intent."""
    defaults = Intent._field_defaults
    data = {name: value for name, value in intent._asdict().items() if value != defaults[name]}
    if intent.tags:
        data["tags"] = sorted(intent.tags)
    if intent.path is not None:
        data["path"] = intent.path._asdict()
    return data


def _performance_from_dict(data: Mapping[str, Any], name: str) -> Performance:
    known = {"format", *(f.name for f in fields(Performance))} - {"floor"}
    json_files.check_keys(data, known, "the file")
    fps = expect_number(data.get("fps"), "'fps'", 1, HIGHEST_RATE)
    intents: list[Intent] = []
    for number, run in enumerate(expect_list(data.get("intents"), "'intents'"), 1):
        where = f"intent {number}"
        expect_object(run, f"{where} of 'intents'")
        ticks = expect_whole_number(run.get("ticks", 1), f"'ticks' of {where}", 1)
        if len(intents) + ticks > LONGEST_TAKE * fps:
            raise EntryError(f"'ticks' add up to more than {LONGEST_TAKE:g} s; make it shorter")
        intents += [_intent_from_dict(run, where)] * ticks
    if not intents:
        raise EntryError("'intents' is empty; give at least one")
    changes = expect_list(data.get("changes", ()), "'changes'")
    walls = enumerate(expect_list(data.get("walls", ()), "'walls'"), 1)
    terms = expect_list(data.get("terms", ()), "'terms'")
    return Performance(
        expect_name(data.get("name", name), "'name'"),
        fps,
        tuple(intents),
        expect_pair(data.get("position", (0, 0)), "'position'", FARTHEST),
        _expect_angle(data.get("facing", 0), "'facing'"),
        expect_whole_number(data.get("seed", 0), "'seed'", 0),
        _read_settings(expect_object(data.get("settings", {}), "'settings'")),
        tuple(_change_from_list(change) for change in changes),
        boxes_from_list(data.get("obstacles", ()), "'obstacles'"),
        tuple(wall_from_list(wall, f"wall {number} of 'walls'") for number, wall in walls),
        method=expect_name(data["method"], "'method'") if "method" in data else "",
        terms=tuple(expect_name(term, "a name of 'terms'") for term in terms),
        start=StartState.from_dict(data["start"], "'start'") if "start" in data else None,
    )


def _read_settings(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return recorded settings; a setting newer than the recording keeps the old behaviour."""
    settings = dict(data)
    if {"velocity_halflife", "foot_lock"} <= data.keys():
        for name, before in _BEFORE.items():
            settings.setdefault(name, before)  # last, so that saved texts stay the same
    return settings


def _expect_angle(value: Any, where: str) -> float:
    return expect_number(value, where, -LARGEST_ANGLE, LARGEST_ANGLE)


def _change_from_list(data: Any) -> tuple[int, dict[str, Any]]:
    tick, change = expect_list(data, "an entry of 'changes'", 2)
    tick = expect_whole_number(tick, "a tick of 'changes'", 0)
    return tick, dict(expect_object(change, "a change of 'changes'"))


def wall_from_list(data: Any, where: str) -> Wall:
    """Return the wall in JSON data. EntryError if it is none."""
    a, b = expect_list(data, where, 2)
    end = f"an end of {where}"
    return expect_pair(a, end, FARTHEST), expect_pair(b, end, FARTHEST)


def boxes_from_list(data: Any, where: str) -> tuple[Box, ...]:
    """Return the boxes in JSON data. EntryError if an entry is no box."""
    boxes = []
    for number, entry in enumerate(expect_list(data, where), 1):
        box = f"box {number} of {where}"
        expect_object(entry, box, Box._fields)
        size = expect_pair(entry.get("size"), f"'size' of {box}", _LARGEST_BOX)
        if min(size) <= 0:
            shown = reprlib.repr(list(size))
            raise EntryError(f"'size' of {box} is {shown}; give two lengths above zero")
        center = expect_pair(entry.get("center"), f"'center' of {box}", FARTHEST)
        yaw = _expect_angle(entry.get("yaw", 0), f"'yaw' of {box}")
        height = entry.get("height", Box._field_defaults["height"])
        height = expect_number(height, f"'height' of {box}", 0.01, _LARGEST_BOX)
        boxes.append(Box(center, size, yaw, height))
    return tuple(boxes)


def _intent_from_dict(data: Mapping[str, Any], where: str) -> Intent:
    json_files.check_keys(data, {"ticks", *Intent._fields}, where)

    def read_optional(name: str, expect: Callable[..., Any], *limits: float) -> Any:
        value = data.get(name)
        return None if value is None else expect(value, f"'{name}' of {where}", *limits)

    tags = expect_list(data.get("tags", ()), f"'tags' of {where}")
    return Intent(
        move=expect_pair(data.get("move", (0, 0)), f"'move' of {where}", _LARGEST_MOVE),
        velocity=read_optional("velocity", expect_pair, LARGEST_SPEED),
        facing=read_optional("facing", _expect_angle),
        gait=expect_number(data.get("gait", 0), f"'gait' of {where}", 0, 1),
        path=read_optional("path", _path_from_dict),
        tags=frozenset(expect_name(tag, f"a tag of 'tags' of {where}") for tag in tags),
        jump_to=read_optional("jump_to", expect_text),
        enter=read_optional("enter", expect_text),
        push=read_optional("push", expect_pair, LARGEST_SPEED),
        look_at=read_optional("look_at", _point_from_list),
    )


def _point_from_list(data: Any, where: str) -> tuple[float, float, float]:
    numbers = expect_list(data, where, 3)
    x, y, z = (expect_number(n, f"a number of {where}", -FARTHEST, FARTHEST) for n in numbers)
    return x, y, z


def _path_from_dict(data: Any, where: str) -> FuturePath:
    expect_object(data, where, FuturePath._fields)
    listed = expect_list(data.get("times"), f"'times' of {where}")
    times = [expect_number(t, f"a time of {where}", 0, LONGEST_TAKE) for t in listed]
    if not times or any(a >= b for a, b in itertools.pairwise(times)):
        raise EntryError(
            f"'times' of {where} do not ascend; give seconds from now, each later than the last"
        )
    positions = expect_list(data.get("positions"), f"'positions' of {where}", len(times))
    yaws = expect_list(data.get("yaws"), f"'yaws' of {where}", len(times))
    return FuturePath(
        tuple(times),
        tuple(expect_pair(p, f"a position of {where}", FARTHEST) for p in positions),
        tuple(_expect_angle(yaw, f"a yaw of {where}") for yaw in yaws),
    )
