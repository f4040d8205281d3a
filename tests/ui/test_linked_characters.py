"""A linked character says what to do, and a library override of it does all that a local one does."""

from __future__ import annotations

import bpy

from motion_matching.app.live import host, performing
from motion_matching.app.runtime import runtime
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.devices.steering import SteeringInput
from tests.steps import run_steps
from tests.ui.characters import create_character, expect_refusal, override_character, read_state
from tests.ui.takes.test_baking import add_curve

ops = bpy.ops.motion_matching


def save_character(tmp_path):
    create_character(clips=("walk_curves",))
    ops.add_actions()
    return str(tmp_path / "hero.blend")


def test_a_linked_character_asks_for_a_library_override(tmp_path):
    path = save_character(tmp_path)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, target):
        target.objects = ["Hero"]
    [obj] = target.objects
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    before = read_state()
    for operator in (ops.bake_along, ops.bake_script, ops.preview_source, ops.start, ops.tune):
        expect_refusal(operator, "library override")
    assert read_state() == before


def test_an_overridden_character_is_previewed_baked_and_recorded(tmp_path):
    obj = override_character(save_character(tmp_path))
    settings = obj.motion_matching
    source = settings.sources[0].action
    assert ops.preview_source() == {"FINISHED"}
    assert runtime.source_preview
    assert ops.stop_preview() == {"FINISHED"}
    assert obj.animation_data is None or obj.animation_data.action is None
    settings.play.curve = add_curve([(0.0, 0.0), (0.0, -4.0)])
    assert ops.bake_along(along="curve", seconds=1.0) == {"FINISHED"}

    ready, keyboard = run_steps(performing.prepare_steps(obj)), Keyboard()
    live = performing.start(obj, *ready, keyboard, SteeringInput(keyboard), 0.0)
    live.toggle_recording()
    keyboard.handle("W", "PRESS")
    for tick in range(1, 30):
        live.tick(tick / ready[0].fps, 0.0)
    host.end()
    along, recorded = (take.action for take in settings.takes)
    assert (along.name, recorded.name) == ("Along Path Walk", "Keyboard Walk")
    assert recorded.frame_range[1] - recorded.frame_range[0] > 20
    assert source.library, "the linked action is as it was"
