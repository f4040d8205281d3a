"""A recorded performance: start, seed, settings, obstacles and the intents of every tick, to be solved again at will."""

from __future__ import annotations

import itertools
import json
import math
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .. import files
from ..errors import SettingsError
from .ground import FLAT, Box, Boxes, Ground, Wall
from .intent import FuturePath, Intent
from .settings import LARGEST_SPEED, is_number

FORMAT = "motion-matching performance"
LONGEST_TAKE = 36_000.0  # seconds
SHORTEST_TAKE = 5  # ticks, of which accelerations can be measured
# beyond these a file is a mistake: ticks per second, times the full speed, metres, radians
_FASTEST_RATE, _HARDEST_MOVE, _FARTHEST, _MOST_TURNED = 1000, 10, 1e5, 1e5
_LARGEST_BOX = 1000.0  # metres


@dataclass(frozen=True)
class Performance:
    """`intents` at `fps` ticks per second, from a start place and heading.

    `settings` are changes against a performer's defaults; `changes` are further ones by tick. `obstacles` and
    `walls` stand in the way, and feet stand on the `floor`, if the performer is given its `ground`. The floor alone is
    not kept in a file. `method` names what a take was made of it by, in the words of who made it; empty for motion matching.
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

    @property
    def seconds(self) -> float:
        return len(self.intents) / self.fps

    @property
    def ground(self) -> Ground:
        """The floor with what stands in the way."""
        return (
            Boxes(self.obstacles, self.floor, self.walls)
            if self.obstacles or self.walls
            else self.floor
        )

    def asking_for(self, tags: frozenset[str]) -> Performance:
        """The same wishes, each for frames with these tags as well."""
        return replace(
            self, intents=tuple(intent._replace(tags=intent.tags | tags) for intent in self.intents)
        )

    def at_rate(self, fps: float) -> Performance:
        """The same wishes at another tick rate: each tick takes the intent of its instant, each request is made once.

        SettingsError where that is too short for a take.
        """
        rate, last = fps / self.fps, len(self.intents) - 1
        count = len(self.intents) if rate == 1.0 else round(self.seconds * fps)
        if count < SHORTEST_TAKE:
            raise SettingsError(
                f"The performance '{self.name}' is {count} ticks long at {fps:g} per second; a take needs "
                f"at least {SHORTEST_TAKE}, so make it longer."
            )
        if rate == 1.0:
            return self

        def seen(tick: int) -> int:
            """The first tick that takes its intent from `tick` or after."""
            return math.ceil(tick * rate - 1e-6)

        picked = [
            self.intents[min(int(i / rate + 1e-6), last)]._replace(jump_to=None, push=None)
            for i in range(count)
        ]
        for tick, intent in enumerate(self.intents):
            i = min(seen(tick), count - 1)
            if intent.jump_to is not None:
                picked[i] = picked[i]._replace(jump_to=intent.jump_to)
            if intent.push is not None:
                picked[i] = picked[i]._replace(push=intent.push)
        changes = tuple((seen(tick), change) for tick, change in self.changes)
        return replace(self, fps=fps, intents=tuple(picked), changes=changes)


def laid_over(first: Performance, parts: Sequence[tuple[int, Performance, int]]) -> Performance:
    """A performance with further ones laid over it: each from its tick on and without the ticks that led in to it.

    At each part's start its settings become those of now, and at its end those from before, where that goes on; between
    two that leave a gap nothing is wanted.
    """
    intents, changes = list(first.intents), changes_by_tick(first.changes)
    for at, part, lead_in in parts:
        part = part if part.fps == first.fps else part.at_rate(first.fps)  # however short it is
        wanted, end = part.intents[lead_in:], at + len(part.intents) - lead_in
        before = {end: _held(first.settings, changes, end)} if end < len(intents) else {}
        within = changes_by_tick(part.changes)
        changes = {tick: change for tick, change in changes.items() if not at <= tick <= end}
        changes |= {at: _held(part.settings, within, lead_in), **before}
        changes |= {
            at + tick - lead_in: change for tick, change in within.items() if tick > lead_in
        }
        intents += [Intent()] * (end - len(intents))
        intents[at:end] = wanted
    return replace(first, intents=tuple(intents), changes=tuple(sorted(changes.items())))


def changes_by_tick(changes: Sequence[tuple[int, Mapping[str, Any]]]) -> dict[int, dict[str, Any]]:
    """All that changes at each tick that has changes."""
    result: dict[int, dict[str, Any]] = {}
    for tick, change in changes:
        result.setdefault(tick, {}).update(change)
    return result


def _held(
    settings: Mapping[str, Any], changes: Mapping[int, Mapping[str, Any]], tick: int
) -> dict[str, Any]:
    """Settings as they are at a tick."""
    result = dict(settings)
    for at in sorted(changes):
        if at <= tick:
            result |= changes[at]
    return result


def save(performance: Performance, path: Path | str) -> None:
    """Write as JSON."""
    with files.replacing(path, SettingsError) as temporary:
        temporary.write_text(to_json(performance), encoding="utf-8")


def load(path: Path | str) -> Performance:
    """Read a performance; SettingsError names what is wrong with the file."""
    return from_json(_read(path, "performance"), str(path), Path(path).stem)


def to_json(performance: Performance) -> str:
    """As JSON text; runs of the same intent are written once with their length."""
    runs: list[dict[str, Any]] = []
    previous = None
    for intent in performance.intents:
        if intent == previous:
            runs[-1]["ticks"] += 1
            continue
        runs.append({"ticks": 1} | _intent_to_dict(intent))
        previous = intent
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
    data["intents"] = runs
    return json.dumps(data, indent=1)


def from_json(text: str, where: str, name: str = "performance") -> Performance:
    """The performance that JSON text holds; SettingsError says what is wrong with it, naming it as `where`."""
    data = _parsed(text, f"performance {where}")
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise SettingsError(
            f"{where} is not a recorded performance; give one that 'take --save-performance' wrote."
        )
    try:
        return _performance_from_dict(data, name)
    except _WrongError as cause:
        raise SettingsError(f"In the performance {where}, {cause}.") from cause


def load_obstacles(path: Path | str) -> tuple[Box, ...]:
    """Read a list of boxes, as a performance has them; SettingsError names what is wrong with the file."""
    try:
        return _boxes(_parsed(_read(path, "obstacle file"), f"obstacle file {path}"), "the list")
    except _WrongError as cause:
        raise SettingsError(f"In the obstacle file {path}, {cause}.") from cause


def _read(path: Path | str, what: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SettingsError(f"The {what} {path} does not exist; check its name.") from None
    except (OSError, ValueError) as cause:
        raise SettingsError(f"The {what} {path} cannot be read as JSON: {cause}.") from cause


def _parsed(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as cause:
        raise SettingsError(f"The {what} cannot be read as JSON: {cause}.") from cause


def _intent_to_dict(intent: Intent) -> dict[str, Any]:
    """Only what differs from standing still."""
    data = {
        name: value
        for name, value in intent._asdict().items()
        if value != Intent._field_defaults[name]
    }
    if intent.tags:
        data["tags"] = sorted(intent.tags)
    if intent.path is not None:
        data["path"] = intent.path._asdict()
    return data


# ---------------------------------------------------------------- what a file may hold


class _WrongError(ValueError):
    """Says what an entry is and what it may be, without the name of the file."""


def _performance_from_dict(data: Mapping[str, Any], name: str) -> Performance:
    _check_keys(
        data,
        {
            "format",
            "name",
            "fps",
            "position",
            "facing",
            "seed",
            "settings",
            "changes",
            "intents",
            "obstacles",
            "walls",
            "method",
        },
        "the file",
    )
    fps = _number(data.get("fps"), "'fps'", 1, _FASTEST_RATE)
    intents: list[Intent] = []
    runs = _list(data.get("intents"), "'intents'")
    for number, run in enumerate(runs, 1):
        where = f"intent {number}"
        ticks = _whole(
            _object(run, f"{where} of 'intents'").get("ticks", 1), f"'ticks' of {where}", 1
        )
        if len(intents) + ticks > LONGEST_TAKE * fps:
            raise _WrongError(f"'ticks' add up to more than {LONGEST_TAKE:g} s; make it shorter")
        intents += [_intent_from_dict(run, where)] * ticks
    if not intents:
        raise _WrongError("'intents' is empty; give at least one")
    changes = [
        _list(change, "an entry of 'changes'", 2)
        for change in _list(data.get("changes", ()), "'changes'")
    ]
    return Performance(
        _text(data.get("name", name), "'name'"),
        fps,
        tuple(intents),
        _pair(data.get("position", (0, 0)), "'position'", _FARTHEST),
        _number(data.get("facing", 0), "'facing'", -_MOST_TURNED, _MOST_TURNED),
        _whole(data.get("seed", 0), "'seed'", 0),
        dict(_object(data.get("settings", {}), "'settings'")),
        tuple(
            (_whole(tick, "a tick of 'changes'", 0), dict(_object(change, "a change of 'changes'")))
            for tick, change in changes
        ),
        _boxes(data.get("obstacles", ()), "'obstacles'"),
        tuple(
            _wall(wall, f"wall {number} of 'walls'")
            for number, wall in enumerate(_list(data.get("walls", ()), "'walls'"), 1)
        ),
        method=_text(data["method"], "'method'") if "method" in data else "",
    )


def _wall(data: Any, where: str) -> Wall:
    a, b = (_pair(end, f"an end of {where}", _FARTHEST) for end in _list(data, where, 2))
    return a, b


def _boxes(data: Any, where: str) -> tuple[Box, ...]:
    boxes = []
    for number, entry in enumerate(_list(data, where), 1):
        box = f"box {number} of {where}"
        _check_keys(_object(entry, box), set(Box._fields), box)
        size = _pair(entry.get("size"), f"'size' of {box}", _LARGEST_BOX)
        if min(size) <= 0:
            raise _WrongError(
                f"'size' of {box} is {reprlib.repr(list(size))}; give two lengths above zero"
            )
        boxes.append(
            Box(
                _pair(entry.get("center"), f"'center' of {box}", _FARTHEST),
                size,
                _number(entry.get("yaw", 0), f"'yaw' of {box}", -_MOST_TURNED, _MOST_TURNED),
                _number(
                    entry.get("height", Box._field_defaults["height"]),
                    f"'height' of {box}",
                    0.01,
                    _LARGEST_BOX,
                ),
            )
        )
    return tuple(boxes)


def _intent_from_dict(data: Mapping[str, Any], where: str) -> Intent:
    _check_keys(data, {"ticks", *Intent._fields}, where)
    velocity, facing, path, jump_to, push = (
        data.get(name) for name in ("velocity", "facing", "path", "jump_to", "push")
    )
    tags = _list(data.get("tags", ()), f"'tags' of {where}")
    return Intent(
        move=_pair(data.get("move", (0, 0)), f"'move' of {where}", _HARDEST_MOVE),
        velocity=None
        if velocity is None
        else _pair(velocity, f"'velocity' of {where}", LARGEST_SPEED),
        facing=None
        if facing is None
        else _number(facing, f"'facing' of {where}", -_MOST_TURNED, _MOST_TURNED),
        gait=_number(data.get("gait", 0), f"'gait' of {where}", 0, 1),
        path=None if path is None else _path(path, f"'path' of {where}"),
        tags=frozenset(_text(tag, f"a tag of 'tags' of {where}") for tag in tags),
        jump_to=None if jump_to is None else _text(jump_to, f"'jump_to' of {where}"),
        push=None if push is None else _pair(push, f"'push' of {where}", LARGEST_SPEED),
    )


def _path(data: Any, where: str) -> FuturePath:
    _check_keys(_object(data, where), set(FuturePath._fields), where)
    times = [
        _number(t, f"a time of {where}", 0, LONGEST_TAKE)
        for t in _list(data.get("times"), f"'times' of {where}")
    ]
    if not times or any(a >= b for a, b in itertools.pairwise(times)):
        raise _WrongError(
            f"'times' of {where} do not ascend; give seconds from now, each later than the one before"
        )
    positions = _list(data.get("positions"), f"'positions' of {where}", len(times))
    yaws = _list(data.get("yaws"), f"'yaws' of {where}", len(times))
    return FuturePath(
        tuple(times),
        tuple(_pair(p, f"a position of {where}", _FARTHEST) for p in positions),
        tuple(_number(yaw, f"a yaw of {where}", -_MOST_TURNED, _MOST_TURNED) for yaw in yaws),
    )


def _check_keys(data: Mapping[str, Any], known: set[str], where: str) -> None:
    if unknown := sorted(set(data) - known):
        raise _WrongError(
            f"{where} has the unknown entry '{unknown[0]}'; known ones are {', '.join(sorted(known))}"
        )


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _WrongError(f"{where} is {reprlib.repr(value)}; give an object")
    return value


def _list(value: Any, where: str, length: int | None = None) -> Sequence[Any]:
    if not isinstance(value, (list, tuple)) or length not in (None, len(value)):
        raise _WrongError(
            f"{where} is {reprlib.repr(value)}; give a list" + (f" of {length}" if length else "")
        )
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise _WrongError(f"{where} is {reprlib.repr(value)}; give a name")
    return value


def _number(value: Any, where: str, low: float, high: float) -> float:
    if not is_number(value) or not low <= value <= high:
        raise _WrongError(
            f"{where} is {reprlib.repr(value)}; give a number from {low:g} to {high:g}"
        )
    return float(value)


def _whole(value: Any, where: str, low: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < low:
        raise _WrongError(f"{where} is {reprlib.repr(value)}; give a whole number from {low}")
    return value


def _pair(value: Any, where: str, limit: float) -> tuple[float, float]:
    x, y = (_number(v, f"a number of {where}", -limit, limit) for v in _list(value, where, 2))
    return x, y
