"""Live on a control rig that is too slow: a proxy is driven, and takes go to the controls."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.app.live import host
from motion_matching.app.runtime import runtime
from motion_matching.app.strip import state
from motion_matching.app.takes import recordings
from motion_matching.scene.controls.live.live_solver import LiveSolver
from motion_matching.scene.controls.live.proxy_writer import ProxyWriter
from tests.app.live.test_control_rigs import RigHero, measure
from tests.live.stage import FPS
from tests.scene.keys import read_channels
from tests.scene.rigs import assert_same, read_state
from tests.ui.drawn import draw_panels

KINDS = ("objects", "armatures", "meshes", "collections", "materials")


def get_proxies() -> list[bpy.types.Object]:
    return [obj for obj in bpy.data.objects if obj.name.endswith(" Proxy")]


def list_blocks() -> list[list[str]]:
    """Return the names of what a proxy might leave behind."""
    return [sorted(block.name for block in getattr(bpy.data, kind)) for kind in KINDS]


def add_body(obj: bpy.types.Object, corners: int = 4, subdivisions: int = 0) -> bpy.types.Object:
    """Add a mesh that a rig moves, of corners squared, subdivided by a modifier."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=corners, y_subdivisions=corners)
    body = bpy.context.object
    body.name = "Body"
    points = range(len(body.data.vertices))
    body.vertex_groups.new(name="DEF-spine").add(points, 1.0, "REPLACE")
    if subdivisions:  # before the armature, for the last one is left to the drawing
        body.modifiers.new("Subdivision", "SUBSURF").levels = subdivisions
    body.modifiers.new("Armature", "ARMATURE").object = obj
    body.select_set(True)
    bpy.context.view_layer.objects.active = obj
    return body


class ProxyHero(RigHero):
    """A live session whose proxy is driven; the rig has a body and keys, and is in pose mode."""

    def __init__(self, drive: str = "proxy") -> None:
        super().__init__(drive)
        self.body = add_body(self.obj)
        self.obj.select_set(True)
        bpy.ops.object.mode_set(mode="POSE")
        self.obj.pose.bones["chest"].rotation_quaternion = (0.9, 0.1, 0.2, 0.3)
        self.obj.pose.bones["head"].keyframe_insert("rotation_quaternion")
        self.obj.pose.bones["thigh_parent.L"]["IK_FK"] = 1.0
        bpy.context.view_layer.update()
        self.before = read_state(self.obj), list_blocks()

    def check_ending(self) -> None:
        """Check that nothing remains of the session."""
        assert runtime.live is None
        assert_same(self.before[0], read_state(self.obj))
        assert list_blocks() == self.before[1]


@pytest.mark.slow
def test_the_proxy_shows_what_the_controls_would() -> None:
    rig = ProxyHero("controls")
    rig.start()
    shown = rig.run(40)
    host.end()
    hero = ProxyHero()
    at_rest = hero.read()
    hero.start()
    obj, [hero.obj] = hero.obj, get_proxies()
    proxy = hero.run(40)
    np.testing.assert_allclose(proxy[..., :3, 3], shown[..., :3, 3], atol=0.002)
    # bones of a proxy point at those below, so the rig's are turned as the proxy's are
    turns = proxy[..., :3, :3] @ np.swapaxes(proxy[:1, ..., :3, :3], -1, -2)
    turned = shown.copy()
    turned[..., :3, 1] = (turns @ shown[:1, ..., :3, 1:2])[..., 0]
    assert measure(turned, shown)[1] < 1.0
    hero.obj = obj
    assert [obj.hide_viewport, hero.body.hide_viewport] == [True, True]
    assert obj.pose.bones["thigh_parent.L"]["IK_FK"] == 1.0
    assert bpy.context.mode == "POSE"
    assert bpy.context.object == obj
    assert state.describe_driven(obj) == "Proxy of Rigify (basic human), as set in Controls"
    host.end()
    hero.check_ending()
    np.testing.assert_allclose(hero.read(), at_rest, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["new", "append", "overwrite"])
def test_a_take_is_that_of_a_session_on_the_controls(mode: str) -> None:
    takes = []
    for drive in ("controls", "proxy"):
        hero = RigHero(drive)
        if mode != "new":
            hero.obj.motion_matching.play.drive = "controls"
            hero.start()
            hero.record(60)
            host.end()
            bpy.context.scene.frame_set(20)
        hero.obj.motion_matching.play.drive, hero.obj.motion_matching.play.mode = drive, mode
        live = hero.start("flips" if mode == "overwrite" else "figure_eight")
        hero.run(7)
        take, _ = hero.record(45)
        assert isinstance(live.session.writer, ProxyWriter) == (drive == "proxy")
        host.end()
        assert hero.obj.animation_data.action == take
        assert hero.obj.visible_get()
        assert not get_proxies()
        takes.append((read_channels(take), hero.play(range(1, 60))))
    (keys, played), (others, replayed) = takes
    assert keys.keys() == others.keys()
    for channel, values in keys.items():
        np.testing.assert_array_equal(values, others[channel])
    np.testing.assert_array_equal(played, replayed)


def end_by_discarding(hero: ProxyHero) -> None:
    hero.live.toggle_recording()
    hero.run(20)
    hero.live.session.discard_recording()
    host.end()


def end_by_saving(hero: ProxyHero) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(bpy.app.tempdir) / "live.blend"))


def end_by_deleting_the_proxy(hero: ProxyHero) -> None:
    bpy.data.objects.remove(get_proxies()[0])
    hero.run(1)


def end_by_an_error(hero: ProxyHero) -> None:
    hero.live.session.performer.step = None
    hero.run(1)


def end_by_another_scene(hero: ProxyHero) -> None:
    scene = bpy.context.scene
    other = bpy.data.scenes.new("Other")
    bpy.context.window.scene = other
    hero.run(1)
    bpy.context.window.scene = scene
    bpy.data.scenes.remove(other)
    for obj in (hero.obj, hero.body):  # a selection is one of a view layer
        obj.select_set(True)


ENDINGS = (
    lambda _: host.end(),
    end_by_discarding,
    end_by_saving,
    end_by_deleting_the_proxy,
    end_by_an_error,
    end_by_another_scene,
)


@pytest.mark.parametrize("end", ENDINGS)
def test_nothing_remains_of_a_proxy(end: Callable[[ProxyHero], None]) -> None:
    hero = ProxyHero()
    hero.start()
    hero.run(5)
    assert get_proxies()
    end(hero)
    hero.check_ending()


def test_an_error_at_the_start_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    hero = ProxyHero()
    monkeypatch.delattr(ProxyWriter, "show")
    monkeypatch.setattr(ProxyWriter, "_find_unchanged", None)
    with pytest.raises(TypeError):
        hero.start()
    hero.check_ending()


@pytest.mark.parametrize("ends_before", [False, True])
def test_undo_into_a_session_brings_no_proxy_back(ends_before: bool) -> None:
    hero = ProxyHero()
    bpy.ops.ed.undo_push(message="the rig")
    blocks, selected = list_blocks(), sorted(obj.name for obj in bpy.context.selected_objects)
    hero.start()
    hero.run(5)
    bpy.ops.ed.undo_push(message="while live")
    if ends_before:
        host.end()
    bpy.ops.ed.undo_push(message="something else")
    bpy.ops.ed.undo()
    assert runtime.live is None
    assert list_blocks() == blocks
    assert [bpy.data.objects[name].visible_get() for name in ("rig", "Body")] == [True, True]
    assert sorted(obj.name for obj in bpy.context.selected_objects) == selected
    assert bpy.data.objects["rig"].pose.bones["thigh_parent.L"]["IK_FK"] == 1.0


def test_a_file_that_blender_saves_by_itself_while_live_has_no_proxy(tmp_path: Path) -> None:
    hero = ProxyHero()
    blocks = list_blocks()
    hero.start()
    hero.run(5)
    on_save, path = bpy.app.handlers.save_pre, str(tmp_path / "quit.blend")
    handlers = list(on_save)
    on_save.clear()
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    on_save.extend(handlers)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert runtime.live is None
    assert list_blocks() == blocks
    assert [bpy.data.objects[name].visible_get() for name in ("rig", "Body")] == [True, True]


def test_a_recording_that_was_cut_off_is_recovered_on_the_controls() -> None:
    hero = ProxyHero()
    hero.start()
    hero.live.toggle_recording()
    obj, [hero.obj] = hero.obj, get_proxies()
    shown = hero.run(40)
    hero.obj = obj
    [path] = host.end(leaves_recording=True)
    hero.check_ending()
    recordings.recover(path)
    np.testing.assert_allclose(
        hero.play(range(1, 40))[..., :3, 3], shown[1:, ..., :3, 3], atol=0.002
    )


@pytest.mark.slow
def test_a_recording_along_the_timeline_has_a_key_per_frame() -> None:
    takes = []
    for drive in ("controls", "proxy"):
        hero = RigHero(drive)
        hero.obj.motion_matching.play.timeline = True
        hero.start()
        hero.run(3)
        hero.live.toggle_recording()
        shown = []
        obj, hero.obj = hero.obj, hero.live.shown.find()
        for frame in range(2, 32):
            bpy.context.scene.frame_set(frame)
            shown.append(hero.read())
            hero.now += 0.4 / FPS
            hero.live.tick(hero.now, 0.0)
        hero.obj = obj
        hero.live.toggle_recording()
        host.end()
        take = obj.animation_data.action
        assert take.frame_range[:] == (2.0, 31.0)
        played = hero.play(range(2, 32))
        np.testing.assert_allclose(played[..., :3, 3], np.array(shown)[..., :3, 3], atol=0.002)
        takes.append(read_channels(take))
    for channel, values in takes[0].items():
        np.testing.assert_array_equal(values, takes[1][channel])


@pytest.mark.slow
def test_a_library_override_has_a_proxy_too(tmp_path: Path) -> None:
    hero, path = ProxyHero(), str(tmp_path / "rig.blend")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.render.fps = round(FPS)
    with bpy.data.libraries.load(path, link=True) as (_, linked):
        linked.objects = ["rig"]
    [obj] = linked.objects
    bpy.context.scene.collection.objects.link(obj)
    hero.obj = obj.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    bpy.context.view_layer.objects.active = hero.obj
    before, blocks = read_state(hero.obj), list_blocks()
    hero.start()
    hero.run(5)
    assert hero.obj.hide_viewport
    host.end()
    assert_same(before, read_state(hero.obj))
    assert list_blocks() == blocks
    hero.start()
    obj, [hero.obj] = hero.obj, get_proxies()
    take, shown = hero.record(30)
    host.end()
    hero.obj = obj
    assert obj.animation_data.action == take
    played = hero.play(range(1, 30))
    np.testing.assert_allclose(played[..., :3, 3], shown[1:, ..., :3, 3], atol=0.002)


@pytest.mark.slow
def test_a_rig_that_is_too_slow_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[LiveSolver] = []
    solve = LiveSolver.__init__
    monkeypatch.setattr(
        LiveSolver, "__init__", lambda self, *given: (read.append(self), solve(self, *given))[1]
    )
    hero = RigHero("auto")
    hero.start()
    assert state.describe_driven(hero.obj).startswith("Controls of Rigify (basic human), ")
    host.end()
    add_body(hero.obj, 120, 2)
    read.clear()
    hero.start()
    assert len(read) == 1, "its controls are read again"
    writer = hero.live.session.writer
    assert isinstance(writer, ProxyWriter)
    assert 0.0 < writer.rig_rate < 24.0
    text = f"Proxy: the rig evaluates at {int(writer.rig_rate)} Hz, 24 needed"
    assert state.describe_driven(hero.obj) == text
    assert draw_panels() > 10
    began = time.perf_counter()
    hero.live.toggle_recording()
    hero.run(60)
    assert (time.perf_counter() - began) / 60 < 0.5 / writer.rig_rate
    assert [item for item in state.get_warnings(hero.obj) if item.kind == "slow rig"] == []
    host.end()
