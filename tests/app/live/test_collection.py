"""Drive and record one bone collection; all other bones keep their own animation."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.app.live import host
from motion_matching.app.runtime import runtime
from motion_matching.app.takes import take_actions as baking
from motion_matching.engine.errors import MotionMatchingError
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.writing import recording
from tests.demo import demo_settings, load_demo
from tests.live.hero import Hero, add_bone_collection
from tests.live.stage import get_bone_matrices
from tests.scene.keys import read_channels
from tests.steps import run_steps

LEGS = [f"{side}{part}" for side in ("Left", "Right") for part in ("UpLeg", "Leg", "Foot", "Toe")]
head, spine, leg = (
    f'pose.bones["{bone}"].rotation_quaternion' for bone in ("Head", "Spine", LEGS[0])
)


def create_hero(*bones, **play):
    # its own action nods, lifts a leg and moves the object
    hero = Hero(collection="Driven", **play)
    missing = [bone for bone in bones if bone not in hero.obj.data.bones]
    assert not missing, (missing, hero.obj.data.bones.keys())
    add_bone_collection(hero.obj, "Driven", *bones)
    angle = np.linspace(0.0, 1.0, 11)
    turn = np.stack([np.cos(angle / 2), np.sin(angle / 2), 0 * angle, 0 * angle])
    frames = 1.0 + 10.0 * np.arange(11)
    with actions.create_action("Own", hero.obj) as own:
        actions.write_channel(own, head, frames, turn, "Head")
        actions.write_channel(own, leg, frames, turn, LEGS[0])
        actions.write_channel(
            own, "location", frames, np.stack([angle, 0 * angle, 0 * angle]), "Object"
        )
    own.frame_start, own.frame_end, own.use_frame_range = 1, 101, True
    bpy.context.scene.frame_set(30)
    return hero, own


def get_head_angle(obj):
    return obj.pose.bones["Head"].rotation_quaternion.angle


def read_first_channels(action):
    return {path: keys for (path, index), keys in read_channels(action).items() if index == 0}


def get_basis_matrices(obj, *names):
    return np.array([np.array(obj.pose.bones[name].matrix_basis) for name in names])


@pytest.mark.slow
@pytest.mark.parametrize("part", ["legs", "trunk"])
def test_a_take_of_a_collection_bakes_again_for_its_bones_only(part: str) -> None:
    BONES = {"legs": ("Hips", *LEGS), "trunk": ("Spine", "Head")}[part]
    hero, own = create_hero(*BONES)
    obj, settings = hero.obj, hero.obj.motion_matching
    hero.start()
    hero.run(20)
    hero.live.toggle_recording()
    hero.run(60)
    host.end()
    take = obj.animation_data.action
    [recorded] = recording.read_recorded_parts(take)
    assert recorded["collection"] == "Driven"
    keys = read_first_channels(take)

    # a constraint on an undriven bone does not matter
    obj.pose.bones["Neck"].constraints.new("COPY_ROTATION")
    assert "Neck" not in BONES

    def bake_again():
        request = baking.BakeRequest(take.name, baking.read_parts(take), beside=take.name)
        takes = [perform(one) for one in request.parts]
        return run_steps(baking.prepare_takes_steps(obj, request, takes, load_demo()))()[0]

    def perform(one):
        from motion_matching.engine.takes import takes

        return takes.perform(load_demo(), demo_settings(), one.performance).crop(one.lead_in)

    for fewer, nla in ((0.0, False), (0.01, False), (0.0, True)):
        settings.fewer_keys, settings.use_nla = fewer, nla
        again = read_first_channels(action := bake_again())
        assert action != take
        assert again.keys() <= keys.keys() | {path.replace("rotation", "scale") for path in keys}
        for path in keys:
            bone = path.split('"')[1] if '"' in path else ""
            if bone in BONES or (not bone and "Hips" in BONES):
                continue
            assert np.array_equal(again[path], keys[path]), path
        moved = f'pose.bones["{BONES[0]}"].rotation_quaternion'
        assert len(again[moved]) > 2
        assert not np.array_equal(again[moved], read_first_channels(own).get(moved))
        assert {path.split('"')[1] for path in again if '"' in path} <= {"Head", LEGS[0], *BONES}
        assert np.array_equal(again["location"], read_first_channels(own)["location"]) == (
            "Hips" not in BONES
        )
        [recorded] = recording.read_recorded_parts(action)
        assert recorded["collection"] == "Driven"
        recording.remove_take(obj, action)

    obj.data.collections_all["Driven"].name = "Other"
    with pytest.raises(MotionMatchingError) as caught:
        bake_again()
    assert "'Driven'" in str(caught.value), caught.value
    assert "collection" in str(caught.value), caught.value


def test_undriven_bones_keep_their_animation_live_and_in_the_take() -> None:
    hero, own = create_hero("Hips", *LEGS)
    obj, before = hero.obj, {path: keys.copy() for path, keys in read_first_channels(own).items()}
    here = obj.location.copy()
    hero.start()
    hero.run(130)
    assert obj.animation_data.action == own
    assert abs(get_head_angle(obj) - 0.29) < 1e-3
    rest = [bone.name for bone in obj.pose.bones if bone.name not in ("Hips", "Head", *LEGS)]
    assert np.allclose(get_basis_matrices(obj, *rest), np.eye(4), atol=1e-6), (
        "other bones were moved"
    )
    assert (obj.location - here).length > 0.5, "driven hips also drive the object"

    # undriven bones follow the timeline, driven ones stay
    legs, place = get_basis_matrices(obj, "Hips", *LEGS), obj.matrix_world.copy()
    bpy.context.scene.frame_set(60)
    assert abs(get_head_angle(obj) - 0.59) < 1e-3
    np.testing.assert_allclose(get_basis_matrices(obj, "Hips", *LEGS), legs, atol=1e-6)
    np.testing.assert_allclose(obj.matrix_world, place, atol=1e-5)

    # they do so while recording, from the first key to the last
    bpy.context.scene.frame_set(19)
    obj.motion_matching.play.timeline = True
    hero.live.toggle_recording()
    seen = []
    for frame in range(20, 60):
        seen += hero.play(frame)
        assert abs(get_head_angle(obj) - (frame - 1) / 100) < 1e-3, frame
    hero.live.toggle_recording()
    hero.run(5)
    [take] = [listed.action for listed in obj.motion_matching.takes]
    host.end()

    # the take has keys for the driven bones, and those of its own action for the rest; its own
    # action is unchanged
    keys = read_first_channels(take)
    assert {path.split('"')[1] for path in keys if '"' in path} == {"Head", "Hips", *LEGS}, (
        keys.keys()
    )
    assert np.array_equal(keys[head], before[head])
    assert len(keys[leg]) == 40 == len(keys["location"])
    assert obj.animation_data.action == take
    assert not take.use_frame_range
    assert all(np.array_equal(now, before[path]) for path, now in read_first_channels(own).items())
    assert read_first_channels(own).keys() == before.keys()
    for frame in (20, 33, 59):
        bpy.context.scene.frame_set(frame)
        np.testing.assert_allclose(
            get_bone_matrices(obj), seen[frame - 20], atol=2e-4, err_msg=str(frame)
        )

    # recorded again, the take still has one part
    obj.motion_matching.play.timeline = False
    hero.start()
    hero.live.toggle_recording()
    hero.run(20)
    host.end()
    again = obj.animation_data.action
    assert again != take
    assert (
        len(recording.read_recorded_parts(again)) == len(recording.read_recorded_parts(take)) == 1
    )
    assert np.array_equal(read_first_channels(again)[head], before[head])
    assert len(read_first_channels(again)[leg]) == 20


def test_a_collection_without_hips_leaves_the_character_in_place() -> None:
    hero, own = create_hero("Spine", "Head")
    obj = hero.obj
    hero.start()
    hero.run(40)
    assert get_head_angle(obj) != 0.29
    assert not np.allclose(get_basis_matrices(obj, "Spine"), np.eye(4), atol=1e-3)
    assert abs(obj.location.x - 0.29) < 1e-3
    assert obj.location.y == 0.0, "the undriven body stays in place"
    assert abs(obj.pose.bones[LEGS[0]].rotation_quaternion.angle - 0.29) < 1e-3
    hero.live.toggle_recording()
    hero.run(30)
    hero.live.session.discard_recording()
    assert obj.animation_data.action == own
    assert [action.name for action in bpy.data.actions] == ["Own"]
    bpy.context.scene.frame_set(70)
    assert abs(obj.pose.bones[LEGS[0]].rotation_quaternion.angle - 0.69) < 1e-3
    host.end()
    assert obj.animation_data.action == own
    assert abs(get_head_angle(obj) - 0.69) < 1e-3
    assert not own.use_fake_user


def test_rerecording_a_collection_keeps_the_rest_of_the_take() -> None:
    # record the spine and head again over a take of all bones
    hero, _own = create_hero("Spine", "Head")
    hero.obj.motion_matching.play.collection = ""
    obj, play = hero.obj, hero.obj.motion_matching.play
    hero.start()
    hero.live.toggle_recording()
    hero.run(60)
    host.end()
    take = obj.animation_data.action
    before = read_first_channels(take)
    play.collection, play.mode = "Driven", "overwrite"
    bpy.context.scene.frame_set(40)
    hero.start()
    hero.run(25)
    hero.live.toggle_recording()
    hero.run(20)
    host.end()
    assert obj.animation_data.action == take
    after = read_first_channels(take)
    assert not np.array_equal(after[spine], before[spine])
    for path in before:
        if '"Spine"' not in path and '"Head"' not in path:
            assert np.array_equal(after[path], before[path]), path


def test_an_interrupted_collection_recording_recovers_all_bones() -> None:
    # an undo ends the recording; the recovered take also has the animation of the other bones
    hero, own = create_hero("Hips", *LEGS)
    bpy.ops.ed.undo_push(message="the hero")
    bpy.ops.ed.undo_push(message="something else")
    hero.start()
    hero.live.toggle_recording()
    hero.run(50)
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Hero"]
    take, own = obj.animation_data.action, bpy.data.actions["Own"]
    assert take.name == "Recovered Standing"
    assert np.array_equal(read_first_channels(take)[head], read_first_channels(own)[head])
    assert len(read_first_channels(take)[leg]) == 50

    # an unknown collection
    hero, own = create_hero("Hips")
    hero.obj.motion_matching.play.collection = "Wings"
    with pytest.raises(MotionMatchingError) as caught:
        hero.start()
    assert "'Wings'" in str(caught.value)
    assert runtime.live is None
    assert hero.obj.animation_data.action == own


def test_nla_strips_of_undriven_bones_play_on() -> None:
    # the other bones may play NLA strips, which continue beside the take
    hero, own = create_hero("Hips", *LEGS)
    obj = hero.obj
    track = obj.animation_data.nla_tracks.new()
    strip = track.strips.new("Own", 1, own)
    if hasattr(strip, "action_slot"):
        strip.action_slot = own.slots[0]
    obj.animation_data.action = None
    bpy.context.scene.frame_set(31)
    hero.start()
    hero.run(10)
    assert abs(get_head_angle(obj) - 0.30) < 1e-3
    hero.live.toggle_recording()
    hero.run(30)
    bpy.context.scene.frame_set(41)
    assert abs(get_head_angle(obj) - 0.40) < 1e-3
    host.end()
    take = obj.animation_data.action
    assert head not in read_first_channels(take)
    assert len(read_first_channels(take)[leg]) == 30
    bpy.context.scene.frame_set(51)
    assert abs(get_head_angle(obj) - 0.50) < 1e-3
