"""The simulation object alone, and what steers it: devices, a curve, a target or a recording."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.app.controller import features as feature_list
from motion_matching.app.insight import data_insight
from motion_matching.app.live import host, leaders, performing, steering
from motion_matching.app.runtime import runtime
from motion_matching.app.takes import recordings
from motion_matching.engine.control import rollout
from motion_matching.engine.control.method import Ideal
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.control.trajectory import SimulationObject
from motion_matching.engine.errors import MotionMatchingError
from motion_matching.engine.ground.ground import Box, Boxes
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance import performance, scripts
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.settings import (
    DISPLACEMENTS,
    Coupling,
    PerformerSettings,
    Steering,
)
from motion_matching.live import recovery
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.writing import recording
from motion_matching.ui.play import drawing as play_drawing
from tests.demo import demo_settings, load_demo
from tests.live.hero import Hero
from tests.live.stage import FPS, make_performer


@pytest.mark.parametrize("displacement", DISPLACEMENTS)
@pytest.mark.parametrize("ground", [Boxes(()), Boxes((Box((0.0, -2.0), (6.0, 0.5), 0.3),))])
def test_without_data_only_the_simulation_object_moves(displacement: str, ground: Boxes) -> None:
    settings = PerformerSettings(
        coupling=Coupling(displacement=displacement),
        steering=Steering(velocity_halflife=0.2, rotation_halflife=0.35),
    )
    wanted = scripts.build_script(
        "random", 12.0, 30.0, settings.steering.walk, settings.steering.run, seed=4
    )
    alone = SimulationObject(settings.steering, ground)
    places = []
    for intent in wanted.intents:
        alone.steer(intent, 1 / 30)
        alone.step(1 / 30)
        places.append((alone.x, alone.y, alone.yaw))
    take = rollout.solve(Performer(Ideal(30.0), settings, ground), wanted)
    np.testing.assert_allclose(take.simulation, places, atol=1e-9)
    turns = np.unwrap(take.character[:, 2])
    np.testing.assert_allclose(take.character[:, :2], take.simulation[:, :2], atol=1e-6)
    np.testing.assert_allclose(turns, np.unwrap(take.simulation[:, 2]), atol=1e-6)
    np.testing.assert_allclose(take.poses[:, :2, 0], take.simulation[:, :2], atol=1e-5)
    assert np.linalg.norm(np.diff(take.simulation[:, :2], axis=0), axis=1).max() * 30 > 1.0


def test_the_speed_follows_a_spring_with_its_halflife() -> None:
    """The speed approaches the desired one as a critically damped spring."""
    settings = PerformerSettings(steering=Steering(velocity_halflife=0.3))
    performer = Performer(Ideal(240.0), settings)
    wanted = scripts.build_script(
        "square", 3.9, 240.0, settings.steering.walk, settings.steering.run
    )
    speeds = (
        np.linalg.norm(np.diff(rollout.solve(performer, wanted).character[:, :2], axis=0), axis=1)
        * 240.0
    )
    begun = speeds[240:]
    assert begun[-1] == pytest.approx(settings.steering.walk.forward, rel=0.02)
    # the spring has covered 1 - (1 + y t) exp(-y t) of its way at t, with y = 2 ln(2) / halflife
    y = 2.0 * np.log(2.0) / 0.3
    t = (np.arange(len(begun)) + 0.5) / 240.0
    np.testing.assert_allclose(
        begun, settings.steering.walk.forward * (1 - (1 + y * t) * np.exp(-y * t)), atol=0.03
    )


ops = bpy.ops


class SteeringHero(Hero):
    def start(self):
        self.keyboard = Keyboard()
        self.live = performing.start_tuning(self.obj, self.keyboard, (), self.now)
        return self.live


def find_marker():
    return bpy.data.objects.get("Steered Path")


def test_the_simulation_object_is_steered_without_a_database() -> None:
    hero = SteeringHero(show_text=True)
    obj, controller = hero.obj, hero.obj.motion_matching.controller
    obj.location, obj.rotation_euler = (2.0, 1.0, 0.0), (0.0, 0.0, 0.5)
    with actions.create_action("Own", obj) as own:
        actions.write_channel(own, "scale", np.array([1.0]), np.ones((3, 1)), "Object")
    bpy.context.view_layer.update()
    controller.walk = (1.2, 1.0, 0.9)
    before = [np.array(bone.matrix_basis) for bone in obj.pose.bones], obj.matrix_world.copy()
    assert not obj.motion_matching.sources, "there is no motion at all"
    live = hero.start()
    at = find_marker()
    assert np.allclose(at.location, (2.0, 1.0, 0.0), atol=1e-6)
    assert abs(at.rotation_euler.z - 0.5) < 1e-6
    hero.keyboard.handle("W", "PRESS")
    hero.run(120)
    assert abs(np.hypot(*live.session.velocity) - 1.2) < 0.02, "the speed that is set"
    assert np.allclose(find_marker().location.xy, live.session._frame.character[:2], atol=0.05)
    colors = [line.color for line in runtime.get_cache(play_drawing.HudCache).snapshot.lines]
    assert colors == ["desired"] * 3, colors  # path, ring and arrow
    assert "1.20 m/s" in runtime.get_cache(play_drawing.HudCache).snapshot.texts[0], (
        runtime.get_cache(play_drawing.HudCache).snapshot.texts
    )
    ring = np.array(runtime.get_cache(play_drawing.HudCache).snapshot.lines[1].points)[:, :2].mean(
        axis=0
    )
    assert np.linalg.norm(ring - live.session._frame.simulation_object[:2]) < 0.02

    # a change acts at once
    controller.walk = (2.0, 1.0, 0.9)
    hero.run(120)
    assert abs(np.hypot(*live.session.velocity) - 2.0) < 0.02

    # the character stays unchanged, and so does the scene without a recording
    names = {o.name for o in bpy.data.objects}
    host.end()
    assert find_marker() is None
    assert runtime.live is None
    assert not play_drawing.overlay.is_on
    assert {o.name for o in bpy.data.objects} == names - {"Steered Path"}
    assert obj.animation_data.action == own
    assert obj.matrix_world == before[1]
    assert all(
        np.array_equal(np.array(bone.matrix_basis), m)
        for bone, m in zip(obj.pose.bones, before[0], strict=False)
    )


def test_a_steered_path_is_saved_and_steers_again(tmp_path: Path) -> None:
    hero = SteeringHero()
    obj, scene = hero.obj, bpy.context.scene
    controller, play = obj.motion_matching.controller, obj.motion_matching.play
    controller.velocity_halflife, controller.displacement = 0.4, "synchronize"
    scene.frame_set(11)
    live = hero.start()
    hero.run(20)
    hero.keyboard.handle("W", "PRESS")
    live.toggle_recording()
    places = []
    for tick in range(200):
        if tick == 90:
            hero.keyboard.handle("D", "PRESS")
        hero.run(1)
        places.append(live.session._frame.simulation_object)
    host.end()
    path, places = find_marker(), np.array(places)
    action = path.animation_data.action
    assert action.name == "Steered Path"
    assert np.allclose(action.frame_range, (11, 210))
    assert not obj.motion_matching.takes
    assert not (obj.animation_data and obj.animation_data.action)
    for frame in (11, 100, 210):
        scene.frame_set(frame)
        assert np.allclose(
            [*path.location.xy, path.rotation_euler.z], places[frame - 11], atol=1e-4
        ), frame
    assert live.takes == ["Steered Path"]

    # coverage can be compared with the steered path
    insight_shown = obj.motion_matching.insight
    insight_shown.beside, insight_shown.recording = "recording", action
    [track] = data_insight._get_reference_tracks(obj, load_demo())[0]
    np.testing.assert_allclose(track, places, atol=1e-6)

    # after reopening, the path steers from its start with its recorded settings: the object alone,
    # and a character
    ops.wm.save_as_mainfile(filepath=str(tmp_path / "path.blend"))
    ops.wm.open_mainfile(filepath=str(tmp_path / "path.blend"))
    hero.obj = bpy.data.objects["Hero"]
    play = hero.obj.motion_matching.play
    hero.obj.motion_matching.controller.velocity_halflife = 0.1
    play.steer, play.take = "take", bpy.data.actions["Steered Path"]
    live = hero.start()
    hero.run(1)  # starts the clock
    again = []
    for _ in range(200):
        hero.run(1)
        again.append(live.session._frame.simulation_object)
    np.testing.assert_allclose(np.array(again), places, atol=1e-9)
    hero.run(3)
    assert runtime.live is None
    assert "Reached the end of the recording" in live.ending

    character = Hero.start(
        hero,
        lambda ground: steering.create_input(play, Keyboard(), (), demo_settings(), FPS, ground),
    )
    settings = character.session.performer.settings
    assert (
        settings.steering.velocity_halflife == np.float32(0.4).round(6)
        or abs(settings.steering.velocity_halflife - 0.4) < 1e-6
    )
    assert settings.coupling.displacement == "synchronize"
    hero.run(1)
    led = []
    for _ in range(200):
        hero.run(1)
        led.append(character.session._frame.character)
    apart = np.linalg.norm(np.array(led)[:, :2] - places[:, :2], axis=1)
    assert np.linalg.norm(places[-1, :2] - places[0, :2]) > 2.0, np.median(apart)
    assert np.median(apart) < 0.8, np.median(apart)
    host.end()


@pytest.mark.slow
def test_a_take_replays_from_its_start_with_any_features() -> None:
    count = len(load_demo().schema.features)
    weights = tuple(1.0 + 0.1 * k for k in range(count))
    chosen = demo_settings().with_changes({"weights": weights})
    hero = Hero(seconds=20.0)
    obj, play = hero.obj, hero.obj.motion_matching.play
    live = hero.start()
    hero.run(200)
    live.session.apply(
        live.session.performer.settings.with_changes({"weights": weights, "velocity_halflife": 0.2})
    )
    live.toggle_recording()
    poses = []
    for _ in range(60):
        hero.run(1)
        poses.append(live.session._frame.pose)
    host.end()
    first = obj.animation_data.action
    play.mode = "append"
    live = hero.start()
    live.toggle_recording()
    hero.run(30)
    host.end()
    assert live.ending == f"Appended 1.0 s to '{first.name}'"
    assert obj.animation_data.action == first
    assert len(recording.read_recorded_parts(first)) == 2
    play.steer, play.take, play.mode = "take", first, "new"

    def lead(settings):
        hero.live = performing.start(
            obj,
            load_demo(),
            MotionMatching(load_demo(), settings),
            settings,
            Keyboard(),
            lambda ground: steering.create_input(play, Keyboard(), (), settings, FPS, ground),
            hero.now,
        )
        hero.now += 7.0  # however long the start takes
        hero.run(1)
        return hero.live

    # it starts like the take, and continues with the appended part
    appended = recording.read_recorded_parts(first)[1]
    later = performance.from_json(appended["performance"], "the take").intents[
        appended["lead_in"] :
    ]
    assert len(later) == 30
    live = lead(chosen)
    for tick, pose in enumerate(poses):
        hero.run(1)
        assert np.array_equal(live.session._frame.pose, pose), tick
    hero.run(30)
    assert tuple(live.session._history.intents[-30:]) == later
    hero.run(1)
    assert runtime.live is None
    assert "Reached the end of the recording" in live.ending

    # its recording is performed again like any other
    live = lead(chosen)
    live.toggle_recording()
    hero.run(60)
    host.end()
    again = obj.animation_data.action
    assert again != first
    [part] = recording.read_recorded_parts(again)
    solved = rollout.solve(make_performer(), performance.from_json(part["performance"], "the take"))
    assert np.array_equal(solved.poses[part["lead_in"] :], np.stack(poses)[:60])

    # recorded weights belong to the recorded features: with other features, the character's own
    # weights stay
    part = recording.read_recorded_parts(first)[0]
    for lost in (1, count - 1):
        kept = performance.from_json(part["performance"], "the take")
        short = {"weights": [0.5] * (count - lost)}
        changed = performance.replace(
            kept, settings={**kept.settings, **short}, changes=((5, short), (220, short))
        )
        del first[recording.PARTS]
        recording.store_performance(
            first, performance.to_json(changed), 1.0, part["ticks"], part["fps"], part["lead_in"]
        )
        live = lead(chosen)
        hero.run(40)
        settings = live.session.performer.settings
        assert settings.search.weights == weights
        assert settings.steering.velocity_halflife == kept.settings["velocity_halflife"]
        assert runtime.live is live, live.messages
        assert not live.messages, live.messages
        host.end()

    # intents recorded before the start are replaced by those after it
    before = performance.Performance("before", FPS, (Intent(gait=0.5),) * 30)
    start, lead_in = 1.0, part["lead_in"]
    scene_rate = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    for frames, overlap in ((200, 0), (20, 30 - round(20 * FPS / scene_rate))):
        recording.store_performance(first, performance.to_json(before), start - frames, 30, FPS)
        wanted = leaders._read_recording(first, None, FPS)[0].intents
        assert [k for k, intent in enumerate(wanted) if intent.gait == 0.5] == list(
            range(lead_in, lead_in + overlap)
        ), frames
        assert len(wanted) == lead_in + part["ticks"]


def test_an_invalid_feature_is_refused_and_the_session_continues() -> None:
    hero = Hero()
    settings = hero.obj.motion_matching
    feature_list.set_features(settings.features, load_demo().schema.to_dict(), "of the data")
    live = hero.start()
    live.toggle_recording()
    hero.run(30)
    item = next(item for item in settings.features.items if item.kind.startswith("trajectory"))
    for name, wrong in (("times", "soon"), ("weight", 0.0)):
        live.messages.clear()
        items = [item] if name == "times" else settings.features.items
        right = [getattr(each, name) for each in items]
        for each in items:
            setattr(each, name, wrong)
        settings.controller.velocity_halflife += 0.05
        before = live.session.performer.settings
        hero.run(30)
        assert runtime.live is live
        assert live.session.is_recording
        assert len(live.messages) == 1, live.messages
        assert repr(wrong) in live.messages[0] or "above zero" in live.messages[0], live.messages
        assert live.session.performer.settings == before, "refused features are not in use"
        for each, value in zip(items, right, strict=False):
            setattr(each, name, value)
        settings.controller.velocity_halflife += 0.05
        hero.run(30)
        now = live.session.performer.settings
        assert abs(now.steering.velocity_halflife - settings.controller.velocity_halflife) < 1e-5
        assert len(live.messages) == 1
    host.end()
    [take] = settings.takes
    assert take.action.frame_range[1] == 150


def test_no_ending_of_steering_alone_leaves_partial_state(tmp_path: Path) -> None:
    def start_recording():
        hero = SteeringHero()
        ops.ed.undo_push(message="the hero")
        ops.ed.undo_push(message="something else")
        live = hero.start()
        hero.keyboard.handle("W", "PRESS")
        hero.run(5)
        live.toggle_recording()
        hero.run(40)
        return hero, live

    for end, words, stays in (
        (lambda _: ops.ed.undo(), "Undo", True),
        (lambda _: bpy.data.objects.remove(find_marker()), "Steered Path", False),
        (lambda hero: bpy.data.objects.remove(hero.obj), "Hero", True),
        (lambda _: ops.wm.read_homefile(use_empty=True), "file", False),
        (lambda _: ops.wm.save_as_mainfile(filepath=str(tmp_path / "path.blend")), "saved", True),
        (lambda _: setattr(bpy.context.window, "scene", bpy.data.scenes.new("B")), "scene", True),
    ):
        hero, live = start_recording()
        end(hero)
        hero.run(3)
        assert runtime.live is None, live.ending
        assert words in live.ending, live.ending
        assert not live.session.is_running
        assert not play_drawing.overlay.is_on
        assert (find_marker() is not None) == stays, words
        if stays:
            assert find_marker().animation_data.action.name == "Steered Path"
        expected = {"Steered Path": FPS, "file": 40}.get(
            words
        )  # recovered from the disk, without the last second
        assert len(runtime.interrupted) == bool(expected), (words, runtime.interrupted)
        if expected:
            ops.wm.read_homefile(use_empty=True)
            assert ops.motion_matching.recover_take() == {"FINISHED"}
            assert find_marker().animation_data.action.frame_range[1] == expected, words
            assert not runtime.interrupted


def test_an_interrupted_steered_path_is_recovered(tmp_path: Path) -> None:
    hero = SteeringHero()
    bpy.context.scene.frame_set(11)
    ops.wm.save_as_mainfile(filepath=str(tmp_path / "path.blend"))
    live = hero.start()
    hero.run(20)
    hero.keyboard.handle("W", "PRESS")
    live.toggle_recording()
    places = []
    for _ in range(100):
        hero.run(1)
        places.append(live.session._frame.simulation_object)
    ops.wm.read_homefile(use_empty=True)
    assert "You can recover the recording" in runtime.end_message
    assert runtime.interrupted
    [path] = runtime.interrupted
    assert recovery.read_origin(path) == ("Steered Path", str(tmp_path / "path.blend"), True)

    # the recovered empty moves like the lost one and has its performance, in any file and without
    # the character
    assert ops.motion_matching.recover_take() == {"FINISHED"}
    assert not runtime.interrupted
    assert not path.exists()
    lost = find_marker()
    assert lost.type == "EMPTY"
    assert lost.users_scene
    assert lost.animation_data.action.frame_range[:] == (11, 110)
    for frame in (11, 60, 110):
        bpy.context.scene.frame_set(frame)
        assert np.allclose(
            [*lost.location.xy, lost.rotation_euler.z], places[frame - 11], atol=1e-4
        ), frame
    assert recording.has_performance(lost.animation_data.action)

    # a path recorded in another file is ignored
    (own := SteeringHero()).start()
    own.live.toggle_recording()
    own.run(60)
    ops.wm.open_mainfile(filepath=str(tmp_path / "path.blend"))
    [unsaved] = runtime.interrupted
    hero.obj = bpy.data.objects["Hero"]
    Hero.start(hero).toggle_recording()
    hero.run(50)
    ops.wm.open_mainfile(filepath=str(tmp_path / "path.blend"))
    assert len(runtime.interrupted) == 2
    unsaved = unsaved.rename(unsaved.with_name("2999-01-01 10-00-00 000000" + unsaved.suffix))
    recordings.refresh()
    assert ops.motion_matching.recover_take() == {"FINISHED"}
    assert runtime.interrupted == (unsaved,)
    assert len(bpy.data.objects["Hero"].motion_matching.takes) == 1
    assert not find_marker()


@pytest.mark.slow
def test_curves_and_targets_steer() -> None:
    hero = Hero(steer="curve")
    obj, play = hero.obj, hero.obj.motion_matching.play

    def start_steering():
        keyboard = Keyboard()
        hero.live = performing.start(
            obj,
            load_demo(),
            make_method(),
            demo_settings(),
            keyboard,
            lambda ground: steering.create_input(play, keyboard, (), demo_settings(), FPS, ground),
            hero.now,
        )
        return keyboard

    def make_method():
        from motion_matching.engine.matching.method import MotionMatching

        return MotionMatching(load_demo(), demo_settings())

    # a missing choice is reported, and nothing starts
    for steer, word in (("curve", "curve"), ("target", "object"), ("take", "recording")):
        play.steer = steer
        with pytest.raises(MotionMatchingError) as caught:
            start_steering()
        assert word in str(caught.value), caught.value
        assert "choose" in str(caught.value), caught.value
        assert runtime.live is None
        assert not obj.animation_data

    data = bpy.data.curves.new("Way", "CURVE")
    spline = data.splines.new("POLY")
    spline.points.add(2)
    for point, place in zip(spline.points, ((1, 0), (1, -4), (4, -6)), strict=False):
        point.co = (*place, 0.0, 1.0)
    way = bpy.data.objects.new("Way", data)
    bpy.context.scene.collection.objects.link(way)
    bpy.context.view_layer.update()
    play.steer, play.curve, play.gait = "curve", way, "walk"
    keyboard = start_steering()
    places = []
    keyboard.handle("S", "PRESS")  # movement keys do not act
    for _ in range(round(4 * FPS)):
        hero.run(1)
        places.append(hero.live.session._frame.character[:2])
    assert np.allclose(places[0], (1.0, 0.0), atol=0.1)
    along = np.array(places)[np.array(places)[:, 1] > -3.0]
    assert np.abs(along[:, 0] - 1.0).max() < 0.3
    assert min(y for _, y in places) < -3.0
    keyboard.handle("SPACE", "PRESS")  # other keys still record
    hero.run(30)
    assert hero.live.session.is_recording
    host.end()
    assert len(obj.motion_matching.takes) == 1

    goal = bpy.data.objects.new("Goal", None)
    goal.location = (-2.0, 2.0, 0.0)
    bpy.context.scene.collection.objects.link(goal)
    bpy.context.view_layer.update()
    play.steer, play.target = "target", goal
    start_steering()
    hero.run(round(7 * FPS))
    here = hero.live.session._frame.simulation_object
    assert np.hypot(here.x + 2.0, here.y - 2.0) < 0.1, here
    goal.location.x = 2.0
    bpy.context.view_layer.update()
    hero.run(round(6 * FPS))
    here = hero.live.session._frame.simulation_object
    assert np.hypot(here.x - 2.0, here.y - 2.0) < 0.1, here
    host.end()
