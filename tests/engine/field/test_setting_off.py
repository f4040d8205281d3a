"""A field sets off from standing to any side, turns round and goes on, and never freezes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from motion_matching.engine.control.performer import Performer
from motion_matching.engine.field.method import MotionField
from motion_matching.engine.field.states.gaits import Entries
from motion_matching.engine.field.states.neighbours import measure_distances
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.takes import takes

SPEED = 1.1


@pytest.fixture(scope="module")
def performer(demo_database, settings):
    return Performer(MotionField(demo_database, settings), settings)


def make_intent(degrees: float) -> Intent:
    heading = math.radians(degrees)
    return Intent(move=(math.sin(heading), -math.cos(heading)))


def measure_way(frames, degrees: float) -> np.ndarray:
    """Return how far the character has gone in a direction at each frame."""
    heading = math.radians(degrees)
    places = np.array([frame.character[:2] for frame in frames])
    return (places - places[0]) @ [math.sin(heading), -math.cos(heading)]


@pytest.mark.parametrize("seconds", [1.0, 2.3])
@pytest.mark.parametrize("degrees", [75, -105, 140, 180, -165])
def test_who_stands_sets_off_aside_within_a_second(performer, degrees, seconds):
    performer.reset((0.0, 0.0), 0.0)
    for _ in range(round(seconds * performer.fps)):
        performer.step(Intent())
    frames = [performer.step(make_intent(degrees)) for _ in range(31)]
    assert measure_way(frames, degrees)[-1] > 0.35


@pytest.mark.parametrize("side", [1, -1])
def test_who_walks_turns_round_and_goes_on(performer, side):
    performer.reset((0.0, 0.0), 0.0)
    for _ in range(60):
        performer.step(make_intent(0.0))
    frames = [performer.step(make_intent(side * 179.0)) for _ in range(91)]
    way = measure_way(frames, 180.0)
    assert way[90] - way[60] > 0.8 * SPEED
    assert way[30] > 0.1, "within a second, it is past where it was asked to turn"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [5, 7])
def test_a_field_never_freezes(demo_database, settings, seed):
    """Where it is asked to stand, turn and strafe, it is never still for half a second."""
    performance = takes.prepare_performance(
        demo_database, settings, "random", gait="walk", seconds=30.0, seed=seed
    )
    take = takes.perform(demo_database, settings, performance, controller=MotionField)
    moved = np.linalg.norm(np.diff(take.character[:, :2], axis=0), axis=1) * take.fps
    asked = np.linalg.norm(take.desired_velocity, axis=1)[1:] > 0.5
    half = round(0.5 * take.fps)
    slow = np.convolve((moved < 0.1) & asked, np.ones(half), "valid")
    assert slow.max(initial=0.0) < half, "it freezes"


def test_near_states_are_entered_unless_others_serve_much_better(demo_database, performer):
    states = performer.method.states
    features = performer.method._features
    entries = Entries(demo_database, states, features, np.ones(len(states), bool))
    rewards = np.zeros(len(entries.states))
    here = features[entries.states[[7]]]
    assert entries.find_best(rewards, here, -1.0) == entries.states[7]
    assert entries.find_best(rewards, here, -1.0, reach=0.3) != entries.states[7]
    assert entries.find_best(rewards, here, 0.0) == -1
    rewards[40] = 10.0
    assert entries.find_best(rewards, here, 0.0) == entries.states[40]


@pytest.mark.parametrize("seed", range(6))
def test_the_best_entry_is_that_of_a_look_at_all(demo_database, performer, seed):
    """However many are rewarded alike, and however near those around the pose may be."""
    rng, features = np.random.default_rng(seed), performer.method._features
    states = performer.method.states
    entries = Entries(demo_database, states, features, np.ones(len(states), bool))
    for spread in (0.1, 1.0, 10.0):
        rewards = rng.normal(0.0, spread, len(entries.states)).round(2).astype(np.float32)
        here = features[rng.integers(len(states), size=1)]
        away = measure_distances(features[entries.states], here)
        for reach in (0.0, float(np.median(away)), np.inf):
            gains = np.where(away >= reach, rewards - 0.5 * away, -np.inf)
            best = int(gains.argmax())
            for least in (-np.inf, 0.0, gains[best]):
                wanted = entries.states[best] if gains[best] > least else -1
                assert entries.find_best(rewards, here, least, reach) == wanted
