"""Trained motion fields: they plan better than greed, hold headings, resume, and know when they are
stale.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.tags.tags import NO_USE, TagRange
from motion_matching.engine.database.tags.thresholds import AutoTagSettings
from motion_matching.engine.errors import DatabaseError, MotionMatchingError, SettingsError
from motion_matching.engine.field.method import MotionField, compute_pace
from motion_matching.engine.field.states import value_function
from motion_matching.engine.field.states.gaits import STANDING, classify_gaits
from motion_matching.engine.field.states.neighbours import Metric
from motion_matching.engine.field.states.states import MotionStates
from motion_matching.engine.field.states.tasks import TaskGoal, Tasks
from motion_matching.engine.field.states.value_function import DataFingerprint
from motion_matching.engine.field.training.quality import TrainingSettings
from motion_matching.engine.field.training.training import Training, choose_evenly
from motion_matching.engine.maths.planar import rotate_xy, wrap
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import takes
from tests.demo import generate_clips
from tests.goals import make_goal

pytestmark = pytest.mark.slow

CLIPS = ("walk_curves", "walk_corners", "walk_bends", "walk_reversals")
SPEED, DISCOUNT = 1.1, 0.99
TASKS = Tasks(speeds=(0.0, SPEED))
QUICK = TrainingSettings(states=240, neighbours=5, sweeps=20)


@pytest.fixture(scope="module")
def database() -> Database:
    """Build walks from the built-in clips, with proposed tags."""
    sources = [Source(clip=clip) for clip in generate_clips() if clip.name in CLIPS]
    return build(sources, BuildSettings(mirror=True, auto_tags=AutoTagSettings()))[0]


@pytest.fixture(scope="module")
def trained(database: Database) -> value_function.ValueFunction:
    settings = TrainingSettings(states=2000, neighbours=11, discount=DISCOUNT)
    return Training(database, Metric.from_database(database), TASKS, settings).run()


def make_training(
    database: Database, tasks: Tasks | None = None, settings: TrainingSettings = QUICK
) -> Training:
    return Training(
        database,
        Metric.from_database(database),
        tasks or Tasks(directions=5, tags=("walk",)),
        settings,
    )


# ---------------------------------------------------------------- control


def steer(field: MotionField, headings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the headings (T,) that a field reaches along desired ones (T,), and the rewards of its
    ticks (T,).
    """
    field.reset()
    field.enter(int(np.argmin(np.abs(field.states.root_steps[:, 1] * field.fps + SPEED))))
    yaw, reached, rewards = 0.0, [], []
    for heading in headings:
        left = wrap(heading - yaw)
        ahead = SPEED * math.sin(left), -SPEED * math.cos(left)
        motion = field.advance(make_goal(*ahead, left))
        turn = float(motion.root[2]) / field.fps
        going = compute_pace(motion.root)
        rewards.append(
            TASKS.compute_reward(
                TaskGoal(left, SPEED), np.array([turn]), np.array([going]), np.zeros((1, 0))
            )[0]
        )
        yaw += turn
        reached.append(yaw)
    return np.array(reached), np.array(rewards)


def steer_to(
    database: Database, function: value_function.ValueFunction, heading: float, seconds: float
) -> np.ndarray:
    """Return the headings (T,) of a character that is steered to one for some seconds."""
    settings = takes.make_default_settings(database).with_changes(
        {"neighbours": function.neighbours}
    )
    field = MotionField(database, settings, foresight=function)
    return steer(field, np.full(round(seconds * database.fps), heading))[0]


def flips(fps: float) -> np.ndarray:
    return np.repeat([0.0, math.pi, 0.0, math.pi], round(3 * fps))


def random_headings(fps: float) -> np.ndarray:
    rng = np.random.default_rng(3)
    return np.concatenate(
        [np.full(round(rng.uniform(1, 4) * fps), rng.uniform(-math.pi, math.pi)) for _ in range(5)]
    )


def compute_mean_return(rewards: np.ndarray) -> float:
    """Return the mean discounted return over all ticks."""
    total, returns = 0.0, []
    for reward in rewards[::-1]:
        total = reward + DISCOUNT * total
        returns.append(total)
    return float(np.mean(returns))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("headings", "lookahead"), [(flips, 0.0), (random_headings, 0.0), (random_headings, 0.6)]
)
def test_control_by_values_has_a_higher_discounted_return_than_greed(
    database, trained, headings, lookahead
):
    """Include greed that looks ahead along the clips."""
    settings = takes.make_default_settings(database).with_changes(
        {"lookahead": lookahead, "neighbours": trained.neighbours}
    )
    wanted = headings(database.fps)
    _, by_values = steer(MotionField(database, settings, foresight=trained), wanted)
    _, by_greed = steer(MotionField(database, settings), wanted)
    assert compute_mean_return(by_values) > compute_mean_return(by_greed) + 1.0


@pytest.mark.parametrize("degrees", [5.0, -12.0, 60.0, -150.0])
def test_a_heading_is_reached_within_three_degrees(database, trained, degrees):
    """Small turns as well as large ones: there is no dead band around straight ahead."""
    heading = math.radians(degrees)
    reached = steer_to(database, trained, heading, 6.0)
    # averaged over two seconds, since the steps of a walk sway
    error = wrap(float(np.mean(reached[-round(2 * database.fps) :])) - heading)
    assert abs(math.degrees(error)) < 3.0


@pytest.mark.slow
@pytest.mark.parametrize("sideways", [0.9, -0.9])
def test_strafing_reaches_the_desired_speed(sideways):
    """Although values cover only forward movement, the character strafes and keeps its facing."""
    clips = [
        Source(clip=clip) for clip in generate_clips() if clip.name in ("walk_curves", "strafes")
    ]
    database = build(clips, BuildSettings(mirror=True))[0]
    function = make_training(
        database, TASKS, replace(QUICK, states=1500, neighbours=11, sweeps=100)
    ).run()
    settings = takes.make_default_settings(database).with_changes(
        {"neighbours": function.neighbours}
    )
    field, yaw, sides = MotionField(database, settings, foresight=function), 0.0, []
    for _ in range(round(5 * database.fps)):
        x, y = rotate_xy(sideways, 0.0, -yaw)
        root = field.advance(make_goal(x, y, -yaw)).root
        sides.append(rotate_xy(*root[:2].tolist(), yaw)[0])
        yaw += float(root[2]) / database.fps
    assert np.mean(sides[-round(3 * database.fps) :]) == pytest.approx(sideways, abs=0.2)
    assert abs(math.degrees(yaw)) < 15


@pytest.mark.parametrize("degrees", [158.0, -158.0, 172.0, -172.0])
def test_large_turns_follow_the_desired_side(database, trained, degrees):
    """If both ways round are about equal, turn to the same side as the simulation object."""
    heading = math.radians(degrees)
    reached = steer_to(database, trained, heading, 4.0)
    assert abs(math.degrees(reached[-1] - heading)) < 30.0


def test_a_score_is_the_reward_plus_the_discounted_next_value(trained):
    """Compute it for one action that leads to one state, turned exactly onto a heading of the grid."""
    state, spacing = 7, trained.tasks.spacing
    turn = np.array([0.3])
    task_goal = TaskGoal(0.3 + 2 * spacing, SPEED)
    score = trained.score(
        task_goal, turn, np.array([SPEED]), np.array([[state]]), np.ones((1, 1), np.float32)
    )
    ahead = trained.tasks.directions // 2
    expected = -2 * spacing + DISCOUNT * trained.values[state, 1, 0, ahead + 2]
    assert score[0] == pytest.approx(expected, abs=1e-4)


def test_the_discount_means_the_same_at_any_frame_rate():
    """A second later counts alike however many ticks that is, and a clip is worth as much per
    second, even where the sweeps look no further than five seconds.
    """
    rewards = {}
    for fps in (30.0, 60.0):
        clips = [Source(clip=clip) for clip in generate_clips() if clip.name == CLIPS[0]]
        database = build(clips, BuildSettings(fps=fps))[0]
        settings = TrainingSettings(states=round(8 * fps), neighbours=5, sweeps=150, discount=0.98)
        function = make_training(database, Tasks(directions=5), settings).run()
        assert function.discount**fps == pytest.approx(0.98**30)
        assert len(function.residuals) == 5 * fps
        rewards[fps] = (1 - function.discount) * function.values.mean()
    assert rewards[60.0] == pytest.approx(rewards[30.0], rel=0.1)


def test_converged_values_satisfy_the_bellman_equation(database):
    """One more sweep of a converged field, action by action through `score`, gives each state its
    own value.
    """
    settings = TrainingSettings(states=240, neighbours=5, discount=0.8, sweeps=200)
    training = make_training(database, settings=settings)
    function = training.run()
    tables = training.tables
    for state in range(0, len(function.trained), 40):
        for column, heading in enumerate(function.tasks.headings):
            for g, tags in enumerate([frozenset(), frozenset({"walk"})]):
                scores = function.score(
                    TaskGoal(float(heading), 0.0, tags),
                    tables.turn[state],
                    tables.speed[state],
                    tables.indices[state],
                    tables.weights[state],
                )
                value = function.values[function.trained[state], 0, g, column]
                assert scores.max() == pytest.approx(value, abs=1e-3)


def test_values_of_untrained_poses_are_interpolated_within_their_clip(database, trained):
    """A field plays all poses of its data. Half of them are trained here; the values between two
    trained ones are interpolated.
    """
    all_states = MotionStates.from_database(database)
    np.testing.assert_array_equal(trained.frames, all_states.frames)
    assert 0.3 * len(all_states) < len(trained.trained) < 0.7 * len(all_states)
    frames = trained.frames
    for before, after in zip(trained.trained[:-1], trained.trained[1:], strict=True):
        if after - before == 2 and frames[after] - frames[before] == 2:
            middle = 0.5 * (trained.values[before] + trained.values[after])
            np.testing.assert_allclose(trained.values[before + 1], middle, atol=1e-3)


def test_values_are_not_interpolated_across_clips_or_gaps(database):
    """Behind the last trained pose of a run, all poses have its value."""
    unused = np.where(
        np.arange(database.frame_count) % 50 < 3, 1 << len(database.tag_names), 0
    ).astype(np.uint32)
    gaps = replace(database, tag_names=(*database.tag_names, NO_USE), tags=database.tags | unused)
    function = make_training(gaps).run()
    begins = np.flatnonzero(np.diff(function.frames, prepend=-9) != 1)
    assert len(begins) > database.frame_count // 50
    assert np.isin(begins, function.trained).all()
    behind = 0
    for stop in [*begins[1:], len(function.frames)]:
        last = function.trained[function.trained < stop].max()
        np.testing.assert_array_equal(
            function.values[last:stop], function.values[[last] * (stop - last)]
        )
        behind += stop - last - 1
    assert behind > len(begins) // 4


@pytest.mark.slow
def test_training_fewer_poses_gives_similar_values(database):
    """With a quarter of the poses trained, differences are far smaller than the spread of the
    values.
    """
    settings = TrainingSettings(states=0, neighbours=11, discount=DISCOUNT)
    of_all = Training(database, Metric.from_database(database), TASKS, settings).run()
    few = replace(settings, states=len(of_all.frames) // 4)
    of_few = Training(database, Metric.from_database(database), TASKS, few).run()
    missed = np.abs(of_few.values - of_all.values).mean()
    spread = np.abs(of_all.values - of_all.values.mean(axis=0)).mean()
    assert missed < 0.45 * spread


# ---------------------------------------------------------------- tables


def test_tables_follow_the_states_of_the_data(database):
    """The action that favours a state itself continues its clip: the next state is nearest and has
    all the weight.
    """
    training = make_training(database, settings=replace(QUICK, drift=0.0))
    function = training.run()
    states, trained, tables = (
        MotionStates.from_database(database),
        function.trained,
        training.tables,
    )
    np.testing.assert_allclose(tables.turn[:, 0], states.root_steps[trained, 2], atol=1e-4)
    inner = np.flatnonzero(states.find_followed(database)[trained])
    assert np.mean(tables.indices[inner, 0, 0] == trained[inner] + 1) > 0.98
    assert np.median(tables.weights[inner, 0, 0]) > 0.99


def test_few_standing_states_do_not_reduce_the_number_of_actions(database):
    """Clips that hardly stand still have the set number of actions for each state."""
    inner = np.concatenate([np.arange(stop - 150, stop - 120) for stop in database.stops])
    walking = replace(database, tags=np.zeros_like(database.tags), tag_names=("no_use",))
    walking.tags[:] = 1
    walking.tags[inner] = 0
    training = make_training(walking, Tasks(directions=5), replace(QUICK, states=0, neighbours=9))
    standing = classify_gaits(walking)[1][STANDING, training.build_value_function().frames]
    assert standing.sum() < 9
    assert training.run().neighbours == 9


def test_table_weights_are_similarities_of_the_next_states(database):
    training = make_training(database)
    training.run()
    np.testing.assert_allclose(training.tables.weights.sum(-1), 1.0, atol=1e-5)
    assert np.all(training.tables.weights >= 0)
    assert np.all(np.diff(training.tables.weights, axis=-1) <= 1e-7)
    # indices cover all states, although few are trained
    assert training.tables.indices.max() > len(training.tables.turn)
    assert training.tables.indices.max() < len(MotionStates.from_database(database))


@pytest.mark.parametrize("count", [2, 60, 500, 2999])
def test_trained_states_are_evenly_spaced(count):
    few = choose_evenly(np.zeros(3000, int), count)
    assert len(few) == count
    assert np.ptp(np.diff(few)) <= 1
    np.testing.assert_array_equal(choose_evenly(np.zeros(3000, int), 0), np.arange(3000))
    np.testing.assert_array_equal(choose_evenly(np.zeros(3000, int), 4000), np.arange(3000))


def test_every_clip_has_a_trained_state(database):
    chains = MotionStates.from_database(database).compute_chains(database)
    few = choose_evenly(chains, 3)
    assert set(chains[few]) == set(chains) == set(range(len(database.ranges)))


# ---------------------------------------------------------------- stopping, files, staleness


class _StoppedError(Exception):
    pass


@pytest.mark.parametrize("after", [("Looking where actions lead", 0.5), ("Training", 0.6)])
def test_a_stopped_and_saved_training_resumes_to_the_same_values(database, tmp_path, after):
    def stop(stage: str, part: float) -> None:
        if (stage, part) >= after:
            raise _StoppedError

    whole = make_training(database).run()
    stopped = make_training(database)
    with pytest.raises(_StoppedError):
        stopped.run(stop)
    assert 0 < stopped.share_done < 1
    stopped.save(tmp_path / "field.npz")
    assert not value_function.load(tmp_path / "field.npz").finished
    again = make_training(database)
    assert again.resume(tmp_path / "field.npz")
    assert again.share_done == stopped.share_done
    finished = again.run()
    assert again.resume(tmp_path / "field.npz")  # still this training, although the file holds less
    assert again.is_finished
    np.testing.assert_array_equal(finished.values, whole.values)
    np.testing.assert_array_equal(finished.residuals, whole.residuals)
    assert finished.finished


def test_a_training_can_be_stopped_at_any_moment(database):
    """Progress is reported as often while features and tables are prepared as while they are used."""
    training, moments = make_training(database, settings=replace(QUICK, states=0, sweeps=2)), []

    def record(stage: str, part: float) -> None:
        moments.append((stage, part))

    training.run(record)
    assert moments == sorted(moments)
    states = len(training.build_value_function().frames)
    before = [
        stage for stage, part in moments if stage == "Looking where actions lead" and part == 0
    ]
    assert len(before) > states / 2048 + 3
    ready = [stage for stage, part in moments if stage == "Training" and part == 0]
    assert len(ready) > states / 1024


def test_a_training_can_be_stopped_while_its_states_are_gathered(database):
    """Gathering the states of a large database takes seconds."""
    moments = []

    def record(stage: str, part: float) -> None:
        moments.append((stage, part))
        if len(moments) > database.frame_count / 2048:
            raise _StoppedError

    with pytest.raises(_StoppedError):
        Training(database, Metric.from_database(database), TASKS, QUICK, record)
    assert set(moments) == {("Gathering motion states", 0.0)}


def test_a_value_function_survives_saving_and_loading(database, tmp_path):
    training = make_training(database)
    function = training.run()
    training.save(tmp_path / "field.npz")
    loaded = value_function.load(tmp_path / "field.npz")
    assert loaded.tasks == function.tasks
    for name in ("values", "frames", "tagged", "trained", "residuals"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(function, name))
    for name in ("neighbours", "drift", "discount", "finished"):
        assert getattr(loaded, name) == getattr(function, name)
    assert loaded.fingerprint.matches(function.fingerprint)


def test_other_tasks_reuse_the_tables_and_other_actions_do_not(database, tmp_path):
    training = make_training(database)
    training.run()
    training.save(tmp_path / "field.npz")
    stages: list[str] = []
    other = make_training(database, Tasks(directions=7, speeds=(0.0, 1.0)))
    assert other.resume(tmp_path / "field.npz")
    other.run(lambda stage, part: stages.append(stage))
    assert set(stages) == {"Training"}
    for settings in (
        replace(QUICK, drift=0.2),
        replace(QUICK, neighbours=4),
        replace(QUICK, states=120),
    ):
        anew = make_training(database, settings=settings)
        assert not anew.resume(tmp_path / "field.npz")
        assert anew.share_done == 0


def test_values_become_stale_when_poses_tags_or_the_metric_change(database, tmp_path):
    function = make_training(database).run()
    assert function.fingerprint.matches(
        DataFingerprint.from_database(database, function.find_metric(database))
    )
    poses = np.array(database.poses)
    poses[100, 4, 5] += 1e-3
    tags = np.array(database.tags)
    tags[100] ^= 1
    for other in (
        replace(database, poses=poses),
        replace(database, tags=tags),
        replace(database, fps=60.0),
    ):
        with pytest.raises(DatabaseError, match="train it again"):
            function.find_metric(other)
    heavier = replace(Metric.from_database(database), turn=2.0)
    assert not function.fingerprint.matches(DataFingerprint.from_database(database, heavier))
    # the bias of motion matching is no part of a field
    assert (
        function.find_metric(replace(database, bias=database.bias + 1)).turn
        == Metric.from_database(database).turn
    )


def test_values_stay_current_when_the_data_is_moved_and_turned(database):
    function = make_training(database).run()
    turn, c, s = 1.0, np.cos(1.0), np.sin(1.0)
    poses, track = np.array(database.poses), np.array(database.track)
    x, y = track[:, 0].copy(), track[:, 1].copy()
    track[:, 0], track[:, 1], track[:, 2] = (
        50 + c * x - s * y,
        c * y + s * x - 20,
        track[:, 2] + turn,
    )
    poses[:, :2, 0], poses[:, 3:, 0] = track[:, :2], -quat.from_yaw(track[:, 2])
    poses[:, 3:, 5] *= -1  # the same rotations
    moved = replace(database, poses=poses, track=track)
    assert function.find_metric(moved).turn == Metric.from_database(database).turn


def test_a_value_function_restores_the_notebook_metric(database):
    function = Training(database, Metric.from_notebook(database), Tasks(directions=5), QUICK).run()
    assert function.find_metric(database).fixed_positions is not None


def test_an_unfinished_field_is_refused(database):
    training = make_training(database)
    with pytest.raises(DatabaseError, match="stopped"):
        training.build_value_function().find_metric(database)


def test_a_tag_without_states_is_refused_by_name(database):
    with pytest.raises(DatabaseError, match="'limp'"):
        make_training(database, Tasks(tags=("limp",)))


def test_a_tag_without_trained_states_asks_to_train_more():
    [clip] = [clip for clip in generate_clips() if clip.name == "walk_curves"]
    sources = [Source(clip=clip, tags=(TagRange("hop", 301, 305),))]
    database, tasks = build(sources, BuildSettings())[0], Tasks(tags=("hop",))
    with pytest.raises(
        SettingsError, match="None of the 60 states that are trained is tagged 'hop'; train more"
    ):
        make_training(database, tasks, replace(QUICK, states=60))
    make_training(database, tasks, replace(QUICK, states=0))


def test_invalid_files_are_refused(database, tmp_path: Path):
    for name, content in {
        "empty": b"",
        "text": b"no field",
        "zip": b"PK\x05\x06" + bytes(18),
    }.items():
        file = tmp_path / f"{name}.npz"
        file.write_bytes(content)
        with pytest.raises(MotionMatchingError, match=name):
            value_function.load(file)
    training = make_training(database)
    training.run()
    training.save(tmp_path / "field.npz")
    cut = (tmp_path / "field.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(cut[: len(cut) // 2])
    with pytest.raises(MotionMatchingError, match="cut"):
        value_function.load(tmp_path / "cut.npz")


@pytest.mark.parametrize("wrong", [
    {"states": -1}, {"states": 1.5}, {"neighbours": 0}, {"neighbours": 101}, {"sweeps": 0}, {"drift": 1.5},
    {"discount": 1.0}, {"discount": float("nan")}, {"residual": -1.0},
])  # fmt: skip
def test_invalid_settings_are_refused_by_name(wrong):
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        TrainingSettings(**wrong)
