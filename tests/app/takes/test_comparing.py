"""Takes that were recorded into again are compared like the takes that they are made of."""

from __future__ import annotations

from dataclasses import replace

import bpy
import pytest

from motion_matching.app.live import host
from motion_matching.app.takes import comparing, take_actions
from motion_matching.engine.performance import performance
from motion_matching.engine.takes import takes as engine_takes
from motion_matching.scene.blender.handle import Handle
from tests.app.live.test_seams import create_hero, record, record_take, steer
from tests.demo import demo_settings
from tests.live.stage import FPS
from tests.steps import run_steps


def record_into(hero, mode, frame, seed, ticks, lead_back=0.0):
    play = hero.obj.motion_matching.play
    play.mode, play.lead_back = mode, lead_back
    bpy.context.scene.frame_set(round(frame))
    steer(hero, seed)
    hero.run(20)
    action = record(hero, ticks)
    host.end()
    return action


def measure(hero, take):
    """Return what is compared of a take, which goes the way that it was recorded."""
    handle = Handle.from_block(take, "actions")
    steps = comparing.measure_steps(hero.obj.session_uid, handle, hero.database)
    measured = run_steps(steps)
    assert not measured.notes
    return measured.take


def measure_joined(hero, take):
    """Measure the poses of a take's parts, each performed as it was recorded, and joined."""
    parts = take_actions.read_parts(take)
    steps = take_actions.perform_steps(hero.database, demo_settings(), parts, as_recorded=True)
    joined = take_actions.join_takes(parts, run_steps(steps), hero.database)
    return engine_takes.report(joined, hero.database)["take"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("root", "rate", "lead_back"),
    [
        ("OBJECT", 30, 2.0),
        ("HIPS", 30, 0.0),
        ("OBJECT", 24, 0.0),
    ],
)
def test_a_take_that_was_overwritten_and_appended_to_is_measured_like_plain_ones(
    root, rate, lead_back
):
    hero = create_hero(root)
    bpy.context.scene.render.fps = rate
    take = record_take(hero, 300)
    alone = measure(hero, take)
    middle = 1 + 110 * rate / FPS
    assert record_into(hero, "overwrite", middle, 7, 60, lead_back) == take
    assert record_into(hero, "append", 1, 9, 240) == take

    found, joined = measure(hero, take), measure_joined(hero, take)
    assert found["seconds"] == pytest.approx(18.0, abs=0.1)
    for name, furthest in (
        ("foot_slide_mann", 0.03),
        ("foot_slide_contacts", 0.1 if lead_back else 0.04),
        ("simulation_distance_mean", 0.03),
    ):
        assert found[name] == pytest.approx(alone[name], abs=furthest), name
    # the two are asked for other speeds
    shares = [each["achieved_along_wish"] / each["desired_speed"] for each in (found, alone)]
    assert shares[0] == pytest.approx(shares[1], abs=0.1)
    if root == "OBJECT":  # hips carry the rest less exactly: what is joined has a step there
        assert found["foot_slide_contacts"] == pytest.approx(
            joined["foot_slide_contacts"], abs=0.01
        )
    for name, furthest in (
        ("desired_speed", 0.01),
        ("achieved_along_wish", 0.04 if root == "HIPS" else 0.02),  # for the same reason
        ("simulation_distance_mean", 0.01),
        ("jumps_per_second", 0.06),
    ):
        assert found[name] == pytest.approx(joined[name], abs=furthest), name


@pytest.mark.slow
def test_a_take_that_was_made_with_cost_terms_is_said_to_need_them():
    """Blender has no functions of scripts, so it performs such a take without them."""
    hero = create_hero("OBJECT")
    take = record_take(hero, 150)
    performed = take_actions.read_parts(take)[0].performance
    stored = bpy.data.texts[f"{take.name}.performance.json"]
    stored.from_string(performance.to_json(replace(performed, terms=("low",))))
    handle = Handle.from_block(take, "actions")
    measured = run_steps(comparing.measure_steps(hero.obj.session_uid, handle, hero.database))
    assert measured.notes == ("terms gone",)
    parts = take_actions.read_parts(take)
    assert parts[0].performance.terms == ("low",)
    [made] = run_steps(take_actions.perform_steps(hero.database, demo_settings(), parts))
    assert made.performance.terms == ()
    request = take_actions.BakeRequest("Again", parts)
    bake = run_steps(
        take_actions.Performed(
            hero.obj.session_uid, request, [made], hero.database
        ).prepare_bake_steps()
    )
    assert "made with the cost term 'low' and differs without it" in bake()
