"""Lists show whole names, which can be edited there; the tooltips of rows say more."""

from __future__ import annotations

import bpy

from tests.ui.characters import create_character

ops = bpy.ops.motion_matching

MOCAP = ("dataset-1_walk_active_001", "dataset-1_walk_tired_002", "dataset-1_run_normal_010")


def test_takes_are_renamed_in_the_list():
    create_character()
    ops.add_actions()
    ops.bake_script(script="square", seconds=1.0)
    [take] = bpy.context.object.motion_matching.takes
    assert take.whole_name == "Square Walk"
    take.whole_name = " Shot 010 Hallway Walk In "
    assert take.action.name == take.whole_name == "Shot 010 Hallway Walk In"
    assert take.tip.startswith("Shot 010 Hallway Walk In\n1.0 s, frames ")
    take.whole_name = "   "
    assert take.action.name == "Shot 010 Hallway Walk In"


def test_sources_and_databases_tell_their_whole_names():
    obj = create_character()
    for action, name in zip(bpy.data.actions, MOCAP, strict=True):
        action.name = name
    ops.add_actions()
    settings = obj.motion_matching
    assert sorted(source.whole_name for source in settings.sources) == sorted(MOCAP)
    assert sorted(source.tip.splitlines()[0] for source in settings.sources) == sorted(MOCAP)
    ops.add_database()
    settings.databases[-1].label = "Everything in Summer"
    assert settings.databases[-1].whole_name == "Everything in Summer"
    settings.databases[-1].whole_name = "Few"
    assert settings.databases[-1].label == "Few"


def test_takes_are_named_by_script_gait_and_order():
    create_character()
    ops.add_actions()
    takes = bpy.context.object.motion_matching.takes
    bpy.data.actions.new("Square Walk.001")  # of an earlier version
    for gait in ("walk", "run", "walk"):
        ops.bake_script(script="square", gait=gait, seconds=1.0)
    assert [take.action.name for take in takes] == [
        "Square Walk 03",
        "Square Run",
        "Square Walk 04",
    ]
    takes[0].action.name = "Shot 07"
    bpy.context.object.motion_matching.take_index = 0
    ops.bake_again(use_markers=False)
    assert takes[3].action.name == "Shot 08"
