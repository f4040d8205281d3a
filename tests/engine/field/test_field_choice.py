"""What may be told to a motion field beside where to go: which neighbour to favour, and to enter a
tag at once.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.control.intent import Intent
from motion_matching.engine.control.method import Goal
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.control.settings import PerformerSettings
from motion_matching.engine.control.trajectory import TrajectoryPoint
from motion_matching.engine.errors import DatabaseError, SettingsError
from motion_matching.engine.field.method import MotionField
from motion_matching.engine.maths import quat
from motion_matching.engine.takes import takes

AHEAD = Goal([TrajectoryPoint(0.0, -1.2, 0.0, 0.0, -1.2)])


@pytest.fixture(scope="module")
def settings(demo_database):
    return takes.make_default_settings(demo_database)


@pytest.fixture(scope="module")
def tagged(demo_database):
    """The demo, with a run of frames of one clip called 'there'."""
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


def test_a_forced_neighbour_is_favoured_at_every_tick_until_it_is_freed(field, settings):
    field.enter(5000)
    for favoured in (3, 1, settings.neighbours + 20):
        field.apply(replace(settings, favour=favoured))
        for _ in range(5):
            field.advance(AHEAD)
            place = min(favoured, settings.neighbours) - 1  # there are no more
            assert field.decision.chosen == place
            assert field.decision.weights[place] == field.decision.weights.max()
    field.apply(settings)
    for _ in range(20):
        field.advance(AHEAD)
        assert field.decision.chosen == field.decision.scores.argmax()


@pytest.mark.parametrize(
    ("now", "soon", "asked"),
    [
        (10.0, 120.0, 120.0),
        (60.0, 230.0, 180.0),
        (-80.0, -250.0, -180.0),
        (-30.0, 140.0, 140.0),
        (360.0, 350.0, -10.0),
    ],
)
def test_a_heading_is_asked_for_on_the_side_that_the_simulation_object_turns_to(
    field, now, soon, asked
):
    """Also where the character lags so far behind that the other way round would be shorter: there
    it would be held back.
    """
    points = [TrajectoryPoint(0.0, 0.0, math.radians(degrees), 0.0, 0.0) for degrees in (now, soon)]
    field.advance(Goal(points))
    assert math.degrees(field.decision.goal.direction) == pytest.approx(asked)


@pytest.mark.parametrize("side", [1, -1])
def test_a_stick_that_goes_far_round_asks_for_its_side_all_the_time(field, settings, side):
    """A performer tells where the simulation object is, which is further round than the character
    where nothing draws it.
    """
    performer, asked = (
        Performer(field, settings.with_changes({"displacement": "independent", "clamp": False})),
        [],
    )
    performer.reset((0.0, 0.0), 0.0)
    for tick in range(round(1.5 * field.fps)):
        heading = side * min(math.tau * tick / field.fps, math.radians(260.0))
        performer.step(Intent(velocity=(3.0 * math.sin(heading), -3.0 * math.cos(heading))))
        asked.append(side * field.decision.goal.direction)
    assert min(asked) > -0.2
    assert max(asked) == pytest.approx(math.pi), "or the other way round would never be shorter"


@pytest.mark.parametrize("wrong", [-1, 2.5, 101, "first"])
def test_a_favour_that_names_no_neighbour_is_refused(wrong):
    with pytest.raises(SettingsError, match="favour"):
        PerformerSettings().with_changes({"favour": wrong})


def test_a_jump_to_a_tag_enters_its_nearest_state_and_does_not_pop(field, settings):
    performer = Performer(field, replace(settings, foot_lock=False))
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


def test_what_a_jump_connects_moves_as_the_clips_do(field):
    """Velocities of the state that is entered are those of its frame, but for where differences are
    taken.
    """
    field.enter(5000)
    jump = field.advance(AHEAD._replace(jump_to="there")).jump
    [entered] = [
        state
        for state in np.flatnonzero(field.states.tag_masks["there"])
        if np.array_equal(field.states.poses[state], jump.target_pose)
    ]
    frame = field.states.frames[entered]
    # a state's velocity leads from its frame to the next, that of a frame is taken from both sides
    halfway = 0.5 * (field.database.velocities[frame] + field.database.velocities[frame + 1])
    np.testing.assert_allclose(jump.target_velocity[:, 1:], halfway[:, 1:], atol=0.35)
    np.testing.assert_allclose(
        jump.target_root, field.states.root_steps[entered] * field.fps, atol=1e-5
    )
    assert not np.allclose(jump.source_pose, jump.target_pose, atol=0.01)


def test_a_jump_to_where_no_state_is_plays_on_and_to_an_unknown_tag_is_refused(tagged, settings):
    last = np.zeros(tagged.frame_count, np.uint32)
    last[tagged.stops[-1] - 1] = 1  # no state has it
    field = MotionField(replace(tagged, tags=last), settings)
    field.enter(5000)
    assert field.advance(AHEAD._replace(jump_to="there")).jump is None
    with pytest.raises(DatabaseError, match="nowhere"):
        field.advance(AHEAD._replace(jump_to="nowhere"))
