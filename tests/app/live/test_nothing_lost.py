"""What users do while a character is live is kept: takes, keys, fake users and undo steps."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.app.live import host
from motion_matching.app.runtime import runtime
from motion_matching.app.takes import recordings, take_list
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.writing import recording
from tests.live.hero import Hero, add_bone_collection
from tests.scene.bodies import create_person
from tests.scene.keys import read_channels

ed = bpy.ops.ed
head = 'pose.bones["Head"].rotation_quaternion'


def create_hero_with_action(**play):
    # a character that plays an action, with a pose beside it
    hero = Hero(**play)
    with actions.create_action("Own", hero.obj) as own:
        there = np.array([[0.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
        actions.write_channel(own, "location", np.array([1.0, 50.0]), there, "Object")
    hero.obj.pose.bones["Head"].location = 0.0, 0.1, 0.0
    bpy.context.scene.frame_set(20)
    ed.undo_push(message="the hero")
    ed.undo_push(message="something else")
    return hero, own


def record(hero, ticks):
    hero.live.toggle_recording()
    hero.run(ticks)
    hero.live.toggle_recording()


def get_action_name():
    return bpy.data.objects["Hero"].animation_data.action.name


def count_ticks(*names):
    return [
        sum(part["ticks"] for part in recording.read_recorded_parts(bpy.data.actions[name]))
        for name in names
    ]


@pytest.mark.slow
def test_finished_takes_survive_an_undo_that_ends_the_session() -> None:
    hero, _ = create_hero_with_action()
    hero.start()
    hero.run(10)
    record(hero, 100)
    hero.run(5)
    record(hero, 20)
    assert [path.suffix for path in recordings.get_folder().iterdir()].count(".mmrecovery") == 2
    assert runtime.interrupted == ()
    hero.run(5)
    ed.undo()
    assert runtime.live is None
    assert sorted(action.name for action in bpy.data.actions) == [
        "Own",
        "Recovered Standing",
        "Recovered Walk",
    ]
    assert count_ticks("Recovered Walk", "Recovered Standing") == [100, 20]
    assert [take.name for take in bpy.data.objects["Hero"].motion_matching.takes] == [
        "Recovered Walk",
        "Recovered Standing",
    ]
    assert get_action_name() == "Recovered Standing"
    assert "'Recovered Walk'" in runtime.end_message, runtime.end_message
    assert "'Recovered Standing'" in runtime.end_message, runtime.end_message
    assert not runtime.interrupted
    assert not list(recordings.get_folder().iterdir())

    # a take that is already in the step is not added twice, and a deleted one does not return
    hero, _ = create_hero_with_action()
    with actions.create_action("Other", create_person("Other")) as other:
        recording.store_performance(other, "{}", 1.0, 1, 30.0)
    bpy.data.texts.remove(bpy.data.texts[0])  # without its text, nothing tells which take this is
    hero.start()
    record(hero, 40)
    ed.undo_push(message="a slider")
    record(hero, 50)
    record(hero, 60)
    bpy.data.actions.remove(bpy.data.actions["Live Take.002"])
    ed.undo_push(message="the slider again")
    ed.undo()
    assert sorted(action.name for action in bpy.data.actions) == [
        "Live Take",
        "Other",
        "Own",
        "Recovered Walk",
    ]
    assert count_ticks("Live Take", "Recovered Walk") == [40, 50]
    assert not runtime.interrupted
    assert not list(recordings.get_folder().iterdir())

    # when the user ends the session nothing is left on the disk; when the file is closed, all takes
    # can be recovered
    for end in (host.end, lambda: bpy.ops.wm.read_homefile(use_empty=True)):
        hero, _own = create_hero_with_action()
        hero.start()
        record(hero, 40)
        record(hero, 50)
        end()
        assert runtime.live is None
        assert len(runtime.interrupted) == (0 if end is host.end else 2)


@pytest.mark.slow
def test_undo_steps_made_while_live_hold_the_restored_character() -> None:
    def check(obj, step):
        data = obj.animation_data
        assert runtime.live is None
        assert data.action, step
        assert data.action.name == "Own", step
        assert data.use_nla, step
        if hasattr(data, "action_slot"):
            assert data.action_slot == data.action.slots[0]
        assert abs(obj.location.x - 19 / 49) < 1e-5, (step, obj.location)
        assert obj.location.y == 0.0, (step, obj.location)
        np.testing.assert_allclose(obj.pose.bones["Head"].location, (0.0, 0.1, 0.0), atol=1e-6)
        assert "motion_matching_found" not in obj.keys()  # noqa: SIM118
        assert [action.name for action in bpy.data.actions] == ["Own"]
        assert not data.action.use_fake_user

    for records in (False, True):
        hero, own = create_hero_with_action()
        hero.start()
        hero.run(40)
        ed.undo_push(message="a slider")
        if records:
            hero.live.toggle_recording()
        hero.run(40)
        ed.undo_push(message="another")
        hero.run(10)
        if records:
            hero.live.session.discard_recording()
        host.end()
        ed.undo_push(message="Start")
        for step in (ed.undo, ed.undo, ed.undo, ed.redo, ed.redo, ed.redo):
            step()
            check(bpy.data.objects["Hero"], step)
        # an undo that ends a session goes to such a step as well
        hero.obj = bpy.data.objects["Hero"]
        hero.start()
        hero.run(30)
        ed.undo_push(message="a slider")
        ed.undo_push(message="another")
        ed.undo()
        check(bpy.data.objects["Hero"], "live")

    # a step made after a take plays the take
    hero, own = create_hero_with_action()
    hero.start()
    record(hero, 40)
    ed.undo_push(message="a slider")
    host.end()
    ed.undo_push(message="Start")
    ed.undo()
    obj = bpy.data.objects["Hero"]
    assert get_action_name() == "Live Take"
    assert obj.animation_data.use_nla
    assert bpy.data.actions["Own"].use_fake_user

    # a character without animation has none again
    hero = Hero()
    ed.undo_push(message="the hero")
    hero.start()
    hero.run(30)
    ed.undo_push(message="a slider")
    hero.run(30)
    host.end()
    ed.undo_push(message="Start")
    ed.undo()
    obj = bpy.data.objects["Hero"]
    assert obj.animation_data is None
    assert obj.location.length == 0.0

    # a copy made while live plays the action from before the session
    hero, own = create_hero_with_action()
    hero.start()
    hero.run(30)
    twin = hero.obj.copy()
    bpy.context.scene.collection.objects.link(twin)
    host.end()
    assert twin.animation_data.action == own
    assert twin.animation_data.use_nla
    assert "motion_matching_found" not in twin.keys()  # noqa: SIM118


def test_keys_inserted_while_live_are_kept() -> None:
    # a character without animation that gets a key while live
    hero = Hero()
    hero.start()
    hero.run(20)
    assert hero.obj.pose.bones["Head"].keyframe_insert("scale", frame=7)
    mine = hero.obj.animation_data.action
    hero.run(20)
    host.end()
    assert hero.obj.animation_data.action == mine
    assert hero.obj.animation_data.use_nla

    # drivers are animation too
    hero = Hero()
    hero.start()
    hero.run(20)
    hero.obj.driver_add("hide_render")
    host.end()
    assert len(hero.obj.animation_data.drivers) == 1

    # with an own action, the new keys stay in the file
    hero, own = create_hero_with_action()
    hero.start()
    hero.run(20)
    hero.obj.pose.bones["Head"].keyframe_insert("scale", frame=7)
    mine = hero.obj.animation_data.action
    assert mine != own
    host.end()
    assert hero.obj.animation_data.action == own
    assert mine.use_fake_user
    assert not own.use_fake_user


def test_keys_inserted_while_recording_are_kept(tmp_path: Path) -> None:
    def read_keys(action, path):
        return {
            tuple(key.tolist())
            for (name, index), keys in read_channels(action).items()
            for key in keys
            if name == path and index == 0
        }

    # the spine is recorded while the head gets a key: both its own action and the take have that
    # key
    hero, own = create_hero_with_action(collection="Driven")
    add_bone_collection(hero.obj, "Driven", "Spine")
    with_keys = actions.get_channelbag(own).fcurves[0]
    with_keys.keyframe_points[0].interpolation = "BEZIER"
    hero.start()
    hero.live.toggle_recording()
    hero.run(30)
    hero.obj.pose.bones["Head"].rotation_quaternion = 0.8, 0.6, 0.0, 0.0
    hero.obj.pose.bones["Head"].keyframe_insert("rotation_quaternion", frame=33)
    hero.obj.location.x = 5.0
    hero.obj.keyframe_insert("location", frame=70)
    hero.run(30)
    hero.live.toggle_recording()
    host.end()
    take = hero.obj.animation_data.action
    assert take.name == "Live Take"
    for action in (own, take):
        assert [frame for frame, _ in read_keys(action, head)] == [33.0], action.name
        assert sorted(read_keys(action, "location")) == [(1.0, 0.0), (50.0, 1.0), (70.0, 5.0)], (
            action.name
        )
    first = next(
        curve for curve in actions.get_channelbag(own).fcurves if curve.data_path == "location"
    )
    assert first.keyframe_points[0].interpolation == "BEZIER"
    assert not read_keys(own, 'pose.bones["Spine"].rotation_quaternion')

    # without an own action, or if all bones are driven, keys are saved in an action beside the take
    for play in ({"collection": "Driven"}, {}):
        for keeps in (True, False):
            hero = Hero(**play)
            add_bone_collection(hero.obj, "Driven", "Spine")
            hero.obj["prop"] = 1.0
            hero.start()
            hero.live.toggle_recording()
            hero.run(30)
            hero.obj.keyframe_insert('["prop"]', frame=33)
            hero.run(30)
            hero.live.toggle_recording() if keeps else hero.live.session.discard_recording()
            host.end()
            bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
            bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
            found = [
                action
                for action in bpy.data.actions
                if read_keys(action, '["prop"]') == {(33.0, 1.0)}
            ]
            assert found, [action.name for action in bpy.data.actions]
            assert ("Live Take" in bpy.data.actions) == keeps
            assert not keeps or recording.is_take(bpy.data.actions["Live Take"])

    # a recording without such keys leaves only its take
    hero, own = create_hero_with_action()
    hero.start()
    record(hero, 30)
    host.end()
    assert sorted(action.name for action in bpy.data.actions) == ["Live Take", "Own"]


def test_deleting_a_take_assigns_the_previous_action_again() -> None:
    hero, own = create_hero_with_action()
    hero.start()
    record(hero, 40)
    take_list.discard_take(hero.obj, 0)
    hero.run(10)
    host.end()
    assert hero.obj.animation_data.action == own
    assert list(bpy.data.actions) == [own]
    assert abs(hero.obj.location.x - 19 / 49) < 1e-5

    # the take that plays stays assigned
    hero, own = create_hero_with_action()
    hero.start()
    record(hero, 40)
    record(hero, 50)
    actions.assign(hero.obj, bpy.data.actions["Live Take"])
    host.end()
    assert get_action_name() == "Live Take"


def test_the_fake_user_of_an_action_is_kept() -> None:
    hero, own = create_hero_with_action()
    other = bpy.data.objects.new("Other", None)
    actions.assign(other, own)
    hero.start()
    hero.run(10)
    own.use_fake_user = True
    host.end()
    assert hero.obj.animation_data.action == own
    assert own.use_fake_user

    # an action that only the character uses
    hero, own = create_hero_with_action()
    hero.start()
    hero.run(10)
    assert not own.use_fake_user
    assert own.users, "only the user sets it while live"
    own.use_fake_user = True
    host.end()
    assert own.use_fake_user

    hero, own = create_hero_with_action()
    hero.start()
    hero.run(10)
    host.end()
    assert not own.use_fake_user
