"""Trained motion fields: they plan better than greed, hold a heading, stop and go on, and know when
they are stale.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.control.method import Goal
from motion_matching.engine.control.trajectory import TrajectoryPoint
from motion_matching.engine.database.build import BuildSettings, build
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.sources import Source
from motion_matching.engine.database.tags import NO_USE, TagRange
from motion_matching.engine.database.thresholds import AutoTagSettings
from motion_matching.engine.errors import DatabaseError, MotionMatchingError, SettingsError
from motion_matching.engine.field import value_function
from motion_matching.engine.field.method import STANDING, MotionField, classify_gaits, compute_pace
from motion_matching.engine.field.neighbours import Metric
from motion_matching.engine.field.quality import TrainingSettings
from motion_matching.engine.field.states import MotionStates
from motion_matching.engine.field.tasks import TaskGoal, Tasks
from motion_matching.engine.field.training import Training, choose_evenly
from motion_matching.engine.field.value_function import DataFingerprint
from motion_matching.engine.locomotion import locomotion
from motion_matching.engine.maths import quat
from motion_matching.engine.maths.planar import rotate_xy, wrap
from motion_matching.engine.takes import takes

pytestmark = pytest.mark.slow

CLIPS = ("walk_curves", "walk_corners", "walk_bends", "walk_reversals")
SPEED, DISCOUNT = 1.1, 0.99
TASKS = Tasks(speeds=(0.0, SPEED))
QUICK = TrainingSettings(states=240, neighbours=5, sweeps=20)


@pytest.fixture(scope="module")
def database() -> Database:
    """Walks of the built-in clips, tagged by how they move."""
    sources = [Source(clip=clip) for clip in locomotion.generate() if clip.name in CLIPS]
    return build(sources, BuildSettings(mirror=True, auto_tags=AutoTagSettings()))[0]


@pytest.fixture(scope="module")
def trained(database: Database) -> value_function.ValueFunction:
    settings = TrainingSettings(states=2000, neighbours=11, discount=DISCOUNT)
    return Training(database, Metric.from_database(database), TASKS, settings).run()


def quick(
    database: Database, tasks: Tasks | None = None, settings: TrainingSettings = QUICK
) -> Training:
    return Training(
        database,
        Metric.from_database(database),
        tasks or Tasks(directions=5, tags=("walk",)),
        settings,
    )


# ---------------------------------------------------------------- control


def steered(field: MotionField, headings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The headings (T,) that a field reaches when it is to walk along others (T,), and the rewards
    of its ticks (T,).
    """
    field.reset()
    field.enter(int(np.argmin(np.abs(field.states.root_steps[:, 1] * field.fps + SPEED))))
    yaw, reached, rewards = 0.0, [], []
    for heading in headings:
        left = wrap(heading - yaw)
        ahead = SPEED * math.sin(left), -SPEED * math.cos(left)
        motion = field.advance(Goal([TrajectoryPoint(0.0, 0.0, left, *ahead)]))
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


def flips(fps: float) -> np.ndarray:
    return np.repeat([0.0, math.pi, 0.0, math.pi], round(3 * fps))


def random_headings(fps: float) -> np.ndarray:
    rng = np.random.default_rng(3)
    return np.concatenate(
        [np.full(round(rng.uniform(1, 4) * fps), rng.uniform(-math.pi, math.pi)) for _ in range(5)]
    )


def discounted(rewards: np.ndarray) -> float:
    """The mean over all ticks of what they and those after them bring, each a little less than the
    one before.
    """
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
    """Also where greed looks ahead along the clips."""
    settings = takes.make_default_settings(database).with_changes(
        {"lookahead": lookahead, "neighbours": trained.neighbours}
    )
    wanted = headings(database.fps)
    _, by_values = steered(MotionField(database, settings, foresight=trained), wanted)
    _, by_greed = steered(MotionField(database, settings), wanted)
    assert discounted(by_values) > discounted(by_greed) + 1.0


@pytest.mark.parametrize("degrees", [5.0, -12.0, 60.0, -150.0])
def test_a_heading_is_reached_within_three_degrees(database, trained, degrees):
    """Small turns as well as large ones: nothing around straight ahead counts as good enough."""
    settings = takes.make_default_settings(database).with_changes(
        {"neighbours": trained.neighbours}
    )
    heading = math.radians(degrees)
    reached, _ = steered(
        MotionField(database, settings, foresight=trained),
        np.full(round(6 * database.fps), heading),
    )
    # of the last two seconds, in which the steps of a walk sway about it
    error = wrap(float(np.mean(reached[-round(2 * database.fps) :])) - heading)
    assert abs(math.degrees(error)) < 3.0


@pytest.mark.slow
@pytest.mark.parametrize("sideways", [0.9, -0.9])
def test_it_strafes_at_the_speed_that_is_asked_for(sideways):
    """Though values are of going straight ahead alone, it goes to the side, and faces where it is
    told to.
    """
    clips = [
        Source(clip=clip)
        for clip in locomotion.generate()
        if clip.name in ("walk_curves", "strafes")
    ]
    database = build(clips, BuildSettings(mirror=True))[0]
    function = quick(database, TASKS, replace(QUICK, states=1500, neighbours=11, sweeps=100)).run()
    settings = takes.make_default_settings(database).with_changes(
        {"neighbours": function.neighbours}
    )
    field, yaw, sides = MotionField(database, settings, foresight=function), 0.0, []
    for _ in range(round(5 * database.fps)):
        x, y = rotate_xy(sideways, 0.0, -yaw)
        root = field.advance(Goal([TrajectoryPoint(0.0, 0.0, -yaw, x, y)])).root
        sides.append(rotate_xy(*root[:2].tolist(), yaw)[0])
        yaw += float(root[2]) / database.fps
    assert np.mean(sides[-round(3 * database.fps) :]) == pytest.approx(sideways, abs=0.2)
    assert abs(math.degrees(yaw)) < 15


@pytest.mark.parametrize("degrees", [158.0, -158.0, 172.0, -172.0])
def test_it_turns_about_on_the_side_that_is_asked_for(database, trained, degrees):
    """Where both ways round are about as long, the one is taken that the simulation object
    takes.
    """
    settings = takes.make_default_settings(database).with_changes(
        {"neighbours": trained.neighbours}
    )
    heading = math.radians(degrees)
    reached, _ = steered(
        MotionField(database, settings, foresight=trained),
        np.full(round(4 * database.fps), heading),
    )
    assert abs(math.degrees(reached[-1] - heading)) < 30.0


def test_the_score_is_the_reward_and_the_discounted_value_of_where_an_action_leads(trained):
    """Written out for one action that leads to one state, turned right onto a heading of
    the grid.
    """
    state, spacing = 7, trained.tasks.spacing
    turn = np.array([0.3])
    wish = TaskGoal(0.3 + 2 * spacing, SPEED)
    score = trained.score(
        wish, turn, np.array([SPEED]), np.array([[state]]), np.ones((1, 1), np.float32)
    )
    ahead = trained.tasks.directions // 2
    expected = -2 * spacing + DISCOUNT * trained.values[state, 1, 0, ahead + 2]
    assert score[0] == pytest.approx(expected, abs=1e-4)


def test_the_discount_means_the_same_at_any_frame_rate():
    """What comes a second later counts alike however many ticks that is, and a clip is worth as
    much per second, also where the sweeps look no further than five seconds.
    """
    rewards = {}
    for fps in (30.0, 60.0):
        clips = [Source(clip=clip) for clip in locomotion.generate() if clip.name == CLIPS[0]]
        database = build(clips, BuildSettings(fps=fps))[0]
        settings = TrainingSettings(states=round(8 * fps), neighbours=5, sweeps=150, discount=0.98)
        function = quick(database, Tasks(directions=5), settings).run()
        assert function.discount**fps == pytest.approx(0.98**30)
        assert len(function.residuals) == 5 * fps
        rewards[fps] = (1 - function.discount) * function.values.mean()
    assert rewards[60.0] == pytest.approx(rewards[30.0], rel=0.1)


def test_the_values_solve_the_equation_they_are_trained_for(database):
    """One more sweep of a converged field, action by action through `score`, gives each state its
    own value.
    """
    settings = TrainingSettings(states=240, neighbours=5, discount=0.8, sweeps=200)
    training = quick(database, settings=settings)
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


def test_poses_that_are_not_trained_are_worth_what_lies_between_those_of_their_clip(
    database, trained
):
    """A field plays among all poses of its data, however few are trained: half of them have the
    values of their sweeps, and where a clip goes from one of these to the next, values go there
    evenly.
    """
    all_states = MotionStates.from_database(database)
    np.testing.assert_array_equal(trained.frames, all_states.frames)
    assert 0.3 * len(all_states) < len(trained.trained) < 0.7 * len(all_states)
    frames = trained.frames
    for before, after in zip(trained.trained[:-1], trained.trained[1:], strict=True):
        if after - before == 2 and frames[after] - frames[before] == 2:
            middle = 0.5 * (trained.values[before] + trained.values[after])
            np.testing.assert_allclose(trained.values[before + 1], middle, atol=1e-3)


def test_values_of_poses_do_not_lie_between_those_of_other_clips(database):
    """Nor of the other side of frames that are not played: behind the last trained of a run all are
    worth what that is.
    """
    unused = np.where(
        np.arange(database.frame_count) % 50 < 3, 1 << len(database.tag_names), 0
    ).astype(np.uint32)
    gaps = replace(database, tag_names=(*database.tag_names, NO_USE), tags=database.tags | unused)
    function = quick(gaps).run()
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
def test_values_of_fewer_poses_are_near_those_of_a_training_of_all(database):
    """Far nearer than the mean of all values, also where only a pose in four is trained."""
    settings = TrainingSettings(states=0, neighbours=11, discount=DISCOUNT)
    of_all = Training(database, Metric.from_database(database), TASKS, settings).run()
    few = replace(settings, states=len(of_all.frames) // 4)
    of_few = Training(database, Metric.from_database(database), TASKS, few).run()
    missed = np.abs(of_few.values - of_all.values).mean()
    spread = np.abs(of_all.values - of_all.values.mean(axis=0)).mean()
    assert missed < 0.45 * spread


# ---------------------------------------------------------------- tables


def test_tables_lead_where_the_states_of_the_data_lead(database):
    """The action that favours a state itself goes on as its clip does: the next state is the
    nearest, and counts for all.
    """
    training = quick(database, settings=replace(QUICK, drift=0.0))
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


def test_states_of_standing_that_are_fewer_than_the_actions_do_not_make_these_fewer(database):
    """Clips that hardly stand still have as many actions a state as is asked for."""
    inner = np.concatenate([np.arange(stop - 150, stop - 120) for stop in database.stops])
    walking = replace(database, tags=np.zeros_like(database.tags), tag_names=("no_use",))
    walking.tags[:] = 1
    walking.tags[inner] = 0
    training = quick(walking, Tasks(directions=5), replace(QUICK, states=0, neighbours=9))
    standing = classify_gaits(walking)[1][STANDING, training.build_value_function().frames]
    assert standing.sum() < 9
    assert training.run().neighbours == 9


def test_table_weights_are_the_similarity_of_what_they_lead_to(database):
    training = quick(database)
    training.run()
    np.testing.assert_allclose(training.tables.weights.sum(-1), 1.0, atol=1e-5)
    assert np.all(training.tables.weights >= 0)
    assert np.all(np.diff(training.tables.weights, axis=-1) <= 1e-7)
    # among all states, however few are trained
    assert training.tables.indices.max() > len(training.tables.turn)
    assert training.tables.indices.max() < len(MotionStates.from_database(database))


@pytest.mark.parametrize("count", [2, 60, 500, 2999])
def test_the_states_that_are_trained_are_evenly_chosen(count):
    few = choose_evenly(np.zeros(3000, int), count)
    assert len(few) == count
    assert np.ptp(np.diff(few)) <= 1
    np.testing.assert_array_equal(choose_evenly(np.zeros(3000, int), 0), np.arange(3000))
    np.testing.assert_array_equal(choose_evenly(np.zeros(3000, int), 4000), np.arange(3000))


def test_every_clip_has_a_state_that_is_trained(database):
    chains = MotionStates.from_database(database).compute_chains(database)
    few = choose_evenly(chains, 3)
    assert set(chains[few]) == set(chains) == set(range(len(database.ranges)))


# ---------------------------------------------------------------- stopping, files, staleness


class _StoppedError(Exception):
    pass


@pytest.mark.parametrize("after", [("Looking where actions lead", 0.5), ("Training", 0.6)])
def test_a_training_that_was_stopped_and_saved_goes_on_to_the_same_values(
    database, tmp_path, after
):
    def stop(stage: str, part: float) -> None:
        if (stage, part) >= after:
            raise _StoppedError

    whole = quick(database).run()
    stopped = quick(database)
    with pytest.raises(_StoppedError):
        stopped.run(stop)
    assert 0 < stopped.share_done < 1
    stopped.save(tmp_path / "field.npz")
    assert not value_function.load(tmp_path / "field.npz").finished
    again = quick(database)
    assert again.resume(tmp_path / "field.npz")
    assert again.share_done == stopped.share_done
    finished = again.run()
    assert again.resume(
        tmp_path / "field.npz"
    )  # of this training still, though it holds less by now
    assert again.is_finished
    np.testing.assert_array_equal(finished.values, whole.values)
    np.testing.assert_array_equal(finished.residuals, whole.residuals)
    assert finished.finished


def test_a_training_can_be_stopped_at_any_moment(database):
    """Progress is told as often while features and tables are made ready as while they are used."""
    training, moments = quick(database, settings=replace(QUICK, states=0, sweeps=2)), []

    def told(stage: str, part: float) -> None:
        moments.append((stage, part))

    training.run(told)
    assert moments == sorted(moments)
    states = len(training.build_value_function().frames)
    before = [
        stage for stage, part in moments if stage == "Looking where actions lead" and part == 0
    ]
    assert len(before) > states / 2048 + 3
    ready = [stage for stage, part in moments if stage == "Training" and part == 0]
    assert len(ready) > states / 1024


def test_a_training_can_be_stopped_while_its_states_are_gathered(database):
    """Which takes seconds of a large database."""
    moments = []

    def told(stage: str, part: float) -> None:
        moments.append((stage, part))
        if len(moments) > database.frame_count / 2048:
            raise _StoppedError

    with pytest.raises(_StoppedError):
        Training(database, Metric.from_database(database), TASKS, QUICK, told)
    assert set(moments) == {("Gathering motion states", 0.0)}


def test_a_value_function_survives_its_file(database, tmp_path):
    training = quick(database)
    function = training.run()
    training.save(tmp_path / "field.npz")
    loaded = value_function.load(tmp_path / "field.npz")
    assert loaded.tasks == function.tasks
    for name in ("values", "frames", "tagged", "trained", "residuals"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(function, name))
    for name in ("neighbours", "drift", "discount", "finished"):
        assert getattr(loaded, name) == getattr(function, name)
    assert loaded.fingerprint.matches(function.fingerprint)


def test_another_task_takes_the_tables_over_and_other_actions_do_not(database, tmp_path):
    training = quick(database)
    training.run()
    training.save(tmp_path / "field.npz")
    stages: list[str] = []
    other = quick(database, Tasks(directions=7, speeds=(0.0, 1.0)))
    assert other.resume(tmp_path / "field.npz")
    other.run(lambda stage, part: stages.append(stage))
    assert set(stages) == {"Training"}
    for settings in (
        replace(QUICK, drift=0.2),
        replace(QUICK, neighbours=4),
        replace(QUICK, states=120),
    ):
        anew = quick(database, settings=settings)
        assert not anew.resume(tmp_path / "field.npz")
        assert anew.share_done == 0


def test_values_are_stale_where_poses_tags_or_the_metric_change(database, tmp_path):
    function = quick(database).run()
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
    # what a search of motion matching compares is no part of a field
    assert (
        function.find_metric(replace(database, bias=database.bias + 1)).turn
        == Metric.from_database(database).turn
    )


def test_values_stay_good_where_the_character_stood_elsewhere(database):
    function = quick(database).run()
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


def test_the_notebooks_metric_is_found_again(database):
    function = Training(database, Metric.from_notebook(database), Tasks(directions=5), QUICK).run()
    assert function.find_metric(database).fixed_positions is not None


def test_an_unfinished_field_is_refused(database):
    training = quick(database)
    with pytest.raises(DatabaseError, match="stopped"):
        training.build_value_function().find_metric(database)


def test_a_tag_that_no_state_has_is_named(database):
    with pytest.raises(DatabaseError, match="'limp'"):
        quick(database, Tasks(tags=("limp",)))


def test_a_tag_on_none_of_the_states_that_are_trained_asks_for_more_of_them():
    [clip] = [clip for clip in locomotion.generate() if clip.name == "walk_curves"]
    sources = [Source(clip=clip, tags=(TagRange("hop", 301, 305),))]
    database, tasks = build(sources, BuildSettings())[0], Tasks(tags=("hop",))
    with pytest.raises(
        SettingsError, match="None of the 60 states that are trained is tagged 'hop'; train more"
    ):
        quick(database, tasks, replace(QUICK, states=60))
    quick(database, tasks, replace(QUICK, states=0))


def test_files_that_are_no_fields_are_told(database, tmp_path: Path):
    for name, content in {
        "empty": b"",
        "text": b"no field",
        "zip": b"PK\x05\x06" + bytes(18),
    }.items():
        file = tmp_path / f"{name}.npz"
        file.write_bytes(content)
        with pytest.raises(MotionMatchingError, match=name):
            value_function.load(file)
    training = quick(database)
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
def test_wrong_settings_are_refused_by_name(wrong):
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        TrainingSettings(**wrong)
