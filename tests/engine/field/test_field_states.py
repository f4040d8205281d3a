"""Motion states, their metric and neighbours, and integration through the field."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.database.tags.tags import NO_USE
from motion_matching.engine.errors import DatabaseError
from motion_matching.engine.field.field_controller import METRICS
from motion_matching.engine.field.integration import compute_action_weights, integrate
from motion_matching.engine.field.states import poses as algebra
from motion_matching.engine.field.states.neighbours import (
    Metric,
    Neighbours,
    compute_position_weights,
    compute_similarity_weights,
)
from motion_matching.engine.field.states.states import MotionStates
from motion_matching.engine.maths.rotations import component_quat, quat

K = 15


@pytest.fixture(scope="module")
def states(demo_database):
    return MotionStates.from_database(demo_database)


@pytest.fixture(scope="module")
def neighbours(demo_database, states):
    return Neighbours(Metric.from_database(demo_database).compute_state_features(states))


def make_random_poses(rng, count, bones):
    """Make poses (count, 7, bones) with bone 0 anywhere on the ground, turned about the vertical."""
    poses = rng.normal(size=(count, 7, bones))
    component_quat.normalize(poses[:, 3:])
    poses[:, 2, 0] = 0
    poses[:, 3:, 0] = quat.from_yaw(rng.uniform(-3, 3, count))
    return poses


def add(pose, velocity):
    """Return the pose x ⊕ v, wherever its bone 0 stands and faces."""
    result = algebra.add_joints(pose, velocity)
    moved = quat.mul_vec(pose[..., 3:, 0], velocity[..., :3, 0])
    result[..., :3, 0] = pose[..., :3, 0] + moved
    return result


def test_subtraction_undoes_addition():
    rng = np.random.default_rng(0)
    pose, later = make_random_poses(rng, 2, 9)
    moved = algebra.add_joints(pose, algebra.subtract_joints(later, pose))
    np.testing.assert_allclose(moved[:3], later[:3], atol=1e-12)
    assert quat.angle_between(moved[3:].T, later[3:].T).max() < 1e-6


def test_the_root_moves_in_its_own_axes():
    """A velocity means the same at any position and heading."""
    rng = np.random.default_rng(1)
    pose, velocity, place = make_random_poses(rng, 3, 5)

    def move_to_place(x):
        result = x.copy()
        result[:3, 0] = place[:3, 0] + quat.mul_vec(place[3:, 0], x[:3, 0])
        result[3:, 0] = quat.mul(place[3:, 0], x[3:, 0])
        return result

    there = add(move_to_place(pose), velocity)
    np.testing.assert_allclose(there, move_to_place(add(pose, velocity)), atol=1e-12)


def test_blends_and_interpolation_reproduce_their_end_points():
    rng = np.random.default_rng(2)
    parts = make_random_poses(rng, 4, 6)
    parts[:, 3:] = quat.positive(parts[:, 3:].swapaxes(1, 2)).swapaxes(1, 2)
    blends = algebra.blend(parts, np.eye(4))
    np.testing.assert_allclose(blends, parts, atol=1e-12)
    a, b = parts[:2]
    np.testing.assert_allclose(algebra.interpolate(a, b, 0.0), a, atol=1e-9)
    end = algebra.interpolate(a, -b, 1.0)
    assert quat.angle_between(end[3:].T, b[3:].T).max() < 1e-6
    third = algebra.interpolate(a, b, 1 / 3)
    whole = quat.angle_between(a[3:].T, b[3:].T)
    np.testing.assert_allclose(quat.angle_between(a[3:].T, third[3:].T), whole / 3, atol=1e-6)


def test_states_leave_out_the_last_two_frames_of_every_range(demo_database, states):
    frames = [
        np.arange(a, b - 2) for a, b in zip(demo_database.starts, demo_database.stops, strict=True)
    ]
    looped = any(r.loop for r in demo_database.ranges)
    assert not looped
    np.testing.assert_array_equal(states.frames, np.concatenate(frames))


def test_a_loop_has_a_state_for_every_frame(demo_database):
    """Its last states lead on to its first frames."""
    loop, stop = demo_database.ranges[0], int(demo_database.stops[0])
    database = replace(demo_database, ranges=(replace(loop, loop=True), *demo_database.ranges[1:]))
    states = MotionStates.from_database(database)
    np.testing.assert_array_equal(states.frames[:stop], np.arange(stop))
    pose = states.poses[stop - 1]
    for velocity, frame in ((states.velocities[stop - 1], 0), (states.motions[:, 1][stop - 1], 1)):
        pose = algebra.add_joints(pose, velocity)
        np.testing.assert_allclose(pose[:3, 1:], database.poses[frame, :3, 1:], atol=1e-5)
        assert (
            quat.angle_between(pose[3:, 1:].T, np.array(database.poses[frame, 3:, 1:]).T).max()
            < 2e-3
        )


def test_velocities_lead_through_the_source(demo_database, states):
    """x ⊕ v ⊕ y is the pose two frames later, including the ground track."""
    rng = np.random.default_rng(3)
    chosen = rng.choice(len(states), 300)
    frames = states.frames[chosen]
    pose = np.array(demo_database.poses[frames], np.float64)
    for velocity, later in ((states.velocities, 1), (states.motions[:, 1], 2)):
        pose = add(pose, velocity[chosen].astype(np.float64))
        source = np.array(demo_database.poses[frames + later], np.float64)
        np.testing.assert_allclose(pose[:, :3], source[:, :3], atol=2e-5)
        assert (
            quat.angle_between(pose[:, 3:].swapaxes(1, 2), source[:, 3:].swapaxes(1, 2)).max()
            < 1e-3
        )


def test_states_carry_tags_and_the_contacts_of_their_next_frame(demo_database):
    last = np.arange(demo_database.frame_count) % 3 == 0
    database = replace(
        demo_database, tag_names=("walk", "third"), tags=np.where(last, 2, 1).astype(np.uint32)
    )
    states = MotionStates.from_database(database)
    np.testing.assert_array_equal(
        states.contacts, database.contacts[database.successors[states.frames]]
    )
    np.testing.assert_array_equal(states.tag_masks["third"], states.frames % 3 == 0)
    np.testing.assert_array_equal(states.tag_masks["walk"], states.frames % 3 != 0)


def test_excluded_frames_have_no_states(demo_database):
    """Nor do frames that would reach one within two ticks."""
    excluded = np.zeros(demo_database.frame_count, bool)
    excluded[50:60] = True
    database = replace(demo_database, tag_names=(NO_USE,), tags=excluded.astype(np.uint32))
    assert not np.isin(np.arange(48, 60), MotionStates.from_database(database).frames).any()
    with pytest.raises(DatabaseError, match="longer clips"):
        MotionStates.from_database(replace(database, tags=np.ones_like(database.tags)))


# ---------------------------------------------------------------- metric


def compute_notebook_distance(database, metric_weights, a, b):
    """Compute the notebook's distance of two states (pose, velocity), each (7, B), bone by bone, in
    metres.
    """

    def features(pose, velocity):
        rest = database.poses[0, :3].T.astype(np.float64)
        rest[0] = 0
        rotations = pose[3:].T.astype(np.float64)
        rotations[0] = quat.IDENTITY
        _, here = quat.fk(rotations, rest, database.skeleton.parents)
        _, there = quat.fk(
            quat.normalize(quat.mul(rotations, velocity[3:].T.astype(np.float64))),
            rest,
            database.skeleton.parents,
        )
        return np.concatenate(
            [
                here * metric_weights[:, None] * 0.8,
                (there - here) * (metric_weights > 0)[:, None] * database.fps / 30.0,
            ]
        )

    return np.linalg.norm(features(*a) - features(*b), axis=1).sum()


def test_the_notebook_metric_matches_its_formula(demo_database, states):
    rng = np.random.default_rng(4)
    chosen = rng.choice(len(states), (40, 2))
    flat = chosen.ravel()
    features = Metric.from_notebook(demo_database).compute_features(
        states.poses[flat], states.velocities[flat]
    )
    terms = features.reshape(40, 2, -1, 3).astype(np.float64)
    found = np.linalg.norm(terms[:, 0] - terms[:, 1], axis=-1).sum(axis=-1)
    weights = compute_position_weights(demo_database.skeleton, demo_database.roles).astype(
        np.float64
    )
    expected = [
        compute_notebook_distance(
            demo_database,
            weights,
            (states.poses[i], states.velocities[i]),
            (states.poses[j], states.velocities[j]),
        )
        for i, j in chosen
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_weights_by_role_match_the_notebook(demo_database):
    """Compare bone by bone on a skeleton like the notebook's."""
    weights = compute_position_weights(demo_database.skeleton, demo_database.roles)
    by_name = dict(zip(demo_database.skeleton.names, weights.tolist(), strict=True))
    notebook = {
        "Simulation": 0,
        "Hips": 0.3,
        "Spine": 0.1,
        "Chest": 0.1,
        "UpperChest": 0.5,
        "Neck": 0.01,
        "Head": 0.01,
    }
    for side in ("Left", "Right"):
        notebook |= {f"{side}{part}": 0.01 for part in ("Shoulder", "Arm", "ForeArm", "Hand")}
        notebook |= {f"{side}UpLeg": 0.2, f"{side}Leg": 0.5, f"{side}Foot": 1.0, f"{side}Toe": 1.0}
    assert by_name == pytest.approx(notebook)


def test_the_metric_does_not_depend_on_the_frame_rate(demo_database, states):
    """A steady motion has the same features, sampled 240 or 480 times a second."""
    still = np.zeros_like(states.velocities[::500])
    still[:, 3] = 1

    def features(parts):
        metric = replace(Metric.from_database(demo_database), fps=parts * demo_database.fps)
        return metric.compute_features(
            states.poses[::500], algebra.interpolate(still, states.velocities[::500], 1 / parts)
        )

    np.testing.assert_allclose(features(16), features(8), atol=2e-3)


def test_the_default_metric_separates_standing_gliding_and_turning(demo_database, states):
    """It includes root velocity, which the notebook ignores, and turning, beside what bones show of
    it.
    """
    pose, velocity = states.poses[:1], states.velocities[:1]
    gliding, turning = velocity.copy(), velocity.copy()
    gliding[:, 0, 0] += 0.05
    turning[:, 3:, 0] = quat.from_yaw(np.array([0.1]))
    notebook, default = Metric.from_notebook(demo_database), Metric.from_database(demo_database)

    def apart(metric, other, *terms):
        features = [metric.compute_features(pose, v).reshape(-1, 3) for v in (velocity, other)]
        return np.linalg.norm(features[0] - features[1], axis=-1)[list(terms) or slice(None)].sum()

    assert apart(notebook, gliding) < 1e-6 < 0.01 < apart(default, gliding)
    per_frame = demo_database.fps / 30
    assert apart(default, gliding, -2) == pytest.approx(
        0.05 * default.root_velocity * per_frame, rel=1e-3
    )
    now = float(states.root_steps[0, 2])
    assert apart(default, turning, -1) == pytest.approx(
        abs(0.1 - now) * default.turn * per_frame, rel=1e-3
    )
    assert min(default.root_velocity, default.turn) > 0


# ---------------------------------------------------------------- neighbours


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["default", "notebook"])
@pytest.mark.parametrize("k", [1, K])
def test_neighbours_match_brute_force(demo_database, states, preset, k):
    """Search single queries and batches, for similar states and for states from the whole field."""
    metric = METRICS[preset](demo_database)
    features = metric.compute_state_features(states)
    neighbours = Neighbours(features)
    rng = np.random.default_rng(5)
    together = np.arange(5000, 5012)
    queries = features[np.concatenate([together, rng.choice(len(states), 12)])]
    queries = queries + rng.normal(scale=0.002, size=queries.shape).astype(np.float32)
    terms = features.reshape(len(features), -1, 3)
    indices, distances = neighbours.find_nearest(queries, k)
    for query, found, at in zip(
        queries.reshape(len(queries), -1, 3), indices, distances, strict=True
    ):
        exact = np.linalg.norm(terms.astype(np.float64) - query, axis=-1).sum(axis=-1)
        np.testing.assert_allclose(at, np.sort(exact)[:k], rtol=1e-5)
        np.testing.assert_allclose(exact[found], at, rtol=1e-5)
        assert len(set(found)) == k
    one, _ = neighbours.find_nearest(queries[3:4], k)
    np.testing.assert_array_equal(one[0], indices[3])


def test_neighbours_from_different_parts_of_clips_come_first(states, demo_database):
    """Of the 3 k / 2 nearest, those nearer than both neighbours in their clip come first, then the
    others.
    """
    features = Metric.from_database(demo_database).compute_state_features(states)
    among = np.ones(len(states), bool)
    among[1000:9000] = False
    neighbours = Neighbours(features, among, states.find_followed(demo_database))
    terms = features.reshape(len(features), -1, 3).astype(np.float64)
    after = states.find_followed(demo_database)[:-1] & among[1:] & among[:-1]
    queries = np.array([0, 500, 12000, 20000])
    for query, found in zip(
        queries, neighbours.find_nearest(features[queries], K, apart=True)[0], strict=True
    ):
        distances = np.linalg.norm(terms - terms[query], axis=-1).sum(axis=-1)
        nearer = np.diff(distances) < 0
        later = np.zeros(len(states), bool)
        later[:-1] = after & nearer
        later[1:] |= after & ~nearer
        distances[~among] = np.inf
        nearest = distances.argsort()[: 3 * K // 2]
        np.testing.assert_array_equal(
            found, nearest[np.lexsort((distances[nearest], later[nearest]))][:K]
        )


def test_a_field_smaller_than_k_returns_all_states(states, demo_database):
    features = Metric.from_database(demo_database).compute_state_features(states)[:4]
    indices, _ = Neighbours(features).find_nearest(features, K)
    assert indices.shape == (4, 4)
    assert (np.sort(indices) == np.arange(4)).all()


def test_similarity_weights_are_inverse_squares():
    weights = compute_similarity_weights(np.array([[0.1, 0.2, 0.4]], np.float32))
    np.testing.assert_allclose(weights, [[16 / 21, 4 / 21, 1 / 21]], rtol=1e-5)
    np.testing.assert_allclose(
        compute_similarity_weights(np.array([0.0, 0.3], np.float32)), [1, 0], atol=1e-6
    )


def test_actions_favour_one_neighbour_each():
    weights = np.array([0.5, 0.3, 0.2])
    np.testing.assert_allclose(
        compute_action_weights(weights),
        [
            [1 / 1.5, 0.3 / 1.5, 0.2 / 1.5],
            [0.5 / 1.7, 1 / 1.7, 0.2 / 1.7],
            [0.5 / 1.8, 0.3 / 1.8, 1 / 1.8],
        ],
    )


# ---------------------------------------------------------------- integration


@pytest.mark.slow
def test_one_neighbour_without_drift_plays_the_source(demo_database, states, neighbours):
    """With k = 1 and δ = 0, a pose of the database plays its clip to the last state, within 1e-4."""
    metric = Metric.from_database(demo_database)
    some = np.random.default_rng(6).choice(len(demo_database.starts), 5, replace=False)
    first = np.searchsorted(states.frames, demo_database.starts[some])
    last = np.searchsorted(states.frames, demo_database.stops[some]) - 1
    length = int(min(last - first))
    pose, velocity = states.poses[first], states.velocities[first]
    alone = np.ones((len(first), 1, 1), np.float32)
    for tick in range(1, length + 1):
        nearest, _ = neighbours.find_nearest(metric.compute_features(pose, velocity), 1)
        result = integrate(states, pose, nearest, alone, 0.0)
        pose, velocity, root = (part[:, 0] for part in result)
        source = states.poses[first + tick]
        np.testing.assert_allclose(pose[:, :3], source[:, :3], atol=1e-4)
        assert (
            quat.angle_between(pose[:, 3:].swapaxes(1, 2), source[:, 3:].swapaxes(1, 2)).max()
            < 2e-3
        )
        np.testing.assert_allclose(root, states.root_steps[first + tick - 1], atol=1e-4)


def test_full_drift_reaches_the_next_pose_of_the_nearest_state(states):
    """δ = 1 leads from anywhere to x̄ ⊕ v̄ with the velocity ȳ, including the root."""
    pose = states.poses[100]
    result = integrate(
        states, pose, np.array([5000, 9000]), np.array([[0.7, 0.3]], np.float32), 1.0
    )
    np.testing.assert_allclose(result.pose[0, :3, 1:], states.next_poses[5000, :3, 1:], atol=1e-5)
    assert (
        quat.angle_between(result.pose[0, 3:].T[1:], states.next_poses[5000, 3:].T[1:]).max() < 1e-3
    )
    np.testing.assert_allclose(result.velocity[0], states.motions[:, 1][5000], atol=1e-5)
    np.testing.assert_allclose(result.root[0], states.root_steps[5000], atol=1e-5)


def test_integrating_a_batch_equals_integrating_each_state(states, neighbours, demo_database):
    chosen = np.arange(0, len(states), 3000)
    features = Metric.from_database(demo_database).compute_features(
        states.poses[chosen], states.velocities[chosen]
    )
    indices, distances = neighbours.find_nearest(features, K)
    actions = compute_action_weights(compute_similarity_weights(distances))
    together = integrate(states, states.poses[chosen], indices, actions, 0.1)
    for n, state in enumerate(chosen):
        alone = integrate(states, states.poses[state], indices[n], actions[n], 0.1)
        for a, b in zip(together, alone, strict=True):
            np.testing.assert_allclose(a[n], b, atol=1e-6)
