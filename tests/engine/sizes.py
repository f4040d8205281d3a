"""Databases of bodies of one shape and different sizes, which take their time."""

from __future__ import annotations

from motion_matching.engine.body.toe_ends import measure_leg_lengths
from motion_matching.engine.database.database import Database
from motion_matching.engine.scale import Scale


def make_sizes(database: Database, size: float) -> tuple[Database, Database]:
    """Return a database as that of people, and as that of a body of another size.

    Legs of people have a length up to which larger ones, or from which smaller ones count as theirs.
    """
    rest = database.skeleton.compute_rest_world()[1][None]
    leg = float(measure_leg_lengths(rest, database.roles).mean())
    usual = (1.0 if size > 1.0 else 0.5000001) / leg
    people = scale_database(database, Scale(usual, 1.0))
    other = scale_database(people, Scale.from_size(size))
    assert people.scale.is_of_people
    assert other.scale == Scale.from_size(size)
    return people, other


def scale_database(database: Database, scale: Scale) -> Database:
    scaled = scale.to_world(database)
    return scaled.with_schema(scaled.schema)
