"""Tags in the panels: ranges from the playhead reach the database, can be proposed, and are saved."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.app.controller.tag_colors import get_tag_color
from motion_matching.app.database import status
from motion_matching.app.database.content import compute_key
from motion_matching.app.database.library import get_library
from motion_matching.ui.tags import operators as tags_operators
from motion_matching.ui.tags.properties import suggest_used_names
from tests.ui.characters import create_character, expect_refusal, override_character


def test_ranges_are_named_and_coloured():
    ops, obj = bpy.ops.motion_matching, create_character()
    ops.add_actions(mirror=False)
    settings = obj.motion_matching

    def get_active_tag():
        source = settings.sources[settings.source_index]
        return source.tag_ranges[source.tag_index]

    def is_colored(tag, name):
        return np.allclose(tag.color, get_tag_color(name), atol=1e-3)

    # however it gets its name, each name has its own colour
    ops.add_tag(label="crouch")
    assert get_active_tag().label == "crouch"
    assert is_colored(get_active_tag(), "crouch")
    ops.add_tag()
    assert get_active_tag().label == "Tag"
    assert is_colored(get_active_tag(), "Tag")
    get_active_tag().label = "limp"
    assert is_colored(get_active_tag(), "limp")
    ops.add_tag()
    get_active_tag().kind = "no_use"
    assert is_colored(get_active_tag(), "Do Not Use")

    # a chosen colour stays
    get_active_tag().color = (0.1, 0.2, 0.3)
    get_active_tag().kind = "FREE"
    get_active_tag().label = "sneak"
    assert np.allclose(get_active_tag().color, (0.1, 0.2, 0.3))

    # used names are suggested, also those of other sources
    settings.source_index = 1
    ops.add_tag()
    assert suggest_used_names(get_active_tag(), bpy.context, "") == [
        "crouch",
        "limp",
        "sneak",
        "Tag",
    ]
    assert suggest_used_names(get_active_tag(), bpy.context, "CR") == ["crouch"]


def test_ranges_from_the_playhead_use_frames_of_the_action():
    ops, obj = bpy.ops.motion_matching, create_character()
    settings, scene = obj.motion_matching, bpy.context.scene
    assert not ops.add_tag.poll()
    ops.add_actions(mirror=False)
    names = [source.action.name for source in settings.sources]
    settings.source_index = names.index("walk_curves")
    source = settings.sources[settings.source_index]
    last = int(source.action.frame_range[1])
    assert int(source.action.frame_range[0]) == 1
    assert not ops.remove_tag.poll()
    assert not ops.tag_at_playhead.poll()

    # from the playhead to the end of the clip, then its end from the playhead
    scene.frame_set(30)
    assert ops.add_tag() == {"FINISHED"}
    tag = source.tag_ranges[0]
    assert (tag.label, tag.frame_start, tag.frame_end) == ("Tag", 30, last)
    tag.label = "limp"
    scene.frame_set(49)
    assert ops.tag_at_playhead(end=True) == {"FINISHED"}
    assert (tag.frame_start, tag.frame_end) == (
        30,
        49,
    )
    # an end before the start moves the start
    scene.frame_set(20)
    ops.tag_at_playhead(end=True)
    assert (tag.frame_start, tag.frame_end) == (20, 20)
    tag.frame_start, tag.frame_end = 30, 49

    # from the preview range
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 61, 70
    for kind in ("no_use", "prefer"):
        ops.add_tag(kind=kind)
    source.tag_ranges[2].bias = -2.5
    scene.use_preview_range = False
    assert source.tag_index == 2
    assert source.tag_ranges[1].kind == "no_use"

    # the action's first frame is 1, the clip's is 0
    assert ops.build() == {"FINISHED"}

    def load_database():
        return get_library().load(compute_key(obj))

    built = load_database()
    clip = [r.clip for r in built.ranges].index("walk_curves")
    start = int(built.starts[clip])

    def find_frames(name):
        return np.flatnonzero(built.make_tag_mask({name})) - start

    assert find_frames("limp").tolist() == list(range(29, 49))
    assert find_frames("no_use").tolist() == find_frames("prefer").tolist() == list(range(60, 70))
    assert (np.flatnonzero(built.bias) - start).tolist() == list(range(60, 70))
    assert np.allclose(built.bias[start + 60], -2.5)
    assert status.refresh(obj).kind == "fresh"

    # part of the action: the same frames, counted from its first
    source.use_range, source.frame_start, source.frame_end = True, 41, 200
    assert status.refresh(obj).kind == "stale"
    ops.build()
    built = load_database()
    start = int(built.starts[[r.clip for r in built.ranges].index("walk_curves")])
    assert find_frames("limp").tolist() == list(range(9))
    assert find_frames("no_use").tolist() == list(range(20, 30))
    source.use_range = False

    # errors are named, and nothing is built
    source.tag_ranges[0].label = " "
    expect_refusal(ops.build, "walk_curves", "no name")
    source.tag_ranges[0].label = "limp"
    source.tag_ranges[1].frame_end = 3
    expect_refusal(ops.build, "walk_curves", "61 to 3", "ends before it starts")
    assert ops.remove_tag() == {"FINISHED"}
    assert len(source.tag_ranges) == 2
    assert ops.remove_tag(all=True) == {"FINISHED"}
    assert len(source.tag_ranges) == 0
    assert source.tag_index == 0


@pytest.mark.slow
def test_proposed_ranges_are_edited_replaced_built_and_saved():
    ops, obj = bpy.ops.motion_matching, create_character()
    settings = obj.motion_matching
    ops.add_actions()
    own = settings.sources[0].tag_ranges.add()
    own.label, own.frame_start, own.frame_end = "mine", 5, 9
    assert ops.propose_tags() == {"FINISHED"}

    def list_ranges(source):
        return [(tag.kind, tag.label, tag.frame_start, tag.frame_end) for tag in source.tag_ranges]

    def list_all_ranges():
        return {source.action.name: list_ranges(source) for source in settings.sources}

    first = list_all_ranges()
    named = {clip: [name for _, name, *_ in tags] for clip, tags in first.items()}
    assert ("FREE", "mine", 5, 9) in list_ranges(settings.sources[0])
    assert named["walk_curves"].count("turn_left") == named["walk_curves"].count("turn_right") == 4
    assert "run" in named["run_curves"]
    assert "run" not in named["walk_curves"]
    assert (
        named["walk_starts_and_stops"].count("start")
        == named["walk_starts_and_stops"].count("stop")
        == 7
    )
    for source in settings.sources:
        assert all(
            1 <= start <= end <= source.action.frame_range[1]
            for *_, start, end in list_ranges(source)
        )

    # proposing again replaces proposals and keeps the user's ranges
    settings.sources[1].tag_ranges[0].label = "renamed"
    ops.propose_tags()
    again = list_all_ranges()
    assert ("FREE", "mine", 5, 9) in list_ranges(settings.sources[0])
    assert len(list_ranges(settings.sources[0])) == len(first[settings.sources[0].action.name])
    assert sum(name == "renamed" for tags in again.values() for _, name, *_ in tags) == 1
    settings.sources[1].tag_ranges.remove(0)

    # other thresholds give other ranges, and invalid ones are refused
    ops.propose_tags()
    usual = list_all_ranges()
    settings.thresholds.run_speed = 0.9
    ops.propose_tags()
    assert "run" in [name for _, name, *_ in list_all_ranges()["walk_curves"]], (
        "this walk is faster than that"
    )
    settings.thresholds.idle_speed = 1.5
    expect_refusal(ops.propose_tags, "idle_speed", "run_speed")
    settings.thresholds.property_unset("idle_speed")
    settings.thresholds.property_unset("run_speed")
    ops.propose_tags()
    assert list_all_ranges() == usual

    # the ranges give the same database as the switch
    ops.build()
    by_ranges = get_library().load(compute_key(obj))
    for source in settings.sources:
        source.tag_ranges.clear()
    own = settings.sources[0].tag_ranges.add()
    own.label, own.frame_start, own.frame_end = "mine", 5, 9
    settings.auto_tags = True
    ops.build()
    by_switch = get_library().load(compute_key(obj))
    plain = compute_key(obj)
    settings.thresholds.run_speed = 0.9
    assert compute_key(obj) != plain, "it is another database"
    settings.thresholds.property_unset("run_speed")
    assert compute_key(obj) == plain
    assert by_switch.tag_names == by_ranges.tag_names
    assert (by_switch.tags == by_ranges.tags).mean() > 0.999

    # everything survives saving and reopening
    ops.propose_tags()
    kept = list_all_ranges()
    settings.sources[2].tag_ranges[1].kind = "loop"
    settings.simulation_bone.standing = 0.35
    path = bpy.app.tempdir + "tagged.blend"
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    settings = bpy.data.objects["Hero"].motion_matching
    assert settings.sources[2].tag_ranges[1].kind == "loop"
    assert abs(settings.simulation_bone.standing - 0.35) < 1e-6
    settings.sources[2].tag_ranges[1].kind = "FREE"
    assert list_all_ranges() == kept
    assert settings.auto_tags


def test_ranges_survive_a_round_trip_through_pose_markers():
    ops, obj = bpy.ops.motion_matching, create_character()
    settings = obj.motion_matching
    ops.add_actions()
    settings.source_index = 0
    source = settings.sources[0]
    action = source.action
    action.pose_markers.new("a note").frame = 7
    expect_refusal(ops.tags_to_markers, "no ranges")
    expect_refusal(ops.markers_to_tags, "no markers of tags")
    for name, kind, start, end in (
        ("limp", "FREE", 10, 20),
        ("limp", "FREE", 21, 30),
        ("Do Not Use", "no_use", 15, 15),
        ("Prefer", "prefer", 40, 60),
        ("Loop", "loop", 5, 44),
    ):
        tags_operators.add_range(source, name, kind, start, end)
    source.tag_ranges[3].bias = -2.5
    source.tag_ranges[0].color = (1, 0, 0)

    def list_ranges():
        return sorted(
            (tag.kind, tag.label, tag.frame_start, tag.frame_end, round(tag.bias, 4))
            for tag in source.tag_ranges
        )

    def list_markers():
        return sorted((m.frame, m.name) for m in action.pose_markers)

    before = list_ranges()
    assert ops.tags_to_markers() == {"FINISHED"}
    assert (40, "tag: prefer -2.5") in list_markers()
    assert (61, "end: prefer") in list_markers()
    assert (7, "a note") in list_markers()
    written = list_markers()
    assert ops.tags_to_markers() == {"FINISHED"}
    assert list_markers() == written, "writing again replaces the markers"
    assert ops.markers_to_tags() == {"FINISHED"}
    assert list_ranges() == before

    # an animator moves a marker
    next(m for m in action.pose_markers if m.name == "end: no_use").frame = 19
    ops.markers_to_tags()
    assert ("no_use", "Do Not Use", 15, 18, -1.0) in list_ranges()

    # ranges with the same name may overlap, whatever their bias
    kept = list_ranges()
    for start, end, bias in ((45, 50, -0.5), (55, 80, -1.0), (58, 62, -3.0), (62, 90, -2.5)):
        tags_operators.add_range(source, "Prefer", "prefer", start, end)
        source.tag_ranges[len(source.tag_ranges) - 1].bias = bias
    tags_operators.add_range(source, "limp", "FREE", 15, 25)
    overlapping = list_ranges()
    ops.tags_to_markers()
    assert ops.markers_to_tags() == {"FINISHED"}
    assert list_ranges() == overlapping

    # names may be as long as a marker's; a longer one is refused and nothing is lost
    for name, fits in (
        ("x" * 58, True),
        ("x" * 59, False),
        ("ä" * 29, True),
        ("ä" * 30, False),
        ("y" * 70, False),
    ):
        written = list_markers()
        tags_operators.add_range(source, name, "FREE", 12, 13)
        longer = list_ranges()
        if fits:
            ops.tags_to_markers()
            assert ops.markers_to_tags() == {"FINISHED"}
            assert list_ranges() == longer
        else:
            said = expect_refusal(ops.tags_to_markers, name, "shorten it")
            assert list_markers() == written, said
            assert said.count(".") == 1, said
        for place in reversed(range(len(source.tag_ranges))):
            if source.tag_ranges[place].label == name:
                source.tag_ranges.remove(place)
        if fits:
            ops.tags_to_markers()
    source.tag_ranges.clear()
    for kind, name, start, end, bias in kept:
        tags_operators.add_range(source, name, kind, start, end)
        source.tag_ranges[len(source.tag_ranges) - 1].bias = bias
    ops.tags_to_markers()

    # unpaired markers are reported, and the list stays
    kept = list_ranges()
    action.pose_markers.remove(next(m for m in action.pose_markers if m.name == "end: loop"))
    expect_refusal(ops.markers_to_tags, action.name, "end: loop")
    action.pose_markers.new("tag: prefer much").frame = 80
    expect_refusal(ops.markers_to_tags, "tag: prefer much", "number")
    assert list_ranges() == kept
    source.kind = "FILE"
    assert not ops.tags_to_markers.poll()
    assert not ops.markers_to_tags.poll()


def test_ranges_of_a_linked_character_are_never_partly_replaced(tmp_path):
    ops, obj = bpy.ops.motion_matching, create_character(clips=("walk_curves", "run_curves"))
    ops.add_actions()
    settings = obj.motion_matching
    for source in settings.sources:
        source.action.pose_markers.new("tag: limp").frame = 10
        source.action.pose_markers.new("end: limp").frame = 20
    tags_operators.add_range(settings.sources[1], "run", "FREE", 5, 8)
    path = str(tmp_path / "hero.blend")
    obj = override_character(path)
    settings = obj.motion_matching
    for source in settings.sources:
        tags_operators.add_range(source, "walk", "FREE", 30, 40)

    def list_ranges():
        return [
            [(tag.label, tag.frame_start, tag.frame_end) for tag in source.tag_ranges]
            for source in settings.sources
        ]

    # linked ranges cannot be replaced, which is reported before own ones change
    before = list_ranges()
    assert before == [[("walk", 30, 40)], [("run", 5, 8), ("walk", 30, 40)]]
    settings.source_index = 1
    for operator in (ops.markers_to_tags, ops.propose_tags):
        said = expect_refusal(operator, f"'{settings.sources[1].name}'", "linked file")
        assert said.count(".") == 1, said
        assert list_ranges() == before, said

    # own ranges are replaced
    settings.source_index = 0
    assert ops.markers_to_tags() == {"FINISHED"}
    assert list_ranges() == [[("limp", 10, 19)], before[1]]
    settings.sources[1].tag_ranges[0].label = "jog"
    tags_operators.add_range(settings.sources[0], "walk", "FREE", 30, 40)
    assert ops.propose_tags() == {"FINISHED"}
    assert list_ranges()[0][0] == ("limp", 10, 19)
    assert list_ranges()[1][0] == ("jog", 5, 8)
    assert not any(("walk", 30, 40) in of_source for of_source in list_ranges())
