"""Features that take their time from the settings equal those of a database built for that time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.control.trajectory import TrajectoryPoint
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.features.features import Schema, load_schema
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.matching.fitted_features import FittedFeatures
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance.settings import Blending, PerformerSettings
from motion_matching.engine.performance.start_state import MovingPose
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import takes
from tests.demo import generate_clips

CHANGES = {
    "spring": {"inertialization_halflife": 0.2},
    "cubic": {"inertialization": "cubic", "blend_time": 0.5},
}
TIMES = {"spring": 0.2, "cubic": 0.5}


def set_time(schema: Schema, time: float) -> Schema:
    """Return a schema whose features of jumps have a time of their own."""
    return replace(
        schema,
        features=tuple(
            replace(f, time=time) if f.kind in ("bone_spring", "bone_cubic") else f
            for f in schema.features
        ),
    )


def build_clips(schema: Schema) -> Database:
    clips = [clip for clip in generate_clips() if clip.name in ("walk_curves", "idle")]
    return build([Source(clip=clip) for clip in clips], BuildSettings(schema=schema, mirror=True))[
        0
    ]


@pytest.mark.parametrize("name", CHANGES)
def test_columns_computed_again_equal_those_of_a_fresh_build(name: str):
    schema = load_schema(name)
    database, fresh = build_clips(schema), build_clips(set_time(schema, TIMES[name]))
    stored = np.array(database.features)
    before = FittedFeatures(database).fit(PerformerSettings())
    assert before.values is database.features
    fitted = before.fit(PerformerSettings().with_changes(CHANGES[name]))
    np.testing.assert_allclose(fitted.values, fresh.features, rtol=1e-5, atol=1e-6)
    for found, expected in zip(
        vars(fitted.normalization).values(), vars(fresh.normalization).values(), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(fitted.values[6:], stored[6:])
    assert np.abs(fitted.values[:6] - stored[:6]).max() > 0.01
    # what was built stays, and so does what has a time of its own
    np.testing.assert_array_equal(database.features, stored)
    other = FittedFeatures(fresh).fit(PerformerSettings().with_changes(CHANGES[name]))
    assert other.values is fresh.features
    assert fitted.fit(PerformerSettings().with_changes(CHANGES[name])) is fitted


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_a_take_plays_the_frames_that_it_plays_from_a_fresh_build(
    demo_database: Database, settings: PerformerSettings, name: str
):
    schema = load_schema(name)
    database = demo_database.with_schema(schema)
    fresh = demo_database.with_schema(set_time(schema, TIMES[name]))
    changed = settings.with_changes(CHANGES[name])
    performance = takes.prepare_performance(
        database, changed, "random", gait="walk", seconds=12.0, seed=1
    )
    frames = [takes.perform(each, changed, performance).frames for each in (database, fresh)]
    np.testing.assert_array_equal(*frames)
    others = takes.perform(database, settings, performance).frames
    assert (others != frames[0]).any()


def test_settings_changed_while_playing_count_from_the_next_search_on(demo_database: Database):
    database = demo_database.with_schema(load_schema("spring"))
    slow = PerformerSettings(blending=Blending(inertialization_halflife=0.3))
    method, fresh = MotionMatching(database, PerformerSettings()), MotionMatching(database, slow)
    trajectory = [TrajectoryPoint(0.0, -t, 0.0, 0.0, -1.0) for t in method.trajectory_times]
    before = method.compute_costs(trajectory, 500)
    with pytest.raises(SettingsError):
        method.apply(slow.with_changes({"weights": (1.0,)}))
    np.testing.assert_array_equal(method.compute_costs(trajectory, 500), before)
    method.apply(slow)
    costs = method.compute_costs(trajectory, 500)
    np.testing.assert_allclose(costs, fresh.compute_costs(trajectory, 500), rtol=1e-5)
    assert np.abs(costs - before).max() > 0.1


def test_a_pose_is_found_by_features_of_jumps_alone(demo_database: Database):
    database = demo_database.with_schema(load_schema("spring"))
    method, frame = MotionMatching(database, PerformerSettings()), 2345
    state = MovingPose(
        np.array(database.poses[frame]),
        np.array(database.velocities[frame]),
        database.root_motion[frame],
    )
    for root in (state.root, np.full(3, np.nan)):
        (found, cost), *_ = method.find_similar(state._replace(root=root), 3, 10)
        assert abs(found - frame) <= 1
        assert cost < 0.01
