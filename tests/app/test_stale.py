"""The panel says why a database is stale, and the order of the sources makes no other one."""

from __future__ import annotations

import bpy

from motion_matching.app import status
from motion_matching.app.content import compute_key
from motion_matching.engine.locomotion import locomotion
from motion_matching.engine.motion import bvh
from motion_matching.scene.blender import actions
from tests.ui.characters import character


def test_the_panel_names_what_changed_since_the_build(tmp_path):
    ops, obj = bpy.ops.motion_matching, character()
    settings, sources = obj.motion_matching, obj.motion_matching.sources

    def names():
        return [source.name for source in sources]

    bpy.data.actions["run_curves"].name = "jog"
    ops.add_actions()
    ops.build()
    key = compute_key(obj)

    def why():
        bpy.context.view_layer.update()
        found = status.refresh(obj)
        assert found.kind == "stale", found.kind
        return found.stale_reason

    def whole():
        bpy.context.view_layer.update()
        found = status.refresh(obj)
        assert found.kind == "fresh", found
        assert not found.stale_reason, found

    # another order is the same database
    assert names()[0] == "jog"
    sources.move(0, 2)
    assert names()[2] == "jog"
    assert compute_key(obj) == key
    whole()
    jog = sources[2].action
    settings.source_index = 2
    ops.remove_source()
    assert why() == "Left out since the build: 'jog'", why()
    settings.source_index = 0
    assert ops.add_actions() == {"FINISHED"}
    assert names()[2] == "jog"
    whole()

    # a key of an action, a setting of a source, settings of all, the rig; each by the name that the
    # panel has for it
    curve = actions.get_active_curves(jog, actions.find_slot(jog, obj))[7]
    value = curve.keyframe_points[40].co.y
    curve.keyframe_points[40].co.y += 0.01
    assert why() == "Changed since the build: 'jog'", why()
    jog.name = "trot"
    assert why() == "Changed since the build: 'trot'", "as the list calls it"
    sources[0].mirror = False
    assert why() == f"Changed since the build: '{sources[0].name}', 'trot'", why()
    curve.keyframe_points[40].co.y = value
    sources[0].mirror = True
    whole()
    settings.contact_speed = 0.3
    settings.features.items[0].bone = "head"
    assert why() == "Changed since the build: Contact Speed, Features", why()
    settings.contact_speed = 0.15
    settings.features.items[0].bone = "left_foot"
    settings.simulation_bone.standing, settings.roles.spine = 0.5, "Chest"
    assert why() == "Changed since the build: Roles, Simulation Bone", why()
    settings.simulation_bone.standing, settings.roles.spine = 1.0, ""
    bpy.context.scene.render.fps = 30
    assert why() == "Changed since the build: the scene's frame rate", why()
    bpy.context.scene.render.fps = 24
    limit = obj.pose.bones["Head"].constraints.new("LIMIT_ROTATION")
    assert why() == "Changed since the build: the armature", why()
    obj.pose.bones["Head"].constraints.remove(limit)
    whole()

    # new ones and ones that are gone, which a file on the disk may be; many are counted
    clip = next(clip for clip in locomotion.generate() if clip.name == "walk_curves")
    file = tmp_path / "new.bvh"
    bvh.save(clip, file)
    ops.add_files(filepath=str(file))
    sources[0].enabled = False
    assert why() == f"New since the build: 'new'; left out: '{sources[0].name}'", why()
    ops.build()
    assert status.refresh(obj).kind == "fresh"
    file.unlink()
    assert why() == "Left out since the build: 'new'", why()
    for source in sources:
        source.speed, source.enabled = 1.2, True
    bvh.save(clip, file)
    assert (
        why()
        == f"Changed since the build: '{sources[1].name}', 'trot', 'new'; new: '{sources[0].name}'"
    ), why()
    ops.build()
    for number in range(9):
        bvh.save(clip, file.with_name(f"more{number}.bvh"))
        ops.add_files(filepath=str(file.with_name(f"more{number}.bvh")))
    assert why() == "New since the build: 'more0', 'more1', 'more2' and 6 more", why()

    # it is known in the file; one that has lost it is stale all the same
    path = str(tmp_path / "hero.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Hero"]
    settings, sources = obj.motion_matching, obj.motion_matching.sources
    assert why() == "New since the build: 'more0', 'more1', 'more2' and 6 more", why()
    for lost in ("", "{", "[1]", '{"sources": 3}'):
        settings.built_of = lost
        assert why() == "", lost
