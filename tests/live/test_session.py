"""A session plays the same ticks as a baked take, interpolates between them, and leaves nothing
behind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import bpy
import numpy as np
import pytest

from motion_matching.engine.control import rollout
from motion_matching.engine.control.performer import Placement
from motion_matching.engine.errors import MotionMatchingError, RigError
from motion_matching.engine.maths.rotations import quat
from motion_matching.live.inputs.base import Input, Start
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.devices.steering import SteeringInput
from motion_matching.live.inputs.leaders.replay import ReplayInput
from motion_matching.live.recorder import RecordingPlan
from motion_matching.live.session import Session, interpolate_poses
from motion_matching.scene.rig.root_target import RootTarget
from motion_matching.scene.writing.bake import bake
from motion_matching.scene.writing.pose_writer import PoseWriter
from tests.demo import demo_settings, load_demo
from tests.live.stage import FPS, Stage, build_performance, get_bone_matrices, make_performer
from tests.scene.bodies import create_person
from tests.scene.rigs import assert_same, read_state


def test_a_session_makes_the_ticks_of_a_baked_take() -> None:
    performance = replace(
        build_performance(),
        position=(2.0, -1.0),
        facing=0.7,
        settings={"synchronization": 0.5},
        changes=(
            (40, {"velocity_halflife": 0.1}),
            (90, {"walk": {"forward": 1.0, "side": 1.0, "back": 0.8}}),
        ),
    )
    take = rollout.solve(make_performer(), performance)
    stage = Stage(ReplayInput(performance, FPS))
    reports = stage.run(len(performance.intents))
    assert all(report.ticks == 1 for report in reports)
    assert np.stack([report.frame.pose for report in reports]).tobytes() == take.poses.tobytes()
    assert reports[-1].is_finished
    assert not reports[-2].is_finished
    stage.session.stop()

    # frames of any length give the same ticks in the same order
    rng = np.random.default_rng(0)
    stage, count = Stage(ReplayInput(performance, FPS)), 0
    while True:
        stage.now += rng.exponential(0.03)
        report = stage.session.tick(stage.now)
        count += report.ticks
        if count > len(take.poses):
            break
        assert not report.ticks or np.array_equal(report.frame.pose, take.poses[count - 1])
    stage.session.stop()


def test_poses_between_ticks_are_interpolated() -> None:
    stage = Stage()
    poses = [report.frame.pose for report in stage.run(30)]
    first, second = poses[-2:]
    for fraction in (0.0, 0.25, 0.5, 0.9):
        report = stage.session.tick(stage.now + fraction / FPS)
        assert report.ticks == 0
        here = get_bone_matrices(stage.obj)
        stage.writer.show(interpolate_poses(first, second, fraction))
        np.testing.assert_allclose(here, get_bone_matrices(stage.obj), atol=1e-5)
        mixed = interpolate_poses(first, second, fraction)
        np.testing.assert_allclose(
            mixed[:3], first[:3] + fraction * (second[:3] - first[:3]), atol=1e-6
        )
        np.testing.assert_allclose(np.linalg.norm(mixed[3:], axis=0), 1.0, atol=1e-6)
        whole = quat.angle_between(first[3:].T, second[3:].T)
        part = quat.angle_between(first[3:].T, mixed[3:].T)
        np.testing.assert_allclose(part, fraction * whole, atol=2e-3)
    assert np.array_equal(interpolate_poses(first, second, 1.0), second)
    flipped = second.copy()
    flipped[3:] *= -1.0  # the same pose
    np.testing.assert_allclose(
        interpolate_poses(first, flipped, 0.4), interpolate_poses(first, second, 0.4), atol=1e-6
    )
    stage.session.stop()

    # with the timeline, the tick itself is shown
    stage = Stage(follows_timeline=True)
    report = stage.run(20)[-1]
    here = get_bone_matrices(stage.obj)
    stage.writer.show(report.frame.pose)
    np.testing.assert_allclose(here, get_bone_matrices(stage.obj), atol=1e-6)
    stage.session.stop()


def test_a_stall_is_reported_and_a_pause_is_not() -> None:
    stage = Stage()
    stage.run(10)
    stage.now += 20.0
    report = stage.session.tick(stage.now)
    assert report.ticks == 15
    assert abs(report.dropped - 19.5) < 1e-6
    [message] = report.messages
    assert "19.5 s" in message
    assert stage.run(1)[0].messages == ()
    stage.session.stop()


def test_valid_settings_change_at_a_tick_and_invalid_ones_do_not() -> None:
    stage = Stage()
    stage.run(50)
    stage.session.apply(
        demo_settings().with_changes(
            {"velocity_halflife": 0.05, "walk": {"forward": 0.8, "side": 0.8, "back": 0.8}}
        )
    )
    stage.run(50)
    stage.session.apply(
        stage.session.performer.settings.with_changes({"weights": [1.0, 2.0]})
    )  # too few
    assert any("weight" in message for report in stage.run(10) for message in report.messages)
    frames = stage.run(20)
    performance = stage.session._history.build_performance("again")
    assert [tick for tick, _ in performance.changes] == [50]
    take = rollout.solve(make_performer(), performance)
    assert np.array_equal(take.poses[-1], frames[-1].frame.pose)
    stage.session.stop()


def test_keys_steer_relative_to_the_view() -> None:
    keyboard = Keyboard()
    stage = Stage(SteeringInput(keyboard))
    keyboard.handle("W", "PRESS")

    def steer(ticks, heading):
        for _ in range(ticks):
            stage.now += 1.0 / FPS
            report = stage.session.tick(stage.now, heading)
        return report.frame.character

    first = steer(90, 0.0)
    assert first.y < -1.5
    assert abs(first.x) < 0.5
    second = steer(90, np.pi / 2)  # the view has been turned
    assert second.x - first.x > 1.0
    keyboard.handle("SPACE", "PRESS")
    stage.now += 1.0 / FPS
    assert stage.session.tick(stage.now).commands == ("record",)
    stage.session.stop()
    keyboard.handle("W", "PRESS")
    stage.session.stop()

    # it starts where the armature stands, and walks the way it faces
    obj = create_person("Elsewhere")
    obj.location, obj.rotation_euler = (5.0, 6.0, 0.0), (0.0, 0.0, 1.2)
    bpy.context.view_layer.update()
    for root in (RootTarget.OBJECT, RootTarget.HIPS, RootTarget.IN_PLACE):
        stage = Stage(SteeringInput(keyboard), obj=obj, root=root)
        character = stage.session.tick(stage.now).frame.character
        assert np.allclose(character, (5.0, 6.0, 1.2), atol=1e-5), character
        stage.session.stop()


def test_a_session_leaves_nothing_behind() -> None:
    obj = create_person()
    bake_of = rollout.solve(make_performer(), build_performance(seconds=3.0)).to_clip()
    bake(bake_of, obj, name="Mine", hips="Hips")
    obj.pose.bones["Head"].rotation_quaternion = (0.8, 0.2, 0.5, 0.1)
    bpy.context.view_layer.update()
    before = read_state(obj)
    stage = Stage(obj=obj)
    stage.run(20)
    stage.session.stop()
    assert_same(before, read_state(obj))
    assert not stage.session.is_running
    stage.session.stop()
    assert_same(before, read_state(obj))

    stage.session.start(stage.now)
    stage.run(5)
    stage.session.record(RecordingPlan("Forgotten", 1.0, 1.0))
    stage.run(40)
    stage.session.discard_recording()
    stage.run(5)
    stage.session.stop()
    assert_same(before, read_state(obj))

    # a failed start changes nothing
    class Refused(Input):
        closed = 0
        start = Start(Placement(0.0, 0.0, 0.0), {"no such setting": 1})

        def close(self):
            self.closed += 1

    refused = Refused()
    session = Session(make_performer(), refused, PoseWriter(obj, load_demo().skeleton, hips="Hips"))
    with pytest.raises(MotionMatchingError) as caught:
        session.start(0.0)
    assert "no such setting" in str(caught.value)
    assert refused.closed == 1
    assert not session.is_running
    assert_same(before, read_state(obj))


def test_deleting_the_armature_ends_the_session() -> None:
    def check_ends(change, **options):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        stage = Stage(**options)
        stage.run(10)
        change(stage)
        try:
            stage.run(1)
        except RigError as error:
            print(error)
        else:
            raise AssertionError(change)
        stage.session.stop()
        stage.session.stop()

    def enter_edit_mode(stage):
        bpy.context.view_layer.objects.active = stage.obj
        bpy.ops.object.mode_set(mode="EDIT")

    check_ends(lambda stage: bpy.data.objects.remove(stage.obj))
    check_ends(lambda stage: bpy.ops.wm.read_homefile(use_empty=True))
    check_ends(enter_edit_mode)

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    stage = Stage()
    stage.run(5)
    stage.obj.name = "Renamed"
    stage.run(5)
    stage.session.stop()


@pytest.mark.slow
def test_a_session_loads_scipy_and_sdl_only_when_needed(
    run_in_blender: Callable[..., str],
) -> None:
    run_in_blender("""
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("scipy", "sdl2"):
            raise ImportError(name + " must not be loaded here")
sys.meta_path.insert(0, Blocked())
from motion_matching.live import recovery, session
from motion_matching.live.inputs.leaders import path, replay, target
from motion_matching.live.inputs.devices import steering
""")
