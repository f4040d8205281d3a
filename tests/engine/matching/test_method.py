"""Motion matching continues while that is cheapest, jumps to cheaper frames, and respects masks."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.control.method import Goal
from motion_matching.engine.control.trajectory import TrajectoryPoint
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.features.features import Feature, Schema, load_schema
from motion_matching.engine.database.features.kinds import paths
from motion_matching.engine.database.tags.tags import NO_ENTRY, NO_USE
from motion_matching.engine.errors import DatabaseError, SettingsError
from motion_matching.engine.files import presets
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance.settings import PerformerSettings, Search
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import takes
from tests import demo

EACH_TICK = PerformerSettings(search=Search(search_interval=0.0, continuing_bias=0.0))


def get_own_trajectory(
    database: Database, frame: int, times: tuple[float, ...]
) -> list[TrajectoryPoint]:
    """Return the trajectory that the data takes from a frame, as a goal."""
    points = []
    x, y, yaw = database.track[frame]
    c, s = np.cos(yaw), np.sin(yaw)
    for t in times:
        ax, ay, ayaw = database.track[frame + round(t * database.fps)]
        points.append(
            TrajectoryPoint(
                c * (ax - x) + s * (ay - y), c * (ay - y) - s * (ax - x), ayaw - yaw, 0.0, 0.0
            )
        )
    return points


def make_trajectory(
    speed: float, yaw_rate: float, times: tuple[float, ...]
) -> list[TrajectoryPoint]:
    """Make a trajectory from rest straight ahead at a speed, or on an arc."""
    points = []
    for time in times:
        t = max(time, 0.0)
        turn = yaw_rate * t
        way = speed * t * np.sinc(turn / (2 * np.pi))
        points.append(
            TrajectoryPoint(
                way * np.sin(turn / 2), -way * np.cos(turn / 2), turn, 0.0, -speed * (time > 0)
            )
        )
    return points


def tag_frames(database: Database, **frames: np.ndarray) -> Database:
    names = tuple(frames)
    bits = sum(
        np.where(mask, np.uint32(1 << i), np.uint32(0)) for i, mask in enumerate(frames.values())
    )
    return replace(database, tag_names=names, tags=np.asarray(bits, np.uint32))


def test_the_trajectory_of_the_data_plays_the_data(demo_database):
    method = MotionMatching(demo_database, EACH_TICK)
    method.reset()
    start = method._frame = int(demo_database.starts[2]) + 60
    for step in range(60):
        motion = method.advance(
            Goal(get_own_trajectory(demo_database, start + step, method.trajectory_times))
        )
        assert motion.jump is None
        assert motion.frame == start + step + 1
        assert motion.cost < 1e-6


def test_a_jump_enters_the_cheapest_frame_of_a_full_scan(demo_database):
    method = MotionMatching(demo_database, EACH_TICK)
    method.reset()
    schema, normalization = demo_database.schema, demo_database.normalization
    goal = Goal(make_trajectory(3.0, 0.5, method.trajectory_times))
    frame = method._frame
    raw = demo_database.features[:, frame].astype(np.float64)
    values = []
    for feature in schema.features[5:7]:
        for t in feature.times:
            p = goal.trajectory[method.trajectory_times.index(t)]
            values += (
                [p.x, p.y]
                if feature.kind == "trajectory_position"
                else [np.sin(p.yaw), -np.cos(p.yaw)]
            )
    raw[15:27] = values
    scale = normalization.compute_scale(schema.weights).astype(np.float64)
    costs = (((demo_database.features.T - raw) * scale) ** 2).sum(axis=1)
    costs[~demo_database.find_candidates(EACH_TICK.search.end_guard)] = np.inf
    costs[max(frame - 9, 0) : frame + 10] = np.inf
    motion = method.advance(goal)
    assert motion.jump is not None
    assert costs[motion.frame - 1] == pytest.approx(costs.min(), rel=1e-4)
    assert motion.cost == pytest.approx(costs.min(), rel=1e-3)


def test_a_wish_far_beyond_what_clips_do_costs_no_more_than_one_a_bit_beyond():
    """Or it would drown how poses and feet differ: clips that go straight are asked for turns."""
    walks = [clip for clip in demo.generate_clips() if clip.name == "walk_speeds"]
    database = build([Source(clip=clip) for clip in walks], BuildSettings())[0]
    method, frame = MotionMatching(database, EACH_TICK), 200
    straight, bit, bit_more, far = (
        method.compute_costs(make_trajectory(1.2, turn, method.trajectory_times), frame)
        for turn in (0.0, 0.4, 1.2, 1.4)
    )
    directions = [f.kind for f in database.schema.features].index("trajectory_direction")
    np.testing.assert_allclose(bit_more[:, directions], far[:, directions], rtol=1e-6)
    assert np.abs(straight[:, directions] - bit[:, directions]).max() > 0.1


def make_absolute(database, **changes):
    """Return a database whose schema compares by absolute difference, with other changes."""
    return replace(database, schema=replace(database.schema, difference="absolute", **changes))


def sum_weighted_lengths(database, raw):
    """Return the talk's cost (N,): weighted lengths of differences to raw values (D,)."""
    costs = np.zeros(database.frame_count)
    for feature, dimensions in zip(database.schema.features, database.schema.slices, strict=True):
        away = database.features[dimensions].T - raw[dimensions]
        vectors = away.reshape(database.frame_count, -1, feature.size).astype(np.float64)
        costs += feature.weight * np.sqrt((vectors**2).sum(axis=2)).sum(axis=1)
    return costs


def test_the_preset_as_published_enters_the_frame_of_the_least_weighted_lengths(demo_database):
    schema = load_schema("nucl_ai_as_published")
    database = demo_database.with_schema(schema)
    method, frame = MotionMatching(database, EACH_TICK), 400
    allowed = database.find_candidates(EACH_TICK.search.end_guard)
    for velocity in ((3.0, 0.5), (0.0, 0.0), (1.2, -0.8)):
        method.reset()
        method._frame, method._since_stood = frame, math.inf
        goal = Goal(make_trajectory(*velocity, method.trajectory_times))
        query = method._make_query(goal.trajectory, frame)
        used = database.normalization.varies
        raw = np.array(database.features[:, frame], np.float64)
        scale = database.normalization.compute_scale(schema.weights)[used]
        raw[used] = query / scale + database.normalization.mean[used]
        costs = sum_weighted_lengths(database, raw)
        by_feature = method.compute_costs(goal.trajectory, frame)
        np.testing.assert_allclose(by_feature.sum(axis=1), costs, rtol=1e-4, atol=1e-4)
        others = np.where(allowed, costs, np.inf)
        others[frame - 9 : frame + 10] = np.inf
        motion = method.advance(goal)
        entered = frame if motion.jump is None else motion.frame - 1
        assert costs[entered] == pytest.approx(min(others.min(), costs[frame]), rel=1e-4)
        assert motion.cost == pytest.approx(costs[entered], rel=1e-4)
        listed = method.explain(5)
        for candidate in (listed.continuing, *listed.candidates):
            assert candidate.cost == pytest.approx(costs[candidate.frame], rel=1e-4)
            assert sum(candidate.by_feature) == pytest.approx(candidate.cost, rel=1e-6)


def test_changed_weights_apply_to_absolute_differences(demo_database):
    database = make_absolute(demo_database)
    weights = tuple(0.5 * (1 + k % 3) for k in range(len(database.schema.features)))
    settings = EACH_TICK.with_changes({"weights": weights})
    changed, fresh = (MotionMatching(database, each) for each in (EACH_TICK, settings))
    changed.apply(settings)
    goal = Goal(make_trajectory(2.5, 0.3, changed.trajectory_times))
    for _ in range(20):
        one, two = changed.advance(goal), fresh.advance(goal)
        assert one.frame == two.frame
        assert one.cost == pytest.approx(two.cost, rel=1e-5)


def test_tags_are_requested_with_absolute_differences(demo_database):
    inside = np.zeros(demo_database.frame_count, bool)
    inside[2000:6000] = True
    method = MotionMatching(make_absolute(tag_frames(demo_database, gym=inside)), EACH_TICK)
    goal = Goal(make_trajectory(1.0, 0.0, method.trajectory_times), tags=frozenset({"gym"}))
    assert all(inside[method.advance(goal).frame] for _ in range(20))


@pytest.mark.slow
def test_the_notebook_preset_decides_as_the_notebook(demo_database):
    """Each tick, the loop of notebook 000 is applied to all frames as it stands there."""
    preset = presets.load("controllers", "notebook")["settings"]
    method = MotionMatching(demo_database, PerformerSettings().with_changes(preset))
    method.reset()
    rng, database = np.random.default_rng(3), demo_database
    before, last = round(5 * database.fps / 30), round(database.fps)
    stops = database.stops[database.range_of_frame]
    jumps = 0
    for tick in range(600):
        if tick % 40 == 0:
            trajectory = make_trajectory(*rng.uniform([0, -2], [3, 2]), method.trajectory_times)
        frame = method._frame
        if frame >= stops[frame] - last:  # the notebook leaves a clip before its end
            method._frame = frame = int(rng.choice(np.flatnonzero(database.find_candidates(1.0))))
        query = method._make_query(trajectory, frame)
        costs = np.sum((method._rows - query) ** 2, axis=1)
        for best in np.argsort(costs, kind="stable"):
            may_enter = best < frame - before or best >= frame
            if may_enter and best < stops[best] - last:
                break
        jump = method.advance(Goal(trajectory, fading=True, measure_seams=shake_hard)).jump
        assert (jump is not None) == (best != frame)
        if jump is not None:
            np.testing.assert_array_equal(jump.target_pose, database.poses[best])
        jumps += jump is not None
    assert 20 < jumps < 500


@pytest.mark.slow
def test_the_directions_of_a_path_are_asked_for_one_by_one(demo_database):
    """Along chosen directions, a goal is the same as along both, each in a place of its own."""
    times = (1 / 3, 1.0)

    def make_query(axes: tuple[str, ...]) -> np.ndarray:
        features = tuple(
            Feature(kind.name, times=times, axes=each)
            for kind in paths.KINDS
            if not kind.is_number
            for each in axes
        )
        database = demo_database.with_schema(Schema(features, normalization="none"))
        method = MotionMatching(database, EACH_TICK)
        rng = np.random.default_rng(1)
        goal = [TrajectoryPoint(*rng.normal(size=5).tolist()) for _ in times]
        return method._make_query(goal, 700) + database.normalization.mean

    both = make_query(("xy",)).reshape(3, 2, 2)
    apart = make_query(("x", "y")).reshape(3, 2, 2)
    np.testing.assert_allclose(apart, both.swapaxes(1, 2), atol=1e-6)


def test_searches_wait_for_the_interval_unless_the_goal_is_sharp(demo_database):
    settings = PerformerSettings(search=Search(search_interval=0.5))
    for sharp in (False, True):
        method = MotionMatching(demo_database, settings)
        method.reset()
        calm = Goal(make_trajectory(0.0, 0.0, method.trajectory_times))
        method.advance(calm)
        jumps = [
            method.advance(
                Goal(make_trajectory(3.0, 0.8, method.trajectory_times), sharp=sharp and tick == 0)
            ).jump
            is not None
            for tick in range(15)
        ]
        assert any(jumps)
        assert jumps[0] == sharp


def shake_hard(seams) -> np.ndarray:
    return np.full(len(seams), 1e6)


def test_a_jump_that_would_make_a_joint_pop_waits(demo_database):
    method = MotionMatching(demo_database, PerformerSettings(search=Search(search_interval=0.5)))
    method.reset()
    method.advance(Goal(make_trajectory(0.0, 0.0, method.trajectory_times)))
    fast = make_trajectory(3.0, 0.8, method.trajectory_times)
    shaken, seen = [1000.0, 1000.0, 1000.0, 0.0], []

    def measure(seams) -> np.ndarray:
        ((jump, following, _),) = seams
        np.testing.assert_array_equal(jump.source_pose, demo_database.poses[method._frame])
        seen.append(following.shape)
        return np.array([shaken[len(seen) - 1]])

    goal = Goal(fast, sharp=True, measure_seams=measure)
    motions = [method.advance(goal._replace(sharp=tick == 0)) for tick in range(4)]
    assert [motion.jump is not None for motion in motions] == [False, False, False, True]
    assert seen == [(3, *demo_database.poses.shape[1:])] * 4
    assert np.diff([motion.frame for motion in motions[:3]]).tolist() == [1, 1]


def test_no_jump_waits_for_long(demo_database):
    method = MotionMatching(demo_database, PerformerSettings(search=Search(search_interval=0.5)))
    method.reset()
    method.advance(Goal(make_trajectory(0.0, 0.0, method.trajectory_times)))
    fast = make_trajectory(3.0, 0.8, method.trajectory_times)
    goal = Goal(fast, sharp=True, measure_seams=shake_hard)
    jumped = [method.advance(goal).jump is not None for _ in range(40)]
    waited = jumped.index(True) / demo_database.fps
    assert 0.1 < waited < 0.2


def test_a_jump_that_may_wait_no_longer_enters_a_frame_that_pops_less(demo_database):
    """The best frame and those beside it pop; another good one does not."""
    method = MotionMatching(demo_database, PerformerSettings(search=Search(search_interval=0.5)))
    method.reset()
    method.advance(Goal(make_trajectory(0.0, 0.0, method.trajectory_times)))
    asked: list[np.ndarray] = []

    def measure(seams) -> np.ndarray:
        first = len(asked) + 1
        asked.extend(seam.jump.target_pose for seam in seams)
        return np.array([1000.0 if first + k < 12 else 0.0 for k in range(len(seams))])

    fast = make_trajectory(3.0, 0.8, method.trajectory_times)
    goal = Goal(fast, sharp=True, measure_seams=measure)
    ticks, jump = 0, None
    while jump is None:
        jump, ticks = method.advance(goal).jump, ticks + 1
    assert ticks < 0.25 * demo_database.fps
    assert 12 <= len(asked) < 20, "others are looked at once it has waited, a few at once"
    assert not np.array_equal(jump.target_pose, asked[ticks - 1]), "the best frame of that tick"
    assert np.array_equal(jump.target_pose, asked[11])


def test_the_end_of_a_range_is_left_even_with_a_pop(demo_database):
    method = MotionMatching(demo_database, PerformerSettings(search=Search(search_interval=10.0)))
    method.reset()
    method._frame = int(demo_database.stops[0]) - 1
    still = make_trajectory(0.0, 0.0, method.trajectory_times)
    motion = method.advance(Goal(still, measure_seams=shake_hard))
    assert motion.jump is not None


def test_the_end_of_a_range_is_left_at_any_cost(demo_database):
    method = MotionMatching(
        demo_database, PerformerSettings(search=Search(search_interval=10.0, continuing_bias=1e9))
    )
    method.reset()
    method._ticks_to_search = 1000
    last = int(demo_database.stops[0]) - 1
    method._frame = last
    motion = method.advance(Goal(make_trajectory(1.0, 0.0, method.trajectory_times)))
    assert motion.jump is not None
    assert demo_database.find_candidates(1 / 3)[motion.frame - 1]


def test_no_entry_frames_are_never_entered(demo_database):
    rng = np.random.default_rng(5)
    excluded = np.zeros(demo_database.frame_count, bool)
    excluded[::3] = True
    database = tag_frames(demo_database, **{NO_ENTRY: excluded})
    method = MotionMatching(database, EACH_TICK)
    method.reset()
    for _ in range(200):
        motion = method.advance(
            Goal(make_trajectory(rng.uniform(0, 4), rng.uniform(-1, 1), method.trajectory_times))
        )
        if motion.jump is not None:
            assert not excluded[motion.frame - 1]


def test_no_use_frames_are_never_played(demo_database):
    excluded = np.zeros(demo_database.frame_count, bool)
    for start in range(40, demo_database.frame_count - 20, 90):
        excluded[start : start + 12] = True
    database = tag_frames(demo_database, **{NO_USE: excluded})
    method = MotionMatching(database, PerformerSettings())
    method.reset()
    rng = np.random.default_rng(6)
    for _ in range(300):
        goal = Goal(make_trajectory(rng.uniform(0, 3), rng.uniform(-1, 1), method.trajectory_times))
        assert not excluded[method.advance(goal).frame]


def test_only_frames_with_the_requested_tags_are_played(demo_database):
    inside = np.zeros(demo_database.frame_count, bool)
    inside[2000:6000] = True
    database = tag_frames(demo_database, gym=inside)
    method = MotionMatching(database, EACH_TICK)
    method.reset()
    for tick in range(30):
        motion = method.advance(
            Goal(make_trajectory(1.0, 0.0, method.trajectory_times), tags=frozenset({"gym"}))
        )
        assert inside[motion.frame], tick
    with pytest.raises(DatabaseError, match="tagged 'swim'"):
        method.advance(
            Goal(make_trajectory(1.0, 0.0, method.trajectory_times), tags=frozenset({"swim"}))
        )


@pytest.mark.parametrize("length", [6, 20, 90])
def test_a_short_range_with_the_requested_tag_is_never_left(demo_database, length):
    start = int(demo_database.starts[5]) + 20
    inside = np.zeros(demo_database.frame_count, bool)
    inside[start : start + length] = True
    method = MotionMatching(
        tag_frames(demo_database, gym=inside), takes.make_default_settings(demo_database)
    )
    goal = Goal(make_trajectory(1.0, 0.0, method.trajectory_times), tags=frozenset({"gym"}))
    assert all(inside[method.advance(goal).frame] for _ in range(200))


def test_a_jump_to_a_tag_happens_at_once(demo_database):
    inside = np.zeros(demo_database.frame_count, bool)
    inside[3000:3100] = True
    database = tag_frames(demo_database, wave=inside)
    method = MotionMatching(database, PerformerSettings(search=Search(search_interval=10.0)))
    method.reset()
    method.advance(Goal(make_trajectory(0.0, 0.0, method.trajectory_times)))
    motion = method.advance(
        Goal(make_trajectory(0.0, 0.0, method.trajectory_times), jump_to="wave")
    )
    assert motion.jump is not None
    assert inside[motion.frame - 1]


def test_changed_weights_apply_at_the_next_search(demo_database):
    settings = EACH_TICK.with_changes({"weights": (0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0)})
    changed, fresh = (
        MotionMatching(demo_database, EACH_TICK),
        MotionMatching(demo_database, settings),
    )
    changed.reset()
    fresh.reset()
    changed.apply(settings)
    goal = Goal(make_trajectory(2.5, 0.3, changed.trajectory_times))
    a, b = changed.advance(goal), fresh.advance(goal)
    assert a.cost == pytest.approx(b.cost, rel=1e-3)
    # with weights on the trajectory alone, it is matched better
    assert a.cost < MotionMatching(demo_database, EACH_TICK).advance(goal).cost


@pytest.mark.parametrize("name", ["holden", "notebook", "nucl_ai", "nucl_ai_as_published"])
def test_every_shipped_schema_plays(demo_database, name):
    database = demo_database.with_schema(load_schema(name))
    method = MotionMatching(database, PerformerSettings())
    method.reset()
    motions = [
        method.advance(Goal(make_trajectory(1.2, 0.0, method.trajectory_times))) for _ in range(60)
    ]
    assert np.isfinite([m.cost for m in motions]).all()
    assert len({m.frame for m in motions}) > 20


def test_an_explanation_lists_the_best_candidates_with_costs_by_feature(demo_database):
    method = MotionMatching(demo_database, EACH_TICK)
    method.reset()
    assert method.explain(3) is None
    method.advance(Goal(make_trajectory(2.0, 0.0, method.trajectory_times)))
    explanation = method.explain(5)
    costs = [c.cost for c in explanation.candidates]
    assert len(costs) == 5
    assert costs == sorted(costs)
    assert costs[0] <= explanation.continuing.cost
    assert len(explanation.labels) == len(demo_database.schema.features)
    for candidate in explanation.candidates:
        assert sum(candidate.by_feature) == pytest.approx(candidate.cost, rel=1e-4)


def test_refused_settings_change_nothing(demo_database):
    method = MotionMatching(demo_database, EACH_TICK)
    goal = Goal(make_trajectory(2.0, 0.2, method.trajectory_times))
    expected = method.advance(goal).frame
    method.reset()
    with pytest.raises(SettingsError, match="weights"):
        method.apply(EACH_TICK.with_changes({"weights": (1.0, 2.0)}))
    trajectory_only = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0)
    with pytest.raises(DatabaseError, match="end guard"):
        method.apply(EACH_TICK.with_changes({"weights": trajectory_only, "end_guard": 900.0}))
    costs = method.compute_costs(goal.trajectory, 0)
    fresh = MotionMatching(demo_database, EACH_TICK)
    np.testing.assert_array_equal(costs, fresh.compute_costs(goal.trajectory, 0))
    assert method.advance(goal).frame == expected


def test_explanations_respect_tags_after_a_change_of_settings(demo_database):
    inside = np.zeros(demo_database.frame_count, bool)
    inside[2000:6000] = True
    method = MotionMatching(tag_frames(demo_database, gym=inside), EACH_TICK)
    goal = Goal(make_trajectory(1.0, 0.0, method.trajectory_times), tags=frozenset({"gym"}))
    method.advance(goal)
    method.apply(EACH_TICK.with_changes({"end_guard": 0.5}))
    assert method.explain(3) is None
    method.advance(goal)
    assert all(inside[c.frame] for c in method.explain(8).candidates)
