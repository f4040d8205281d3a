"""Keys in every rotation mode, fewer keys, locked channels and the NLA all evaluate to the promised
motion.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace

import bpy
import numpy as np
import pytest

from motion_matching.engine.errors import RigError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import resample
from motion_matching.engine.skeleton.skeleton import Skeleton
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.blender.transforms.rotation_modes import (
    from_mode,
    get_rotation_property,
    to_mode,
)
from motion_matching.scene.rig.armature import create_armature
from motion_matching.scene.rig.root_target import RootTarget
from motion_matching.scene.writing.bake import bake
from tests.scene.bodies import (
    compute_expected_bones,
    create_person,
    evaluate_bones,
    get_rest_matrices,
    make_walk,
    place_armature,
)
from tests.scene.keys import read_channels
from tests.scene.motions import assert_moves_like, make_random_clip

MODES = ("QUATERNION", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE")
SLOTS = bpy.app.version >= (4, 4, 0)


def read_rotation_keys(action, bone, mode):
    channels = read_channels(action)
    path = f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{get_rotation_property(mode)}'
    return np.stack([channels[path, i][:, 1] for i in range(4 if mode in MODES[::7] else 3)])


def read_keys(action):
    return {key: value.tobytes() for key, value in read_channels(action).items()}


def test_any_pose_is_exact_in_every_rotation_mode() -> None:
    for seed, mode in enumerate(MODES):  # random poses
        clip = make_random_clip(seed)
        obj = create_armature(clip.skeleton, "Any")
        for bone in obj.pose.bones:
            bone.rotation_mode = mode
        bake(clip, obj, name="Any")
        assert_moves_like(obj, clip, clip.skeleton, 1 + np.arange(clip.frame_count))
        for bone in obj.pose.bones:
            bone.rotation_mode = MODES[(seed + len(bone.name)) % 8]
        bake(clip, obj, name="Mixed")
        assert_moves_like(obj, clip, clip.skeleton, 1 + np.arange(clip.frame_count))


def test_angle_curves_do_not_flip() -> None:
    # three turns about each axis of the order, and a tumble that avoids gimbal lock
    time = np.linspace(0.0, 1.0, 200)
    Skeleton(
        ("Bone",), np.array([-1]), np.zeros((1, 3), np.float32), np.eye(4, dtype=np.float32)[:1]
    )
    for mode in MODES[1:]:
        for axis in range(3):
            for sign in (-1.0, 1.0):
                turn = quat.from_scaled_angle_axis(
                    sign * 6 * np.pi * time[:, None] * np.eye(3)[axis]
                )
                values = to_mode(turn.T, mode)
                assert np.abs(np.diff(values, axis=-1)).max() < 0.11, (mode, axis)
                assert quat.angle_between(from_mode(values, mode), turn).max() < 1e-6
    for mode in MODES[1:7]:
        angles = np.stack(
            [8 * np.sin(5 * time), 0.4 + 0.9 * np.sin(7 * time), 9 * time * np.cos(2 * time)]
        )
        order = ["XYZ".index(axis) for axis in mode]
        wanted = np.empty_like(angles)
        wanted[order] = angles  # the middle axis of the mode stays clear of a quarter turn
        found = to_mode(from_mode(wanted, mode).T, mode)
        np.testing.assert_allclose(np.diff(found, axis=-1), np.diff(wanted, axis=-1), atol=1e-9)
        # through gimbal lock and out: no step is larger than when passing it at some distance
        wanted[order[1]] = np.linspace(0.0, np.pi, 200)
        wanted[order[0]], wanted[order[2]] = 0.5, 0.2
        found = to_mode(from_mode(wanted, mode).T, mode)
        assert np.abs(np.diff(found, axis=-1)).max() < 0.02, mode
    # through zero rotation: the axis stays, the angle changes its sign
    turn = quat.from_scaled_angle_axis(np.linspace(-1, 1, 201)[:, None] * [0.0, 0.6, 0.8])
    values = to_mode(turn.T, "AXIS_ANGLE")
    assert np.abs(np.diff(values, axis=-1)).max() < 0.011
    still = np.repeat(quat.IDENTITY[:, None], 5, axis=1)
    for mode in MODES:
        np.testing.assert_allclose(from_mode(to_mode(still, mode), mode), still.T, atol=1e-9)


def test_angles_are_the_smaller_ones_over_the_whole_curve() -> None:
    # begins beyond a quarter turn about the middle axis, where the other angles could be half turns
    turns = np.stack([np.linspace(2.0, 0.1, 60), np.full(60, 0.02), np.full(60, -0.01)])
    for mode in MODES[1:7]:
        wanted = np.empty_like(turns)
        wanted[["XYZ".index(axis) for axis in mode[1] + mode[0] + mode[2]]] = turns
        found = to_mode(from_mode(wanted, mode).T, mode)
        np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_locked_channels_get_no_keys(scene) -> None:
    take = make_walk()
    obj = create_person()
    pose = obj.pose.bones
    for bone in pose:
        bone.lock_location = (True, True, True)
    pose["Hips"].lock_location = (False, False, False)
    pose["Head"].lock_rotation = (True, True, True)  # W alone does not rotate
    pose["Neck"].rotation_mode = "XYZ"
    pose["Neck"].lock_rotation = (False, True, False)
    pose["LeftHand"].lock_rotation = (True, False, True)  # a quaternion is keyed as a whole
    pose["RightHand"].scale = (2.0, 1.0, 1.0)
    action = bake(take, obj, name="Take")
    paths = {
        (path.split('"')[1] if '"' in path else "", path.split(".")[-1], i)
        for path, i in read_channels(action)
    }
    assert {bone for bone, prop, _ in paths if prop == "location"} == {"", "Hips"}
    assert not any(bone == "Head" for bone, _, _ in paths)
    assert {i for bone, _, i in paths if bone == "Neck"} == {0, 2}
    assert {i for bone, _, i in paths if bone == "LeftHand"} == {0, 1, 2, 3}
    assert {bone for bone, prop, _ in paths if prop == "scale"} == {"RightHand"}
    scene.frame_set(7)
    assert tuple(pose["RightHand"].scale) == (1.0, 1.0, 1.0)


@pytest.mark.slow
def test_fewer_keys_keep_every_bone_within_the_tolerance(scene) -> None:
    def read_heads_and_tails(obj, frames):
        result = []
        for frame in frames:
            scene.frame_set(int(frame))
            found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
            result.append(
                [
                    found.matrix_world @ point
                    for bone in found.pose.bones
                    for point in (bone.head, bone.tail)
                ]
            )
        return np.array(result)

    def check(clip, obj, distance, **options):
        frames = 1 + np.arange(clip.frame_count)
        full = bake(clip, obj, name="Full", **options)
        want = read_heads_and_tails(obj, frames)
        few = bake(clip, obj, name="Few", fewer_keys=distance, **options)
        off = np.linalg.norm(read_heads_and_tails(obj, frames) - want, axis=-1).max()
        assert off <= distance * 1.001 + 1e-5, (off, distance)
        count = [sum(map(len, read_channels(action).values())) for action in (full, few)]
        few_keys = read_channels(few)
        assert all(np.all(keys[:, 0] == np.round(keys[:, 0])) for keys in few_keys.values())
        assert all(keys[0, 0] == 1 and keys[-1, 0] in (1, frames[-1]) for keys in few_keys.values())
        return off / distance, count[1] / count[0]

    take = make_walk(90)
    for options in ({}, {"root": RootTarget.HIPS}, {"root": RootTarget.IN_PLACE}):
        shares = []
        for distance in (0.001, 0.005, 0.02):
            obj = create_person()
            place_armature(obj, y_up=True, scale=0.01, turn=2.0, location=(5, 5, 0))
            used, share = check(take, obj, distance, **options)
            shares.append(share)
            assert used > 0.3, (used, distance)  # it uses the tolerance
        assert shares[0] > shares[1] > shares[2], shares
        assert shares[1] < 0.7, shares
        assert shares[2] < 0.4, shares
    for seed, mode in enumerate(MODES):  # the worst case stays within the tolerance too
        clip = resample(make_random_clip(seed, frames=6), 240.0)
        scene.render.fps = 240
        obj = create_armature(clip.skeleton, "Any")
        for bone in obj.pose.bones:
            bone.rotation_mode = mode
        check(clip, obj, 0.02)
    still = replace(
        take,
        positions=np.repeat(take.positions[:1], 9, axis=0),
        rotations=np.repeat(take.rotations[:1], 9, axis=0),
    )
    action = bake(still, create_person(), name="Still", fewer_keys=0.001)
    assert all(len(keys) == 1 for keys in read_channels(action).values())
    for count in (1, 2):
        bake(take.crop(0, count), create_person(), name="Short", fewer_keys=0.001)


def test_a_take_can_go_onto_an_nla_track(tmp_path, monkeypatch) -> None:
    take = make_walk()
    names = take.skeleton.names[1:]
    frames = 20 + np.arange(take.frame_count)
    obj = create_person()
    place_armature(obj, y_up=True, scale=0.01)
    rests = get_rest_matrices(obj, names)
    before = bake(
        replace(take, rotations=take.rotations[::-1].copy()),
        obj,
        name="Before",
        root=RootTarget.HIPS,
    )
    keys = read_keys(before)
    data = obj.animation_data

    low = data.nla_tracks.new()  # a track below moves channels that rest in the take
    low.name = "Low"
    lower = bpy.data.actions.new("Lower")
    slot = actions.ensure_slot(lower)
    actions.write_channel(
        lower,
        'pose.bones["LeftHand"].location',
        np.array([1, 90]),
        np.array([[5.0, 9], [1, 2], [3, 4]]),
        "x",
    )
    actions.write_channel(
        lower, 'pose.bones["LeftHand"].scale', np.array([1, 90]), np.full((3, 2), 3.0), "x"
    )
    actions._put_on_track(data, lower, slot, "Low", 1)

    action = bake(take, obj, name="Take", frame_start=20, track="Performance")
    track = data.nla_tracks[-1]
    strip = track.strips[0]
    assert (track.name, strip.name, strip.action, strip.frame_start) == (
        "Performance",
        "Take",
        action,
        20,
    )
    assert strip.frame_end == frames[-1]
    assert not data.use_tweak_mode
    assert data.action is None
    assert before.use_fake_user
    assert read_keys(before) == keys
    if SLOTS:
        assert strip.action_slot == action.slots[0]
        assert action.slots[0].name_display == "Slot"
    np.testing.assert_allclose(
        evaluate_bones(obj, names, frames), compute_expected_bones(take, rests), atol=1e-4
    )

    # the active action continues to play if requested
    actions.set_action(data, before, before.slots[0] if SLOTS else None)
    bake(take, obj, name="Other", frame_start=20, track="Other", keep_active=True)
    assert data.action == before
    assert data.nla_tracks[-1].name == "Other"
    data.action = None
    np.testing.assert_allclose(
        evaluate_bones(obj, names, frames), compute_expected_bones(take, rests), atol=1e-4
    )

    # an error leaves no track and no action, and keeps the active action
    actions.set_action(data, before, before.slots[0] if SLOTS else None)
    there = set(bpy.data.actions), [t.name for t in data.nla_tracks]
    try:
        with actions.create_action("Broken", obj, track="Broken", frame_start=5):
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    put = actions._put_on_track

    def fail(*arguments):
        put(*arguments)
        raise MemoryError

    monkeypatch.setattr(actions, "_put_on_track", fail)
    with contextlib.suppress(MemoryError):
        bake(take, obj, name="Broken", track="Broken")
    monkeypatch.setattr(actions, "_put_on_track", put)
    assert there == (set(bpy.data.actions), [t.name for t in data.nla_tracks])
    assert data.action == before
    if SLOTS:
        assert data.action_slot == before.slots[0]

    # in tweak mode nothing changes
    data.action = None
    data.nla_tracks.active = track
    strip.select = True
    data.use_tweak_mode = True
    assert data.use_tweak_mode
    for options in ({}, {"track": "New"}):
        with pytest.raises(RigError) as caught:
            bake(take, obj, name="Broken", **options)
        assert "tweak" in str(caught.value)
    assert data.use_tweak_mode
    assert there == (
        set(bpy.data.actions),
        [t.name for t in data.nla_tracks],
    )
    data.use_tweak_mode = False

    bake(take.crop(0, 1), create_person("Single"), name="Single", track="Single")
    # a strip survives saving and reopening
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "nla.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "nla.blend"))
    strip = bpy.data.objects["Person"].animation_data.nla_tracks["Performance"].strips[0]
    assert strip.action == bpy.data.actions["Take"]
    if SLOTS:
        assert strip.action_slot == strip.action.slots[0]
