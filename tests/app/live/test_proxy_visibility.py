"""What is hidden while a proxy stands for a rig, and what shows again afterwards."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.app.live import host
from motion_matching.app.runtime import runtime
from motion_matching.scene.controls.finding.find_controls import read_deform_skeleton
from motion_matching.scene.controls.live.proxy_writer import (
    ProxyWriter,
    create_proxy,
    remove_proxies,
)
from motion_matching.scene.staging.mannequin import MATERIALS
from tests.app.live.test_control_rigs import RigHero
from tests.app.live.test_proxy import ProxyHero, add_body, get_proxies, list_blocks
from tests.live.stage import FPS
from tests.scene.rigify import create_rigify_rig


def list_visible() -> list[str]:
    """Return the names of visible objects, except proxies."""
    bpy.context.view_layer.update()
    objects = [obj for obj in bpy.context.view_layer.objects if obj.visible_get()]
    return sorted(obj.name for obj in objects if "Proxy" not in obj.name)


def read_flags() -> dict[str, tuple[bool, bool, bool]]:
    """Return of each object whether it is disabled, hidden, and visible."""
    bpy.context.view_layer.update()
    objects = bpy.context.view_layer.objects
    return {obj.name: (obj.hide_viewport, obj.hide_get(), obj.visible_get()) for obj in objects}


def find_layer(name: str) -> bpy.types.LayerCollection:
    return bpy.context.view_layer.layer_collection.children[name]


def move_to_collection(*objects: bpy.types.Object) -> bpy.types.LayerCollection:
    """Move objects to a collection of their own."""
    collection = bpy.data.collections.new("Character")
    bpy.context.scene.collection.children.link(collection)
    for obj in objects:
        collection.objects.link(obj)
        bpy.context.scene.collection.objects.unlink(obj)
    return find_layer("Character")


class VisibleHero(RigHero):
    """A session whose proxy is driven; the rig has two meshes."""

    def __init__(self) -> None:
        super().__init__("proxy")
        self.body, self.hat = add_body(self.obj), add_body(self.obj)
        self.hat.name = "Hat"
        self.obj.select_set(True)


def measure_body(body: bpy.types.Object, group: str) -> np.ndarray:
    """Return the middle (3,) of what a bone moves of a body, in the world."""
    shown = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
    index = body.vertex_groups[group].index
    inside = [
        shown.matrix_world @ vertex.co
        for vertex in shown.data.vertices
        if any(one.group == index and one.weight > 0.9 for one in vertex.groups)
    ]
    assert inside
    return np.mean(inside, axis=0)


@pytest.mark.parametrize("own_materials", [False, True])
def test_a_mannequin_goes_where_the_bones_of_the_proxy_go(own_materials: bool) -> None:
    hero = VisibleHero()
    if own_materials:
        for name in MATERIALS:
            bpy.data.materials.new(name)
    materials = sorted(material.name for material in bpy.data.materials)
    hero.start()
    [proxy] = get_proxies()
    [body] = proxy.children
    assert [proxy.visible_get(), body.visible_get()] == [True, True]
    places = []
    for _ in range(3):
        hero.run(10)
        bones = proxy.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        for name in ("DEF-hand.L", "DEF-shin.R", "DEF-spine.003"):
            place = measure_body(body, name)
            assert np.linalg.norm(place - np.array(bones[name].center)) < 0.15, name
        places.append(place)
    assert np.linalg.norm(places[-1] - places[0]) > 0.1
    host.end()
    assert sorted(material.name for material in bpy.data.materials) == materials


def test_an_animal_has_a_proxy_of_pieces() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    skeleton = read_deform_skeleton(create_rigify_rig("basic_quadruped"))
    before = list_blocks()
    [body] = create_proxy(skeleton, "quadruped").children
    names = ("front_toe.L", "spine.008", "toe.L")
    front, back, rear = (measure_body(body, f"DEF-{name}")[2] for name in names)
    assert max(front, rear) < 0.15 < 0.6 < back
    remove_proxies()
    assert list_blocks() == before


@pytest.mark.parametrize("way", ["eye", "monitor"])
def test_what_the_user_has_hidden_stays_hidden(way: str) -> None:
    hero = VisibleHero()
    if way == "eye":
        hero.hat.hide_set(True)
    else:
        hero.hat.hide_viewport = True
    before = read_flags()
    assert list_visible() == ["Body", "rig"]
    hero.start()
    hero.record(10)
    assert list_visible() == []
    host.end()
    assert read_flags() == before


def test_a_hidden_rig_stays_hidden() -> None:
    hero = VisibleHero()
    hero.obj.hide_set(True)
    before = read_flags()
    hero.start()
    hero.run(5)
    assert list_visible() == []
    host.end()
    assert read_flags() == before
    assert list_visible() == ["Body", "Hat"]


def test_hair_is_hidden_with_the_head_that_it_grows_on_but_not_what_is_carried() -> None:
    hero = VisibleHero()
    for name, data in (
        ("Hair", bpy.data.hair_curves.new("Hair")),
        ("Belt", bpy.data.curves.new("Belt", "CURVE")),
        ("Lamp", bpy.data.lights.new("Lamp", "POINT")),
    ):
        obj = bpy.data.objects.new(name, data)
        bpy.context.scene.collection.objects.link(obj)
        obj.parent = hero.body
    before = read_flags()
    hero.start()
    hero.run(2)
    assert list_visible() == ["Lamp"]
    host.end()
    assert read_flags() == before


def key_visibility(obj: bpy.types.Object, hidden: dict[int, bool]) -> None:
    for frame, value in hidden.items():
        obj.hide_viewport = value
        obj.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_set(1)


@pytest.mark.parametrize("hidden_first", [False, True])
def test_keys_on_visibility_do_not_show_a_mesh_beside_the_proxy(hidden_first: bool) -> None:
    hero = VisibleHero()
    key_visibility(hero.hat, {1: hidden_first, 10: not hidden_first, 20: hidden_first})
    seen = {}
    for frame in (1, 10, 20, 30):
        bpy.context.scene.frame_set(frame)
        seen[frame] = list_visible()
    assert seen[1] != seen[10]
    bpy.context.scene.frame_set(1)
    hero.start()
    for frame in (1, 10, 20, 30, 10):
        bpy.context.scene.frame_set(frame)
        assert list_visible() == []
        hero.run(2)
        assert list_visible() == []
    host.end()
    assert list_visible() == seen[1 if bpy.context.scene.frame_current == 1 else 10]
    for frame, names in seen.items():
        bpy.context.scene.frame_set(frame)
        assert list_visible() == names


@pytest.mark.parametrize("hidden_first", [False, True])
def test_drivers_of_visibility_do_not_show_a_mesh_beside_the_proxy(hidden_first: bool) -> None:
    hero = VisibleHero()
    hero.obj["no_hat"] = int(hidden_first)
    driver = hero.hat.driver_add("hide_viewport").driver
    driver.type = "SUM"
    target = driver.variables.new().targets[0]
    target.id, target.data_path = hero.obj, '["no_hat"]'
    hero.obj.update_tag()
    before = list_visible()
    assert before == (["Body", "rig"] if hidden_first else ["Body", "Hat", "rig"])
    hero.start()
    hero.run(2)
    assert list_visible() == []
    hero.obj["no_hat"] = int(not hidden_first)
    hero.obj.update_tag()
    hero.run(2)
    assert list_visible() == []
    bpy.context.scene.frame_set(10)
    assert list_visible() == []
    hero.record(5)
    host.end()
    assert list_visible() == (["Body", "Hat", "rig"] if hidden_first else ["Body", "rig"])
    hero.obj["no_hat"] = int(hidden_first)
    hero.obj.update_tag()
    assert list_visible() == before


def test_undo_and_automatic_saving_show_a_mesh_whose_visibility_is_keyed(tmp_path: Path) -> None:
    hero = VisibleHero()
    key_visibility(hero.hat, {1: False, 10: True})
    bpy.ops.ed.undo_push(message="the rig")
    before = read_flags()
    hero.start()
    hero.run(2)
    bpy.ops.ed.undo_push(message="while live")
    bpy.ops.ed.undo_push(message="something else")
    bpy.ops.ed.undo()
    assert runtime.live is None
    assert read_flags() == before
    hero.obj = bpy.data.objects["rig"]
    hero.start()
    hero.run(2)
    on_save, path = bpy.app.handlers.save_pre, str(tmp_path / "quit.blend")
    handlers = list(on_save)
    on_save.clear()
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    on_save.extend(handlers)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert read_flags() == before


def test_another_scene_ends_a_session_that_has_hidden_a_mesh_with_keys() -> None:
    hero = VisibleHero()
    key_visibility(hero.hat, {1: False, 10: True})
    before = read_flags()
    hero.start()
    scene = bpy.context.scene
    bpy.context.window.scene = bpy.data.scenes.new("Other")
    hero.run(1)
    bpy.context.window.scene = scene
    assert read_flags() == before


@pytest.mark.parametrize("way", ["eye", "monitor"])
@pytest.mark.parametrize("drive", ["proxy", "auto"])
def test_a_rig_in_a_hidden_collection_has_a_visible_proxy(way: str, drive: str) -> None:
    hero = VisibleHero()
    hero.obj.motion_matching.play.drive = drive
    layer = move_to_collection(hero.obj, hero.body, hero.hat)
    if way == "eye":
        layer.hide_viewport = True
    else:
        layer.collection.hide_viewport = True
    before = read_flags()
    hero.start()
    hero.run(3)
    assert isinstance(hero.live.session.writer, ProxyWriter) or drive == "auto"
    assert all(proxy.visible_get() for proxy in get_proxies())
    take, _ = hero.record(5)
    host.end()
    assert read_flags() == before
    assert hero.obj.animation_data.action == take


def test_a_rig_in_an_excluded_collection_can_be_driven_by_a_proxy() -> None:
    hero = VisibleHero()
    layer = move_to_collection(hero.obj, hero.body, hero.hat)
    layer.exclude = True
    hero.start()
    hero.run(3)
    [proxy] = [obj for obj in get_proxies() if obj.type == "ARMATURE"]
    assert proxy.visible_get()
    take, _ = hero.record(5)
    host.end()
    assert hero.obj.animation_data.action == take
    find_layer("Character").exclude = False
    assert list_visible() == ["Body", "Hat", "rig"]


def test_a_file_saved_while_live_opens_with_what_was_visible(tmp_path: Path) -> None:
    hero = ProxyHero()
    bpy.ops.object.mode_set(mode="OBJECT")
    hat = add_body(hero.obj)
    hat.name = "Hat"
    hat.hide_set(True)
    before = read_flags()
    hero.start()
    hero.record(10)
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert runtime.live is None
    assert read_flags() == before
    bpy.ops.wm.open_mainfile(filepath=path)
    assert read_flags() == before
    assert bpy.data.objects["rig"].animation_data.action


@pytest.mark.parametrize("editable", [False, True])
def test_meshes_of_an_overridden_collection_are_hidden_and_shown(
    editable: bool, tmp_path: Path
) -> None:
    hero, path = VisibleHero(), str(tmp_path / "rig.blend")
    hero.hat.hide_viewport = True
    move_to_collection(hero.obj, hero.body, hero.hat)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.render.fps = round(FPS)
    with bpy.data.libraries.load(path, link=True) as (_, linked):
        linked.collections = ["Character"]
    scene, layer = bpy.context.scene, bpy.context.view_layer
    made = linked.collections[0].override_hierarchy_create(scene, layer, do_fully_editable=editable)
    hero.obj, hero.body = made.objects["rig"], made.objects["Body"]
    assert hero.body.data.library
    layer.objects.active = hero.obj
    hero.obj.motion_matching.play.drive = "proxy"
    before = read_flags()
    assert list_visible() == ["Body", "rig"]
    hero.start()
    hero.run(5)
    assert list_visible() == []
    take, _ = hero.record(5)
    host.end()
    assert hero.obj.animation_data.action == take
    assert read_flags() == before
    saved = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=saved)
    bpy.ops.wm.open_mainfile(filepath=saved)
    assert read_flags() == before
