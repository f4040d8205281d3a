"""Perform takes step by step: what a take is performed with, what it performs, and its feet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import scene
from ..engine import field as motion_fields  # most takes are without one
from ..engine.control.rollout import Take
from ..engine.database.database import Database
from ..engine.errors import SettingsError
from ..engine.feet import contact_ranges
from ..engine.feet.contact_ranges import ContactRange
from ..engine.files import presets
from ..engine.ground.ground import Box, Ground, Wall
from ..engine.matching.cost_terms import CostTerm
from ..engine.matching.method import MotionMatching
from ..engine.performance.labels import find_unknown_tags
from ..engine.performance.performance import Performance, load_obstacles
from ..engine.performance.published import FIELD, MATCHING, find_published
from ..engine.performance.settings import PerformerSettings
from ..engine.progress import ReportProgress, name_stage
from ..engine.sources.sources import BLEND
from ..engine.takes import baking, takes
from .motion import check_blender

if TYPE_CHECKING:
    from ..engine.field.field_controller import FieldController

Contacts = str | Path | Sequence[ContactRange]
FloorAndWalls = tuple[Ground, Sequence[Wall]]


class PerformedTake(NamedTuple):
    """A take as it was `live`, the same one with planted feet, and when and where these stand."""

    live: Take
    take: Take
    contacts: Sequence[ContactRange]
    database: Database

    def report(self, bvh_file: Path | None = None) -> dict[str, Any]:
        """Measure the take, from its BVH file if that is written already."""
        return takes.report(self.take, self.database, bvh_file, live=self.live)

    def describe_unknown_labels(self, option: str) -> str:
        """Say which tags of labels no frame carries, and the option to build with; '' if none."""
        labels = self.live.performer_settings.coupling.labels
        names = ", ".join(f"'{tag}'" for tag in find_unknown_tags(labels, self.database.tag_names))
        return names and (
            f"labels name {names}, which no frame of the database is tagged; tag frames, or build "
            f"with {option}"
        )


@dataclass(frozen=True)
class Setup:
    """What a take is performed with: a database, a method, and settings.

    `changes` are settings by name that differ from the `default` ones of database and field.
    """

    database: Database
    field: FieldController | None
    default: PerformerSettings
    changes: Mapping[str, Any]
    terms: Sequence[CostTerm] = ()

    @classmethod
    def create(
        cls,
        database: Database,
        controller: str | FieldController | None = None,
        *,
        as_published: str | None = None,
        preset: str | Path | None = None,
        terms: Sequence[CostTerm] = (),
    ) -> Setup:
        """Return what is played with a controller, an article's set or a preset of settings."""
        published = find_published(as_published) if as_published else None
        if published and preset:
            text = f"The article '{as_published}' chooses the preset of the controller"
            raise SettingsError(f"{text}; leave out '{preset}'.")
        chosen = find_field(controller or (published.method if published else MATCHING))
        if chosen and terms:
            raise SettingsError(
                "A motion field has no search for cost terms; leave out one of both."
            )
        default = takes.make_default_settings(database)
        default = default.with_changes(chosen.settings if chosen else {})
        changes = published.controller_settings if published else {}
        return cls(database, chosen, default, load_preset(preset) if preset else changes, terms)

    @property
    def settings(self) -> PerformerSettings:
        """All settings. Raises SettingsError if the changes are wrong."""
        return self.default.with_changes(self.changes)

    def with_changes(self, changes: Mapping[str, Any]) -> Setup:
        """Return this with further settings changed."""
        return replace(self, changes={**self.changes, **changes})

    def prepare(self, performance: Performance, tags: Iterable[str] = ()) -> Performance:
        """Return a performance with these settings and tags, as the method can perform it.

        Settings of field and changes override those of a recorded performance. Raises DatabaseError
        if no frame has all tags, SettingsError if a field was not trained for one.
        """
        trained = self.field.settings if self.field else {}
        settings = {**performance.settings, **trained, **self.changes}
        performance = replace(performance, settings=settings)
        performance = takes.request_tags(performance, frozenset(tags), self.database, self.settings)
        if self.field is None:
            return performance
        self.field.check(performance)
        return self.field.adapt_performance(performance)

    def perform(
        self,
        prepared: Performance,
        feet: str | None = None,
        contacts: Contacts | None = None,
        progress: ReportProgress | None = None,
    ) -> PerformedTake:
        """Perform what `prepare` returned, and plant the feet."""
        if contacts is not None and feet in ("live", "off"):
            raise SettingsError(f"Contacts plant feet, and '{feet}' does not; leave out one.")
        ranges = None if contacts is None else read_contacts(contacts, self.database)
        report = name_stage(progress, "Performing")
        method = self.field or partial(MotionMatching, terms=self.terms)
        live = takes.perform(self.database, self.settings, prepared, report, controller=method)
        planted = baking.place_feet(live, self.database, feet, ranges)
        return PerformedTake(live, *planted, self.database)


def find_field(controller: str | FieldController) -> FieldController | None:
    """Return the motion field of a controller; None for motion matching."""
    if not isinstance(controller, str):
        return controller
    if controller not in (MATCHING, FIELD):
        text = f"There is no controller '{controller}'"
        raise SettingsError(f"{text}; use matching, field, or what api.train returns.")
    return motion_fields.field_controller.FieldController() if controller == FIELD else None


def load_preset(name: str | Path) -> dict[str, Any]:
    """Return the settings of a controller preset, by its name or file. SettingsError if wrong."""
    changes = presets.load("controllers", str(name)).get("settings")
    if not isinstance(changes, dict):
        raise SettingsError(f"The preset '{name}' has no 'settings'; give an object of settings.")
    return changes


def find_performance(
    database: Database,
    settings: PerformerSettings,
    script: str | Path | Performance,
    gait: str = "walk",
    seconds: float = 0.0,
    seed: int = 0,
) -> Performance:
    """Return the performance of a script, a file, or itself."""
    if isinstance(script, Performance):
        return script
    return takes.prepare_performance(
        database, settings, str(script), gait=gait, seconds=seconds, seed=seed
    )


def replace_obstacles(
    performance: Performance,
    obstacles: str | Path | Sequence[Box] | None = None,
    ground: FloorAndWalls | None = None,
) -> Performance:
    """Return a performance with other obstacles, given or in a file, and on another ground."""
    if isinstance(obstacles, str | Path):
        obstacles = load_obstacles(obstacles)
    if obstacles is not None:
        performance = replace(performance, obstacles=tuple(obstacles))
    if ground is not None:
        floor, walls = ground
        performance = replace(performance, walls=tuple(walls), floor=floor)
    return performance


def read_contacts(contacts: Contacts, database: Database) -> Sequence[ContactRange]:
    """Return when feet stand, given or in a .json file or as markers in a .blend file."""
    if not isinstance(contacts, str | Path):
        return contacts
    path = Path(contacts)
    legs = database.roles.leg_names
    if path.suffix.lower() != BLEND:
        return contact_ranges.load(path, legs, database.fps)
    check_blender(str(path))
    return scene.reading.markers.read_file(path, legs, database.fps)
