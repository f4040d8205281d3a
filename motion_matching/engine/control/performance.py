"""A recorded performance: start, seed, settings and the intents of every tick, to be solved again at will."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import files
from ..errors import SettingsError
from .intent import FuturePath, Intent

FORMAT = "motion-matching performance"


@dataclass(frozen=True)
class Performance:
    """`intents` at `fps` ticks per second, from a start place and heading.

    `settings` are changes against a performer's defaults; `changes` are further ones by tick.
    """

    name: str
    fps: float
    intents: tuple[Intent, ...]
    position: tuple[float, float] = (0.0, 0.0)
    facing: float = 0.0
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    changes: tuple[tuple[int, Mapping[str, Any]], ...] = ()

    @property
    def seconds(self) -> float:
        return len(self.intents) / self.fps

    def at_rate(self, fps: float) -> Performance:
        """The same wishes at another tick rate: each tick takes the intent of its instant."""
        if fps == self.fps:
            return self
        count = round(self.seconds * fps)
        picked = tuple(self.intents[min(int(i * self.fps / fps + 1e-6), len(self.intents) - 1)] for i in range(count))
        changes = tuple((round(tick * fps / self.fps), change) for tick, change in self.changes)
        return Performance(
            self.name, fps, picked, self.position, self.facing, self.seed, self.settings, changes
        )


def save(performance: Performance, path: Path | str) -> None:
    """Write as JSON; runs of the same intent are written once with their length."""
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
        "intents": runs,
    }
    with files.replacing(path, SettingsError) as temporary:
        temporary.write_text(json.dumps(data, indent=1), encoding="utf-8")


def load(path: Path | str) -> Performance:
    """Read a performance; SettingsError names what is wrong with the file."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"The performance {path} does not exist; check its name.") from None
    except (OSError, ValueError) as cause:
        raise SettingsError(f"The performance {path} cannot be read as JSON: {cause}.") from cause
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise SettingsError(f"{path} is not a recorded performance; give one that 'take --save-performance' wrote.")
    try:
        intents: list[Intent] = []
        for run in data["intents"]:
            intents += [_intent_from_dict(run)] * int(run.get("ticks", 1))
        if not intents or not data["fps"] > 0:
            raise ValueError("no intents, or no rate")
        return Performance(
            str(data.get("name", Path(path).stem)), float(data["fps"]), tuple(intents), _pair(data.get("position", (0, 0))),
            float(data.get("facing", 0)), int(data.get("seed", 0)), dict(data.get("settings", {})),
            tuple((int(tick), dict(change)) for tick, change in data.get("changes", ())),
        )
    except (KeyError, TypeError, ValueError) as cause:
        raise SettingsError(f"The performance {path} is incomplete ({cause!r}); record it again.") from cause


def _intent_to_dict(intent: Intent) -> dict[str, Any]:
    """Only what differs from standing still."""
    data = {name: value for name, value in intent._asdict().items() if value != Intent._field_defaults[name]}
    if intent.tags:
        data["tags"] = sorted(intent.tags)
    if intent.path is not None:
        data["path"] = intent.path._asdict()
    return data


def _intent_from_dict(data: Mapping[str, Any]) -> Intent:
    path = data.get("path")
    return Intent(
        move=_pair(data.get("move", (0.0, 0.0))),
        velocity=None if data.get("velocity") is None else _pair(data["velocity"]),
        facing=None if data.get("facing") is None else float(data["facing"]),
        gait=float(data.get("gait", 0.0)),
        path=path and FuturePath(tuple(path["times"]), tuple(map(_pair, path["positions"])), tuple(path["yaws"])),
        tags=frozenset(data.get("tags", ())),
        jump_to=data.get("jump_to"),
    )


def _pair(value: Any) -> tuple[float, float]:
    x, y = value
    return float(x), float(y)
