"""Recordings become keys that equal the ticks, and takes that store how they were made."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.engine.control import rollout
from motion_matching.engine.errors import RigError
from motion_matching.engine.performance import performance
from motion_matching.live.inputs.leaders.replay import ReplayInput
from motion_matching.live.recorder import SEGMENT, RecordingPlan
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.rig.root_target import RootTarget
from motion_matching.scene.writing import recording
from motion_matching.scene.writing.channel_writer import Track
from motion_matching.scene.writing.pose_writer import PoseWriter
from motion_matching.scene.writing.recording import RecordedTicks, write_take
from tests.demo import demo_settings, load_demo
from tests.live.stage import FPS, Stage, build_performance, get_bone_matrices, make_performer
from tests.scene.bodies import create_person
from tests.scene.keys import read_channels

STEP = 24.0 / FPS


def record(stage, ticks, **plan):
    stage.session.record(
        RecordingPlan(**({"name": "Take", "frame": 10.0, "frame_step": STEP} | plan))
    )
    poses = [report.frame.pose for report in stage.run(ticks)]
    before = get_bone_matrices(stage.obj)
    name = stage.session.stop_recording()
    np.testing.assert_allclose(
        get_bone_matrices(stage.obj), before, atol=1e-6
    )  # the session continues from its current pose
    return np.stack(poses), bpy.data.actions[name]


def read_curve(action, path, index):
    return read_channels(action)[path, index]


@pytest.mark.slow
def test_keys_equal_the_ticks_in_every_rotation_mode() -> None:
    scene = bpy.context.scene

    modes = ("QUATERNION", "XYZ", "AXIS_ANGLE", "ZYX")
    for root in (RootTarget.OBJECT, RootTarget.HIPS):
        obj = create_person()
        for number, bone in enumerate(obj.pose.bones):
            bone.rotation_mode = modes[number % 4]
        obj.pose.bones["Head"].scale = (1.0, 2.0, 1.0)
        stage = Stage(obj=obj, root=root)
        stage.run(17)
        before = stage.writer.at_rest
        poses, action = record(stage, 400)
        frames = 10.0 + STEP * np.arange(400)
        rows = []
        for pose in poses:
            before = stage.writer.compute_channels(pose, before)
            rows.append(before.astype(np.float32))
        keyed, rows = read_channels(action), np.stack(rows)
        for track in stage.writer.tracks:
            for component in track.free:
                values = rows[:, track.start + component]
                if (track.path, component) not in keyed:
                    assert track.optional
                    assert np.abs(values).max() <= 1e-6
                    continue
                keys = keyed[track.path, component]
                if len(keys) == 1:
                    assert np.ptp(values) <= 1e-6
                else:  # exactly one key per tick
                    assert np.array_equal(
                        keys, np.column_stack([frames, values]).astype(np.float32)
                    ), track.path
        stage.session.stop()
        assert obj.animation_data.action == action
        for tick in (0, 1, 133, 399):  # Blender plays the ticks
            frame = frames[tick]
            scene.frame_set(int(frame), subframe=frame - int(frame))
            played = get_bone_matrices(obj)
            twin = create_person("Twin")
            writer = PoseWriter(twin, load_demo().skeleton, hips="Hips", root=root)
            writer.show(poses[tick])
            np.testing.assert_allclose(played, get_bone_matrices(twin), atol=2e-4)
            bpy.data.objects.remove(twin)
        bpy.data.objects.remove(obj)


SLOW = {"forward": 1.0, "side": 0.8, "back": 0.8}  # m/s, between the speeds of the clips


@pytest.mark.parametrize("changes", [{"synchronization": 0.6}, {"tempo": 15.0, "walk": SLOW}])
def test_a_take_is_performed_again_to_the_byte(tmp_path: Path, changes: dict) -> None:
    stage = Stage(
        ReplayInput(build_performance("figure_eight"), FPS), walls=(((-1.5, -1.75), (1.5, -1.75)),)
    )
    stage.run(40)
    stage.session.apply(demo_settings().with_changes(changes))
    poses, _action = record(stage, 120)
    stage.session.stop()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "take.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "take.blend"))
    [part] = recording.read_recorded_parts(bpy.data.actions["Take"])
    assert (part["ticks"], part["lead_in"], part["frame"], part["fps"]) == (120, 40, 10.0, FPS)
    again = performance.from_json(part["performance"], "the take")
    take = rollout.solve(make_performer(again.ground), again)
    assert take.blocked[part["lead_in"] :].any()
    assert take.poses[part["lead_in"] :].tobytes() == poses.tobytes()
    assert np.ptp(take.rates) > 0.05 or "tempo" not in changes


@pytest.mark.slow
def test_keys_appear_while_recording_and_flushes_stay_small() -> None:
    stage = Stage(ReplayInput(build_performance(seconds=40.0), FPS))
    shown_keys, touched = [], []
    stage.session.record(RecordingPlan("Take", 1.0, STEP))
    recorder = stage.session._recorder
    real = recorder.flush
    recorder.flush = lambda: touched.append(real()) or touched[-1]
    spine = 'pose.bones["Spine"].rotation_quaternion'
    for _tick in range(round(32 * FPS)):
        [_report] = stage.run(1)
        action = stage.obj.animation_data.action
        assert action.name == "Take"
        keys = read_curve(action, spine, 1)
        shown_keys.append(len(keys))
        if len(keys):
            assert recorder.count - keys[-1, 0] / STEP < 0.3 * FPS + 2 or len(keys) < 10
        # the session's pose is shown, not the keys'
        here = get_bone_matrices(stage.obj)
        stage.session.show_again()
        np.testing.assert_allclose(here, get_bone_matrices(stage.obj), atol=1e-6)
    shown_keys, touched = np.array(shown_keys), np.array(touched)
    second = round(FPS)
    grown = np.diff(shown_keys)
    assert all(
        (grown[start : start + second] > 0).sum() >= 3 for start in range(0, 8 * second, second)
    )  # a few times a second
    curves = sum(len(track.free) for track in stage.writer.tracks)
    # however much was recorded before, a flush changes only its part of one segment
    assert touched.max() <= np.ceil(curves / 4 + 8) * SEGMENT * FPS, touched.max()
    assert touched[-10 * second :].max() <= 1.05 * touched[: 11 * second].max()
    assert shown_keys.max() <= SEGMENT * FPS <= 20 * FPS
    name = stage.session.stop_recording()
    assert len(read_curve(bpy.data.actions[name], spine, 1)) == 32 * FPS
    assert [a.name for a in bpy.data.actions] == ["Take"]
    stage.session.stop()


def test_recordings_make_extend_or_overwrite_takes() -> None:
    scene = bpy.context.scene

    stage = Stage()
    stage.run(10)
    _first, action = record(stage, 100, frame=1.0, frame_step=1.0)
    path = 'pose.bones["Spine"].rotation_quaternion'
    before = read_curve(action, path, 1)
    assert len(before) == 100

    # a key that the user shaped outside the new range keeps its shape
    found = next(
        c
        for c in actions.get_channelbag(action).fcurves
        if c.data_path == path and c.array_index == 1
    )
    found.keyframe_points[5].interpolation = "BEZIER"
    found.keyframe_points[5].handle_right_type = "FREE"
    found.keyframe_points[5].handle_right = (6.5, 0.7)

    second, same = record(stage, 30, frame=40.0, frame_step=1.0, mode="overwrite")
    assert same == action
    assert same.name == "Take"
    assert stage.obj.animation_data.action == action
    after = read_curve(action, path, 1)
    assert np.array_equal(after[:39], before[:39])
    assert np.array_equal(after[69:], before[69:])
    assert len(after) == 100
    assert not np.array_equal(after[39:69], before[39:69])
    found = next(
        c
        for c in actions.get_channelbag(action).fcurves
        if c.data_path == path and c.array_index == 1
    )
    key = found.keyframe_points[5]
    assert key.interpolation == "BEZIER"
    assert np.allclose(key.handle_right, (6.5, 0.7))

    third, same = record(stage, 50, frame=3.0, frame_step=1.0, mode="append")
    assert same == action
    assert np.allclose(action.frame_range, (1.0, 150.0))
    assert np.array_equal(read_curve(action, path, 1)[:100], after)

    _fourth, other = record(stage, 20, mode="new")
    assert other != action
    assert other.name == "Take.001"
    assert [part["ticks"] for part in recording.read_recorded_parts(action)] == [100, 30, 50]
    assert [part["frame"] for part in recording.read_recorded_parts(action)] == [1.0, 40.0, 101.0]
    stage.session.stop()
    assert stage.obj.animation_data.action == other
    assert action.use_fake_user

    for poses, start, take in ((second, 40, action), (third, 101, action)):
        actions.assign(stage.obj, take)
        for tick in (0, len(poses) - 1):
            scene.frame_set(start + tick)
            played = get_bone_matrices(stage.obj)
            twin = create_person("Twin")
            PoseWriter(twin, load_demo().skeleton, hips="Hips").show(poses[tick])
            np.testing.assert_allclose(played, get_bone_matrices(twin), atol=1e-4)
            bpy.data.objects.remove(twin)

    # an action that is no recording belongs to the user
    with actions.create_action("Mine", stage.obj) as mine:
        actions.write_channel(mine, "location", np.arange(5), np.zeros((3, 5)), "Object")
    stage.session.start(0.0)
    with pytest.raises(RigError) as caught:
        stage.session.record(RecordingPlan("Take", 1.0, 1.0, mode="overwrite"))
    assert "'Mine'" in str(caught.value)
    assert not stage.session.is_recording
    stage.session.stop()
    assert stage.obj.animation_data.action == mine


def test_recording_over_part_of_a_take_keeps_the_rest() -> None:
    scene = bpy.context.scene

    # a constant channel that moves in the new part keeps its value before and after it
    obj = create_person()
    path, other = 'pose.bones["Head"].location', 'pose.bones["Head"].rotation_euler'

    def make_ticks(start, rows, *tracks):
        text = performance.to_json(
            performance.Performance("x", FPS, build_performance().intents[: len(rows)])
        )
        frames = start + np.arange(len(rows), dtype=float)
        return RecordedTicks("Take", tracks, [], frames, np.array(rows, np.float32), FPS, 0, text)

    rests = (0.0,) * 3
    location, euler = (
        Track(path, "Head", 0, (0, 1, 2), rests, True),
        Track(other, "Head", 3, (0, 1, 2), rests),
    )
    still = np.tile([0, 0, 0, 0.5, 0.2, 0.1], (50, 1))
    action = write_take(obj, make_ticks(1.0, still, location, euler))
    base = recording.Handle.from_block(action, "actions")
    assert {p for p, _ in read_channels(action)} == {other}
    moving = still[:10] + np.linspace(0.1, 1.0, 10)[:, None]
    actions.write_channel(
        action, "location", np.array([1.0, 60.0]), np.zeros((3, 2)), "Object"
    )  # the action is longer
    write_take(obj, make_ticks(20.0, moving, location, euler), base)
    head = obj.pose.bones["Head"]
    head.rotation_mode = "XYZ"
    for frame in range(1, 60):
        scene.frame_set(frame)
        inside = 20 <= frame < 30
        where = moving[frame - 20] if inside else still[0]
        np.testing.assert_allclose(
            [*head.location, *head.rotation_euler], where, atol=1e-6, err_msg=str(frame)
        )


def test_recording_beyond_a_take_keeps_the_take() -> None:
    scene = bpy.context.scene

    # recording well after a take's end, or well before its start, keeps the motion elsewhere
    obj = create_person()
    head = obj.pose.bones["Head"]
    head.rotation_mode = "XYZ"
    paths = [
        "location",
        "rotation_euler",
        'pose.bones["Head"].location',
        'pose.bones["Head"].rotation_euler',
    ]
    tracks = [
        Track(path, "Person", 3 * n, (0, 1, 2), (0.0,) * 3, n == 2) for n, path in enumerate(paths)
    ]
    text = performance.to_json(performance.Performance("x", FPS, build_performance().intents[:10]))

    def make_ticks(start, rows):
        frames = start + np.arange(len(rows), dtype=float)
        return RecordedTicks("Take", tracks, [], frames, np.array(rows, np.float32), FPS, 0, text)

    def read_values(frame):
        scene.frame_set(frame)
        return [*obj.location, *obj.rotation_euler, *head.location, *head.rotation_euler]

    # moving, constant, at rest without a curve, moving
    rows = np.zeros((20, 12))
    rows[:, 0], rows[:, 4], rows[:, 9] = np.linspace(0.2, 1.0, 20), 0.3, np.linspace(-0.5, 0.5, 20)
    action = write_take(obj, make_ticks(100.0, rows))
    base = recording.Handle.from_block(action, "actions")
    played = {frame: read_values(frame) for frame in range(60, 150)}
    more = np.linspace(0.5, 2.0, 10)[:, None] + 0.05 * np.arange(12)  # within half a turn
    for start in (140, 60):
        write_take(obj, make_ticks(float(start), more), base)
        played |= {start + n: more[n] for n in range(10)}
        for frame in range(60, 150):
            np.testing.assert_allclose(
                read_values(frame), played[frame], atol=1e-5, err_msg=f"{start} {frame}"
            )


def test_recording_with_the_timeline_keys_one_tick_per_frame() -> None:
    scene = bpy.context.scene

    scene.render.fps = round(FPS)
    stage = Stage(follows_timeline=True)
    stage.run(10)
    stage.session.record(RecordingPlan("Take", 1.0, 1.0))
    poses = []
    for frame in range(2, 82):  # as the operator does after each frame change
        scene.frame_set(frame)
        [report] = stage.run(1)
        poses.append(report.frame.pose)
        here = get_bone_matrices(stage.obj)
        stage.writer.show(report.frame.pose)
        np.testing.assert_allclose(here, get_bone_matrices(stage.obj), atol=1e-6)
    stage.session.stop()
    assert np.allclose(stage.obj.animation_data.action.frame_range, (2, 81))
    for frame in (2, 40, 81):
        scene.frame_set(frame)
        played = get_bone_matrices(stage.obj)
        twin = create_person("Twin")
        PoseWriter(twin, load_demo().skeleton, hips="Hips").show(poses[frame - 2])
        np.testing.assert_allclose(played, get_bone_matrices(twin), atol=1e-4)
        bpy.data.objects.remove(twin)
