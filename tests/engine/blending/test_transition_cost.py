"""Prices of jumps, against what performed motion does after them."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.blending import transition_cost
from motion_matching.engine.blending.inertialization import Inertializer
from motion_matching.engine.blending.jump import Jump
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.performance.settings import Blending, PerformerSettings
from motion_matching.engine.performance.start_state import MovingPose
from tests.demo import load_demo
from tests.engine.scripted import perform_script

HALFLIFE = 0.1
SETTINGS = PerformerSettings(blending=Blending(inertialization_halflife=HALFLIFE))


def compute_positions(poses, database):
    """Return positions (F, B, 3) in the character's frame of poses (F, 7, B)."""
    local = np.array(poses, np.float64)
    local[:, :, 0] = [0, 0, 0, 1, 0, 0, 0]
    return quat.compute_world(local, database.skeleton.parents)[1]


def get_state(database, frame):
    return database.poses[frame], database.velocities[frame], database.root_motion[frame]


def make_jumps(database, count, seed=0):
    """Return jumps between random frames."""
    frames = np.random.default_rng(seed).integers(database.frame_count, size=(count, 2))
    return [Jump(*get_state(database, a), *get_state(database, b)) for a, b in frames.tolist()]


@pytest.mark.slow
@pytest.mark.parametrize("fade", [{}, {"inertialization": "cubic"}], ids=["spring", "cubic"])
@pytest.mark.parametrize("script", ["random", "turns"])
def test_the_price_of_a_jump_is_how_far_the_performed_motion_is_from_the_entered_one(script, fade):
    database = load_demo()
    take = perform_script(database, script, "walk", 60.0, **fade)
    offsets = compute_positions(take.unlocked_poses, database)
    offsets -= compute_positions(database.poses[take.frames], database)
    away = np.abs(offsets[:, 1:]).sum(axis=2).mean(axis=1)
    jumps = np.flatnonzero(take.jumped)
    assert np.isfinite(take.prices).tolist() == take.jumped.tolist()
    ends = np.append(jumps[1:], take.frame_count)
    compared = []
    for start, end in zip(jumps, ends, strict=True):
        if end - start >= 0.7 * take.fps:  # nothing interrupts its fading
            # ticks show the offset from a tick after the jump on: about that of the tick before
            before = max(2.0 * away[start] - away[start + 1], 0.0)
            compared.append((take.prices[start], (away[start:end].sum() + before / 2) / take.fps))
    prices, integrals = np.transpose(compared)
    assert len(prices) > 10
    # offsets of rotations fade, and positions follow them nearly: the method's own approximation
    np.testing.assert_allclose(prices, integrals, rtol=0.25)
    assert np.median(np.abs(prices / integrals - 1.0)) < 0.1
    assert prices.sum() == pytest.approx(integrals.sum(), rel=0.15)
    assert np.corrcoef(prices, integrals)[0, 1] > 0.98


def test_offsets_and_their_velocities_are_those_of_the_shown_pose_at_the_jump():
    database, step = load_demo(), 1e-4
    limits = np.full((2, database.skeleton.bone_count), 1e9, np.float32)
    for jump in make_jumps(database, 6):
        transition = transition_cost.enter([jump], limits, SETTINGS)
        offset, speed = transition_cost.compute_offsets(transition, database.skeleton.parents)
        states = MovingPose(*jump[:3]), MovingPose(*jump[3:])
        # nothing faded before: what is shown is the motion that is left
        shown, entered = (
            compute_positions([state.advance(t) for t in (-step, 0.0, step)], database)
            for state in states
        )
        apart = shown - entered
        np.testing.assert_allclose(offset[0], apart[1], atol=1e-5)
        rate = (apart[2] - apart[0]) / (2.0 * step)
        np.testing.assert_allclose(speed[0], rate, atol=0.02 * (1.0 + np.abs(rate).max()))


def test_jumps_are_priced_together_as_they_are_alone():
    database = load_demo()
    parents, limits = database.skeleton.parents, np.array(database.limits)
    jumps = make_jumps(database, 20)
    together = transition_cost.enter(jumps, limits, SETTINGS)
    prices = transition_cost.measure_prices(together, parents)
    for jump, price in zip(jumps, prices, strict=True):
        alone = transition_cost.enter([jump], limits, SETTINGS)
        assert transition_cost.measure_prices(alone, parents) == pytest.approx([price])
    assert (prices > 0).all()
    many = transition_cost.measure_prices(together * 60, parents)
    np.testing.assert_allclose(many, np.tile(prices, 60))
    assert transition_cost.measure_prices([], parents).shape == (0,)


def test_a_jump_to_the_same_motion_costs_nothing_and_a_slower_fade_costs_more():
    database = load_demo()
    parents, limits = database.skeleton.parents, np.full_like(database.limits, 1e9)
    same = get_state(database, 100)
    nowhere = transition_cost.enter([Jump(*same, *same)], limits, SETTINGS)
    assert transition_cost.measure_prices(nowhere, parents) == pytest.approx([0.0], abs=1e-6)
    jumps = make_jumps(database, 5)
    fast, slow = (
        transition_cost.measure_prices(
            transition_cost.enter(
                jumps,
                limits,
                PerformerSettings(blending=Blending(inertialization_halflife=halflife)),
            ),
            parents,
        )
        for halflife in (0.1, 0.2)
    )
    assert (slow > 1.5 * fast).all()


def test_what_is_left_of_a_jump_counts_in_the_price_of_the_next():
    database = load_demo()
    limits = np.full_like(database.limits, 1e9)
    [first] = make_jumps(database, 1, seed=4)
    inertializer = Inertializer(limits, HALFLIFE, 1.0 / database.fps)
    inertializer.transition(first)
    inertializer.update(first.target_pose)
    stay = Jump(*first[3:], *first[3:])  # the motion that is entered goes on
    inertializer.transition(stay)
    fading = inertializer.fading
    left = transition_cost.Transition(stay.target_pose, stay.target_velocity, fading)
    alone = transition_cost.enter([stay, first], limits, SETTINGS)
    prices = transition_cost.measure_prices([left, *alone], database.skeleton.parents)
    assert prices[1] == pytest.approx(0.0, abs=1e-6)
    assert 0.3 * prices[2] < prices[0] < prices[2]
