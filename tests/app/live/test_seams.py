"""Recordings go on from takes, and sessions from poses, without a seam: measured in the world."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.app.live import host
from motion_matching.app.takes import take_actions
from motion_matching.live.inputs.leaders.replay import ReplayInput
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.writing import recording
from tests.demo import demo_settings, load_demo
from tests.engine.performance.test_start_state import (
    measure_accelerations,
    measure_largest_acceleration,
)
from tests.live.hero import Hero
from tests.live.stage import FPS, NAMES, build_performance, get_bone_matrices
from tests.scene.bodies import EditBones, place_armature
from tests.steps import run_steps

ROOTS = ("OBJECT", "BONE", "HIPS", "IN_PLACE")
MODES = ("QUATERNION", "XYZ", "AXIS_ANGLE", "ZYX")


def create_hero(root="OBJECT", **play):
    """Create a hero that stands elsewhere, turned and scaled, whose bones rotate in all modes."""
    hero = Hero(**play)
    if root == "BONE":
        with EditBones(hero.obj) as bones:
            bone = bones.new("Root")
            bone.head, bone.tail = (0.0, 0.0, 0.0), (0.0, -0.3, 0.1)
            bones["Hips"].parent = bone
        hero.obj.motion_matching.root_bone = "Root"
    hero.obj.motion_matching.root = root
    place_armature(hero.obj, location=(3.0, -1.0, 0.0), turn=1.0, scale=0.01)
    for number, bone in enumerate(hero.obj.pose.bones):
        bone.rotation_mode = MODES[number % 4]
    return hero


def steer(hero, seed, seconds=30.0):
    """Start a session that seeded intents steer, and let it run."""
    return hero.start(Intents(build_performance(seconds=seconds, seed=seed), FPS))


class Intents(ReplayInput):
    """The intents of a performance from the second on in which they move, from any start."""

    def __init__(self, performance, fps):
        super().__init__(performance, fps)
        self.start = None

    def get_intent(self, situation):
        return super().get_intent(situation._replace(tick=situation.tick + round(FPS)))


def record(hero, ticks):
    hero.live.toggle_recording()
    hero.run(ticks)
    hero.live.toggle_recording()
    return hero.obj.motion_matching.takes[hero.obj.motion_matching.take_index].action


def play(obj, frames):
    """Return the joints (F, J, 3) in the world that Blender plays at frames."""
    seen = []
    for frame in frames:
        whole = int(np.floor(frame + 1e-6))
        bpy.context.scene.frame_set(whole, subframe=max(frame - whole, 0.0))
        seen.append(get_bone_matrices(obj)[:, :3, 3])
    return np.stack(seen)


def measure_seam(hero, frame, ticks=6, step=1.0):
    """Return the largest acceleration in m/s² of any joint around a frame of what plays."""
    joints = play(hero.obj, frame + step * np.arange(-ticks, ticks + 1))
    return measure_accelerations(joints, FPS).max()


def measure_slide(joints, before):
    """Return the mean speed in m/s over the floor of toes that stand where they did before."""
    toes = [NAMES.index(f"{side}Toe") for side in ("Left", "Right")]
    steps, own = (
        np.linalg.norm(np.diff(j[:, toes, :2], axis=0), axis=-1) for j in (joints, before)
    )
    low = joints[1:, toes, 2] < before[:, toes, 2].min() + 0.01
    stands = low & (own < 1e-3)
    assert stands.sum() >= 10
    return steps[stands].mean() * FPS


def record_take(hero, ticks=150, frame=1, seed=2):
    """Record a take of a moving character, and end the session."""
    bpy.context.scene.frame_set(frame)
    steer(hero, seed)
    hero.run(20)
    take = record(hero, ticks)
    host.end()
    return take


def get_limit():
    return measure_largest_acceleration(load_demo())


@pytest.mark.slow
@pytest.mark.parametrize("root", ROOTS)
def test_overwriting_goes_on_from_the_take_at_the_current_frame(root):
    hero, limit = create_hero(root), get_limit()
    take = record_take(hero)
    before = play(hero.obj, range(1, 60))
    bpy.context.scene.frame_set(60)
    hero.obj.motion_matching.play.mode = "overwrite"
    steer(hero, 7)
    hero.run(25)  # somewhere else by now
    assert record(hero, 90) == take
    host.end()
    assert measure_seam(hero, 60) < limit
    np.testing.assert_allclose(play(hero.obj, range(1, 60)), before, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("lead_back", [0.0, 2.0])
@pytest.mark.parametrize("root", ROOTS)
def test_the_rest_of_an_overwritten_take_goes_on_from_the_new_part(root, lead_back):
    hero, limit = create_hero(root), get_limit()
    take = record_take(hero, 300)
    old = play(hero.obj, range(1, 301))
    bpy.context.scene.frame_set(60)
    play_settings = hero.obj.motion_matching.play
    play_settings.mode, play_settings.lead_back = "overwrite", lead_back
    steer(hero, 7)
    hero.run(25)
    assert record(hero, 90) == take
    host.end()
    assert np.allclose(take.frame_range, (1.0, 300.0))
    new = play(hero.obj, range(1, 301))
    assert measure_accelerations(new, FPS).max() < limit
    np.testing.assert_allclose(new[:59], old[:59], atol=1e-4)
    end = 149  # of the new part
    assert measure_slide(new[end + 1 :], old[end + 1 :]) < 0.05
    away = np.linalg.norm(new[end] - old[end], axis=-1).max()
    if root == "IN_PLACE" or lead_back:
        np.testing.assert_allclose(new[-20:], old[-20:], atol=2e-3)
    else:
        assert away > 0.5
        sizes = [np.linalg.norm(j[-20:, :, None] - j[-20:, None], axis=-1) for j in (new, old)]
        np.testing.assert_allclose(*sizes, atol=2e-3)
        # moved and turned alike from some frame on
        paths = [np.diff(j[-20:, :, :2], axis=0) for j in (new, old)]
        np.testing.assert_allclose(*(np.linalg.norm(p, axis=-1) for p in paths), atol=2e-3)


@pytest.mark.slow
def test_a_take_with_few_and_curved_keys_goes_on_as_well():
    hero, limit = create_hero("HIPS"), get_limit()
    take = record_take(hero, 300)
    for curve in actions.get_channelbag(take).fcurves:  # as a user thins and smooths them
        keys = [(point.co[0], point.co[1]) for point in curve.keyframe_points]
        if len(keys) < 2:
            continue
        curve.keyframe_points.clear()
        for frame, value in keys[::6]:
            curve.keyframe_points.insert(frame, value).interpolation = "BEZIER"
        curve.update()
    last = take.frame_range[1]
    old = play(hero.obj, range(1, int(last) + 1))
    bpy.context.scene.frame_set(100)
    hero.obj.motion_matching.play.mode = "overwrite"
    steer(hero, 7)
    record(hero, 60)
    host.end()
    new = play(hero.obj, range(1, int(last) + 1))
    # thinned like this, the take itself may be harder than the clips
    hardest = max(limit, measure_accelerations(old, FPS).max() * 1.05)
    accelerations = measure_accelerations(new, FPS)
    assert accelerations[90:175].max() < limit
    assert accelerations.max() < hardest
    sizes = [np.linalg.norm(j[-20:, :, None] - j[-20:, None], axis=-1) for j in (new, old)]
    np.testing.assert_allclose(*sizes, atol=2e-3)


@pytest.mark.parametrize("root", ROOTS)
def test_appending_goes_on_from_the_last_frame_wherever_the_playhead_is(root):
    hero, limit = create_hero(root), get_limit()
    take = record_take(hero, 60)
    bpy.context.scene.frame_set(20)
    hero.obj.motion_matching.play.mode = "append"
    steer(hero, 7)
    hero.run(25)
    record(hero, 60)
    host.end()
    assert np.allclose(take.frame_range, (1.0, 120.0))
    # at keys: halfway between two, axes and angles turn a bone elsewhere
    assert measure_seam(hero, 60) < limit
    joints = play(hero.obj, range(50, 66))  # soon after, it is asked to stand
    steps = np.linalg.norm(np.diff(joints.mean(axis=1), axis=0), axis=-1)
    assert steps.min() > 0.3 * np.median(steps) or root == "IN_PLACE", "it stands for a moment"


@pytest.mark.parametrize("fps", [24, pytest.param(60, marks=pytest.mark.slow)])
def test_seams_are_smooth_at_other_rates_of_the_scene(fps):
    hero, limit = create_hero(), get_limit()
    bpy.context.scene.render.fps = fps
    step = fps / FPS
    take = record_take(hero, 60)
    end = take.frame_range[1]
    hero.obj.motion_matching.play.mode = "append"
    steer(hero, 7)
    record(hero, 60)
    host.end()
    assert measure_seam(hero, end, step=step) < limit
    frame = round(1 + 70 * step)
    bpy.context.scene.frame_set(frame)
    hero.obj.motion_matching.play.mode = "overwrite"
    steer(hero, 9)
    record(hero, 20)
    host.end()
    assert measure_seam(hero, frame, step=step) < limit


@pytest.mark.parametrize("root", ROOTS)
def test_a_session_starts_at_the_pose_place_and_motion_of_the_current_frame(root):
    hero, limit = create_hero(root), get_limit()
    record_take(hero)
    for frame in (1, 40, 97):
        before = play(hero.obj, range(frame - 3, frame + 1))
        live = steer(hero, 5)
        after = [get_bone_matrices(hero.obj)[:, :3, 3]]
        np.testing.assert_allclose(after[0], before[-1], atol=1e-3)
        for _ in range(6):
            hero.run(1)
            live.session.writer.show(live.session._frame.pose)  # that of the tick itself
            after.append(get_bone_matrices(hero.obj)[:, :3, 3])
        joints = np.concatenate([before[:-1], after])
        skip = 3 if frame == 1 else 0  # there is nothing before the first frame
        assert measure_accelerations(joints[skip:], FPS).max() < limit, frame
        if root != "IN_PLACE":
            assert np.allclose(live.position, live.session.character[:2], atol=0.1)
        host.end()


def test_a_session_starts_where_an_action_made_by_hand_leads():
    """Root motion is in the hips, the armature stands at its place, and nothing was recorded."""
    hero, limit = Hero(), get_limit()
    obj = hero.obj
    frames = np.arange(1.0, 121.0)
    there = np.stack([0.0 * frames, 0.0 * frames, -1.2 * (frames - 1.0) / FPS])
    local = np.array(obj.data.bones["Hips"].matrix_local)[:3, :3].T
    way = local @ np.stack([there[0], there[2], there[1]])  # straight ahead, along -Y
    with actions.create_action("Mine", obj) as mine:
        actions.write_channel(mine, 'pose.bones["Hips"].location', frames, way, "Hips")
    actions.assign(obj, mine)
    before = play(obj, range(87, 91))
    assert np.linalg.norm(before[-1].mean(axis=0)[:2]) > 3.0
    live = steer(hero, 5)
    seen = [get_bone_matrices(obj)[:, :3, 3]]
    np.testing.assert_allclose(seen[0], before[-1], atol=1e-3)
    hips = NAMES.index("Hips")
    for _ in range(10):
        hero.run(1)
        live.session.writer.show(live.session._frame.pose)
        seen.append(get_bone_matrices(obj)[:, :3, 3])
    joints = np.concatenate([before[:-1], seen])
    assert measure_accelerations(joints, FPS).max() < limit
    speed = np.linalg.norm(seen[1][hips] - seen[0][hips]) * FPS
    assert speed == pytest.approx(1.2, abs=0.3)
    host.end()
    assert obj.animation_data.action == mine


def test_an_armature_at_rest_that_plays_nothing_stands_as_ever():
    hero = Hero()
    live = steer(hero, 5)
    assert live.session._history.build_performance("x").start is None
    assert recording.is_take(record(hero, 30))


def bake_again(hero, take):
    """Return the action and the joints of a take that is baked again."""
    obj, database = hero.obj, hero.database

    def build_request_steps(uid, database, settings):
        yield "Performing", 0.0
        parts = take_actions.read_parts(take)
        return take_actions.BakeRequest("Again", parts, beside=take.name)

    request = run_steps(build_request_steps(0, database, None))
    made = run_steps(take_actions.perform_steps(database, demo_settings(), request.parts))
    action, _ = run_steps(take_actions.prepare_takes_steps(obj, request, made, database))()
    actions.assign(obj, action)
    return action, play(obj, range(1, int(action.frame_range[1]) + 1))


@pytest.mark.slow
@pytest.mark.parametrize("lead_back", [0.0, 2.0])
def test_a_take_with_several_parts_is_baked_again_without_a_seam(lead_back):
    hero, limit = Hero(), get_limit()
    take = record_take(hero, 200)
    settings = hero.obj.motion_matching.play
    for mode, frame in (("append", 1), ("overwrite", 90)):
        settings.mode, settings.lead_back = mode, lead_back
        bpy.context.scene.frame_set(frame)
        steer(hero, 7)
        hero.run(20)
        record(hero, 60)
        host.end()
    new = play(hero.obj, range(1, 261))
    action, again = bake_again(hero, take)
    assert len(again) == len(new) == 260
    assert measure_accelerations(again, FPS).max() < limit
    hips = NAMES.index("Hips")
    # it goes the same way, but for feet, which are planted by a bake, and hips that come down to them
    np.testing.assert_allclose(again[:150, hips, :2], new[:150, hips, :2], atol=0.02)
    fall = new[:150, hips, 2] - again[:150, hips, 2]
    assert fall.min() > -0.02
    assert fall.max() < 0.05
    assert np.linalg.norm(again[-1, hips] - new[-1, hips]) < 0.3
    # and the same when it is baked once more
    _, once_more = bake_again(hero, action)
    np.testing.assert_allclose(once_more, again, atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("root", ["OBJECT", "HIPS"])
def test_nothing_turns_the_long_way_around_between_two_frames_of_a_seam(root):
    hero = create_hero(root)
    record_take(hero, 300)
    for seed, frame in ((7, 60), (8, 100), (11, 140), (10, 180)):
        bpy.context.scene.frame_set(frame)
        hero.obj.motion_matching.play.mode = "overwrite"
        steer(hero, seed)
        hero.run(20)
        record(hero, 20)
        host.end()
    whole, half = play(hero.obj, range(50, 260)), play(hero.obj, np.arange(50, 259) + 0.5)
    middle = 0.5 * (whole[1:] + whole[:-1])
    off = np.linalg.norm(half - middle, axis=-1)
    assert off.max() < 0.05


def test_a_session_starts_from_what_the_nla_plays():
    hero = create_hero()
    take, data = record_take(hero), hero.obj.animation_data
    strip = data.nla_tracks.new().strips.new(take.name, 21, take)
    data.action = None
    assert strip.frame_start == 21
    before = play(hero.obj, range(57, 61))
    live = steer(hero, 5)
    seen = [get_bone_matrices(hero.obj)[:, :3, 3]]
    np.testing.assert_allclose(seen[0], before[-1], atol=1e-3)
    for _ in range(6):
        hero.run(1)
        live.session.writer.show(live.session._frame.pose)
        seen.append(get_bone_matrices(hero.obj)[:, :3, 3])
    joints = np.concatenate([before[:-1], seen])
    assert measure_accelerations(joints, FPS).max() < get_limit()
    host.end()
    np.testing.assert_allclose(play(hero.obj, range(57, 61)), before, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("fps", [30, 24])
def test_recordings_along_the_timeline_have_no_seams(fps):
    hero = create_hero(timeline=True)
    scene, limit, step = bpy.context.scene, get_limit(), fps / FPS
    scene.render.fps = fps
    settings = hero.obj.motion_matching.play
    scene.frame_set(10)
    live = steer(hero, 2)
    hero.run(20)

    def along(mode, begin, count):
        settings.mode = mode
        scene.frame_set(begin)
        live.toggle_recording()
        first = scene.frame_current
        hero.play(*range(first + 1, first + count + 1))
        live.toggle_recording()

    along("new", 10, 120)
    take = hero.obj.animation_data.action
    end = float(take.frame_range[1])
    along("append", 3, 80)
    along("overwrite", 60, 40)
    host.end()
    assert hero.obj.animation_data.action == take
    for frame in (end, 60 + step, 100):
        assert measure_seam(hero, frame, step=step) < limit, frame
