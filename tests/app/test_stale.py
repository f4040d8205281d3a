"""The panel says why a database is stale; the order of the sources does not matter."""

from __future__ import annotations

import bpy
import pytest

from motion_matching.app.database import status
from motion_matching.app.database.build import load_or_build_steps
from motion_matching.app.database.content import compute_key
from motion_matching.engine.bvh import bvh
from motion_matching.engine.progress import run_to_end
from motion_matching.scene.blender.animation import actions
from tests.demo import generate_clips
from tests.ui.characters import create_character


@pytest.mark.slow
def test_the_panel_names_what_changed_since_the_build(tmp_path):
    ops, obj = bpy.ops.motion_matching, create_character()
    settings, sources = obj.motion_matching, obj.motion_matching.sources

    def list_sources():
        return [source.name for source in sources]

    bpy.data.actions["run_curves"].name = "jog"
    ops.add_actions()
    ops.build()
    key = compute_key(obj)

    def explain_stale():
        bpy.context.view_layer.update()
        found = status.refresh(obj)
        assert found.kind == "stale", found.kind
        return found.stale_reason

    def check_fresh():
        bpy.context.view_layer.update()
        found = status.refresh(obj)
        assert found.kind == "fresh", found
        assert not found.stale_reason, found

    # another order gives the same database
    assert list_sources()[0] == "jog"
    sources.move(0, 2)
    assert list_sources()[2] == "jog"
    assert compute_key(obj) == key
    check_fresh()
    jog = sources[2].action
    settings.source_index = 2
    ops.remove_source()
    assert explain_stale() == "Left out since the build: 'jog'", explain_stale()
    settings.source_index = 0
    assert ops.add_actions() == {"FINISHED"}
    assert list_sources()[2] == "jog"
    check_fresh()

    # keys of actions, settings of sources, shared settings and the rig, each with its name in the
    # panel
    curve = actions.get_active_curves(jog, actions.find_slot(jog, obj))[7]
    value = curve.keyframe_points[40].co.y
    curve.keyframe_points[40].co.y += 0.01
    assert explain_stale() == "Changed since the build: 'jog'", explain_stale()
    jog.name = "trot"
    assert explain_stale() == "Changed since the build: 'trot'", "named as in the list"
    sources[0].mirror = False
    assert explain_stale() == f"Changed since the build: '{sources[0].name}', 'trot'", (
        explain_stale()
    )
    curve.keyframe_points[40].co.y = value
    sources[0].mirror = True
    check_fresh()
    settings.contact_speed = 0.3
    settings.features.items[0].bone = "head"
    assert explain_stale() == "Changed since the build: Contact Speed, Features", explain_stale()
    settings.contact_speed = 0.15
    settings.features.items[0].bone = "left_foot"
    settings.simulation_bone.standing, settings.roles.spine = 0.5, "Chest"
    assert explain_stale() == "Changed since the build: Roles, Simulation Bone", explain_stale()
    settings.simulation_bone.standing, settings.roles.spine = 1.0, ""
    bpy.context.scene.render.fps = 30
    assert explain_stale() == "Changed since the build: the scene's frame rate", explain_stale()
    bpy.context.scene.render.fps = 24
    limit = obj.pose.bones["Head"].constraints.new("LIMIT_ROTATION")
    assert explain_stale() == "Changed since the build: the armature", explain_stale()
    obj.pose.bones["Head"].constraints.remove(limit)
    check_fresh()

    # new and missing sources, also missing files; long lists are shortened
    clip = next(clip for clip in generate_clips() if clip.name == "walk_curves")
    file = tmp_path / "new.bvh"
    bvh.save(clip, file)
    ops.add_files(filepath=str(file))
    sources[0].enabled = False
    assert explain_stale() == f"New since the build: 'new'; left out: '{sources[0].name}'", (
        explain_stale()
    )
    ops.build()
    assert status.refresh(obj).kind == "fresh"
    file.unlink()
    assert explain_stale() == "Left out since the build: 'new'", explain_stale()
    for source in sources:
        source.speed, source.enabled = 1.2, True
    bvh.save(clip, file)
    assert (
        explain_stale()
        == f"Changed since the build: '{sources[1].name}', 'trot', 'new'; new: '{sources[0].name}'"
    ), explain_stale()
    ops.build()
    for number in range(9):
        bvh.save(clip, file.with_name(f"more{number}.bvh"))
        ops.add_files(filepath=str(file.with_name(f"more{number}.bvh")))
    assert explain_stale() == "New since the build: 'more0', 'more1', 'more2' and 6 more", (
        explain_stale()
    )

    # the reason survives saving; a file that lost it is stale without a reason
    path = str(tmp_path / "hero.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Hero"]
    settings, sources = obj.motion_matching, obj.motion_matching.sources
    assert explain_stale() == "New since the build: 'more0', 'more1', 'more2' and 6 more", (
        explain_stale()
    )
    for lost in ("", "{", "[1]", '{"sources": 3}'):
        settings.built_of = lost
        assert explain_stale() == "", lost


def test_a_fresh_database_is_at_hand_until_blender_reports_a_change():
    ops, obj = bpy.ops.motion_matching, create_character()
    ops.add_actions()
    ops.build()
    built = run_to_end(load_or_build_steps(obj))
    status.refresh(obj)

    def list_stages():
        steps, stages = load_or_build_steps(obj, trusts_status=True), []
        try:
            while True:
                stages.append(next(steps)[0])
        except StopIteration as done:
            return done.value, stages

    assert list_stages() == (built, [])
    jog = obj.motion_matching.sources[0].action
    curve = actions.get_active_curves(jog, actions.find_slot(jog, obj))[7]
    curve.keyframe_points[40].co.y += 0.01
    bpy.context.view_layer.update()
    changed, stages = list_stages()
    assert "Looking at sources" in stages
    assert changed is not built
