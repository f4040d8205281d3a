"""Live in a motion field: neighbours are drawn with their values, and one can be forced."""

from __future__ import annotations

import colorsys
import math

import bpy
import numpy as np
import pytest

from motion_matching.app.controller.tag_colors import get_tag_color
from motion_matching.app.live import host
from motion_matching.app.runtime import runtime
from motion_matching.app.takes.take_actions import read_parts
from motion_matching.ui.play import drawing as play_drawing
from motion_matching.ui.play import ghosts
from tests.app.test_motion_field import create_field_character, ops, start_live


def get_snapshot():
    return runtime.get_cache(play_drawing.HudCache).snapshot


@pytest.fixture
def field_session():
    obj = create_field_character("walk_curves", "run_curves")
    live, keyboard = start_live(obj, "W")
    return obj, live, keyboard


def test_neighbours_are_drawn_with_their_future_paths(field_session):
    obj, live, keyboard = field_session
    field = live.session.performer.method
    now, play = 0.0, obj.motion_matching.play

    def run_ticks(count=1):
        nonlocal now
        for _ in range(count):
            now += 1 / 24
            live.tick(now, 0.0)

    run_ticks(30)
    assert get_snapshot().neighbour_ghosts is None, "ghosts are off"
    play.show_ghosts = True
    run_ticks()
    decision, shown = field.decision, get_snapshot().neighbour_ghosts
    bones = sum(field.skeleton.parents > 0)
    assert len(shown.chosen) == 2 * bones
    assert len(shown.others) == len(shown.colours) == 2 * bones * 14 + 6, "and an arrow"

    # over the character: the chosen one follows it, except for drift and blending
    head = obj.matrix_world @ obj.pose.bones["Head"].head
    assert np.linalg.norm(shown.chosen.reshape(-1, 3) - np.array(head), axis=1).min() < 0.15
    assert abs(shown.chosen[:, 2].min()) < 0.15
    assert shown.chosen[:, 2].max() > 1.3

    # neighbours that count more are brighter; the colour shows the heading
    others = np.delete(decision.weights, decision.chosen)
    alpha = shown.colours[:-6, 3].reshape(14, -1)[:, 0]
    assert (np.diff(alpha[others.argsort()]) >= 0).all()
    assert 0.1 < alpha.min() < alpha.max() <= 1
    assert np.allclose(shown.colours[:, :3], ghosts.get_task_color(decision.goal))

    # in a row beside it they show the same, with a bar for each that is as long as its share
    play.show_ghost_row = True
    tall = ghosts.measure_height(field)
    row = ghosts.build_ghosts(field, live.session._frame, tall)
    assert len(row.others) == len(row.colours) == len(shown.others) + 2 * 15
    bars = row.others[-6 - 2 * 15 : -6].reshape(15, 2, 3)
    lengths = np.linalg.norm(np.diff(bars, axis=1)[:, 0], axis=1)
    shares = field.decision.weights / field.decision.weights.sum()
    assert np.allclose(lengths / lengths.sum(), shares, atol=1e-4)
    place = live.session._frame.character
    away = np.linalg.norm(bars[:, 0, :2] - (place.x, place.y), axis=1)
    first = away[np.argsort(-shares, kind="stable")][:5]
    assert (np.diff(first) > 0).all()
    assert away.max() < 4.0 * tall, "all are near the character"
    run_ticks()
    assert runtime.get_cache(play_drawing.HudCache).height == tall
    assert len(get_snapshot().neighbour_ghosts.others) == len(row.others)
    play.show_ghost_row = False

    # the arrow shows the desired direction: along the view, +Y at heading pi
    keyboard.handle("W", "RELEASE")
    keyboard.handle("D", "PRESS")
    run_ticks(2)
    goal, place = field.decision.goal, live.session._frame
    start, tip = get_snapshot().neighbour_ghosts.others[-6:-4]
    heading = math.atan2(tip[0] - start[0], start[1] - tip[1])
    assert abs(math.remainder(heading - place.character.yaw - goal.direction, math.tau)) < 1e-3
    assert abs(goal.direction) > 0.1
    left, ahead, right = (
        colorsys.rgb_to_hsv(*ghosts.get_task_color(goal._replace(direction=d)))[0]
        for d in (1.5, 0.0, -1.5)
    )
    assert left < ahead < right
    tagged = goal._replace(tags=frozenset({"limp"}))
    assert ghosts.get_task_color(tagged) == get_tag_color("limp"), "that of a requested tag"

    # the map gets the neighbours' frames, the text their values
    assert list(runtime.trail.neighbour_frames) == list(field.decision.frames)
    scores = field.decision.scores
    values = f"Value  {scores.max():.3f}    all  {scores.min():.3f} to {scores.max():.3f}"
    assert values in get_snapshot().texts, get_snapshot().texts
    host.end()
    assert runtime.trail is None

    # motion matching has no neighbours
    obj.motion_matching.controller.method = "MATCHING"
    live, keyboard = start_live(obj, "W")
    now = 0.0
    run_ticks(5)
    assert live.ending is None
    assert get_snapshot().neighbour_ghosts is None
    assert live.decision is None
    assert not runtime.trail.neighbour_frames


def test_a_neighbour_can_be_forced_and_released_while_live(field_session):
    obj, live, _ = field_session
    field = live.session.performer.method
    now = 0.0

    controller = obj.motion_matching.controller

    def collect_decisions(count):
        nonlocal now
        found = []
        for _ in range(count):
            now += 1 / 24
            live.tick(now, 0.0)
            found.append(field.decision)
        return found

    collect_decisions(10)
    assert ops.favour(number=5) == {"FINISHED"}
    assert controller.favour == 5
    assert controller.preset == ""
    live.toggle_recording()
    assert {d.chosen for d in collect_decisions(30)[8:]} == {4}, (
        "noticed within a quarter of a second"
    )
    assert any("number 5 forced" in line for line in get_snapshot().texts), get_snapshot().texts
    assert ops.favour(number=2) == {"FINISHED"}
    assert {d.chosen for d in collect_decisions(30)[8:]} == {1}
    assert ops.favour(number=2) == {"FINISHED"}
    assert controller.favour == 0
    freed = collect_decisions(30)[8:]
    assert all(d.chosen == d.scores.argmax() for d in freed)
    assert len({d.chosen for d in freed}) > 2
    live.toggle_recording()
    host.end()

    # the take stores when a neighbour was forced
    take = bpy.data.actions[live.takes[0]]
    [part] = read_parts(take)
    changes = [change["favour"] for tick, change in part.performance.changes if "favour" in change]
    assert changes[-2:] == [2, 0], changes
