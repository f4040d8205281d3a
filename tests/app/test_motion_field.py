"""The motion field as the other method: chosen, trained in slices, saved, and played live and in
takes.
"""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from motion_matching import api
from motion_matching.app.controller import training as field_training
from motion_matching.app.database import status
from motion_matching.app.database.library import get_library
from motion_matching.app.insight import inspector
from motion_matching.app.live import host, performing, steering
from motion_matching.app.runtime import runtime
from motion_matching.app.takes import comparing
from motion_matching.app.takes.take_actions import read_parts
from motion_matching.engine.field.method import MotionField
from motion_matching.engine.field.training.quality import QUALITIES
from motion_matching.engine.ground.ground import FLAT
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.live.inputs.base import Situation
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.devices.steering import SteeringInput
from motion_matching.scene.blender.animation import actions
from motion_matching.ui import preferences
from motion_matching.ui.play import drawing as play_drawing
from tests.steps import run_steps
from tests.ui.characters import create_character, expect_refusal

ops = bpy.ops.motion_matching


def create_field_character(*clips):
    bpy.context.scene.render.fps = 24
    obj = create_character(clips=clips or ("walk_curves",))
    ops.add_actions()
    for source in obj.motion_matching.sources:
        source.mirror = False
    obj.motion_matching.controller.method = "FIELD"
    obj.motion_matching.training.quality = 1
    obj.motion_matching.play.show_text = True
    return obj


def start_live(obj, *keys):
    keyboard = Keyboard()
    live = performing.start(
        obj, *run_steps(performing.prepare_steps(obj)), keyboard, SteeringInput(keyboard), 0.0
    )
    for key in keys:
        keyboard.handle(key, "PRESS")
    return live, keyboard


def is_same_motion(one, other):
    from motion_matching.scene.blender.animation import actions

    curves, others = (
        {
            (c.data_path, c.array_index): np.array([p.co for p in c.keyframe_points])
            for c in actions.get_channelbag(action).fcurves
        }
        for action in (one, other)
    )
    return curves.keys() == others.keys() and all(
        a.shape == others[k].shape and np.allclose(a, others[k], atol=1e-5)
        for k, a in curves.items()
    )


@pytest.mark.slow
def test_the_panel_trains_the_field_of_the_notebook_as_scripts_do():
    """All states, the notebook's metric and directions alone, whatever the panel has beside it."""
    obj = create_field_character()
    settings = obj.motion_matching
    settings.controller.field = "notebook"
    settings.training.speed, settings.training.metric = True, "default"
    assert field_training.describe_quality(obj).startswith("Notebook: all poses")
    assert ops.train() == {"FINISHED"}
    assert field_training.get_training_state(obj) == "fresh"
    method = run_steps(performing.prepare_steps(obj))[1]
    trained = api.train(method.database, quality="notebook")
    np.testing.assert_allclose(method.foresight.values, trained.function.values, atol=1e-6)
    assert method.foresight.tasks == trained.function.tasks
    assert field_training.get_field_metric(obj) == "notebook"
    settings.training.quality = 2
    assert field_training.get_training_state(obj) == "fresh", "it has a quality of its own"
    settings.controller.field = "by_gait"
    assert field_training.get_training_state(obj) == "stale"


@pytest.mark.slow
def test_a_motion_field_plays_live_and_in_takes():
    obj = create_field_character()
    settings = obj.motion_matching
    controller = settings.controller
    now = 0.0

    # live, it is greedy until it is trained; neighbours and drift act at once
    settings.play.show_map = True
    live, _keyboard = start_live(obj, "W")
    field = live.session.performer.method
    assert isinstance(field, MotionField)
    assert field.foresight is None
    for _ in range(48):
        now += 1 / 24
        live.tick(now, 0.0)
    assert live.ending is None
    assert math.hypot(*live.session.velocity) > 0.5
    assert len(field.decision.states) == 15
    controller.neighbours, controller.drift = 4, 0.3
    for _ in range(24):
        now += 1 / 24
        live.tick(now, 0.0)
    assert len(field.decision.states) == 4
    assert live.session.performer.settings.motion_field.drift == 0.3
    # and so does the notebook's field, which is trained on its own
    key = field_training.get_training_key(obj)
    controller.field = "notebook"
    assert field_training.get_training_key(obj) not in ("", key)
    for _ in range(4):
        now += 1 / 24
        live.tick(now, 0.0)
    assert live.session.performer.settings.as_published.field == "notebook"
    assert max(field.decision.scores) <= 0.0, "greed is the angle left, and nothing else"
    controller.field = "by_gait"
    for _ in range(24):
        now += 1 / 24
        live.tick(now, 0.0)
    # the overlays draw it
    text = " ".join(runtime.get_cache(play_drawing.HudCache).snapshot.texts)
    assert len(runtime.trail.frames) == 60
    assert obj.session_uid in runtime.pose_maps
    assert "4 neighbours" in text, text
    assert "greedy" in text, text
    assert "Cost" not in text, text
    # another method acts from the next start, which is reported once
    controller.method = "MATCHING"
    live.messages.clear()
    for _ in range(24):
        now += 1 / 24
        live.tick(now, 0.0)
    assert sum("another method" in line.lower() for line in live.messages) == 1, live.messages
    # a recording becomes a take that can be performed again
    live.toggle_recording()
    for _ in range(24):
        now += 1 / 24
        live.tick(now, 0.0)
    host.end()
    assert live.takes == ["Keyboard Walk"]
    controller.method = "FIELD"
    assert ops.bake_again(use_markers=False) == {"FINISHED"}
    for _ in range(2):
        settings.take_index = 0
        ops.remove_take()

    # a script, the same script again, and the script with the other method
    assert ops.bake_script(script="square", seconds=3.0) == {"FINISHED"}
    take = settings.takes[0].action
    assert ops.bake_again(use_markers=False) == {"FINISHED"}
    again = settings.takes[1].action
    assert is_same_motion(again, take)
    controller.method = "MATCHING"
    assert ops.bake_again(use_markers=False) == {"FINISHED"}
    assert not is_same_motion(settings.takes[2].action, take), "the method made no difference"
    assert isinstance(run_steps(performing.prepare_steps(obj))[1], MotionMatching)


@pytest.mark.slow
def test_training_can_be_stopped_and_resumed():
    obj = create_field_character("walk_curves", "run_curves")
    settings = obj.motion_matching
    training, controller = settings.training, settings.controller
    words = []
    request = field_training.TrainingRequest.from_object
    training["quality"] = 0
    assert request(obj).quality == "draft", "as another version may have left it"
    training["quality"] = 9
    assert request(obj).quality == list(QUALITIES)[-1]
    for training.quality in range(6, -1, -1):
        words.append(field_training.describe_quality(obj))
    assert len(set(words)) == 5, words
    assert "all poses" in words[0], words
    assert "3000 poses" in words[-1], words
    training.quality = 1
    assert status.refresh(obj).kind == "none"
    assert field_training.get_training_state(obj) == "missing"
    training.tags = "limp"
    expect_refusal(ops.train, "limp")
    training.tags = ""

    # stop half-way and resume
    work = field_training.train_steps(obj)
    seen = set()
    for stage, part in work:
        seen.add(stage)
        if stage == "Looking where actions lead" and part > 0.3:
            break
    work.close()
    assert runtime.stop_message == "Stopped; Train continues from here"
    status.refresh(obj)
    assert field_training.get_training_state(obj) == "stopped"
    assert not training.trained_key
    work = field_training.train_steps(obj)
    assert any(stage in ("Training", "Gathering motion states") for stage, _ in work), (
        "stop before the stopped training is loaded"
    )
    work.close()
    assert runtime.stop_message == "Stopped; Train continues from here", (
        "the earlier progress is still there"
    )
    status.refresh(obj)
    assert field_training.get_training_state(obj) == "stopped"
    assert isinstance(run_steps(performing.prepare_steps(obj))[1], MotionField)
    assert run_steps(performing.prepare_steps(obj))[1].foresight is None, (
        "an unfinished training is not played"
    )
    work = field_training.train_steps(obj)
    parts = [part for stage, part in work if stage == "Looking where actions lead"]
    assert min(parts, default=1.0) >= 0.3, (
        "the training started again"
    )  # perhaps nothing is left to do: the thread runs until it is stopped
    status.refresh(obj)
    assert field_training.get_training_state(obj) == "fresh"
    assert not list(get_library().folder.glob("*.stopped.npz"))
    assert controller.neighbours == 9
    assert abs(controller.drift - 0.1) < 1e-6, "as it was trained"
    assert not field_training.describe_action_mismatch(obj)
    controller.neighbours = 12
    assert "9 neighbours" in field_training.describe_action_mismatch(obj)
    assert ops.train() == {"FINISHED"}, "training again finds the finished values"
    assert controller.neighbours == 9

    # the trained values are played and make a difference
    method = run_steps(performing.prepare_steps(obj))[1]
    assert method.foresight.finished
    assert len(method.foresight.tasks.speeds) == 5
    assert ops.bake_script(script="flips", seconds=4.0) == {"FINISHED"}
    live, _keyboard = start_live(obj, "W")
    for tick in range(30):
        live.tick(tick / 24, 0.0)
    assert live.ending is None
    assert "planning ahead" in " ".join(runtime.get_cache(play_drawing.HudCache).snapshot.texts)
    host.end()

    # other tasks, another metric or another database make the training stale
    for name, value in (("speed", False), ("metric", "notebook"), ("quality", 3), ("tags", "walk")):
        was = getattr(training, name)
        setattr(training, name, value)
        assert field_training.get_training_state(obj) == "stale", name
        setattr(training, name, was)
        assert field_training.get_training_state(obj) == "fresh", name
    settings.sources[1].enabled = False
    status.refresh(obj)
    assert field_training.get_training_state(obj) == "stale"
    ops.build()
    assert status.refresh(obj).kind == "fresh"
    assert field_training.get_training_state(obj) == "stale"
    assert run_steps(performing.prepare_steps(obj))[1].foresight is None
    settings.sources[1].enabled = True
    status.refresh(obj)
    assert field_training.get_training_state(obj) == "fresh", "the earlier training is found again"

    # a damaged file is reported and trained again
    file = get_library().get_path(training.trained_key)
    whole = file.read_bytes()
    file.write_bytes(whole[:1000])
    expect_refusal(ops.bake_script, "train the field again", seconds=2.0)
    assert ops.train() == {"FINISHED"}
    assert file.read_bytes() == whole
    status.refresh(obj)
    assert field_training.get_training_state(obj) == "fresh"

    # the character's position at the build does not matter
    obj.animation_data.action, obj.location, obj.rotation_euler = (
        None,
        (3.0, -2.0, 0.0),
        (0.0, 0.0, 1.0),
    )
    assert ops.build() == {"FINISHED"}
    status.refresh(obj)
    assert field_training.get_training_state(obj) == "fresh"
    assert run_steps(performing.prepare_steps(obj))[1].foresight.finished

    # once cleared with the databases, it plays greedily again
    assert ops.clear_cache() == {"FINISHED"}
    assert not list(get_library().folder.iterdir())
    status.refresh(obj)
    assert field_training.get_training_state(obj) == "elsewhere"
    assert ops.bake_script(script="flips", seconds=4.0) == {"FINISHED"}
    assert not is_same_motion(settings.takes[1].action, settings.takes[0].action), (
        "the values made no difference"
    )


@pytest.mark.slow
def test_a_gait_requests_its_tag_and_untrained_tasks_are_reported():
    obj = create_field_character("walk_curves", "run_curves")
    settings = obj.motion_matching
    for source in settings.sources:
        source.gait = source.name.partition("_")[0]
    settings.training.tags, settings.training.speed = "run, walk", False
    assert ops.train() == {"FINISHED"}
    live, keyboard = start_live(obj, "W")
    asked = []
    for tick in range(20):
        live.tick(tick / 24, 0.0)
        decision = live.session.performer.method.decision
        asked.append(set(decision.goal.tags) if decision else set())
        if tick == 10:
            keyboard.handle("R", "PRESS")
    assert {"walk"} in asked, asked
    assert asked[-1] == {"run"}, asked
    assert not any("not trained" in item.text for item in live.warnings)
    host.end()

    # the take stores the script's intents, without the tags that the field derives
    assert ops.bake_script(seconds=2.0) == {"FINISHED"}
    [part] = read_parts(settings.takes[-1].action)
    assert len(part.performance.intents) == 48
    assert not any(intent.tags for intent in part.performance.intents)
    assert ops.remove_take() == {"FINISHED"}

    settings.training.tags = "run"
    ops.train()
    settings.play.tags = "walk"
    live, keyboard = start_live(obj, "W")
    for tick in range(5):
        live.tick(tick / 24, 0.0)
    assert any("not trained for walk" in item.text for item in live.warnings), live.warnings
    host.end()
    expect_refusal(ops.bake_script, "not trained for the tag 'walk'", seconds=2.0, tags="walk")
    assert not settings.takes
    assert ops.bake_script(seconds=2.0, tags="run") == {"FINISHED"}


def test_a_push_while_live_reaches_the_field():
    obj = create_field_character()
    live, keyboard = start_live(obj)

    def tick(number):
        live.tick(number / 24, 0.0)
        return live.session._frame.pose[:, 1:].copy()

    for number in range(1, 25):
        before = tick(number)
    calm = np.abs(tick(25) - before).max()
    assert "E: push" in preferences.describe_keys()
    keyboard.handle("E", "PRESS")
    keyboard.handle("E", "RELEASE")
    # without a direction a push follows the view, along +Y at heading pi: here in front of a view
    # along -Y
    pushed = tick(26)
    for number in range(27, 29):
        pushed = tick(number)
    bent = np.abs(pushed - before).max()
    assert bent > 0.05, (bent, calm)
    assert bent > 3 * calm, (bent, calm)
    assert [i.push for i in live.session._history.intents if i.push], "a recording keeps it"
    for number in range(29, 29 + 72):
        last = tick(number)
    assert live.ending is None
    assert np.isfinite(last).all()
    host.end()

    # the panel's strength acts from the next push on
    play, performer = obj.motion_matching.play, live.session.performer
    led = steering.create_input(play, keyboard, (), performer.settings, 24.0, FLAT)
    place = live.session._frame.character
    for play.push in (2.0, 0.5):
        keyboard.handle("E", "PRESS")
        keyboard.handle("E", "RELEASE")
        assert (
            abs(
                math.hypot(*led.get_intent(Situation(0, 1 / 24, place, place, 0.0)).push)
                - play.push
            )
            < 1e-6
        )


@pytest.mark.slow
def test_takes_know_the_method_that_made_them():
    obj = create_field_character("walk_curves", "run_curves")
    settings = obj.motion_matching
    settings.use_nla = False
    ops.train()
    assert ops.bake_script(script="flips", seconds=4.0) == {"FINISHED"}
    settings.controller.method = "MATCHING"
    assert ops.bake_script(script="flips", seconds=4.0) == {"FINISHED"}
    by_field, by_search = [take.action for take in settings.takes]
    assert [read_parts(take)[0].performance.method for take in (by_field, by_search)] == [
        f"field:default:{settings.training.trained_key}",
        "",
    ]

    # a recorded take knows its method too
    settings.controller.method = "FIELD"
    live, _keyboard = start_live(obj, "W")
    live.toggle_recording()
    for tick in range(1, 25):
        live.tick(tick / 24, 0.0)
    host.end()
    recorded = bpy.data.actions[live.takes[0]]
    assert read_parts(recorded)[0].performance.method == read_parts(by_field)[0].performance.method

    # takes are compared by their own methods, whatever is chosen now
    def compare_notes(chosen, one=by_field, other=by_search):
        settings.controller.method = chosen
        return run_steps(comparing.compare_steps(obj, one, other)).warnings

    assert compare_notes("MATCHING") == compare_notes("FIELD") == ()

    # the inspector, too, shows a take's own neighbours
    settings.controller.method, settings.take_index, settings.insight.inspect = (
        "MATCHING",
        0,
        "take",
    )
    actions.assign(obj, by_field)
    assert ops.inspect_frame() == {"FINISHED"}
    seen = runtime.inspector
    first, last = map(int, by_field.frame_range)
    apart = []
    for frame in range(first, last - 1, 5):
        bpy.context.scene.frame_set(frame)
        inspector.refresh()
        assert not seen.problem, seen.problem
        assert seen.inspection is None, seen.problem
        assert len(seen.lines) == 1, seen.problem
        choice = seen.inspected.choice
        assert len(choice.frames) == len(choice.scores) in (1, 9)  # while it idles, what it plays
        assert choice.scores.argmax() == choice.chosen
        head = obj.matrix_world @ obj.pose.bones[seen.database.role_names["hips"]].head
        apart.append(math.dist(head.xy, seen.inspected.position[:2]))
    assert np.median(apart) < 0.15, apart
    inspector.close()

    # a training that cannot be read or no longer exists is reported
    file = get_library().get_path(settings.training.trained_key)
    file.write_bytes(file.read_bytes()[:1000])
    [item] = compare_notes("FIELD")
    assert item.identity == ("values gone", by_field.name)
    ops.clear_cache()
    [item] = compare_notes("FIELD")
    assert item.identity == ("values gone", by_field.name)
    text = read_parts(by_field)[0].performance.method
    stored = bpy.data.texts[f"{by_field.name}.performance.json"]
    stored.from_string(stored.as_string().replace(text, "dice"))
    settings.compare_with = by_search
    expect_refusal(ops.compare_takes, "'dice'")
