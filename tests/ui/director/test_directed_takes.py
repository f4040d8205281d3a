"""Directed takes in Blender: ranges solved another way, their jumps, and variations."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.app.direct import jumps
from motion_matching.app.marks import marks, outcomes
from motion_matching.scene.direct import stored_shots
from tests.scene.keys import read_channels
from tests.ui.characters import create_character, expect_refusal
from tests.ui.director.marked import FRAMES, PLACES, add_marks, read_place
from tests.ui.drawn import draw_panels

ops = bpy.ops.motion_matching


@pytest.fixture(autouse=True)
def obj():
    obj = create_character()
    ops.add_actions()
    return obj


@pytest.mark.slow
def test_a_preview_range_is_solved_another_way_and_the_rest_stays(obj):
    add_marks()
    expect_refusal(ops.go_to_jump, "Bake a take first")
    ops.direct()
    first = obj.motion_matching.takes[0].action
    expect_refusal(ops.direct_range, "Set a preview range")
    now = bpy.context.scene
    now.use_preview_range, now.frame_preview_start, now.frame_preview_end = True, 80, 120
    places = {frame: read_place(obj, frame) for frame in (30, 72, 100, 190, 220)}
    assert ops.direct_range() == {"FINISHED"}
    second = obj.motion_matching.takes[1].action
    assert second != first
    for frame, place in places.items():
        away = np.abs(read_place(obj, frame) - place).max()
        assert away < 1e-5 if frame != 100 else away > 1e-4, (frame, away)
    shot, frame = stored_shots.read_shot(second)
    assert len(shot.pieces) == 1
    assert frame == 1
    now.frame_preview_start, now.frame_preview_end = 500, 600
    expect_refusal(ops.direct_range, "less than a second of the take")


@pytest.mark.slow
def test_a_jump_is_found_forbidden_and_gone(obj):
    add_marks()
    ops.direct()
    action, now = obj.motion_matching.takes[0].action, bpy.context.scene
    known = jumps.list_jumps(action)
    assert known
    now.frame_set(1)
    ops.go_to_jump()
    assert now.frame_current == known[0].frame
    jump = jumps.find_jump(action, now.frame_current)
    assert jump == known[0]
    names = [name for name, _ in jump.list_facts()]
    assert names == ["From", "To", "Price", "Next", ""]
    draw_panels()
    assert ops.forbid_jump() == {"FINISHED"}
    second = obj.motion_matching.takes[1].action
    pairs = {(each.source, each.target) for each in jumps.list_jumps(second)}
    assert (jump.source, jump.target) not in pairs
    shot, _ = stored_shots.read_shot(second)
    assert shot.current.forbidden[0].source == jump.source
    assert ops.direct_again() == {"FINISHED"}
    third = obj.motion_matching.takes[2].action
    assert jumps.list_jumps(third) == jumps.list_jumps(second)


@pytest.mark.slow
def test_variations_are_flipped_through(obj):
    expect_refusal(ops.flip_take, "Solve marks first")
    add_marks()
    assert ops.direct_variations(count=2) == {"FINISHED"}
    first, second = (take.action for take in obj.motion_matching.takes)
    seeds = [stored_shots.read_seed(action) for action in (first, second)]
    assert seeds[0] == 0 < seeds[1]
    assert obj.animation_data.action == first
    assert obj.motion_matching.take_index == 0
    bpy.context.scene.frame_set(100)
    draw_panels()
    places = []
    for action in (second, first):
        assert ops.flip_take() == {"FINISHED"}
        assert obj.animation_data.action == action
        assert obj.motion_matching.takes[obj.motion_matching.take_index].action == action
        assert bpy.context.scene.frame_current == 100
        places.append(read_place(obj, 100))
    assert not np.allclose(*places, atol=1e-3)
    assert ops.flip_take(backward=True) == {"FINISHED"}
    assert obj.animation_data.action == second
    # a variation is an ordinary take of its seed
    before = read_channels(second)
    assert ops.direct_again() == {"FINISHED"}
    again = read_channels(obj.motion_matching.takes[2].action)
    for key in before:
        np.testing.assert_allclose(again[key], before[key], atol=1e-6, err_msg=str(key))


@pytest.mark.slow
def test_flipping_replaces_the_take_on_the_directors_track(obj):
    add_marks()
    obj.motion_matching.use_nla = True
    assert ops.direct_variations(count=2) == {"FINISHED"}
    data, actions = obj.animation_data, [take.action for take in obj.motion_matching.takes]
    for action in (actions[0], actions[1]):
        [track] = data.nla_tracks
        assert [strip.action for strip in track.strips] == [action]
        assert data.action is None
        assert ops.flip_take() == {"FINISHED"}


@pytest.mark.slow
def test_a_jump_is_pinned_and_another_one_is_found(obj):
    add_marks()
    ops.direct()
    first, now = obj.motion_matching.takes[0].action, bpy.context.scene
    jump = next(each for each in jumps.list_jumps(first) if each.frame > 24)
    now.frame_set(jump.frame)
    assert ops.pin_jump() == {"FINISHED"}
    assert jumps.find_jump(first, jump.frame).is_pinned
    draw_panels()

    # it stays where all is solved again from marks that have changed
    obj.motion_matching.director.seed = 7
    assert ops.direct() == {"FINISHED"}
    second = obj.motion_matching.takes[1].action
    pairs = {(each.source, each.target): each for each in jumps.list_jumps(second)}
    assert abs(pairs[jump.source, jump.target].frame - jump.frame) <= 1
    assert pairs[jump.source, jump.target].is_pinned
    assert "of 4 marks" not in outcomes.get_state(obj)[1]

    # unpinned, it gives way to another
    assert ops.pin_jump() == {"FINISHED"}
    assert not jumps.find_jump(second, jump.frame).is_pinned
    assert ops.replace_jump() == {"FINISHED"}
    third = obj.motion_matching.takes[2].action
    near = [each for each in jumps.list_jumps(third) if abs(each.frame - jump.frame) < 48]
    assert (jump.source, jump.target) not in {(each.source, each.target) for each in near}
    forbidden = stored_shots.read_shot(third)[0].current.forbidden[-1]
    assert forbidden.stop - forbidden.start <= 5.0
    before = read_channels(third)
    assert ops.direct_again() == {"FINISHED"}
    again = read_channels(obj.motion_matching.takes[3].action)
    for key in before:
        np.testing.assert_allclose(again[key], before[key], atol=1e-6, err_msg=str(key))


@pytest.mark.slow
def test_a_range_is_made_slower_and_marks_are_met(obj):
    add_marks()
    now = bpy.context.scene
    now.frame_set(64)
    assert ops.add_tempo(pace="SLOWER") == {"FINISHED"}
    tempo = marks.get_active_mark(obj)
    settings = marks.mark_of(tempo)
    assert (tempo.name, settings.frame, settings.frame_end) == ("Slower", 64, 64 + 48)
    draw_panels()
    assert ops.direct() == {"FINISHED"}
    assert outcomes.get_state(obj) == ("CHECKMARK", "Solved"), settings.reason
    [asked] = stored_shots.read_shot(obj.motion_matching.takes[0].action)[0].tempos
    assert asked.rate == pytest.approx(0.9)
    for frame, place in zip(FRAMES, PLACES, strict=True):
        assert np.linalg.norm((read_place(obj, frame) - place)[:2]) < 0.01
    settings.rate = 1.1
    assert outcomes.get_outcome(tempo) == "changed"
    now.use_preview_range, now.frame_preview_start, now.frame_preview_end = True, 100, 150
    assert ops.add_tempo(pace="FASTER") == {"FINISHED"}
    second = marks.get_active_mark(obj)
    assert (marks.mark_of(second).frame, marks.mark_of(second).frame_end) == (100, 150)
    expect_refusal(ops.direct, "Two tempos overlap", "frame 100", "frame 112")
    marks.mark_of(second).frame_end = 90
    expect_refusal(ops.direct, "'Faster'", "from frame 100 to 90")
    assert ops.remove_mark() == {"FINISHED"}
    assert marks.list_marks(obj, marks.TEMPO) == [tempo]


def test_a_script_is_baked_again_by_the_director(obj):
    assert ops.bake_script(script="figure_eight", seconds=6.0) == {"FINISHED"}
    places = [read_place(obj, frame) for frame in (1, 60, 120)]
    assert ops.bake_again(method="DIRECTOR") == {"FINISHED"}
    first, second = (take.action for take in obj.motion_matching.takes)
    assert stored_shots.is_directed(second)
    assert not stored_shots.is_directed(first)
    assert abs(first.frame_range[1] - second.frame_range[1]) <= 1.0
    for frame, place in zip((1, 60, 120), places, strict=True):
        assert np.linalg.norm((read_place(obj, frame) - place)[:2]) < 0.5, frame
    [path] = stored_shots.read_shot(second)[0].paths
    assert path.times[-1] == pytest.approx(6.0, abs=0.1)
    draw_panels()
    expect_refusal(ops.bake_again, "has lost its performance")
