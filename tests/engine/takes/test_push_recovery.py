"""Recoveries from pushes are measured as they are, and reported for scripts that push."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.control.rollout import Take
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.takes import recovery, takes
from tests.demo import load_demo

FPS, FADE = 30.0, 0.3  # ticks a second, and seconds in which a push fades to 1/e
FULL, PUSHED_AT = 1.5, (90, 210)


@pytest.fixture(scope="module")
def still() -> Take:
    database = load_demo()
    settings = takes.make_default_settings(database)
    performance = takes.prepare_performance(
        database, settings, "flips", gait="walk", seconds=12.0, seed=0
    )
    return takes.perform(database, settings, performance)


def move(take: Take, push: tuple[float, float], fade: float = FADE, scale: float = 1.0) -> Take:
    """Return a take of one that goes ahead evenly, and is pushed twice."""
    times = np.arange(take.frame_count) / FPS
    velocity = np.tile([0.0, -FULL], (take.frame_count, 1))
    intents = [Intent(move=(0.0, -1.0))] * take.frame_count
    for tick in PUSHED_AT:
        intents[tick] = intents[tick]._replace(push=push)
        since = np.maximum(times - tick / FPS, 0.0)
        velocity += np.where(times >= tick / FPS, np.exp(-since / fade), 0.0)[:, None] * push
    character = np.zeros((take.frame_count, 3))
    character[:, :2] = scale * np.cumsum(velocity, axis=0) / FPS
    return replace(
        take,
        character=character,
        desired_velocity=np.tile([0.0, -scale * FULL], (take.frame_count, 1)),
        performance=replace(take.performance, intents=tuple(intents)),
    )


@pytest.mark.parametrize("push", [(FULL, 0.0), (0.0, FULL), (0.0, -FULL)])
def test_a_push_is_over_at_a_tenth_of_the_speed_whichever_way_it_went(still, push):
    measured = recovery.measure_recoveries(move(still, push))
    assert [each.second for each in measured] == [tick / FPS for tick in PUSHED_AT]
    for each in measured:
        assert each.speed == pytest.approx(FULL)
        assert each.seconds == pytest.approx(FADE * np.log(10.0), abs=2.5 / FPS)
        kept = np.exp(-1.0 / (FADE * FPS))  # of the push, a tick later
        steps = FULL / FPS * kept ** np.arange(round(each.seconds * FPS) + 1)
        assert each.distance == pytest.approx(steps.sum(), rel=1e-3)  # the first fades on


def test_a_push_that_the_next_one_interrupts_is_not_recovered_from(still):
    measured = recovery.measure_recoveries(move(still, (FULL, 0.0), fade=30.0))
    told = recovery.summarize_recoveries(measured)
    assert told["pushes"] == 2
    assert told["pushes_recovered"] == 0
    assert told["recovery_time_median"] is None


def test_pushes_of_no_one_on_its_way_and_of_cut_takes_are_not_measured(still):
    pushed = move(still, (FULL, 0.0))
    standing = replace(pushed, desired_velocity=np.zeros_like(pushed.desired_velocity))
    assert recovery.measure_recoveries(standing) == []
    assert recovery.measure_recoveries(pushed.crop(5)) == []
    assert recovery.measure_recoveries(still) == []


def test_a_push_just_before_the_end_does_not_count_as_one_without_recovery(still):
    pushed = move(still, (FULL, 0.0))
    intents = list(pushed.performance.intents)
    late = len(intents) - 10
    intents[late] = intents[late]._replace(push=(FULL, 0.0))
    character = pushed.character.copy()
    character[late:, 0] += FULL / FPS * np.arange(1, 11)
    cut = replace(
        pushed,
        character=character,
        performance=replace(pushed.performance, intents=tuple(intents)),
    )
    assert len(recovery.measure_recoveries(cut)) == len(PUSHED_AT)


@pytest.mark.parametrize("gait", ["walk", "run"])
def test_the_script_is_recovered_from_and_reported(gait):
    database = load_demo()
    settings = takes.make_default_settings(database)
    performance = takes.prepare_performance(
        database, settings, "pushes", gait=gait, seconds=20.0, seed=1
    )
    report = takes.report(takes.perform(database, settings, performance), database)
    told = report["take"]
    assert told["pushes"] >= 4
    assert told["pushes_recovered"] == told["pushes"]
    assert 0.2 < told["recovery_time_median"] < 1.5
    assert 0.1 < told["push_distance_median"] / getattr(settings.steering, gait).forward < 1.0
    assert "recovered from" in takes.summarize(report)
