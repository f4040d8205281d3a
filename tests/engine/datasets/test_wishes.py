"""Performances that are drawn ask for what the data does, in the shares that are wanted."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.database.database import Database
from motion_matching.engine.datasets.wants import parse_wants
from motion_matching.engine.datasets.wishes import WishSource
from tests.demo import load_few


@pytest.fixture(scope="module")
def database() -> Database:
    return load_few()


@pytest.mark.parametrize(("standing", "running"), [(0.2, 0.5), (0.6, 0.1), (0.0, 1.0)])
def test_wishes_have_the_shares_that_are_wanted(database, standing, running):
    wants = parse_wants(["standing=10", "running=10"], database)
    source = WishSource(database, wants, end_guard=0.3)
    shares = np.array([standing, running])
    drawn = source.draw(np.random.default_rng(3), shares, 600.0, "long")
    speeds = np.array([np.hypot(*intent.velocity) for intent in drawn.intents])
    assert (speeds < 0.3).mean() == pytest.approx(standing, abs=0.06)
    assert (speeds >= database.walk_to_run).mean() == pytest.approx(running, abs=0.06)
    assert speeds.max() <= np.hypot(*database.root_motion[:, :2].T).max()


def test_the_same_seed_draws_the_same(database):
    source = WishSource(database, (), end_guard=0.3)
    first, again, other = (
        source.draw(np.random.default_rng(seed), np.zeros(0), 5.0, "short") for seed in (1, 1, 2)
    )
    assert first == again
    assert first.intents != other.intents


def test_wishes_turn_as_they_face(database):
    """The way of what is wished for is the one of the clips: headings follow the turns."""
    source = WishSource(database, (), end_guard=0.3)
    drawn = source.draw(np.random.default_rng(5), np.zeros(0), 60.0, "long")
    yaws = np.array([intent.facing for intent in drawn.intents])
    turns = np.abs(np.diff(yaws)) * database.fps
    assert 0.5 < turns.max() <= np.abs(database.root_motion[:, 2]).max()
