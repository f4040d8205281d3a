"""A baked action evaluates to the clip, and the rest of the file does not change."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import bpy
import numpy as np

from motion_matching.engine.motion.clip import resample
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.rig.armature import compute_standing_rest, create_armature
from motion_matching.scene.writing.bake import bake, clear_noise
from tests.scene.keys import read_channels
from tests.scene.motions import assert_moves_like, make_random_clip


def test_evaluated_action_equals_clip_with_six_channels_per_bone() -> None:
    for seed in range(3):
        clip = make_random_clip(seed)
        obj = create_armature(clip.skeleton, "Any")
        bake(clip, obj, name="Any", frame_start=-3)
        assert_moves_like(obj, clip, clip.skeleton, -3 + np.arange(clip.frame_count))


def test_evaluated_action_equals_clip_on_another_rest_pose() -> None:
    clip = make_random_clip(4)
    skeleton = compute_standing_rest(clip)
    obj = create_armature(skeleton, "Standing")
    bake(replace(clip, skeleton=skeleton), obj, name="Standing")
    assert_moves_like(obj, clip, skeleton, 1 + np.arange(clip.frame_count))


def test_evaluated_action_equals_clip_at_another_frame_rate(scene) -> None:
    clip = make_random_clip(5, fps=50.0)
    obj = create_armature(clip.skeleton, "Any")
    scene.render.fps, scene.render.fps_base = 24, 1.001
    action = bake(clip, obj, name="Any", frame_start=10)
    wanted = resample(clip, 24 / 1.001)
    assert 18 < wanted.frame_count < 20
    for keys in read_channels(action).values():
        assert list(keys[:, 0]) == list(range(10, 10 + wanted.frame_count))
    assert_moves_like(obj, wanted, clip.skeleton, 10 + np.arange(wanted.frame_count))

    # a rate that differs only by the rounding of fps_base has keys on whole frames
    scene.render.fps, scene.render.fps_base = 30, 30 / 29.97
    action = bake(replace(clip, fps=29.97), obj, name="Film")
    for keys in read_channels(action).values():
        np.testing.assert_array_equal(keys[:, 0], 1 + np.arange(clip.frame_count))


def test_only_moving_or_offset_channels_get_keys() -> None:
    clip = make_random_clip(6, moving=(0, 3))
    positions = clip.positions.copy()
    positions[:, 7] += [0.0, 0.0, 0.5]  # constant, but not at rest
    clip = replace(clip, positions=positions)
    obj = create_armature(clip.skeleton, "Any")
    names = clip.skeleton.names
    obj.pose.bones[names[9]].location = (1, 2, 3)  # would stay without a key
    action = bake(clip, obj, name="Any")
    channels = read_channels(action)
    path = {name: f'pose.bones["{bpy.utils.escape_identifier(name)}"]' for name in names}
    for bone, name in enumerate(names):
        turn = np.stack(
            [channels[path[name] + ".rotation_quaternion", i][:, 1] for i in range(4)], axis=-1
        )
        assert len(turn) == clip.frame_count
        assert np.all(np.sum(turn[1:] * turn[:-1], axis=-1) >= 0), (
            "quaternions jump to the other hemisphere"
        )
        counts = [
            len(channels[path[name] + ".location", i])
            for i in range(3)
            if (path[name] + ".location", i) in channels
        ]
        assert counts == {0: [40] * 3, 3: [40] * 3, 7: [1] * 3, 9: [1] * 3}.get(bone, []), (
            bone,
            counts,
        )
    bag = actions.get_channelbag(action)
    assert {curve.group.name for curve in bag.fcurves} == set(names)
    assert all(
        key.interpolation == "LINEAR" for curve in bag.fcurves for key in curve.keyframe_points
    )
    assert_moves_like(obj, clip, clip.skeleton, 1 + np.arange(clip.frame_count))
    if bpy.app.version >= (4, 4, 0):
        assert [slot.name_display for slot in action.slots] == ["Slot"]
        assert obj.animation_data.action_slot == action.slots[0]


def test_rounding_noise_of_small_values_is_not_written() -> None:
    """Values that differ by their last bits become the same, and large ones stay as they are."""
    values = np.geomspace(1e-12, 1e-4, 200, dtype=np.float32)
    other = np.nextafter(values, np.float32(1.0))
    near = np.isclose(values / 2.0**-30 % 1.0, 0.5, atol=1e-3)  # half way, where rounding decides
    np.testing.assert_array_equal(clear_noise(values)[~near], clear_noise(other)[~near])
    assert (values != other).all()
    large = np.linspace(-2.0, 2.0, 999, dtype=np.float32)
    np.testing.assert_allclose(clear_noise(large), large, atol=2.0**-31)
    assert not np.signbit(clear_noise(np.array([-1e-12, -0.0]))).any()


def test_a_bake_keeps_actions_frame_mode_and_selection(tmp_path, scene) -> None:
    first, second = make_random_clip(7), make_random_clip(8)
    obj = create_armature(first.skeleton, "Any")
    mine = bake(first, obj, name="Mine")
    before = read_channels(mine)
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="POSE")
    scene.frame_set(17)
    rate = scene.render.fps, scene.render.fps_base

    new = bake(replace(second, skeleton=first.skeleton), obj, name="Mine")
    assert new != mine
    assert new.name != mine.name
    assert obj.animation_data.action == new
    after = read_channels(mine)
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[key], after[key]) for key in before)
    assert (scene.frame_current, bpy.context.mode, obj.select_get()) == (17, "POSE", True)
    assert (scene.render.fps, scene.render.fps_base) == rate

    # the previously assigned action survives saving and reopening
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "kept.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "kept.blend"))
    assert {"Mine", "Mine.001"} <= set(bpy.data.actions.keys())


def test_a_failed_bake_leaves_nothing(monkeypatch) -> None:
    clip = make_random_clip(9)
    obj = create_armature(clip.skeleton, "Any")

    def break_block():
        try:
            with actions.create_action("Broken", obj) as action:
                actions.write_channel(action, "location", np.arange(3), np.zeros((3, 3)), "Object")
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass

    break_block()
    assert obj.animation_data is None
    assert not bpy.data.actions
    mine = bake(clip, obj, name="Mine")
    slot = obj.animation_data.action_slot if bpy.app.version >= (4, 4, 0) else None
    break_block()
    assert obj.animation_data.action == mine
    assert list(bpy.data.actions) == [mine]
    if slot:
        assert obj.animation_data.action_slot == slot

    write, calls = actions.write_channel, []

    def fail(*arguments):
        calls.append(arguments)
        if len(calls) == 20:
            raise MemoryError
        write(*arguments)

    monkeypatch.setattr(actions, "write_channel", fail)
    with contextlib.suppress(MemoryError):
        bake(clip, obj, name="Broken")
    assert len(calls) == 20
    assert obj.animation_data.action == mine
    assert list(bpy.data.actions) == [mine]
    if slot:
        assert obj.animation_data.action_slot == slot
