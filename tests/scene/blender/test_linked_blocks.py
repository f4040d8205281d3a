"""A character that is linked and overridden is one character, and linked blocks hide no own ones."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching import api
from motion_matching.engine.bvh import bvh
from motion_matching.engine.database import database as databases
from motion_matching.engine.errors import SettingsError
from motion_matching.scene.blender.files import find_armature
from motion_matching.scene.reading.blend_sources import find_chosen_actions
from motion_matching.scene.retargeting import sources
from motion_matching.scene.staging.ground import collect_visible_triangles
from tests.command_line import run_with_errors
from tests.scene.bodies import create_person
from tests.scene.retargeting.armatures import add_mixamo, add_walker, make_walk
from tests.scene.rigs import read_state
from tests.scene.staging.test_ground import add_collection, add_plane

FILE = Path("shot.blend")


def open_empty() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def save_library(folder: Path, make) -> Path:
    """Save a file with the collection 'Set' that holds what `make` adds."""
    open_empty()
    make()
    made = add_collection("Set")
    for obj in bpy.context.scene.collection.objects:
        made.objects.link(obj)
    path = folder / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    open_empty()
    return path


def link(path: Path, kind: str, *names: str) -> list:
    with bpy.data.libraries.load(str(path), link=True) as (_, target):
        setattr(target, kind, list(names))
    return getattr(target, kind)


def override(path: Path, *, fully: bool = True) -> bpy.types.Object:
    """Link the collection of a library, and return the override of its armature."""
    [made] = link(path, "collections", "Set")
    bpy.context.scene.collection.children.link(made)
    made.override_hierarchy_create(
        bpy.context.scene, bpy.context.view_layer, do_fully_editable=fully
    )
    armatures = [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]
    assert len(armatures) == 2, "it is there twice, by one name"
    return next(obj for obj in armatures if obj.override_library)


def measure_way(path: Path) -> float:
    """Return how far the overridden character's hips go in a file that is opened anew, in metres."""
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    obj = next(o for o in bpy.data.objects if o.type == "ARMATURE" and o.override_library)
    first, last = map(int, obj.animation_data.action.frame_range)
    places = []
    for frame in (first, last):
        bpy.context.scene.frame_set(frame)
        shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        hips = next(bone for bone in shown.pose.bones if "Hips" in bone.name)
        places.append(np.array(shown.matrix_world @ hips.head))
    return float(np.linalg.norm((places[1] - places[0])[:2]))


@pytest.mark.parametrize("fully", [True, False])
def test_motion_is_retargeted_onto_an_overridden_character(tmp_path, fully):
    library = save_library(tmp_path, add_mixamo)
    override(library, fully=fully)
    shot, out, walk = tmp_path / "shot.blend", tmp_path / "out.blend", tmp_path / "walk.bvh"
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    bvh.save(make_walk(60), walk)
    for options in ((), ("--armature", "Hero")):
        code, said = run_with_errors("retarget", walk, "--onto", shot, "-o", out, *options)
        assert (code, said) == (0, "")
        assert measure_way(out) > 1.0


@pytest.mark.slow
def test_a_take_is_baked_onto_an_overridden_character(tmp_path, demo_database):
    databases.save(demo_database, tmp_path / "walk.npz")
    library = save_library(tmp_path, lambda: create_person("Hero"))
    override(library)
    shot, out = tmp_path / "shot.blend", tmp_path / "out.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    take = "take", tmp_path / "walk.npz", "--seconds", 3, "--quiet", "--onto", shot, "-o", out
    for options in ((), ("--armature", "Hero")):
        assert run_with_errors(*take, *options) == (0, "")
        assert measure_way(out) > 1.0


def test_the_api_retargets_onto_an_overridden_character(tmp_path):
    library = save_library(tmp_path, add_mixamo)
    hero = override(library)
    walker, action = add_walker()
    made = api.retarget_action(action, hero)
    assert sources.find_source_armature(action, hero) == walker
    with pytest.raises(SettingsError, match=r"moves the bones of 'Hero' itself"):
        sources.find_source_armature(made, hero)
    assert sources.find_source_armature(made) == hero
    path = tmp_path / "out.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert measure_way(path) > 1.0


def test_an_action_of_a_linked_character_is_read_from_its_override(tmp_path):
    library = save_library(tmp_path, add_walker)
    obj = override(library)
    action = obj.animation_data.action
    assert action.library
    bpy.context.view_layer.objects.active = obj
    before = read_state(obj)
    [motion] = sources.read_actions(sources.find_source_armature(action), [action])
    assert np.ptp(motion.clip.positions[:, 0], axis=0).max() > 1.0
    assert read_state(obj) == before


def test_own_armatures_come_before_linked_ones_of_their_name(tmp_path):
    library = save_library(tmp_path, lambda: (add_mixamo(), add_mixamo("Villain")))
    hero, villain = link(library, "objects", "Hero", "Villain")
    with pytest.raises(SettingsError, match=r"'Hero \[library.blend\]', 'Villain \[lib"):
        find_armature(FILE, None)
    own = add_mixamo()
    assert (own.name, hero.name) == ("Hero", "Hero")
    assert find_armature(FILE, "Hero") == own
    assert find_armature(FILE, "Hero [library.blend]") == hero
    assert find_armature(FILE, "Villain") == villain
    assert find_armature(FILE, None, takes_keys=True) == own, "no other takes keys"
    with pytest.raises(SettingsError, match=r"3 armatures.*choose one with --armature"):
        find_armature(FILE, None)


def test_of_actions_of_one_name_the_one_of_the_armature_is_meant(tmp_path):
    library = save_library(tmp_path, add_walker)
    obj = override(library)
    linked = obj.animation_data.action
    other = bpy.data.actions.new("walk")
    other.use_fake_user = True
    assert (linked.name, other.name) == ("walk", "walk")
    assert find_chosen_actions(FILE, obj, ("walk",)) == [linked]
    mine = linked.copy()
    bpy.data.actions.remove(other)
    mine.name = "walk"
    assert find_chosen_actions(FILE, obj, ("walk",)) == [mine]
    assert find_chosen_actions(FILE, obj, (linked.name_full,)) == [linked]


def test_instances_of_a_linked_collection_are_ground(tmp_path):
    def add_floor() -> None:
        add_plane(bpy.context.scene.collection, "Floor", 2.0, place=(0.0, 0.0, 0.5))

    [made] = link(save_library(tmp_path, add_floor), "collections", "Set")
    assert len(collect_visible_triangles(made)) == 0
    empty = bpy.data.objects.new("Instance", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", made
    empty.location = (5.0, 0.0, 1.0)
    bpy.context.scene.collection.objects.link(empty)
    bpy.context.view_layer.update()
    triangles = collect_visible_triangles(made)
    np.testing.assert_allclose(triangles.reshape(-1, 3).mean(axis=0), (5.0, 0.0, 1.5), atol=1e-5)
    other = add_collection("Other")
    assert len(collect_visible_triangles(other)) == 0
