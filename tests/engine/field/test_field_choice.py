"""Motion field requests beside the goal: favour a neighbour, or enter a tag at once."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.control.performer import Performer
from motion_matching.engine.errors import DatabaseError, SettingsError
from motion_matching.engine.field.method import MotionField
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.settings import PerformerSettings
from tests.goals import make_goal

AHEAD = make_goal(0.0, -1.2)


@pytest.fixture(scope="module")
def tagged(demo_database):
    """Tag 60 frames of one clip of the demo as 'there'."""
    range_ = next(
        k
        for k in range(len(demo_database.starts))
        if demo_database.stops[k] - demo_database.starts[k] > 200
    )
    start = int(demo_database.starts[range_]) + 100
    there = np.zeros(demo_database.frame_count, np.uint32)
    there[start : start + 60] = 1
    return replace(demo_database, tag_names=("there",), tags=there)


@pytest.fixture(scope="module")
def field(tagged, settings):
    return MotionField(tagged, settings)


@pytest.mark.slow
def test_a_forced_neighbour_is_favoured_until_it_is_released(field, settings):
    field.enter(5000)
    for favoured in (3, 1, settings.motion_field.neighbours + 20):
        field.apply(settings.with_changes({"favour": favoured}))
        for _ in range(5):
            field.advance(AHEAD)
            place = (
                min(favoured, settings.motion_field.neighbours) - 1
            )  # capped at the number of neighbours
            assert field.decision.chosen == place
            assert field.decision.weights[place] == field.decision.weights.max()
    field.apply(settings)
    for _ in range(20):
        field.advance(AHEAD)
        assert field.decision.chosen == field.decision.scores.argmax()


@pytest.mark.parametrize(
    ("now", "soon", "expected"),
    [
        (10.0, 120.0, 120.0),
        (60.0, 230.0, 180.0),
        (-80.0, -250.0, -180.0),
        (-30.0, 140.0, 140.0),
        (360.0, 350.0, -10.0),
    ],
)
def test_the_goal_turns_to_the_same_side_as_the_simulation_object(field, now, soon, expected):
    """Even if the character lags so far behind that the other way round would be shorter."""
    field.advance(make_goal(0.0, 0.0, math.radians(soon), math.radians(now)))
    assert math.degrees(field.decision.goal.direction) == pytest.approx(expected)


@pytest.mark.parametrize("side", [1, -1])
def test_a_stick_turned_far_round_keeps_its_side(field, settings, side):
    """Without displacement, the simulation object turns further than the character."""
    performer, directions = (
        Performer(
            field,
            settings.with_changes(
                {"displacement": "independent", "clamp": False, "rotation_halflife": 0.1}
            ),
        ),
        [],
    )
    performer.reset((0.0, 0.0), 0.0)
    for tick in range(round(1.5 * field.fps)):
        heading = side * min(1.1 * math.tau * tick / field.fps, math.radians(290.0))
        performer.step(Intent(velocity=(3.0 * math.sin(heading), -3.0 * math.cos(heading))))
        directions.append(side * field.decision.goal.direction)
    assert min(directions) > -0.2
    assert max(directions) == pytest.approx(math.pi), (
        "or the other way round would never be shorter"
    )


@pytest.mark.parametrize("wrong", [-1, 2.5, 101, "first"])
def test_favouring_an_invalid_neighbour_is_refused(wrong):
    with pytest.raises(SettingsError, match="favour"):
        PerformerSettings().with_changes({"favour": wrong})


def test_a_jump_to_a_tag_enters_its_nearest_state_without_a_pop(field, settings):
    performer = Performer(field, settings.with_changes({"foot_lock": False, "idle": False}))
    performer.reset((0.0, 0.0), 0.0)
    frames = [performer.step(Intent()) for _ in range(40)]
    there = field.states.tag_masks["there"]
    here = field.metric.compute_features(field._pose[None], field._velocity[None])
    difference = field.metric.compute_state_features(field.states) - here
    far = np.linalg.norm(difference.reshape(len(there), -1, 3), axis=-1).sum(axis=-1)
    frames.append(performer.step(Intent(jump_to="there")))
    assert frames[-1].jumped
    assert field.decision.states[0] == np.where(there, far, np.inf).argmin()
    frames += [performer.step(Intent()) for _ in range(20)]
    assert sum(frame.jumped for frame in frames) == 1
    rotations = np.stack([frame.pose[3:, 1:].T for frame in frames])
    turned = quat.angle_between(rotations[1:], rotations[:-1]).max(axis=1) * field.fps
    assert turned[39:43].max() < 2.0 * turned[:39].max() + 3.0, "a bone leaps"


def test_a_jump_uses_the_velocities_of_the_clips(field):
    """The entered state has the velocities of its frame, apart from how differences are taken."""
    field.enter(5000)
    jump = field.advance(AHEAD._replace(jump_to="there")).jump
    [entered] = [
        state
        for state in np.flatnonzero(field.states.tag_masks["there"])
        if np.array_equal(field.states.poses[state], jump.target_pose)
    ]
    frame = field.states.frames[entered]
    # a state's velocity leads from its frame to the next; a frame's is a central difference
    halfway = 0.5 * (field.database.velocities[frame] + field.database.velocities[frame + 1])
    np.testing.assert_allclose(jump.target_velocity[:, 1:], halfway[:, 1:], atol=0.35)
    np.testing.assert_allclose(
        jump.target_root, field.states.root_steps[entered] * field.fps, atol=1e-5
    )
    assert not np.allclose(jump.source_pose, jump.target_pose, atol=0.01)


@pytest.mark.slow
def test_jumps_without_a_state_play_on_and_unknown_tags_are_refused(tagged, settings):
    last = np.zeros(tagged.frame_count, np.uint32)
    last[tagged.stops[-1] - 1] = 1  # a frame without a state
    field = MotionField(replace(tagged, tags=last), settings)
    field.enter(5000)
    expected = field.advance(AHEAD)
    field.enter(5000)
    np.testing.assert_array_equal(
        field.advance(AHEAD._replace(jump_to="there")).pose, expected.pose
    )
    with pytest.raises(DatabaseError, match="nowhere"):
        field.advance(AHEAD._replace(jump_to="nowhere"))
