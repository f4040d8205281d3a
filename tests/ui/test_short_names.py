"""Lists show the part of names that differs; their tooltips and the wide list show all of it."""

from __future__ import annotations

import bpy
import pytest

from motion_matching.ui.database.properties import MotionMatchingSource
from motion_matching.ui.short_names import find_short_name, shorten
from motion_matching.ui.takes.properties import MotionMatchingTake
from tests.ui.characters import create_character

ops = bpy.ops.motion_matching

MOCAP = ("dataset-1_walk_active_001", "dataset-1_walk_tired_002", "dataset-1_run_normal_010")


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (MOCAP, ("…walk_active_001", "…walk_tired_002", "…run_normal_010")),
        (
            ("Hero@Walk Forward (Retargeted)", "Hero@Run Forward (Retargeted)"),
            ("Hero@Walk…", "Hero@Run…"),
        ),
        (
            ("capture_2026_walk_left_skeleton", "capture_2026_walk_right_skeleton"),
            ("…walk_left…", "…walk_right…"),
        ),
        (("walk", "walk_fast"), ("walk", "walk_fast")),  # short enough
        (("a_very_long_name_that_is_alone",), ("a_very_long_name_that_is_alone",)),
        (  # no word is shared
            ("walking_for_a_long_while", "walked_for_so_many_hours"),
            ("walking_fo…while", "walked_for…hours"),
        ),
        (
            ("Figure Eight Walk", "Figure Eight Walk 02", "Figure Eight Walk 03", "Flips Run"),
            ("Figure …Walk", "Figure …Walk 02", "Figure …Walk 03", "Flips Run"),
        ),
        (
            ("Shot 010 Hallway Door Slowly", "Shot 010 Hallway Door Fast", "Flips Run"),
            ("Shot …Slowly", "Shot …Fast", "Flips Run"),
        ),
        (  # of two groups whose names end alike, those of one are never shown as the other's
            tuple(f"Shot {n} Hallway Stairs Take {k}" for n in (1, 2) for k in (1, 2)),
            tuple(f"…{n} …Take {k}" for n in (1, 2) for k in (1, 2)),
        ),
    ],
)
def test_names_show_the_words_in_which_they_differ(names, shown):
    found = shorten(names, 16)
    assert tuple(found[name].shown for name in names) == shown
    assert tuple(found[name].restore(found[name].shown) for name in names) == names


def list_captures():
    """Return names as the files of large data sets have them."""
    count = {"walk": 2, "run": 1, "dash": 1, "walk-back": 1, "walk-left": 1, "walk-right": 1}
    styles = ("active", "angry", "normal", "tired")
    turns = {"walk": 24, "run": 52, "walk-turn-left": 34, "walk-turn-right": 33}
    return [
        f"dataset-1_{gait}_{style}_{number + 1:03}"
        for gait in count
        for style in styles
        for number in range(count[gait])
    ] + [
        f"dataset-2_{gait}_normal_{number + 1:03}"
        for gait in turns
        for number in range(turns[gait])
    ]


def test_many_alike_names_are_told_apart_in_the_room_of_a_narrow_sidebar():
    names = list_captures()
    assert len(names) == 171
    found = shorten(names, MotionMatchingSource.ROOM)
    shown = [found[name].shown for name in names]
    assert len(set(shown)) == len(names)
    assert max(map(len, shown)) <= MotionMatchingSource.ROOM
    assert all(found[name].restore(found[name].shown) == name for name in names)
    assert found["dataset-1_walk_active_001"].shown == "…1_walk_active_001"
    assert found["dataset-2_walk-turn-left_normal_007"].shown == "…2_walk-…left_…007"
    assert found["dataset-2_walk-turn-right_normal_007"].shown == "…2_walk-turn-r…007"


def test_short_names_are_never_the_same():
    words = ("walk", "run", "to", "the", "door")
    names = [
        f"{a}_{b}-{c}.{d}_{e}"
        for a in words
        for b in words
        for c in words
        for d in words
        for e in ("001", "002")
    ]
    found = shorten(names, 16)
    assert len({short.shown for short in found.values()}) == len(set(names))
    assert all(short.restore(short.shown) == name for name, short in found.items())


def test_takes_can_be_renamed_by_what_is_shown():
    create_character()
    ops.add_actions()
    takes = bpy.context.object.motion_matching.takes
    for _ in range(2):
        ops.bake_script(script="square", seconds=1.0)
    first, second = (take.action for take in takes)
    assert [take.shown_name for take in takes] == ["Square Walk", "Square Walk 02"]  # short
    first.name, second.name = "Shot 010 Hallway Walk In", "Shot 010 Hallway Walk Out"
    assert [take.shown_name for take in takes] == ["…Hallway Walk In", "…Hallway Walk Out"]
    assert takes[0].tip.startswith("Shot 010 Hallway Walk In\n")
    takes[0].shown_name = "…Hallway Walk In Slowly"
    assert first.name == "Shot 010 Hallway Walk In Slowly"
    takes[1].shown_name = "The Best"
    assert second.name == "The Best"
    assert takes[0].shown_name == "Shot 010 H…Slowly"
    takes[1].whole_name = "The Very Best"
    assert second.name == "The Very Best"
    takes[0].shown_name = "   "
    assert first.name == "Shot 010 Hallway Walk In Slowly"


def test_sources_and_databases_tell_their_whole_names():
    obj = create_character()
    for action, name in zip(bpy.data.actions, MOCAP, strict=True):
        action.name = name
    ops.add_actions()
    settings = obj.motion_matching
    assert sorted(source.shown_name for source in settings.sources) == [
        "…1_run_normal_010",
        "…1_walk_active_001",
        "…1_walk_tired_002",
    ]
    assert sorted(source.tip.splitlines()[0] for source in settings.sources) == sorted(MOCAP)
    # a source more changes what they share
    settings.sources[0].action = bpy.data.actions.new("other")
    assert sorted(source.shown_name for source in settings.sources)[-1] == "other"
    assert settings.sources[1].shown_name.startswith("dataset-1_")
    for label in ("Everything in Spring", "Everything in Summer"):
        ops.add_database()
        settings.databases[-1].label = label
    shown = [database.shown_name for database in settings.databases]
    assert shown[-2:] == ["…in Spring", "…in Summer"]
    settings.databases[-1].shown_name = "Few"
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


def test_a_clip_is_called_as_in_the_list_of_sources():
    obj = create_character()
    for name in MOCAP:
        bpy.data.actions[0].copy().name = name
    ops.add_actions()
    assert [source.name for source in obj.motion_matching.sources if source.name in MOCAP]
    for source in obj.motion_matching.sources:
        assert find_short_name(obj, "sources", source.name) == source.shown_name
    assert find_short_name(obj, "sources", "not in the list") == "not in the list"


def test_the_names_that_takes_get_by_themselves_stay_whole():
    names = ("Figure Eight Walk", "Square Run", "Turns Walk")
    found = shorten(names, MotionMatchingTake.ROOM)
    assert [found[name].shown for name in names] == list(names)
