"""Perform takes with a setting or a field chosen otherwise than as shipped, and measure them live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from building.benchmarks.report import CHECKOUT
from motion_matching import api
from motion_matching.engine.building import retagging
from motion_matching.engine.control import rollout
from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.tags.thresholds import AutoTagSettings
from motion_matching.engine.direct.director import Director
from motion_matching.engine.direct.footage.footage import Footage, make_footage
from motion_matching.engine.direct.footage.jump_table import JumpTable, build_table
from motion_matching.engine.direct.shot.from_performance import build_shot
from motion_matching.engine.facts.avoided_postures import find_odd_frames
from motion_matching.engine.field.field_controller import FieldController
from motion_matching.engine.files import presets
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.maths.planar import wrap
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.engine.takes import metrics, takes
from tests.engine.heads import find_delays

from . import quality, spots
from .quality import GAITS, TRAINING, Loaded, Measures

DOCS = CHECKOUT / "docs"
DIRECTOR = "director"
_NOTEBOOK = {"quality": "notebook", "tags": ("walk", "run")}
FIELDS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {"field": {"quality": TRAINING}, "notebook": _NOTEBOOK}
)


SPOTS = "spots"  # the script that leads to spots, one after the other


class Choice(NamedTuple):
    """What performs a take, and what differs from the shipped settings.

    The method is `matching`, the `director`, or one of FIELDS, whose values count if it is trained.
    Its full speeds are so many times those of the set.
    """

    method: str = "matching"
    trained: bool = True
    changes: tuple[tuple[str, Any], ...] = ()
    speed: float = 1.0


def _choose(method: str = "matching", trained: bool = True, **changes: Any) -> Choice:
    return Choice(method, trained, tuple(changes.items()))


def _choose_preset(name: str) -> Choice:
    return _choose(**presets.load("controllers", name)["settings"])


class Table(NamedTuple):
    """Choices side by side, and where the manual shows them."""

    page: str
    text: str
    choices: Mapping[str, Choice]
    sets: tuple[str, ...]
    columns: tuple[str, ...]
    scripts: tuple[str, ...] = ("random", "turns")
    fastest: bool = False  # of a set that runs, only runs

    @property
    def document(self) -> Path:
        return DOCS / self.page


def _list_control() -> dict[str, Choice]:
    shares = dict.fromkeys(("adjust_position_ratio", "adjust_rotation_ratio"), 0.7)
    return {
        "as shipped": _choose(),
        "Predict By the Horizon": _choose(prediction="horizon"),
        "Speed in Turns 1": _choose(turning_speed=1.0),
        "Speed in Turns 1.7": _choose(turning_speed=1.7),
        "half Responsive": _choose(velocity_halflife=0.23, rotation_halflife=0.23, **shares),
        "Responsive": _choose_preset("responsive"),
        "Weighty": _choose_preset("weighty"),
        "no Object Waits": _choose(object_waits=False),
        "no Foot Support": _choose(support_weight=0.0),
        "neither it nor Root on Feet": _choose(support_weight=0.0, root_halflife=0.0),
        "Jump Price 1": _choose(price_weight=1.0),
    }


_BETWEEN = 0.87  # of a speed: 1.4 m/s lies between walks of 1.2 and 1.6 m/s
_PEOPLE = ("generated", "bandai", "lafan1", "small")
TABLES: Mapping[str, Table] = MappingProxyType(
    {
        "control": Table(
            "controller.md",
            "Motion matching as shipped, and with one thing chosen otherwise. *half Responsive* has "
            "a *Velocity* and *Heading* of 0.23 s, and 0.7 for *Position Part* and *Heading Part*.",
            _list_control(),
            _PEOPLE,
            ("answer", "path", "waits", "contacts", "price", "pops"),
        ),
        "look": Table(
            "controller.md",
            "Motion matching with *Look* at 0 and at 1. *head* is the median time from an "
            "about-turn until the head faces within 60° of the new way.",
            {f"Look {share:g}": _choose(look=share) for share in (0.0, 1.0)},
            ("generated", "bandai", "lafan1", "dog"),
            ("head", "hardest"),
            ("flips", "turns", "random"),
        ),
        "tempo": Table(
            "controller.md",
            "Motion matching with *Tempo* at 0 and at 15 %, at the full speeds of the clips and at "
            f"{_BETWEEN:g} times these. `two-walks` are two straight walks of 1.2 and 1.6 m/s.",
            {
                f"{words}Tempo {percent}": _choose(tempo=float(percent))._replace(speed=speed)
                for (words, speed), percent in product(
                    (("", 1.0), (f"{_BETWEEN:g} as fast, ", _BETWEEN)), (0, 15)
                )
            },
            ("two-walks", "generated", "lafan1"),
            ("speed", "apart", "jumps", "path", "contacts", "pops"),
            ("stop_and_go",),
        ),
        "fields": Table(
            "motion-fields.md",
            f"Fields of the quality `{TRAINING}` for directions and speeds, with their values and "
            "by greed.",
            {"values": _choose("field"), "greed": _choose("field", False)},
            ("generated", "bandai", "lafan1", "small", "dog"),
            ("answer", "path", "speed", "contacts", "pops", "freezes"),
        ),
        "notebook": Table(
            "motion-fields.md",
            "The notebook's field, trained for the tags `walk` and `run`, and the shipped one, of "
            f"the quality `{TRAINING}` for directions and speeds, with the object as shipped, which "
            "pulls the character along. `moving` are the generated clips without their standing.",
            {
                "shipped, values": _choose("field"),
                "shipped, greed": _choose("field", False),
                "notebook, values": _choose("notebook"),
                "notebook, greed": _choose("notebook", False),
            },
            ("generated", "moving", "bandai"),
            ("speed", "heading", "path", "contacts", "pops", "freezes"),
            ("random",),
        ),
        "postures": Table(
            "insight.md",
            "*Odd Postures* as shipped and at 0. `stumbling` are the built-in clips with runs that "
            "stumble a third of the time. The director follows the same ways at once.",
            {
                f"{words}, {weight}": _choose(method, posture_weight=float(weight))
                for (words, method), weight in product(
                    (("search", "matching"), ("field", "field"), (DIRECTOR, DIRECTOR)), (0, 10)
                )
            },
            ("stumbling", "lafan1"),
            ("odd", "contacts", "answer"),
            fastest=True,
        ),
        "target": Table(
            "articles.md",
            f"Characters that *Steer By Target* leads to {spots.COUNT} spots, {spots.NEAREST:g} to "
            f"{spots.FARTHEST:g} m away all around them; fields are of the quality `{TRAINING}`.",
            {
                "motion matching": _choose(),
                "field, values": _choose("field"),
                "field, greed": _choose("field", False),
            },
            _PEOPLE,
            ("rests", "beyond", "longer"),
            (SPOTS,),
        ),
    }
)


class ChoiceJob(NamedTuple):
    """A take to measure: of which table and choice, and how it is steered."""

    table: str
    gait: str
    choice: str
    script: str
    seed: int


class Cast:
    """What performs the takes of a set; fields are trained and jumps priced once they are needed."""

    def __init__(self, database: Database) -> None:
        self.loaded = quality.measure_sources(_tag(database))
        self._fields: dict[str, FieldController] = {}
        self._footage: tuple[Footage, JumpTable] | None = None

    def measure(self, job: ChoiceJob, seconds: float) -> list[Measures]:
        """Perform the takes of a job, and measure them."""
        choice = TABLES[job.table].choices[job.choice]
        field = self._find_field(choice)
        settings = _slow_down(self.loaded.settings, choice.speed).with_changes(
            dict(choice.changes) | (field.settings if field else {})
        )
        if field and not choice.trained:
            field = replace(field, function=None)
        if job.script == SPOTS:
            method = (field or MotionMatching)(self.loaded.database, settings)
            gait = float(job.gait == "run")
            found = spots.draw_spots(job.seed)
            return [spots.measure_way(method, settings, spot, gait) for spot in found]
        take = self._perform(job, choice, settings, field, seconds)
        return [measure(take, self.loaded, job.script)]

    def _perform(
        self,
        job: ChoiceJob,
        choice: Choice,
        settings: PerformerSettings,
        field: FieldController | None,
        seconds: float,
    ) -> Take:
        database = self.loaded.database
        performance = takes.prepare_performance(
            database, settings, job.script, gait=job.gait, seconds=seconds, seed=job.seed
        )
        if choice.method == DIRECTOR:
            director = Director(*self._find_footage(), settings)
            return director.direct(build_shot(performance, settings)).take
        if field:
            performance = field.adapt_performance(performance)
        return takes.perform(database, settings, performance, controller=field or MotionMatching)

    def _find_field(self, choice: Choice) -> FieldController | None:
        """Return the trained field of a choice, None without one."""
        if choice.method not in FIELDS:
            return None
        if choice.method not in self._fields:
            trained = api.train(self.loaded.database, **FIELDS[choice.method])
            self._fields[choice.method] = trained
        return self._fields[choice.method]

    def _find_footage(self) -> tuple[Footage, JumpTable]:
        if self._footage is None:
            footage = make_footage(self.loaded.database)
            self._footage = footage, build_table(footage)
        return self._footage


def _slow_down(settings: PerformerSettings, speed: float) -> PerformerSettings:
    """Return settings whose full speeds are so many times as fast."""
    gaits = {gait: vars(getattr(settings.steering, gait)) for gait in GAITS}
    return settings.with_changes(
        {gait: {way: speed * each for way, each in own.items()} for gait, own in gaits.items()}
    )


def _tag(database: Database) -> Database:
    """Return a database with tags of its gaits, for which the notebook's field is trained."""
    if "walk" in database.tag_names:
        return database
    tags = {source.key: () for source in database.range_sources or ()}
    return retagging.retag(database, tags, AutoTagSettings())


def list_jobs(name: str, loaded: Loaded, seeds: int) -> list[ChoiceJob]:
    """Return the jobs of a table for a set: without a run of its own, only walks."""
    table, settings = TABLES[name], loaded.settings
    gaits = GAITS if settings.steering.can_run else GAITS[:1]
    gaits = gaits[-1:] if table.fastest else gaits
    ways = product(gaits, table.choices, table.scripts, range(seeds))
    return [ChoiceJob(name, *way) for way in ways]


def measure(take: Take, loaded: Loaded, script: str) -> Measures:
    """Measure a take as performed: what the study of quality does, and what choices are for."""
    database, found = loaded.database, quality.measure_live(take, loaded)
    live, played = found["live"], found["played"]
    off = np.array([wrap(yaw) for yaw in take.character[:, 2] - take.desired_yaw])
    return {
        "answers": found["answers"],
        "heads": find_delays(take, database).tolist() if script == "flips" else [],
        "path": found["path"],
        "speed": found["speed"],
        "heading": float(np.degrees(np.abs(off).mean())),
        "contacts": live["foot_skate_from_contacts"],
        "pops": 600.0 * live["pops"] / found["seconds"],
        "freezes": found["freezes"],
        "apart": float(np.linalg.norm(take.apart[:, :2], axis=1).mean() * take.fps),
        "jumps": float(take.jumped.mean() * take.fps),
        "hardest": live["acceleration_max"] / max(played["acceleration_max"], 1e-9),
        "price": metrics.measure_jump_prices(take)["jump_price_per_second"],
        "odd": float(database.derive(find_odd_frames)[take.frames].mean()),
        "waits": measure_waiting(take),
    }


def measure_waiting(take: Take) -> float:
    """Return by how many metres the simulation object is off its way at most, as it waited."""
    ideal = rollout.simulate(take.performance, take.performer_settings, take.fps)[:, :2]
    return float(np.linalg.norm(take.simulation[:, :2] - ideal, axis=1).max())


# medians of what is listed in all takes, the most of all takes, and counts; else means
_MEDIANS = {"answer": "answers", "head": "heads", "longer": "longers"}
_MOSTS, _COUNTS = ("hardest", "waits"), ("freezes",)


def combine(measured: Sequence[Measures]) -> Measures:
    """Combine the takes of a row."""
    row: Measures = {}
    for name, listed in _MEDIANS.items():
        if listed not in measured[0]:
            continue
        values = [value for take in measured for value in take[listed]]
        row[name] = float(np.median(values)) if values else None
    for name in measured[0].keys() - set(_MEDIANS.values()):
        values = [take[name] for take in measured if take[name] is not None]
        join = max if name in _MOSTS else sum if name in _COUNTS else np.mean
        row[name] = float(join(values)) if values else None
    return row
