"""What jumps cost, and where frames can jump to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

from motion_matching.engine.blending.jump_price import HALFLIFE, RATE, compute_prices
from motion_matching.engine.database.tags.tags import NO_USE
from motion_matching.engine.direct.footage.footage import make_footage
from motion_matching.engine.direct.footage.jump_table import (
    BARRED,
    build_table,
    find_runner_up,
    load_or_build_table,
    load_table,
    price_jumps,
    save_table,
)
from motion_matching.engine.errors import DatabaseError
from motion_matching.engine.files.array_files import save_arrays
from motion_matching.engine.maths import planar
from motion_matching.engine.maths.springs import spring
from tests.engine.sentences import check_sentence


def test_a_price_is_the_integral_of_what_the_springs_leave():
    """Of six nodes, within a thousandth; for hips and hands, that do not stand."""
    random = np.random.default_rng(0)
    none = np.zeros((1, 0), bool)
    for _ in range(50):
        x, v = random.normal(0.0, 0.1, 3), random.normal(0.0, 1.0, 3)
        price = compute_prices(x[None, None], v[None, None], np.ones(1), none, none)[0]

        def distance(t: float, x: np.ndarray = x, v: np.ndarray = v) -> float:
            return float(np.linalg.norm(spring(x, v, 0.0, HALFLIFE, t)[0]))

        expected = quad(distance, 0.0, 3.0, limit=200)[0]
        assert price == pytest.approx(expected, rel=0.02)


def test_a_standing_toe_costs_what_it_is_dragged():
    x = np.array([[[0.03, 0.04, 0.0]]])
    stands, lifts, one = np.array([[True]]), np.array([[False]]), np.ones(1)
    free = compute_prices(x, 0.0 * x, one, lifts, lifts)
    dragged = compute_prices(x, 0.0 * x, one, stands, stands)
    assert dragged - free == pytest.approx(0.05 * 4.0 / RATE)


def test_every_jump_leads_to_a_frame_that_may_be_entered(footage, table):
    usable = table.prices < BARRED
    assert footage.candidates[table.targets[usable]].all()
    frames = np.broadcast_to(np.arange(footage.frame_count)[:, None], table.targets.shape)
    expected = price_jumps(footage, frames[usable], table.targets[usable])
    own = table.prices[usable]
    assert np.allclose(own, expected, atol=1e-6)
    assert (np.abs(frames - table.targets)[usable] >= 0.3 * footage.fps - 1).all()


def test_the_cheapest_jumps_are_nearly_the_cheapest_of_all(footage, table):
    """The cheapest found costs at most a tenth more than the best of all frames, on average."""
    random = np.random.default_rng(1)
    allowed = np.flatnonzero(footage.candidates)
    ratios = []
    for frame in random.choice(footage.frame_count, 40, replace=False).tolist():
        prices = price_jumps(footage, np.full(len(allowed), frame), allowed)
        prices[np.abs(allowed - frame) < 0.3 * footage.fps] = np.inf
        ratios.append(table.prices[frame].min() / prices.min())
    assert np.mean(ratios) < 1.1


def test_playing_on_leads_where_the_clip_goes(footage):
    frames = np.flatnonzero(footage.left >= 20)
    ahead = footage.compute_ahead(20)[frames]
    moved = footage.track[frames + 20] - footage.track[frames]
    expected = planar.rotate(moved[:, :2], -footage.track[frames, 2])
    assert np.allclose(ahead[:, :2], expected, atol=1e-5)
    assert np.allclose(ahead[:, 2], moved[:, 2], atol=1e-5)


@pytest.mark.slow
def test_a_table_is_kept_beside_its_database(footage, table, tmp_path):
    path = tmp_path / "walk.jumps.npz"
    assert load_table(footage, path) is None
    save_table(table, footage, path)
    loaded = load_or_build_table(footage, path)
    assert np.array_equal(loaded.targets, table.targets)
    assert np.array_equal(loaded.prices, table.prices)
    others = replace(footage, candidates=~footage.candidates)
    assert load_table(others, path) is None
    path.write_bytes(path.read_bytes()[:-1000])
    assert load_table(footage, path) is None
    load_or_build_table(footage, path)
    assert load_table(footage, path) is not None, "what is damaged is made anew"
    path.write_bytes(b"no archive")
    assert load_table(footage, path) is None
    load_or_build_table(footage, path)
    assert path.read_bytes() == b"no archive", "it is somebody else's"


def _widen(array: np.ndarray) -> np.ndarray:
    return np.concatenate([array, array[:, :1]], axis=1)


WRONG = {
    "targets beyond the end": lambda t: {"targets": t.targets + 100_000},
    "targets below zero": lambda t: {"targets": t.targets - 100_000},
    "targets that may not be entered": lambda t: {"targets": np.full_like(t.targets, -1)},
    "too few rows": lambda t: {"targets": t.targets[:-1], "prices": t.prices[:-1]},
    "too many rows": lambda t: {"targets": np.vstack([t.targets] * 2)},
    "prices that are too narrow": lambda t: {"prices": t.prices[:, :-1]},
    "too few jumps": lambda t: {"targets": t.targets[:, :1], "prices": t.prices[:, :1]},
    "too many jumps": lambda t: {"targets": _widen(t.targets), "prices": _widen(t.prices)},
    "prices below zero": lambda t: {"prices": t.prices - 1.0},
    "other numbers": lambda t: {"targets": t.targets.astype(np.float32)},
    "texts": lambda t: {"targets": t.targets.astype("U8")},
    "dates": lambda t: {"prices": t.prices.astype("datetime64[s]")},
    "one number": lambda t: {"targets": np.int32(7)},
    "a key of numbers": lambda t: {"key": np.float32(7)},
    "no prices": lambda t: {"prices": None},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_table_of_wrong_content_is_not_taken(footage, table, tmp_path, wrong):
    assert load_table(footage, save_wrong_table(footage, table, tmp_path, wrong)) is None


def save_wrong_table(footage, table, folder, wrong):
    path = folder / "walk.jumps.npz"
    save_table(table, footage, path)
    arrays = dict(np.load(path)) | WRONG[wrong](table)
    kept = {name: np.asarray(each) for name, each in arrays.items() if each is not None}
    save_arrays(path, kept, DatabaseError)
    return path


@pytest.mark.slow
def test_a_table_of_wrong_content_is_made_anew(footage, table, tmp_path):
    found = load_or_build_table(footage, save_wrong_table(footage, table, tmp_path, "texts"))
    assert np.array_equal(found.targets, table.targets)
    assert np.array_equal(found.prices, table.prices)


def test_without_a_frame_to_enter_there_is_a_sentence(walking):
    nothing = walking.with_tags(
        np.ones(walking.frame_count, np.uint32), (NO_USE,), walking.bias, walking.limits, {}
    )
    with pytest.raises(DatabaseError) as error:
        build_table(replace(make_footage(walking), candidates=nothing.playable))
    check_sentence(error, "may be entered")


def test_the_runner_up_is_the_cheapest_jump_to_another_moment(footage, table):
    left = 300
    to = int(table.targets[left, 0])
    other, dearer = find_runner_up(footage, table, left, to)
    prices = {
        int(target): float(price)
        for target, price in zip(table.targets[left], table.prices[left], strict=True)
        if abs(int(target) - to) >= footage.fps / 3.0
    }
    assert prices[other] == min(prices.values())
    assert dearer == pytest.approx(prices[other] - float(table.prices[left, 0]), abs=1e-5)
