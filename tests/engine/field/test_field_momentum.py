"""A motion field changes gaits within a moment, not at once."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.field.integration import place_root
from motion_matching.engine.field.method import MotionField
from motion_matching.engine.field.momentum import Momentum
from motion_matching.engine.field.states.neighbours import Metric, Neighbours
from motion_matching.engine.field.states.states import MotionStates
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import baking, takes
from tests.engine import animals

FPS = 30.0
WALK, RUN, STOP = 1.2, 2.9, 0.0


@pytest.fixture(scope="module", params=[(RUN, STOP), (WALK, RUN), (RUN, WALK)])
def frames(request, demo_database, settings):
    """Return the frames of a character that changes its speed, straight ahead."""
    performer = Performer(MotionField(demo_database, settings), settings)
    seconds = ((speed, 3.0) for speed in request.param)
    intents = [
        Intent(velocity=(0.0, -speed), gait=float(speed > WALK))
        for speed, lasts in seconds
        for _ in range(round(lasts * demo_database.fps))
    ]
    changed = len(intents) // 2
    return [performer.step(intent) for intent in intents][changed - 2 :]


def test_a_change_of_gait_accelerates_the_root_as_the_data_does(frames, demo_database):
    """Hardly more in any tick."""
    fps = demo_database.fps
    paths = [np.array([frame.character[:2] for frame in frames])]
    paths += [
        demo_database.track[start:stop, :2]
        for start, stop in zip(demo_database.starts, demo_database.stops, strict=True)
    ]
    taken, *data = (np.linalg.norm(np.diff(p, 2, axis=0), axis=1).max() * fps for p in paths)
    assert taken < 1.1 * max(data)


@pytest.mark.parametrize(("ticks", "expected"), [(1, True), (8, True), (15, False)])
def test_a_toe_that_moves_does_not_stand_soon_after_a_change_of_gait(
    demo_database, ticks, expected
):
    """The neighbours of the new gait may stand already."""
    states = MotionStates.from_database(demo_database)
    running = int(np.argmin(states.root_steps[:, 1]))
    pose = states.poses[running]
    glides = place_root(pose, np.array([0.0, -2.0 / FPS, 0.0]))
    toes = np.array([leg.toe for leg in demo_database.roles.legs])
    momentum = Momentum(demo_database.skeleton.parents, toes, FPS)
    features = Metric.from_database(demo_database).compute_state_features(states)[:100]
    one, other = Neighbours(features), Neighbours(features)
    momentum.advance(one)
    assert not momentum.find_moving(pose, glides).any()
    for _ in range(ticks):
        momentum.advance(other)
    assert momentum.find_moving(pose, glides).tolist() == [expected] * len(toes)
    assert not momentum.find_moving(pose, pose).any()


@pytest.mark.slow
def test_limbs_that_swing_fast_stay_within_the_data_at_changes_of_gait():
    """Those of a dog swing so fast that one which kept its speed would fly above its shoulder."""
    sources = [Source(clip=motion.clip) for motion in animals.make_dog_motions(fps=30.0)]
    database = build(sources, BuildSettings(mirror=True))[0]
    settings, rng = takes.make_default_settings(database), np.random.default_rng(0)
    performer = Performer(MotionField(database, settings), settings)
    played = []
    for number in range(40):
        speed = (settings.steering.walk if number % 2 else settings.steering.run).forward
        intent = Intent(velocity=(0.0, -speed), gait=float(number % 2 == 0))
        ticks = round(rng.uniform(0.3, 1.2) * database.fps)
        played += [performer.step(intent).unlocked_pose for _ in range(ticks)]
    taken, data = (
        baking.compute_toe_positions(poses, database)[..., 2].max(axis=0)
        for poses in (np.array(played), database.poses)
    )
    assert np.all(taken < 1.1 * data)
