"""A bone collection alone is driven and recorded; all else goes on with its own animation, then and in the take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

HEAD = """
from tests.live.hero import *
from motion_matching.scene import recording
LEGS = [f"{side}{part}" for side in ("Left", "Right") for part in ("UpLeg", "Leg", "Foot", "Toe")]
head, spine, leg = (f'pose.bones["{bone}"].rotation_quaternion' for bone in ("Head", "Spine", LEGS[0]))

def hero_with(*bones, **play):
    # somebody whose own animation nods, lifts a leg, and moves the object
    hero = Hero(collection="Driven", **play)
    missing = [bone for bone in bones if bone not in hero.obj.data.bones]
    assert not missing, (missing, hero.obj.data.bones.keys())
    bones_in(hero.obj, "Driven", *bones)
    angle = np.linspace(0.0, 1.0, 11)
    turn = np.stack([np.cos(angle / 2), np.sin(angle / 2), 0 * angle, 0 * angle])
    frames = 1.0 + 10.0 * np.arange(11)
    with actions.new_action("Own", hero.obj) as own:
        actions.write_channel(own, head, frames, turn, "Head")
        actions.write_channel(own, leg, frames, turn, LEGS[0])
        actions.write_channel(own, "location", frames, np.stack([angle, 0 * angle, 0 * angle]), "Object")
    own.frame_start, own.frame_end, own.use_frame_range = 1, 101, True
    bpy.context.scene.frame_set(30)
    return hero, own

def nod(obj):
    return obj.pose.bones["Head"].rotation_quaternion.angle

def of(action):
    return {path: keys for (path, index), keys in actions.read_channels(action).items() if index == 0}

def by_name(obj, *names):
    return np.array([np.array(obj.pose.bones[name].matrix_basis) for name in names])
"""

DRIVEN = (
    HEAD
    + """
hero, own = hero_with("Hips", *LEGS)
obj, before = hero.obj, {path: keys.copy() for path, keys in of(own).items()}
here = obj.location.copy()
hero.start()
hero.run(130)
assert obj.animation_data.action == own and abs(nod(obj) - 0.29) < 1e-3
rest = [bone.name for bone in obj.pose.bones if bone.name not in ("Hips", "Head", *LEGS)]
assert np.allclose(by_name(obj, *rest), np.eye(4), atol=1e-6), "other bones were moved"
assert (obj.location - here).length > 0.5, "whoever drives the hips drives where the character is"

# it plays on where the timeline goes, and what is driven stays
legs, place = by_name(obj, "Hips", *LEGS), obj.matrix_world.copy()
bpy.context.scene.frame_set(60)
assert abs(nod(obj) - 0.59) < 1e-3
np.testing.assert_allclose(by_name(obj, "Hips", *LEGS), legs, atol=1e-6)
np.testing.assert_allclose(obj.matrix_world, place, atol=1e-5)

# while it is recorded as well, from the first key to the last
bpy.context.scene.frame_set(19)
obj.motion_matching.play.timeline = True
hero.live.toggle_recording()
seen = []
for frame in range(20, 60):
    seen += hero.play(frame)
    assert abs(nod(obj) - (frame - 1) / 100) < 1e-3, frame
hero.live.toggle_recording()
hero.run(5)
[take] = [listed.action for listed in obj.motion_matching.takes]
performing.end()

# the take has keys of what was driven, and beside them those that the rest has of its own; the own action is untouched
keys = of(take)
assert {path.split('"')[1] for path in keys if '"' in path} == {"Head", "Hips", *LEGS}, keys.keys()
assert np.array_equal(keys[head], before[head]) and len(keys[leg]) == 40 == len(keys["location"])
assert obj.animation_data.action == take and not take.use_frame_range
assert all(np.array_equal(now, before[path]) for path, now in of(own).items()) and of(own).keys() == before.keys()
for frame in (20, 33, 59):
    bpy.context.scene.frame_set(frame)
    np.testing.assert_allclose(shown(obj), seen[frame - 20], atol=2e-4, err_msg=str(frame))

# recorded over again, it is a take with one part
obj.motion_matching.play.timeline = False
hero.start()
hero.live.toggle_recording()
hero.run(20)
performing.end()
again = obj.animation_data.action
assert again != take and len(recording.recorded_parts(again)) == len(recording.recorded_parts(take)) == 1
assert np.array_equal(of(again)[head], before[head]) and len(of(again)[leg]) == 20
"""
)

BAKED_AGAIN = (
    HEAD
    + """
from motion_matching.ui import baking
from tests.live.stage import DATABASE, SETTINGS
BONES = [CHOSEN]
hero, own = hero_with(*BONES)
obj, settings = hero.obj, hero.obj.motion_matching
hero.start()
hero.run(20)
hero.live.toggle_recording()
hero.run(60)
performing.end()
take = obj.animation_data.action
[part] = recording.recorded_parts(take)
assert part["collection"] == "Driven"
keys = of(take)

# a constraint on what is not driven is in nobody's way
follow = obj.pose.bones["Neck"].constraints.new("COPY_ROTATION")
assert "Neck" not in BONES

def bake_again():
    wish = baking.Wish(take.name, baking.parts_of(take), beside=take.name)
    takes = [performed(part) for part in wish.parts]
    return baking.bake_takes(obj, wish, takes, DATABASE)[0]

def performed(part):
    from motion_matching.engine import takes
    take = takes.perform(DATABASE, SETTINGS, part.wanted)
    return take.sliced(part.lead_in)

for fewer, nla in ((0.0, False), (0.01, False), (0.0, True)):
    settings.fewer_keys, settings.use_nla = fewer, nla
    again = of(action := bake_again())
    assert action != take and again.keys() <= keys.keys() | {path.replace("rotation", "scale") for path in keys}
    for path in keys:
        bone = path.split('"')[1] if '"' in path else ""
        if bone in BONES or not bone and "Hips" in BONES:
            continue
        assert np.array_equal(again[path], keys[path]), path
    moved = f'pose.bones["{BONES[0]}"].rotation_quaternion'
    assert len(again[moved]) > 2 and not np.array_equal(again[moved], of(own).get(moved))
    assert {path.split('"')[1] for path in again if '"' in path} <= {"Head", LEGS[0], *BONES}
    assert np.array_equal(again["location"], of(own)["location"]) == ("Hips" not in BONES)
    [part] = recording.recorded_parts(action)
    assert part["collection"] == "Driven"
    recording.remove_take(obj, action)

obj.data.collections_all["Driven"].name = "Other"
try:
    bake_again()
except Exception as error:
    assert "'Driven'" in str(error) and "collection" in str(error), error
else:
    raise AssertionError
"""
)


@pytest.mark.parametrize("bones", ["'Hips', *LEGS", "'Spine', 'Head'"])
def test_a_take_of_a_collection_is_baked_again_as_one(
    run_in_blender: Callable[..., str], demo_file: Path, bones: str
) -> None:
    run_in_blender(BAKED_AGAIN.replace("CHOSEN", bones), demo_file)


UPPER = (
    HEAD
    + """
hero, own = hero_with("Spine", "Head")
obj = hero.obj
hero.start()
hero.run(40)
assert nod(obj) != 0.29 and not np.allclose(by_name(obj, "Spine"), np.eye(4), atol=1e-3)
assert abs(obj.location.x - 0.29) < 1e-3 and obj.location.y == 0.0, "the body is not driven, and stays where it is"
assert abs(obj.pose.bones[LEGS[0]].rotation_quaternion.angle - 0.29) < 1e-3
hero.live.toggle_recording()
hero.run(30)
hero.live.session.discard_recording()
assert obj.animation_data.action == own and [action.name for action in bpy.data.actions] == ["Own"]
bpy.context.scene.frame_set(70)
assert abs(obj.pose.bones[LEGS[0]].rotation_quaternion.angle - 0.69) < 1e-3
performing.end()
assert obj.animation_data.action == own and abs(nod(obj) - 0.69) < 1e-3 and not own.use_fake_user
"""
)

OVER = (
    HEAD
    + """
# over a take of all bones, the arms are recorded again, and the rest stays as it was recorded first
hero, own = hero_with("Spine", "Head")
hero.obj.motion_matching.play.collection = ""
obj, play = hero.obj, hero.obj.motion_matching.play
hero.start()
hero.live.toggle_recording()
hero.run(60)
performing.end()
take = obj.animation_data.action
before = of(take)
play.collection, play.mode = "Driven", "overwrite"
bpy.context.scene.frame_set(40)
hero.start()
hero.run(25)
hero.live.toggle_recording()
hero.run(20)
performing.end()
assert obj.animation_data.action == take
after = of(take)
assert not np.array_equal(after[spine], before[spine])
for path in before:
    if '"Spine"' not in path and '"Head"' not in path:
        assert np.array_equal(after[path], before[path]), path
"""
)

CUT_OFF = (
    HEAD
    + """
# an undo cuts a recording off; what is recovered has what the rest plays as well
hero, own = hero_with("Hips", *LEGS)
bpy.ops.ed.undo_push(message="the hero")
bpy.ops.ed.undo_push(message="something else")
hero.start()
hero.live.toggle_recording()
hero.run(50)
bpy.ops.ed.undo()
obj = bpy.data.objects["Hero"]
take, own = obj.animation_data.action, bpy.data.actions["Own"]
assert take.name == "Live Take" and np.array_equal(of(take)[head], of(own)[head]) and len(of(take)[leg]) == 50

# a collection that is not there
hero, own = hero_with("Hips")
hero.obj.motion_matching.play.collection = "Wings"
try:
    hero.start()
except Exception as error:
    assert "'Wings'" in str(error)
else:
    raise AssertionError
assert performing.current is None and hero.obj.animation_data.action == own
"""
)

STRIPS = (
    HEAD
    + """
# what the rest plays may come from strips: they go on beside the take
hero, own = hero_with("Hips", *LEGS)
obj = hero.obj
track = obj.animation_data.nla_tracks.new()
strip = track.strips.new("Own", 1, own)
if hasattr(strip, "action_slot"):
    strip.action_slot = own.slots[0]
obj.animation_data.action = None
bpy.context.scene.frame_set(31)
hero.start()
hero.run(10)
assert abs(nod(obj) - 0.30) < 1e-3
hero.live.toggle_recording()
hero.run(30)
bpy.context.scene.frame_set(41)
assert abs(nod(obj) - 0.40) < 1e-3
performing.end()
take = obj.animation_data.action
assert head not in of(take) and len(of(take)[leg]) == 30
bpy.context.scene.frame_set(51)
assert abs(nod(obj) - 0.50) < 1e-3
"""
)


def test_what_is_not_driven_plays_on_live_and_in_the_take(
    run_in_blender: Callable[..., str], demo_file: Path
) -> None:
    run_in_blender(DRIVEN, demo_file)


def test_without_the_hips_the_character_stays_where_it_is(
    run_in_blender: Callable[..., str], demo_file: Path
) -> None:
    run_in_blender(UPPER, demo_file)


def test_a_part_of_a_take_is_recorded_again(
    run_in_blender: Callable[..., str], demo_file: Path
) -> None:
    run_in_blender(OVER, demo_file)


def test_a_part_that_was_cut_off_is_recovered_with_the_rest(
    run_in_blender: Callable[..., str], demo_file: Path
) -> None:
    run_in_blender(CUT_OFF, demo_file)


def test_strips_of_the_rest_play_on(run_in_blender: Callable[..., str], demo_file: Path) -> None:
    run_in_blender(STRIPS, demo_file)
