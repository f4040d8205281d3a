"""A motion field plays clips on, instead of staying at a state that is about to lead on."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.field.field_controller import FieldController
from motion_matching.engine.field.progress import Progress
from motion_matching.engine.field.states.neighbours import Metric
from motion_matching.engine.maths.along_time import find_runs
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import takes
from tests.engine import animals

FPS = 60.0
MOVING = 0.3  # m/s


@pytest.fixture(scope="module")
def dog():
    """Return the database of a dog that starts, stops and turns in each clip."""
    sources = [Source(clip=motion.clip) for motion in animals.make_dog_motions()]
    return build(sources, BuildSettings(mirror=True))[0]


@pytest.fixture(scope="module", params=[0, 2])
def take(dog, request):
    """Return a take of a running dog that has to turn."""
    settings = takes.make_default_settings(dog)
    performance = takes.prepare_performance(
        dog, settings, "turns", gait="run", seconds=10.0, seed=request.param
    )
    controller = FieldController(Metric.from_database(dog))
    return takes.perform(dog, settings, performance, controller=controller)


@pytest.mark.slow
def test_a_character_that_moves_does_not_stay_at_a_frame(take):
    """It would glide in one pose, which control favours as the clip is about to lead on."""
    steps = np.diff(take.character[:, :2], axis=0)
    stays = np.diff(take.frames) == 0
    stays &= np.linalg.norm(steps, axis=1) * take.fps > MOVING
    assert max((stop - start for start, stop in find_runs(stays)), default=0) / take.fps < 0.15


@pytest.fixture
def progress():
    """Return the progress of two clips of 100 and 50 states."""
    return Progress(np.repeat([0, 1], [100, 50]), FPS)


def test_a_clip_that_halts_goes_on(progress):
    """A state may be favoured for a tenth of a second, as ordinary choices are; not longer."""
    assert [progress.advance(10) for _ in range(12)] == [10] * 7 + [11, 12, 13, 14, 15]


def test_clips_favoured_in_turn_both_go_on(progress):
    states = [progress.advance(state) for state in (10, 110) * 6]
    assert states == [10, 110] * 4 + [12, 112, 14, 114]


def test_states_ahead_or_far_behind_are_played_as_they_are(progress):
    favoured = [50, *range(51, 80), 20, 120]
    assert [progress.advance(state) for state in favoured] == favoured


def test_a_clip_ends_at_its_last_state(progress):
    assert [progress.advance(99) for _ in range(12)] == [99] * 12


def test_a_clip_played_long_ago_is_played_anew(progress):
    progress.advance(10)
    for state in range(110, 130):
        progress.advance(state)
    assert [progress.advance(10) for _ in range(7)] == [10] * 7


def test_nothing_is_known_after_a_jump(progress):
    for _ in range(7):
        progress.advance(10)
    progress.reset()
    assert progress.advance(10) == 10
