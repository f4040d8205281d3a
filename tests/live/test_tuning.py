"""The simulation object alone, and what steers: devices, a curve, a target, a recording."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.control import rollout, scripts
from motion_matching.engine.control.ground import Box, Boxes
from motion_matching.engine.control.ideal import Ideal
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.control.settings import DISPLACEMENTS, PerformerSettings
from motion_matching.engine.control.trajectory import SimulationObject


@pytest.mark.parametrize("displacement", DISPLACEMENTS)
@pytest.mark.parametrize("ground", [Boxes(()), Boxes((Box((0.0, -2.0), (6.0, 0.5), 0.3),))])
def test_without_data_a_performer_is_its_simulation_object(
    displacement: str, ground: Boxes
) -> None:
    settings = PerformerSettings(
        displacement=displacement, velocity_halflife=0.2, rotation_halflife=0.35
    )
    wanted = scripts.script("random", 12.0, 30.0, settings.walk, settings.run, seed=4)
    alone = SimulationObject(settings, ground)
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


def test_halflives_are_what_they_are_called() -> None:
    """Released at full speed, half of a step's way is left after its halflife, however it is displaced."""
    settings = PerformerSettings(velocity_halflife=0.3)
    performer = Performer(Ideal(240.0), settings)
    wanted = scripts.script("square", 3.9, 240.0, settings.walk, settings.run)
    speeds = (
        np.linalg.norm(np.diff(rollout.solve(performer, wanted).character[:, :2], axis=0), axis=1)
        * 240.0
    )
    begun = speeds[240:]
    assert begun[-1] == pytest.approx(settings.walk.forward, rel=0.02)
    # a critically damped spring has gone (1 + y t) exp(-y t) of its way at t, with y = 2 ln 2 / halflife
    y = 2.0 * np.log(2.0) / 0.3
    t = (np.arange(len(begun)) + 0.5) / 240.0
    np.testing.assert_allclose(
        begun, settings.walk.forward * (1 - (1 + y * t) * np.exp(-y * t)), atol=0.03
    )


HEAD = """
import sys
from tests.live.hero import *
from motion_matching.engine.control import performance
from motion_matching.live.inputs.keyboard import Keyboard
from motion_matching.scene import recording
from motion_matching.ui import feature_list, hud, insight, recordings, request, steering, tuning
from tests.live.stage import DATABASE, SETTINGS
ops = bpy.ops

class Tuned(Hero):
    def start(self):
        self.keyboard = Keyboard()
        self.live = tuning.start(self.obj, self.keyboard, None, self.now)
        return self.live

def marker():
    return bpy.data.objects.get("Steered Path")
"""

ALONE = (
    HEAD
    + """
hero = Tuned(show_text=True)
obj, controller = hero.obj, hero.obj.motion_matching.controller
obj.location, obj.rotation_euler = (2.0, 1.0, 0.0), (0.0, 0.0, 0.5)
with actions.new_action("Own", obj) as own:
    actions.write_channel(own, "scale", np.array([1.0]), np.ones((3, 1)), "Object")
bpy.context.view_layer.update()
controller.walk = (1.2, 1.0, 0.9)
before = [np.array(bone.matrix_basis) for bone in obj.pose.bones], obj.matrix_world.copy()
assert not obj.motion_matching.sources, "there is no motion at all"
live = hero.start()
at = marker()
assert np.allclose(at.location, (2.0, 1.0, 0.0), atol=1e-6) and abs(at.rotation_euler.z - 0.5) < 1e-6
hero.keyboard.handle("W", "PRESS")
hero.run(120)
assert abs(np.hypot(*live.session.velocity) - 1.2) < 0.02, "the speed that is set"
assert np.allclose(marker().location.xy, live.session._frame.character[:2], atol=0.05)
colors = [line.color for line in hud._shown.lines]
assert colors == ["object_active"] * 3, colors  # path, ring and arrow of the layers
assert "1.20 m/s" in hud._shown.texts[0], hud._shown.texts
ring = np.array(hud._shown.lines[1].points)[:, :2].mean(axis=0)
assert np.linalg.norm(ring - live.session._frame.simulation_object[:2]) < 0.02

# a change is felt at once
controller.walk = (2.0, 1.0, 0.9)
hero.run(120)
assert abs(np.hypot(*live.session.velocity) - 2.0) < 0.02

# the character stays as it was, and so does the scene where nothing is recorded
names = {o.name for o in bpy.data.objects}
performing.end()
assert marker() is None and performing.current is None and not hud.overlay.is_on
assert {o.name for o in bpy.data.objects} == names - {"Steered Path"}
assert obj.animation_data.action == own and obj.matrix_world == before[1]
assert all(np.array_equal(np.array(bone.matrix_basis), m) for bone, m in zip(obj.pose.bones, before[0]))
"""
)

REPEATED = (
    HEAD
    + """
hero = Tuned()
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
performing.end()
path, places = marker(), np.array(places)
action = path.animation_data.action
assert action.name == "Steered Path" and np.allclose(action.frame_range, (11, 210))
assert not obj.motion_matching.takes and not (obj.animation_data and obj.animation_data.action)
for frame in (11, 100, 210):
    scene.frame_set(frame)
    assert np.allclose([*path.location.xy, path.rotation_euler.z], places[frame - 11], atol=1e-4), frame
assert live.takes == ["Steered Path"]

# data can be laid beside where it went
insight_shown = obj.motion_matching.insight
insight_shown.beside, insight_shown.recording = "recording", action
[track] = insight._tracks(obj, DATABASE)[0]
np.testing.assert_allclose(track, places, atol=1e-6)

# saved and opened again, it steers from where it begins: the object alone, and a character, with the settings that it was
# recorded with
ops.wm.save_as_mainfile(filepath=sys.argv[2])
ops.wm.open_mainfile(filepath=sys.argv[2])
hero.obj = bpy.data.objects["Hero"]
play = hero.obj.motion_matching.play
hero.obj.motion_matching.controller.velocity_halflife = 0.1
play.steer, play.take = "take", bpy.data.actions["Steered Path"]
live = hero.start()
hero.run(1)  # it starts the clock
again = []
for tick in range(200):
    hero.run(1)
    again.append(live.session._frame.simulation_object)
np.testing.assert_allclose(np.array(again), places, atol=1e-9)
hero.run(3)
assert performing.current is None and "no more" in live.ending

character = Hero.start(hero, lambda ground: steering.source(play, Keyboard(), None, SETTINGS, FPS, ground))
settings = character.session.performer.settings
assert settings.velocity_halflife == np.float32(0.4).round(6) or abs(settings.velocity_halflife - 0.4) < 1e-6
assert settings.displacement == "synchronize"
hero.run(1)
led = []
for tick in range(200):
    hero.run(1)
    led.append(character.session._frame.character)
apart = np.linalg.norm(np.array(led)[:, :2] - places[:, :2], axis=1)
assert np.linalg.norm(places[-1, :2] - places[0, :2]) > 2.0 and np.median(apart) < 0.8, np.median(apart)
performing.end()
"""
)

ENDED = (
    HEAD
    + """
def tuned():
    hero = Tuned()
    ops.ed.undo_push(message="the hero")
    ops.ed.undo_push(message="something else")
    live = hero.start()
    hero.keyboard.handle("W", "PRESS")
    hero.run(5)
    live.toggle_recording()
    hero.run(40)
    return hero, live

for end, words, stays in (
    (lambda: ops.ed.undo(), "Undo", True), (lambda: bpy.data.objects.remove(marker()), "Steered Path", False),
    (lambda: bpy.data.objects.remove(hero.obj), "Hero", True), (lambda: ops.wm.read_homefile(use_empty=True), "file", False),
    (lambda: ops.wm.save_as_mainfile(filepath=sys.argv[2]), "saved", True),
    (lambda: setattr(bpy.context.window, "scene", bpy.data.scenes.new("Other")), "scene", True),
):
    hero, live = tuned()
    end()
    hero.run(3)
    assert performing.current is None and words in live.ending, live.ending
    assert not live.session.is_running and not hud.overlay.is_on
    assert (marker() is not None) == stays, words
    if stays:
        assert marker().animation_data.action.name == "Steered Path"
    expected = {"Steered Path": FPS, "file": 40}.get(words)  # where there is no place to keep it: all but the last second
    assert len(recordings.left) == bool(expected), (words, recordings.left)
    if expected:
        ops.wm.read_homefile(use_empty=True)
        assert ops.motion_matching.recover_take() == {"FINISHED"}
        assert marker().animation_data.action.frame_range[1] == expected, words
        assert not recordings.left
"""
)

RECOVERED = (
    HEAD
    + """
from motion_matching.live import recovery
hero = Tuned()
bpy.context.scene.frame_set(11)
ops.wm.save_as_mainfile(filepath=sys.argv[2])
live = hero.start()
hero.run(20)
hero.keyboard.handle("W", "PRESS")
live.toggle_recording()
places = []
for _ in range(100):
    hero.run(1)
    places.append(live.session._frame.simulation_object)
ops.wm.read_homefile(use_empty=True)
assert "can be recovered" in performing.last_words and recordings.left
[path] = recordings.left
assert recovery.origin_of(path) == ("Steered Path", sys.argv[2], True)

# an empty that moves as the one that was lost, with its performance, in whatever file; the character is not needed
assert ops.motion_matching.recover_take() == {"FINISHED"} and not recordings.left and not path.exists()
lost = marker()
assert lost.type == "EMPTY" and lost.users_scene and lost.animation_data.action.frame_range[:] == (11, 110)
for frame in (11, 60, 110):
    bpy.context.scene.frame_set(frame)
    assert np.allclose([*lost.location.xy, lost.rotation_euler.z], places[frame - 11], atol=1e-4), frame
assert recording.knows_performance(lost.animation_data.action)

# a path that was recorded in another file is in nobody's way
(own := Tuned()).start()
own.live.toggle_recording()
own.run(60)
ops.wm.open_mainfile(filepath=sys.argv[2])
[unsaved] = recordings.left
hero.obj = bpy.data.objects["Hero"]
Hero.start(hero).toggle_recording()
hero.run(50)
ops.wm.open_mainfile(filepath=sys.argv[2])
assert len(recordings.left) == 2
unsaved = unsaved.rename(unsaved.with_name("2999-01-01 10-00-00 000000" + unsaved.suffix))
recordings.look()
assert ops.motion_matching.recover_take() == {"FINISHED"}
assert recordings.left == (unsaved,) and len(bpy.data.objects["Hero"].motion_matching.takes) == 1 and not marker()
"""
)

LEADERS = (
    HEAD
    + """
hero = Hero(steer="curve")
obj, play = hero.obj, hero.obj.motion_matching.play

def steered():
    keyboard = Keyboard()
    hero.live = performing.start(obj, DATABASE, performing_method(), SETTINGS, keyboard, lambda ground: steering.source(
        play, keyboard, None, SETTINGS, FPS, ground), hero.now)
    return keyboard

def performing_method():
    from motion_matching.engine.matching.method import MotionMatching
    return MotionMatching(DATABASE, SETTINGS)

# what is not chosen is asked for, and nothing has begun
for steer, word in (("curve", "curve"), ("target", "object"), ("take", "recording")):
    play.steer = steer
    try:
        steered()
    except Exception as error:
        assert word in str(error) and "choose" in str(error), error
    else:
        raise AssertionError
    assert performing.current is None and not obj.animation_data

data = bpy.data.curves.new("Way", "CURVE")
spline = data.splines.new("POLY")
spline.points.add(2)
for point, place in zip(spline.points, ((1, 0), (1, -4), (4, -6))):
    point.co = (*place, 0.0, 1.0)
way = bpy.data.objects.new("Way", data)
bpy.context.scene.collection.objects.link(way)
bpy.context.view_layer.update()
play.steer, play.curve, play.gait = "curve", way, "walk"
keyboard = steered()
places = []
keyboard.handle("S", "PRESS")  # keys steer nobody meanwhile
for _ in range(round(4 * FPS)):
    hero.run(1)
    places.append(hero.live.session._frame.character[:2])
assert np.allclose(places[0], (1.0, 0.0), atol=0.1)
along = np.array(places)[np.array(places)[:, 1] > -3.0]
assert np.abs(along[:, 0] - 1.0).max() < 0.3 and min(y for _, y in places) < -3.0
keyboard.handle("SPACE", "PRESS")  # and still record
hero.run(30)
assert hero.live.session.is_recording
performing.end()
assert len(obj.motion_matching.takes) == 1

goal = bpy.data.objects.new("Goal", None)
goal.location = (-2.0, 2.0, 0.0)
bpy.context.scene.collection.objects.link(goal)
bpy.context.view_layer.update()
play.steer, play.target = "target", goal
steered()
hero.run(round(7 * FPS))
here = hero.live.session._frame.simulation_object
assert np.hypot(here.x + 2.0, here.y - 2.0) < 0.1, here
goal.location.x = 2.0
bpy.context.view_layer.update()
hero.run(round(6 * FPS))
here = hero.live.session._frame.simulation_object
assert np.hypot(here.x - 2.0, here.y - 2.0) < 0.1, here
performing.end()
"""
)

REFUSED = (
    HEAD
    + """
hero = Hero()
settings = hero.obj.motion_matching
feature_list.set_features(settings.features, DATABASE.schema.to_dict(), "of the data")
live = hero.start()
live.toggle_recording()
hero.run(30)
item = next(item for item in settings.features.items if item.kind.startswith("trajectory"))
for name, wrong in (("times", "soon"), ("weight", 0.0)):
    live.said.clear()
    items = [item] if name == "times" else settings.features.items
    right = [getattr(each, name) for each in items]
    for each in items:
        setattr(each, name, wrong)
    settings.controller.velocity_halflife += 0.05
    before = live.session.performer.settings
    hero.run(30)
    assert performing.current is live and live.session.is_recording
    assert len(live.said) == 1 and (repr(wrong) in live.said[0] or "above zero" in live.said[0]), live.said
    assert live.session.performer.settings == before, "what was refused is not in use"
    for each, value in zip(items, right):
        setattr(each, name, value)
    settings.controller.velocity_halflife += 0.05
    hero.run(30)
    now = live.session.performer.settings
    assert abs(now.velocity_halflife - settings.controller.velocity_halflife) < 1e-5 and len(live.said) == 1
performing.end()
[take] = settings.takes
assert take.action.frame_range[1] == 150
"""
)

TAKE_REPEATED = (
    HEAD
    + """
from motion_matching.engine.matching.method import MotionMatching
count = len(DATABASE.schema.features)
weights = tuple(1.0 + 0.1 * k for k in range(count))
chosen = SETTINGS.changed({"weights": weights})
hero = Hero(seconds=20.0)
obj, play = hero.obj, hero.obj.motion_matching.play
live = hero.start()
hero.run(200)
live.session.apply(live.session.performer.settings.changed({"weights": weights, "velocity_halflife": 0.2}))
live.toggle_recording()
poses = []
for _ in range(60):
    hero.run(1)
    poses.append(live.session._frame.pose)
performing.end()
first = obj.animation_data.action
play.mode = "append"
live = hero.start()
live.toggle_recording()
hero.run(30)
performing.end()
assert obj.animation_data.action == first and len(recording.recorded_parts(first)) == 2
play.steer, play.take, play.mode = "take", first, "new"

def led(settings):
    hero.live = performing.start(obj, DATABASE, MotionMatching(DATABASE, settings), settings, Keyboard(), lambda ground:
        steering.source(play, Keyboard(), None, settings, FPS, ground), hero.now)
    hero.now += 7.0  # however long it takes to get there
    hero.run(1)
    return hero.live

# it begins as the take does, and what was appended comes after it
appended = recording.recorded_parts(first)[1]
later = performance.from_json(appended["performance"], "the take").intents[appended["lead_in"]:]
assert len(later) == 30
live = led(chosen)
for tick, pose in enumerate(poses):
    hero.run(1)
    assert np.array_equal(live.session._frame.pose, pose), tick
hero.run(30)
assert tuple(live.session._history.intents[-30:]) == later
hero.run(1)
assert performing.current is None and "no more" in live.ending

# what is recorded of it is solved again as any other recording
live = led(chosen)
live.toggle_recording()
hero.run(60)
performing.end()
again = obj.animation_data.action
assert again != first
from motion_matching.engine.control import rollout
from tests.live.stage import new_performer
[part] = recording.recorded_parts(again)
solved = rollout.solve(new_performer(), performance.from_json(part["performance"], "the take"))
assert np.array_equal(solved.poses[part["lead_in"]:], np.stack(poses)[:60])

# weights are those of its features: with others, the character's own stay
part = recording.recorded_parts(first)[0]
for lost in (1, count - 1):
    kept = performance.from_json(part["performance"], "the take")
    short = {"weights": [0.5] * (count - lost)}
    changed = performance.replace(kept, settings={**kept.settings, **short}, changes=((5, short), (220, short)))
    del first[recording.PARTS]
    recording.keep_performance(first, performance.to_json(changed), 1.0, part["ticks"], part["fps"], part["lead_in"])
    live = led(chosen)
    hero.run(40)
    settings = live.session.performer.settings
    assert settings.weights == weights and settings.velocity_halflife == kept.settings["velocity_halflife"]
    assert performing.current is live and not live.said, live.said
    performing.end()

# of what was recorded before the beginning, what comes after it takes the place of what was there
from motion_matching.engine.control.intent import Intent
before = performance.Performance("before", FPS, (Intent(gait=0.5),) * 30)
start, lead_in = 1.0, part["lead_in"]
scene_rate = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
for frames, overlap in ((200, 0), (20, 30 - round(20 * FPS / scene_rate))):
    recording.keep_performance(first, performance.to_json(before), start - frames, 30, FPS)
    wanted = steering._recorded(first, None, FPS)[0].intents
    assert [k for k, intent in enumerate(wanted) if intent.gait == 0.5] == list(range(lead_in, lead_in + overlap)), frames
    assert len(wanted) == lead_in + part["ticks"]
"""
)


def test_the_simulation_object_is_steered_alone(
    run_in_blender: Callable[..., str], demo_file: Path
) -> None:
    run_in_blender(ALONE, demo_file)


def test_a_steered_path_stays_and_steers_again(
    run_in_blender: Callable[..., str], demo_file: Path, tmp_path: Path
) -> None:
    run_in_blender(REPEATED, demo_file, tmp_path / "path.blend")


def test_a_take_steers_again_from_its_beginning_with_any_features(
    run_in_blender: Callable[..., str], demo_file: Path
) -> None:
    run_in_blender(TAKE_REPEATED, demo_file)


def test_a_feature_that_makes_no_sense_is_refused_and_the_session_goes_on(
    run_in_blender: Callable[..., str], demo_file: Path
) -> None:
    run_in_blender(REFUSED, demo_file)


def test_what_ends_it_leaves_nothing_half_done(
    run_in_blender: Callable[..., str], demo_file: Path, tmp_path: Path
) -> None:
    run_in_blender(ENDED, demo_file, tmp_path / "path.blend")


def test_a_steered_path_that_was_cut_off_is_recovered(
    run_in_blender: Callable[..., str], demo_file: Path, tmp_path: Path
) -> None:
    run_in_blender(RECOVERED, demo_file, tmp_path / "path.blend")


def test_curves_and_targets_lead(run_in_blender: Callable[..., str], demo_file: Path) -> None:
    run_in_blender(LEADERS, demo_file)
