"""Motion fields behind a performer: they reach goals, recover from pushes, and stay on the ground."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.control.method import Goal, Motion
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.field import push
from motion_matching.engine.field.integration import compute_action_weights, integrate
from motion_matching.engine.field.method import MotionField
from motion_matching.engine.field.states.gaits import WALKING, classify_gaits
from motion_matching.engine.field.states.neighbours import (
    Metric,
    Neighbours,
    compute_similarity_weights,
)
from motion_matching.engine.field.states.poses import add_joints
from motion_matching.engine.field.states.states import MotionStates
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import takes
from tests.demo import generate_clips
from tests.goals import make_goal

SPEED = 1.2


@pytest.fixture(scope="module")
def field(demo_database, settings):
    return MotionField(demo_database, settings)


@pytest.fixture(scope="module")
def usual_distance(field):
    """Return the distance within which 95 % of the states have another state."""
    features = field.metric.compute_state_features(field.states)
    among = np.random.default_rng(0).choice(len(features), 200, replace=False)
    return np.percentile(Neighbours(features).find_nearest(features[among], 2)[1][:, 1], 95)


@pytest.fixture
def performer(field, settings):
    return Performer(field, settings)


def make_goal_ahead(speed: float, side: float = 0.0) -> Goal:
    """Make a goal that continues straight ahead at a speed, without turning."""
    return make_goal(side, -speed)


def make_intent(heading: float, speed: float = SPEED) -> Intent:
    return Intent(velocity=(speed * math.sin(heading), -speed * math.cos(heading)))


@pytest.mark.parametrize("degrees", [4, -30, 90, -135, 180])
def test_a_desired_heading_is_reached(performer, degrees):
    """Reach it within 3 degrees, averaged over two steps; there is no dead band for small turns."""
    performer.reset((0.0, 0.0), 0.0)
    for _ in range(60):
        performer.step(make_intent(0.0))
    heading = math.radians(degrees)
    yaws = [performer.step(make_intent(heading)).character.yaw for _ in range(180)]
    amiss = np.array([math.remainder(yaw - heading, math.tau) for yaw in yaws[-60:]])
    assert abs(np.degrees(amiss.mean())) < 3


@pytest.mark.parametrize(("script", "gait"), [("square", "walk"), ("figure_eight", "run")])
@pytest.mark.slow
def test_the_character_keeps_following_turns(field, settings, demo_database, script, gait):
    """It does not get stuck in a motion that is always about to turn, or has no other around it."""
    performer = Performer(field, settings)
    wanted = takes.prepare_performance(
        demo_database, settings, script, gait=gait, seconds=25.0, seed=0
    )
    frames = [performer.step(intent) for intent in wanted.intents]
    behind = [
        abs(math.remainder(frame.character.yaw - frame.desired_yaw, math.tau))
        for frame in frames[-450:]
    ]
    assert math.degrees(np.mean(behind)) < 30


def test_the_character_starts_keeps_its_speed_and_stops(performer):
    """Standing is no trap, and the data drives the motion, not the simulation object alone."""
    performer.reset((0.0, 0.0), 0.0)
    walked = [performer.step(make_intent(0.0)) for _ in range(120)][-60:]
    led = [-performer.method.advance(make_goal_ahead(SPEED)).root[1] for _ in range(60)]
    assert np.mean(led) == pytest.approx(SPEED, abs=0.25)
    way = np.array(walked[-1].character[:2]) - walked[0].character[:2]
    assert -way[1] / (59 / 30) == pytest.approx(SPEED, abs=0.2)
    for _ in range(90):
        frame = performer.step(Intent())
    standing = [performer.step(Intent()) for _ in range(30)]
    assert math.dist(standing[0].character[:2], standing[-1].character[:2]) < 0.05
    assert np.abs(standing[-1].pose[:, 1:] - standing[0].pose[:, 1:]).max() < 0.1
    assert not frame.jumped


@pytest.mark.slow
def test_running_is_reached_without_a_clip_from_walking_to_running():
    """The motion itself reaches the running speed, even though walking turns better, and walks
    again.
    """
    clips = {clip.name: clip for clip in generate_clips()}
    walks = [Source(clip=clips[name]) for name in ("walk_curves", "walk_corners")]
    # skips the start of the clip, before it runs
    runs, settings = Source(clip=clips["run_curves"], start=90), BuildSettings(mirror=True)
    database = build([*walks, runs], settings)[0]
    assert (
        np.median(np.hypot(*database.root_motion[database.range_of_frame == len(walks)].T[:2]))
        > 2.1
    )

    class RecordingField(MotionField):
        def advance(self, goal: Goal) -> Motion:
            motion = super().advance(goal)
            self.ahead = -motion.root[1]
            return motion

    field = RecordingField(database, takes.make_default_settings(database))
    performer = Performer(field, field_settings := takes.make_default_settings(database))
    for speed in (1.2, field_settings.steering.run.forward, 1.2):
        led = []
        for tick in range(120):
            performer.step(make_intent(0.01 * tick, speed))
            led.append(field.ahead)
        assert np.mean(led[60:]) == pytest.approx(speed, abs=0.3)


def test_a_gait_of_only_a_few_frames_is_played():
    """Walk with the few walking frames at the start of a run, for any number of neighbours."""
    clips = {clip.name: clip for clip in generate_clips()}
    database = build([Source(clip=clips["run_curves"], start=46, stop=200)], BuildSettings())[0]
    assert 0 < (classify_gaits(database)[0] == WALKING).sum() < 10
    for neighbours in (15, 100):
        settings = takes.make_default_settings(database).with_changes({"neighbours": neighbours})
        performer = Performer(MotionField(database, settings), settings)
        for speed in (1.2, 3.0, 0.0):
            for tick in range(20):
                assert np.isfinite(performer.step(make_intent(0.05 * tick, speed)).pose).all()


def test_planted_feet_stay_in_place(performer, demo_database):
    performer.reset((0.0, 0.0), 0.0)
    frames = [performer.step(make_intent(0.0)) for _ in range(240)][60:]
    poses = np.stack([frame.pose for frame in frames]).transpose(0, 2, 1).astype(np.float64)
    _, positions = quat.fk(poses[..., 3:], poses[..., :3], demo_database.skeleton.parents)
    toes = positions[:, [leg.toe for leg in demo_database.roles.legs]]
    locked = np.array([frame.locked for frame in frames])
    held = locked[1:] & locked[:-1]
    assert held.mean() > 0.3
    slide = np.linalg.norm(np.diff(toes[..., :2], axis=0), axis=-1) * demo_database.fps
    assert np.mean(slide[held]) < 0.05


@pytest.mark.parametrize("least", [0.9, 0.3])
def test_a_toe_is_planted_by_the_weight_of_its_neighbours(demo_database, settings, least):
    """Plant a toe if neighbours with at least the set share of the weight, by default 0.9, have it
    planted.
    """
    assert settings.motion_field.planted_share == 0.9
    field = MotionField(demo_database, settings.with_changes({"planted_share": least}))
    field.enter(5000)
    between = 0
    for _ in range(40):
        motion = field.advance(make_goal_ahead(SPEED))
        decision = field.decision
        after = field.database.successors[decision.frames]
        share = decision.weights @ field.database.contacts[after].astype(np.float64)
        unclear = np.abs(share - least) < 1e-5
        np.testing.assert_array_equal(motion.contacts[~unclear], (share >= least)[~unclear])
        between += ((share > 0.3) & (share < 0.9)).sum()
    assert between, "or both settings would plant the same toes"


def test_without_lookahead_only_the_nearest_states_are_used(field, settings):
    """As in the notebook, more distant states are ignored, even if they fit the goal better."""
    neighbours = Neighbours(field.metric.compute_state_features(field.states))
    state = int(np.flatnonzero(np.abs(field.states.root_steps[:, 1] * field.fps + SPEED) < 0.05)[0])
    turning = make_goal(0.1, 0.0, math.pi / 2)
    try:
        field.apply(settings.with_changes({"lookahead": 0.0}))
        field.enter(state)
        features = field.metric.compute_features(
            field.states.poses[[state]], field.states.velocities[[state]]
        )
        field.advance(turning)
        assert set(field.decision.states) == set(
            neighbours.find_nearest(features, settings.motion_field.neighbours)[0][0]
        )
    finally:
        field.apply(settings)


def test_neighbours_and_drift_can_change_while_playing(field, settings):
    field.enter(5000)
    field.advance(make_goal_ahead(SPEED))
    assert len(field.decision.states) == settings.motion_field.neighbours
    try:
        field.apply(settings.with_changes({"neighbours": 4, "drift": 1.0}))
        went_on = add_joints(field._pose, field._momentum)
        motion = field.advance(make_goal_ahead(SPEED))
        assert len(field.decision.states) == 4
        # full drift leads to the next pose of the favoured neighbour, as far as momentum allows
        led = field.states.next_poses[field.decision.states[field.decision.weights.argmax()]]
        led = led + field._inertia.shares * (went_on - led)
        np.testing.assert_allclose(motion.pose[:3, 1:], led[:3, 1:], atol=1e-5)
    finally:
        field.apply(settings)


@pytest.mark.parametrize(
    "wrong", [{"neighbours": 0}, {"neighbours": 2.5}, {"drift": 1.5}, {"planted_share": -0.1}]
)
def test_invalid_settings_are_refused(wrong):
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        PerformerSettings().with_changes(wrong)


@pytest.mark.slow
def test_requested_tags_favour_states_that_carry_them(demo_database, settings):
    """Among otherwise equal neighbours, those with the tag are chosen."""
    odd = np.arange(demo_database.frame_count) % 2 == 1
    database = replace(demo_database, tag_names=("odd",), tags=odd.astype(np.uint32))
    field = MotionField(database, settings)
    share = {}
    for tags in (frozenset(), frozenset({"odd"})):
        field.enter(5000)
        chosen = []
        for _ in range(90):
            field.advance(make_goal_ahead(SPEED)._replace(tags=tags))
            chosen.append(odd[field.decision.frames[field.decision.chosen]])
        share[tags] = np.mean(chosen)
    assert share[frozenset({"odd"})] > 0.9 > share[frozenset()]


# ---------------------------------------------------------------- pushes


def test_a_full_push_bends_the_spine_and_shifts_the_hips(field, demo_database):
    """Bend each joint of the spine by 0.2 rad and move the hips by 10 cm in the push's direction."""
    roles = demo_database.roles
    shove = push.Shove(demo_database.skeleton, roles, demo_database.fps)
    pose, still = field.states.poses[0], field.states.velocities[0].copy()
    still[:3], still[3:] = 0, np.array([1, 0, 0, 0])[:, None]
    shove.push(push.FULL, 0.0)
    pushed, ticks = pose, 0
    while True:
        moved, velocity = shove.apply(pushed, still)
        if moved is pushed:
            break
        # the velocity includes what the push does in this tick
        np.testing.assert_allclose(
            velocity[:3, roles.hips], moved[:3, roles.hips] - pushed[:3, roles.hips], atol=1e-6
        )
        pushed, ticks = moved, ticks + 1
    assert ticks == round(0.2 * demo_database.fps)
    np.testing.assert_allclose(
        pushed[:3, roles.hips] - pose[:3, roles.hips], [0.1, 0, 0], atol=1e-5
    )
    turned = quat.angle_between(pushed[3:].T, pose[3:].T)
    spine = [demo_database.skeleton.index(name) for name in ("Spine", "Chest", "UpperChest")]
    np.testing.assert_allclose(turned[spine], 0.2, atol=1e-3)
    assert np.delete(turned, spine).max() < 1e-3

    def locate_head(x):
        return demo_database.skeleton.compute_bone_world(roles.head, x[3:].T, x[:3].T)[1]

    lean = locate_head(pushed) - locate_head(pose)
    assert lean[0] > 0.15
    assert abs(lean[1]) < 0.05


@pytest.mark.parametrize("strength", [0.25, 0.5, 2.0])
def test_a_push_bends_in_proportion_to_its_strength_up_to_a_full_one(
    field, demo_database, strength
):
    roles = demo_database.roles
    shove = push.Shove(demo_database.skeleton, roles, demo_database.fps)
    pose, velocity = field.states.poses[0], field.states.velocities[0]
    shove.push(0.0, strength * push.FULL)
    pushed = pose
    for _ in range(round(0.2 * demo_database.fps)):
        pushed, _ = shove.apply(pushed, velocity)
    np.testing.assert_allclose(
        pushed[:3, roles.hips] - pose[:3, roles.hips], [0, 0.1 * min(strength, 1.0), 0], atol=1e-5
    )
    assert quat.angle_between(pushed[3:].T, pose[3:].T)[roles.spine] == pytest.approx(
        0.2 * min(strength, 1.0), abs=1e-3
    )


def test_a_push_keeps_its_direction_while_the_character_turns(field, demo_database):
    """After a quarter turn to the left, the rest of the push comes from the character's right."""
    hips = demo_database.roles.hips
    shove = push.Shove(demo_database.skeleton, demo_database.roles, demo_database.fps)
    pose, velocity = field.states.poses[0], field.states.velocities[0]
    shove.push(push.FULL, 0.0)
    shove.turn(math.pi / 2)
    pushed, _ = shove.apply(pose, velocity)
    x, y, _ = (pushed[:3, hips] - pose[:3, hips]).tolist()
    assert abs(x) < 1e-5
    assert y == pytest.approx(-0.1 / round(0.2 * demo_database.fps), abs=1e-5)


def test_a_push_acts_in_the_direction_given_in_the_world(performer, demo_database):
    """Whichever way the character faces, the body moves in the push's direction."""
    for facing in (0.0, 2.0):
        performer.reset((0.0, 0.0), facing)
        before = performer.step(Intent())
        for tick in range(3):
            frame = performer.step(Intent(push=(push.FULL, 0.0) if tick == 0 else None))

        def locate_head(shown):
            pose = shown.unlocked_pose.astype(np.float64)
            place = demo_database.skeleton.compute_bone_world(
                demo_database.roles.head, pose[3:].T, pose[:3].T
            )[1]
            return place - np.array([*shown.character[:2], 0.0])

        lean = locate_head(frame) - locate_head(before)
        assert lean[0] > 0.1
        assert abs(lean[1]) < 0.6 * lean[0]


@pytest.mark.slow
@pytest.mark.parametrize("strength", [0.45, 0.6, 1.0])
def test_the_character_recovers_from_pushes_through_the_field(field, usual_distance, strength):
    """Within a second, the nearest state is as near as 95 % of the database's states are to
    another.
    """
    rng = np.random.default_rng(0)
    recovered, thrown = 0, []
    for state in rng.choice(len(field.states), 40):
        field.enter(int(state))
        vx, vy, _ = (field.states.root_steps[state] * field.fps).tolist()
        angle = rng.uniform(0, math.tau)
        shove = (strength * push.FULL * math.cos(angle), strength * push.FULL * math.sin(angle))
        costs = [
            field.advance(make_goal_ahead(-vy, vx)._replace(push=shove if tick == 0 else None)).cost
            for tick in range(30)
        ]
        thrown.append(max(costs[:7]))
        recovered += min(costs[7:]) < usual_distance
    assert np.median(thrown) > usual_distance
    assert recovered >= 0.95 * 40


# ---------------------------------------------------------------- any actions


@pytest.mark.slow
def test_random_actions_stay_finite_and_on_the_ground(demo_database):
    """Take 100,000 steps with 1,000 characters and random actions."""
    states = MotionStates.from_database(demo_database)
    some = np.arange(0, 300)
    states = replace(
        states,
        poses=states.poses[some],
        motions=states.motions[some],
        contacts=states.contacts[some],
        frames=states.frames[some],
        tag_masks={},
    )
    metric = Metric.from_database(demo_database)
    neighbours = Neighbours(metric.compute_state_features(states))
    rng = np.random.default_rng(0)
    start = np.sort(rng.choice(len(states), 1000))
    pose, velocity = states.poses[start], states.velocities[start]
    feet = [leg.toe for leg in demo_database.roles.legs]

    def measure_heights(poses):
        local = poses.transpose(0, 2, 1).astype(np.float64)
        return quat.fk(local[..., 3:], local[..., :3], demo_database.skeleton.parents)[1][
            :, feet, 2
        ]

    lowest, highest = measure_heights(states.poses).min(), measure_heights(states.poses).max()
    for _ in range(100):
        indices, distances = neighbours.find_nearest(metric.compute_features(pose, velocity), 15)
        actions = compute_action_weights(compute_similarity_weights(distances))
        chosen = actions[np.arange(1000), rng.integers(0, 15, 1000)]
        pose, velocity, root = (
            part[:, 0] for part in integrate(states, pose, indices, chosen[:, None], 0.1)
        )
        assert np.isfinite(pose).all()
        assert np.isfinite(velocity).all()
        assert np.hypot(root[:, 0], root[:, 1]).max() * demo_database.fps < 8
        toes = measure_heights(pose)
        assert toes.min() > lowest - 0.05
        assert toes.max() < highest + 0.1
        assert np.abs(np.linalg.norm(pose[:, 3:], axis=1) - 1).max() < 1e-5


# ---------------------------------------------------------------- changes of action


def measure_hard_acceleration(take) -> float:
    """Return the acceleration in m/s² that the fastest changing bone reaches in 1 % of the time."""
    _, positions = quat.compute_world(take.poses, take.skeleton.parents)
    second = np.diff(positions[:, 1:].astype(np.float64), 2, axis=0) * take.fps**2
    return float(np.percentile(np.linalg.norm(second, axis=-1).max(axis=1), 99))


@pytest.mark.parametrize(("script", "gait"), [("turns", "walk"), ("random", "run")])
@pytest.mark.slow
def test_a_field_moves_as_softly_as_motion_matching(script, gait):
    """The hardest 1 % of its accelerations are at most 1.2 times as hard, at a high frame rate."""
    names = ("walk_at_random", "walk_corners", "run_at_random", "idle_and_turns_in_place")
    clips = [clip for clip in generate_clips() if clip.name in names]
    database, _ = build([Source(clip=clip) for clip in clips], BuildSettings(fps=60.0))
    settings = takes.make_default_settings(database)
    performance = takes.prepare_performance(
        database, settings, script, gait=gait, seconds=15, seed=0
    )
    matched = takes.perform(database, settings, performance)
    blended = takes.perform(database, settings, performance, controller=MotionField)
    assert measure_hard_acceleration(blended) < 1.2 * measure_hard_acceleration(matched)


def test_momentum_does_not_delay_what_a_clip_does(demo_database, settings):
    """A single neighbour without drift plays its clip on, tick by tick."""
    field = MotionField(
        demo_database, settings.with_changes({"neighbours": 1, "drift": 0.0, "lookahead": 0.0})
    )
    start = int(np.argmax(demo_database.root_motion[field.states.frames, 1] < -1.0))
    field.enter(start)
    for tick in range(1, 20):
        motion = field.advance(make_goal_ahead(SPEED))
        if field.decision.states[0] != start + tick - 1:
            break
        source = field.states.poses[start + tick]
        np.testing.assert_allclose(motion.pose[:3], source[:3], atol=2e-4)
    assert tick > 5
