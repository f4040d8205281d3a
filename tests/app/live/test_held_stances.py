"""A held stance, live: it breathes on any character, is recorded over a take, and can be undone."""

from __future__ import annotations

from itertools import repeat

import bpy
import numpy as np
import pytest

from motion_matching.app.live import host, performing
from motion_matching.engine.facts.idles import find_idles
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.performance import Performance
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.devices.steering import SteeringInput
from motion_matching.live.inputs.leaders.replay import ReplayInput
from tests.app.live.test_control_rigs import RigHero
from tests.engine.control.test_breathing import build_restless
from tests.live.hero import Hero
from tests.live.stage import FPS, NAMES, get_bone_matrices
from tests.scene.keys import read_channels
from tests.steps import run_steps
from tests.ui.characters import create_character, override_character

ops = bpy.ops.motion_matching
SECONDS = round(FPS)  # ticks of one


def create_stander():
    """Return a person of a database without standing, and what asks nothing of it."""
    return Hero(database=build_restless(FPS), mode="overwrite"), make_rest()


def make_rest():
    return ReplayInput(Performance("rest", FPS, tuple(repeat(Intent(), 20 * SECONDS))), FPS)


def check_breathes(shown, bones):
    """Check bones (T, B, 4, 4) of a hold: toes stay, the chest moves, and nothing wobbles."""
    places = {name: shown[:, k, :3, 3] for k, name in enumerate(bones)}
    toes = [name for name in bones if "toe" in name.lower()]
    assert len(toes) == 2
    assert max(np.ptp(places[toe], axis=0).max() for toe in toes) < 0.002
    moved = [np.ptp(place, axis=0).max() for place in places.values()]
    assert 0.003 < max(moved) < 0.03


def test_it_breathes_and_its_recording_plays_as_it_was_shown():
    hero, rest = create_stander()
    hero.start(rest)
    hero.run(3 * SECONDS)
    hero.live.toggle_recording()
    shown = []
    for _ in range(6 * SECONDS):
        hero.run(1)
        shown.append(get_bone_matrices(hero.obj))
    host.end()
    check_breathes(np.array(shown), NAMES)
    first, last = map(int, hero.obj.animation_data.action.frame_range)
    assert last - first + 1 == len(shown)
    played = hero.play(*range(first, last + 1), timers=0)
    assert np.abs(np.array(played) - shown).max() < 2e-3


def test_a_hold_recorded_over_a_take_replaces_its_part_and_is_undone():
    hero, rest = create_stander()
    hero.start()
    hero.live.toggle_recording()
    hero.run(6 * SECONDS)
    host.end()
    take = hero.obj.animation_data.action
    bpy.ops.ed.undo_push(message="the take")
    before = read_channels(take)
    start = 2 * SECONDS
    bpy.context.scene.frame_set(start)
    hero.start(rest)
    hero.live.toggle_recording()
    hero.run(2 * SECONDS)
    host.end()
    assert hero.obj.animation_data.action == take
    after = read_channels(take)
    assert after.keys() == before.keys()
    kept = [keys[keys[:, 0] < start] for keys in before.values()]
    for old, keys in zip(kept, after.values(), strict=True):
        np.testing.assert_array_equal(keys[keys[:, 0] < start], old)
    assert any(not np.array_equal(after[path], keys) for path, keys in before.items())
    bpy.ops.ed.undo_push(message="the hold")
    bpy.ops.ed.undo()
    take = bpy.data.objects["Hero"].animation_data.action
    undone = read_channels(take)
    for path in before:
        np.testing.assert_array_equal(undone[path], before[path])


def test_a_linked_and_overridden_character_breathes(tmp_path):
    create_character(clips=("walk_curves",))
    ops.add_actions()
    source = bpy.context.object.motion_matching.sources[0]
    first, last = source.action.frame_range
    source.use_range, source.frame_start, source.frame_end = True, int(first) + 60, int(last) - 90
    obj = override_character(str(tmp_path / "hero.blend"))
    database, *rest = run_steps(performing.prepare_steps(obj))
    assert database.derive(find_idles).holds
    keyboard = Keyboard()
    live = performing.start(obj, database, *rest, keyboard, SteeringInput(keyboard), 0.0)
    shown, fps = [], round(database.fps)
    for tick in range(1, 8 * fps):
        live.tick(tick / fps, 0.0)
        shown.append(get_bone_matrices(obj))
    host.end()
    check_breathes(np.array(shown)[3 * fps :], NAMES)


@pytest.mark.slow
def test_rigify_breathes_on_planted_feet():
    hero = RigHero(stands=False)
    assert hero.database.derive(find_idles).holds
    hero.start(Performance("rest", FPS, tuple(repeat(Intent(), 20 * SECONDS))))
    shown = hero.run(8 * SECONDS)[3 * SECONDS :]
    host.end()
    check_breathes(shown, hero.names)
