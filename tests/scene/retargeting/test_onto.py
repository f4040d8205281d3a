"""Motion that is retargeted onto an armature: what its bones do in the world, and what stays."""

from __future__ import annotations

from math import radians

import bpy
import numpy as np
import pytest

from motion_matching import api
from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import RigError
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.retargeting.settings import RetargetSettings
from motion_matching.scene.reading.sampling import sample
from motion_matching.scene.retargeting import onto, sources, targets
from motion_matching.scene.retargeting.transfer import RetargetRequest
from motion_matching.scene.rig.armature import create_armature
from motion_matching.scene.writing.bake import bake
from tests.engine.characters import make_child, make_unreal
from tests.scene.retargeting.armatures import (
    add_armature,
    add_mixamo,
    add_walker,
    make_walk,
    read_directions,
    select,
)
from tests.scene.rigs import MODES, assert_same, edit_bones, read_state

REQUEST = RetargetRequest()
LIMBS = [
    (f"{side}{a}", f"{side}{b}")
    for side in ("Left", "Right")
    for a, b in (("UpLeg", "Leg"), ("Leg", "Foot"), ("Arm", "ForeArm"), ("ForeArm", "Hand"))
]
BANDAI_LIMBS = [
    ("UpperLeg", "LowerLeg"),
    ("LowerLeg", "Foot"),
    ("UpperArm", "LowerArm"),
    ("LowerArm", "Hand"),
]
MIXAMO_LIMBS = [(f"mixamorig:{a}", f"mixamorig:{b}") for a, b in LIMBS]


def retarget(obj, action, hero, **options):
    motions = sources.read_actions(obj, [action])
    return onto.retarget_onto(hero, motions, REQUEST, **options)[0][0]


def read_clip(obj, action) -> Clip:
    return sample(obj, [action], evaluate=True)[0].clip


def test_limbs_point_as_in_the_source_and_the_body_is_where_it_is():
    obj, action = add_walker()
    hero = add_mixamo()
    made = retarget(obj, action, hero)
    ours, theirs = read_clip(hero, made), read_clip(obj, action)
    cosines = np.sum(read_directions(ours, MIXAMO_LIMBS) * read_directions(theirs, LIMBS), axis=-1)
    angles = np.degrees(np.arccos(np.clip(cosines, -1, 1)))
    assert np.mean(angles) < 3.0, angles.mean(axis=0)
    hips = [clip.compute_world()[1][:, 0] for clip in (ours, theirs)]
    ratio = np.linalg.norm(np.ptp(hips[0][:, :2], axis=0)) / np.linalg.norm(
        np.ptp(hips[1][:, :2], axis=0)
    )
    assert 0.8 < ratio < 1.25
    lowest = [c.compute_world()[1][..., 2].min() for c in (ours, theirs)]
    assert abs(lowest[0] - lowest[1]) < 0.03


def test_the_new_action_is_named_kept_assigned_and_starts_with_its_source():
    obj, action = add_walker()
    action.frame_start, action.frame_end, action.use_frame_range = 11, 40, True
    hero = add_mixamo()
    made = retarget(obj, action, hero)
    assert made.name == "walk Hero"
    assert made.use_fake_user
    assert hero.animation_data.action == made
    assert tuple(made.frame_range) == (11, 40)


def test_motion_is_the_same_wherever_and_however_large_the_character_stands():
    obj, action = add_walker()
    hero = add_mixamo()
    plain = sources.read_actions(hero, [retarget(obj, action, hero)])[0].clip
    other = add_mixamo("Other")
    other.location = (5.0, -3.0, 2.0)
    other.rotation_euler = (radians(90), 0.0, radians(50))
    bpy.context.view_layer.update()
    moved = sources.read_actions(other, [retarget(obj, action, other)])[0].clip
    np.testing.assert_allclose(moved.compute_world()[1], plain.compute_world()[1], atol=2e-3)


def test_rotation_modes_and_shared_armatures_get_right_keys():
    obj, action = add_walker()
    hero = add_mixamo()
    plain = read_clip(hero, retarget(obj, action, hero))
    twin = bpy.data.objects.new("Twin", hero.data)
    bpy.context.scene.collection.objects.link(twin)
    twin.matrix_world = hero.matrix_world
    bpy.context.view_layer.update()  # which gives it a pose
    for number, bone in enumerate(twin.pose.bones):
        bone.rotation_mode = MODES[number % len(MODES)]
    bpy.context.view_layer.update()
    before = hero.animation_data.action
    turned = read_clip(twin, retarget(obj, action, twin))
    assert hero.animation_data.action == before
    np.testing.assert_allclose(turned.compute_world()[1], plain.compute_world()[1], atol=2e-3)


def test_the_rest_of_the_file_stays_as_it_was():
    obj, action = add_walker()
    hero = add_mixamo()
    bpy.context.scene.frame_set(7)
    rests = [list(map(list, bone.matrix_local)) for bone in hero.data.bones]
    before = read_state(obj)
    made = retarget(obj, action, hero)
    after = read_state(obj)
    after["actions"].pop(made.name)
    assert_same(before, after)
    assert rests == [list(map(list, bone.matrix_local)) for bone in hero.data.bones]


def test_bones_that_the_motion_does_not_know_keep_their_pose():
    obj, action = add_walker()
    hero = add_mixamo()
    bone = hero.pose.bones["mixamorig:LeftHandIndex2"]
    bone.rotation_quaternion = (0.9, 0.3, 0.0, 0.3)
    posed = tuple(bone.rotation_quaternion)
    retarget(obj, action, hero)
    bpy.context.scene.frame_set(20)
    assert tuple(bone.rotation_quaternion) == pytest.approx(posed)


def test_a_root_bone_goes_with_the_hips_if_asked():
    obj, action = add_walker()
    hero = add_armature(make_unreal(), "Hero")
    motions = sources.read_actions(obj, [action])
    clips = []
    for root in ("rest", "ground"):
        request = RetargetRequest(RetargetSettings(fit_root=root))
        clips.append(read_clip(hero, onto.retarget_onto(hero, motions, request)[0][0]))
    names = clips[0].skeleton.names
    resting, following = (clip.compute_world()[1] for clip in clips)
    root, hips = names.index("root"), names.index("pelvis")
    np.testing.assert_allclose(np.ptp(resting[:, root], axis=0), 0.0, atol=1e-4)
    away = np.linalg.norm((following[:, root] - following[:, hips])[:, :2], axis=-1)
    assert away.max() < 0.1
    assert np.ptp(following[:, root, 1]) > 0.3
    np.testing.assert_allclose(following[:, hips], resting[:, hips], atol=2e-3)


@pytest.mark.parametrize("make", [make_unreal, make_child])
def test_there_and_back_again_gives_the_same_motion(make):
    obj, action = add_walker()
    hero = add_armature(make(), "Hero")
    there = retarget(obj, action, hero)
    back = retarget(hero, there, obj)
    ours, theirs = (read_clip(obj, each) for each in (back, action))
    away = np.linalg.norm(ours.compute_world()[1] - theirs.compute_world()[1], axis=-1)
    assert np.mean(away) < (0.005 if make is make_unreal else 0.02), np.mean(away, axis=0)


# What is refused, with nothing changed


def lock_rotation(hero):
    hero.pose.bones["mixamorig:LeftLeg"].lock_rotation[1] = True


def lock_hips(hero):
    hero.pose.bones["mixamorig:Hips"].lock_location[2] = True


def constrain(hero):
    hero.pose.bones["mixamorig:Spine1"].constraints.new("LIMIT_ROTATION")
    bpy.context.view_layer.update()


def mirror(hero):
    hero.scale.x *= -1.0
    bpy.context.view_layer.update()


def shear(hero):
    above = bpy.data.objects.new("Above", None)
    bpy.context.scene.collection.objects.link(above)
    hero.parent = above
    above.scale, hero.rotation_euler = (1.0, 1.0, 2.0), (0.5, 0.0, 0.0)
    bpy.context.view_layer.update()


def tweak(hero):
    data = hero.animation_data_create()
    track = data.nla_tracks.new()
    action = bpy.data.actions.new("Strip")
    track.strips.new("Strip", 1, action)
    track.select = True
    track.strips[0].select = True
    data.use_tweak_mode = True


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lock_rotation, r"rotation of bone 'mixamorig:LeftLeg' of armature 'Hero' is locked"),
        (lock_hips, r"location of bone 'mixamorig:Hips' of armature 'Hero' is locked"),
        (constrain, r"'mixamorig:Spine1' of armature 'Hero' follows its constraint"),
        (mirror, r"'Hero' is scaled unevenly, sheared or mirrored"),
        (shear, r"'Hero' is scaled unevenly, sheared or mirrored"),
        (tweak, r"'Hero' is being tweaked"),
    ],
)
def test_what_cannot_take_the_motion_is_named_and_nothing_changes(spoil, said):
    obj, action = add_walker()
    hero = add_mixamo()
    spoil(hero)
    before = read_state(hero)
    with pytest.raises(RigError, match=said):
        retarget(obj, action, hero)
    assert_same(before, read_state(hero))


def test_a_scaled_parent_is_fine():
    obj, action = add_walker()
    hero = add_mixamo()
    plain = sources.read_actions(hero, [retarget(obj, action, hero)])[0].clip
    above = bpy.data.objects.new("Above", None)
    bpy.context.scene.collection.objects.link(above)
    hero.parent, above.scale = above, (100.0, 100.0, 100.0)
    hero.scale = (1e-4, 1e-4, 1e-4)
    bpy.context.view_layer.update()
    moved = sources.read_actions(hero, [retarget(obj, action, hero)])[0].clip
    np.testing.assert_allclose(moved.compute_world()[1], plain.compute_world()[1], atol=2e-3)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"target_bones": {"left_thigh": "Thigh.L"}}, r"character 'Hero'.*'Thigh\.L'"),
        ({"target_bones": {"hips": ""}}, r"character 'Hero' cannot do without hips; name its bone"),
        ({"source_bones": {"right_shin": [""]}}, r"source 'walk' cannot do without right shin"),
        ({"source_bones": {"nose": "Nose"}}, r"source 'walk'.*'nose' is not a role"),
    ],
)
def test_bones_by_hand_that_make_no_sense_are_named(given, said):
    obj, action = add_walker()
    hero = add_mixamo()
    motions = sources.read_actions(obj, [action])
    before = read_state(hero)
    with pytest.raises(RigError, match=said):
        onto.retarget_onto(hero, motions, RetargetRequest(**given))
    assert_same(before, read_state(hero))


def test_two_characters_in_one_armature_are_named():
    obj, action = add_walker()
    hero, other = add_mixamo(), add_mixamo("Other")

    def rename(bones):
        for bone in bones:
            bone.name = f"B_{bone.name}"

    edit_bones(other, rename)
    select(hero, other)
    bpy.ops.object.join()
    with pytest.raises(RigError, match=r"'Hero': .*more than one character, below 'mixamorig:Hips"):
        retarget(obj, action, hero)


def test_a_skeleton_without_legs_is_refused():
    obj, action = add_walker()
    data = bpy.data.armatures.new("Snake")
    snake = bpy.data.objects.new("Snake", data)
    bpy.context.scene.collection.objects.link(snake)

    def build(bones):
        above = None
        for number in range(8):
            bone = bones.new(f"Body{number}")
            bone.head, bone.tail = (0, 0.2 * number, 0.1), (0, 0.2 * number + 0.2, 0.1)
            bone.parent = above
            above = bone

    edit_bones(snake, build)
    before = read_state(snake)
    with pytest.raises(RigError, match=r"hips|legs|thigh"):
        retarget(obj, action, snake)
    assert_same(before, read_state(snake))


def test_an_armature_that_is_linked_asks_for_an_override(tmp_path):
    add_mixamo()
    path = str(tmp_path / "hero.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    obj, action = add_walker()
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Hero"]
    [hero] = wanted.objects
    bpy.context.scene.collection.objects.link(hero)
    with pytest.raises(RigError, match=r"'Hero' is linked.*library override"):
        targets.read_target(hero)
    own = hero.override_create(remap_local_usages=True)
    made = retarget(obj, action, own)
    assert own.animation_data.action == made
    assert not made.library


def test_scripts_retarget_actions_and_files(tmp_path):
    obj, action = add_walker()
    hero = add_mixamo()
    settings = api.RetargetSettings(foot_ik=False)
    made = api.retarget_action(action, hero, settings=settings, name="Gait")
    assert (made.name, hero.animation_data.action) == ("Gait", made)
    api.write_bvh(make_walk(20), tmp_path / "walk.bvh")
    [other] = api.retarget_file(tmp_path / "walk.bvh", hero, bones={"neck": ""}, frame_start=9)
    assert (other.name, other.frame_range[0]) == ("walk Hero", 9)
    with pytest.raises(api.SettingsError, match="append its character"):
        api.retarget_file(tmp_path / "walk.blend", hero)
    assert obj.animation_data.action == action


def test_a_character_that_does_not_stand_at_rest_is_known_by_its_motion(mocap):
    obj, action = add_walker()
    own = bvh.load(mocap / "bandai-namco" / "dataset-1_walk_normal_002.bvh")
    lying = create_armature(own.skeleton, "Lying")
    with pytest.raises(RigError, match=r"does not stand in its rest pose; add motion"):
        retarget(obj, action, lying)
    bake(own, lying, name="own")
    made = retarget(obj, action, lying)
    ends = [(f"{name}_{side}", f"{end}_{side}") for side in "LR" for name, end in BANDAI_LIMBS]
    cosines = np.sum(
        read_directions(read_clip(lying, made), ends)
        * read_directions(read_clip(obj, action), LIMBS),
        axis=-1,
    )
    assert np.degrees(np.arccos(np.clip(cosines, -1, 1))).mean() < 5.0
