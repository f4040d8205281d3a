"""Grounds that no clip knows: gaps, holes, high steps and cliffs. A character never falls there."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.facts.character import measure_character_legs
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.takes import baking, takes
from tests.demo import load_climbing, load_few
from tests.floors import Floor

BEGIN = 2.5  # metres ahead, forward being -Y
PROFILES: dict[str, Callable[[float], float]] = {
    "a gap": lambda ahead: -3.0 if BEGIN < ahead < BEGIN + 0.4 else 0.0,
    "a chasm": lambda ahead: -3.0 if BEGIN < ahead < BEGIN + 2.0 else 0.0,
    "a cliff down": lambda ahead: -3.0 if ahead > BEGIN else 0.0,
    "a wall without sides": lambda ahead: 1.0 if ahead > BEGIN else 0.0,
    "a high step": lambda ahead: 0.28 if ahead > BEGIN else 0.0,
    "a low step down": lambda ahead: -0.28 if ahead > BEGIN else 0.0,
    "stairs down": lambda ahead: -0.2 * min(max(math.floor((ahead - BEGIN) / 0.28) + 1, 0), 6),
    "a plank over a chasm": lambda ahead: -3.0 if BEGIN < ahead % 3.5 < BEGIN + 0.5 else 0.0,
}
# where each leads that a step leads to; onto and over the others, a character goes as on the flat
STEPPED = {"a high step": 0.28, "a low step down": -0.28, "stairs down": -1.2}
FASTEST = 2.5  # m/s at which hips come down at most: a fall of 0.3 s is faster


@cache
def walk(name: str, clips: str) -> tuple[Take, Take]:
    """Return the live and the baked take of a walk straight ahead, and a stop."""
    data = load(clips)
    walking = [Intent(move=(0.0, -1.0))] * round(9.0 * data.fps)
    intents = [Intent()] * 15 + walking + [Intent()] * 45
    floor = Floor(PROFILES[name] if name else lambda ahead: 0.0)
    performance = Performance("odd", data.fps, tuple(intents), floor=floor)
    take = takes.perform(data, takes.make_default_settings(data), performance)
    return take, baking.bake_feet(take, data)


def load(clips: str) -> Database:
    return load_climbing() if clips == "climbing" else load_few()


def find_hips(take: Take, data: Database) -> np.ndarray:
    return baking.make_body(take.poses, take.character, data).positions[:, data.roles.hips - 1, 2]


def find_toes(take: Take, data: Database) -> np.ndarray:
    """Return how high toes (T, L) are above where they would stand."""
    toes = baking.compute_toe_positions(take.poses, data).astype(float)
    floor = take.performance.floor
    below = np.array([[floor.height(x, y) for x, y, _ in row] for row in toes.tolist()])
    return toes[..., 2] - below - data.derive(measure_character_legs)[0].toe_height


@pytest.mark.slow
@pytest.mark.parametrize("clips", ["level", "climbing"])
@pytest.mark.parametrize("name", [name for name in PROFILES if name not in STEPPED])
def test_what_no_step_leads_to_is_passed_as_on_the_flat(name: str, clips: str):
    for odd, flat in zip(walk(name, clips), walk("", clips), strict=True):
        np.testing.assert_array_equal(odd.frames, flat.frames)
        np.testing.assert_allclose(odd.poses, flat.poses, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("clips", ["level", "climbing"])
@pytest.mark.parametrize("name", list(STEPPED))
def test_steps_higher_than_any_clip_and_stairs_down_are_taken_without_a_fall(name: str, clips: str):
    data = load(clips)
    height = float(np.median(find_hips(walk("", clips)[0], data)))
    for take in walk(name, clips):
        hips, ahead = find_hips(take, data), -take.character[:, 1]
        assert ahead[-1] > BEGIN + 3.0
        assert hips[-1] == pytest.approx(STEPPED[name] + height, abs=0.05)
        assert np.abs(np.diff(hips)).max() * take.fps < FASTEST
        around = [[PROFILES[name](at + off) for off in (-0.8, 0.0, 0.8)] for at in ahead.tolist()]
        assert (hips > np.min(around, axis=1) + 0.8 * height).all()
        assert (hips < np.max(around, axis=1) + 1.1 * height).all()
        # level clips step down too fast, so that a toe passes the edge of a tread
        assert find_toes(take, data).min() > (-0.02 if clips == "climbing" else -0.1)


def test_a_character_that_starts_over_a_hole_stands_in_it_and_walks_on():
    """What is below it as it begins is its floor; what is too high for a step is not stepped onto."""
    data = load_few()
    floor = Floor(lambda ahead: -0.8 if abs(ahead) < 0.5 else 0.0)
    intents = (Intent(),) * 10 + (Intent(move=(0.0, -1.0)),) * 80
    performance = Performance("hole", data.fps, intents, floor=floor)
    take = takes.perform(data, takes.make_default_settings(data), performance)
    assert -take.character[-1, 1] > 1.0
    np.testing.assert_allclose(take.poses[:, 2, 0], -0.8, atol=0.02)
