"""What features cost in the time of a search: their numbers, and times that can be compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from building.studies.search_times import measure_search_times
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.features.features import Feature, Schema
from motion_matching.engine.errors import DatabaseError
from motion_matching.engine.performance.settings import PerformerSettings, Search


@pytest.mark.slow
@pytest.mark.parametrize("difference", ["squared", "absolute"])
def test_each_feature_has_its_numbers_and_a_share_of_the_time(
    demo_database: Database, difference: str
):
    schema = replace(demo_database.schema, difference=difference)
    database = replace(demo_database, schema=schema)
    found = measure_search_times(database, PerformerSettings())
    assert found.numbers == tuple(feature.dimensions for feature in schema.features)
    assert sum(found.numbers) == database.normalization.varies.sum()
    assert len(found.saved) == len(schema.features)
    assert all(-10.0 < saved < 1.0 for saved in found.saved)
    assert 0.0 < found.seconds < 1.0


def test_a_single_feature_takes_all_of_the_time(demo_database: Database):
    database = demo_database.with_schema(Schema((Feature("bone_position", "left_foot"),)))
    found = measure_search_times(database, PerformerSettings())
    assert (found.numbers, found.saved) == ((3,), (1.0,))


def test_a_database_that_no_search_may_enter_is_refused(demo_database: Database):
    with pytest.raises(DatabaseError, match="end guard"):
        measure_search_times(demo_database, PerformerSettings(search=Search(end_guard=900.0)))
