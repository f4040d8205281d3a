"""Build databases for an article's set, and list what a database lacks of it."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import Any

from ..database.database import Database
from ..database.features.features import load_schema
from ..database.tags.thresholds import AutoTagSettings
from ..facts.idles import find_idles
from ..motion import contacts, simulation_bone
from ..performance.published import FIELD, PublishedSet
from .build import BuildSettings


def build_as(settings: BuildSettings, published: PublishedSet) -> BuildSettings:
    """Return settings of a build with the simulation bone, contacts and features of a set.

    A set whose field can be asked for tags has the build propose them.
    """
    proposes = settings.auto_tags or (AutoTagSettings() if published.tags else None)
    return replace(
        settings,
        schema=load_schema(published.features),
        simulation_bone=simulation_bone.PRESETS[published.simulation_bone],
        contacts=contacts.PRESETS[published.contacts],
        auto_tags=proposes,
    )


def list_missing(database: Database, published: PublishedSet) -> list[str]:
    """Return clauses about the parts of a set that a database was built without."""
    missing = []
    schema = load_schema(published.features).with_all_legs(database.roles.leg_names)
    schema = schema.with_heights() if database.schema.has_heights else schema
    if database.schema.to_comparison_data() != schema.to_comparison_data():
        missing.append(f"its features are not {published.features}")
    bone = published.simulation_bone
    found = published.contacts
    if _differs(database, "simulation_bone", asdict(simulation_bone.PRESETS[bone])):
        missing.append(f"its simulation bone is not {bone}")
    if _differs(database, "contacts", asdict(contacts.PRESETS[found])):
        missing.append(f"its contacts are not {found}")
    return missing


def _differs(database: Database, name: str, wanted: dict[str, Any]) -> bool:
    """Return whether a database is known to be built with other settings of a name."""
    built = database.settings.get(name)
    return built is not None and not all(_is_like(built.get(k), v) for k, v in wanted.items())


def _is_like(built: Any, wanted: Any) -> bool:
    """Return whether a setting has the wanted value: panels keep six digits of a number."""
    if isinstance(built, float) and isinstance(wanted, float):
        return math.isclose(built, wanted, rel_tol=1e-5)
    return bool(built == wanted)


def list_lacking_motion(database: Database, published: PublishedSet) -> list[str]:
    """Return clauses about motion that a set needs and a database lacks, or that is in its way."""
    lacking = [
        f"no frame is tagged {tag}" for tag in published.tags if tag not in database.tag_names
    ]
    if published.method == FIELD and not database.derive(find_idles).holds:
        lacking.append("a field as published never leaves the standing in it")
    return lacking
