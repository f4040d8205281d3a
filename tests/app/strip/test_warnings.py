"""Warnings about a character: told when a source is added, alike ones as one, until dismissed."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np
import pytest

from motion_matching.app.character import rig_status
from motion_matching.app.database import status
from motion_matching.app.database.content import compute_key
from motion_matching.app.runtime import runtime
from motion_matching.app.strip import state, warnings
from motion_matching.engine.bvh import bvh
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.skeleton import Skeleton
from tests.demo import generate_clips
from tests.ui.characters import create_character


@pytest.fixture
def clip():
    return next(c for c in generate_clips(fps=24) if c.name == "walk_curves")


def save_renamed(clip, file, prefix):
    names = tuple(f"{prefix}{name}" for name in clip.skeleton.names)
    bvh.save(replace(clip, skeleton=clip.skeleton.with_names(names)), file)


def list_warnings(obj, area=None):
    status.refresh(obj)
    return state.get_warnings(obj, area)


def run(button):
    category, _, name = button.operator.partition(".")
    return getattr(getattr(bpy.ops, category), name)(**dict(button.properties))


def find_button(item, label):
    return next(button for button in item.buttons if button.label == label)


def test_sources_that_never_stand_still_are_told(tmp_path, clip):
    bvh.save(clip.crop(60, clip.frame_count - 90), tmp_path / "walk.bvh")
    obj, ops = create_character(), bpy.ops.motion_matching
    ops.add_files(filepath=str(tmp_path / "walk.bvh"))
    assert ops.build() == {"FINISHED"}
    item, side_steps = list_warnings(obj)
    assert side_steps.kind == "side steps"
    warnings.dismiss(obj.session_uid, side_steps.identity)
    assert "No idle clip" in item.text
    assert find_button(item, "Add Motion").operator == "MOTION_MATCHING_MT_add_sources"
    assert find_button(item, "Add Standing").operator == "motion_matching.add_standing"
    assert list_warnings(obj, "database") == [item]
    ops.add_actions()
    ops.build()
    assert list_warnings(obj) == []


def save_tentacle(clip, path):
    """Save a file with a chain of bones that is no body."""
    bones = [clip.skeleton.index(name) for name in ("Spine", "Chest", "Neck", "Head")]
    rest = clip.skeleton.rest_positions[bones], clip.skeleton.rest_rotations[bones]
    skeleton = Skeleton(("A", "B", "C", "D"), np.arange(-1, 3), *rest)
    bvh.save(Clip("", skeleton, clip.positions[:, bones], clip.rotations[:, bones], 30.0), path)


def test_a_file_without_a_body_is_told_when_it_is_added(tmp_path, clip):
    obj = create_character()
    ops = bpy.ops.motion_matching
    ops.add_actions()
    assert list_warnings(obj) == []
    assert state.get_character_state(obj) == ("CHECKMARK", "Ready")
    for number in range(4):
        save_tentacle(clip, tmp_path / f"tentacle {number}.bvh")
    ops.add_files(directory=str(tmp_path))

    [item] = list_warnings(obj)
    assert item.area == "database"
    assert len(item.about) == 4
    assert "4 sources have unrecognised bones" in item.text
    assert "and 1 more" in item.text
    assert status.refresh(obj).states["tentacle 0"].text == "Needs Help"
    assert state.get_database_state(obj) == ("ERROR", "3 of 7")
    assert state.get_standing(bpy.context, obj).text == "Not Built, 3 of 7 Fit"

    assert run(find_button(item, "Switch Off")) == {"FINISHED"}
    assert list_warnings(obj) == []
    assert sum(source.enabled for source in obj.motion_matching.sources) == 3


def test_files_of_another_character_are_mapped(tmp_path, clip):
    """Other names, and bones that the armature lacks, need no help; nor do the files that fit."""
    obj = create_character()
    ops = bpy.ops.motion_matching
    bvh.save(clip, tmp_path / "fits.bvh")
    ops.add_files(filepath=str(tmp_path / "fits.bvh"))
    assert status.refresh(obj).states["fits"].text == "Same"
    key = compute_key(obj)
    save_renamed(clip, tmp_path / "mine.bvh", "My")
    ops.add_files(filepath=str(tmp_path / "mine.bvh"))
    states = status.refresh(obj).states
    assert list_warnings(obj) == []
    assert states["fits"].text == "Same"
    mapping = states["mine"].mapping
    assert states["mine"].text == f"Mapped {mapping.total} of {mapping.total}"
    assert compute_key(obj) != key
    obj.motion_matching.sources["mine"].enabled = False
    assert compute_key(obj) == key


def test_files_of_another_size_or_rest_pose_are_mapped(tmp_path, clip):
    obj = create_character()
    ops = bpy.ops.motion_matching
    bvh.save(clip, tmp_path / "fits.bvh")
    ops.add_files(filepath=str(tmp_path / "fits.bvh"))
    rest = clip.skeleton.rest_positions.copy()
    rest[clip.skeleton.index("LeftArm")] += (0.0, 0.0, 0.3)
    moved = replace(clip, skeleton=replace(clip.skeleton, rest_positions=rest))
    bvh.save(moved, tmp_path / "rests.bvh")
    ops.add_files(filepath=str(tmp_path / "rests.bvh"))
    states = status.refresh(obj).states
    assert [states[name].kind for name in ("fits", "rests")] == ["same", "mapped"]
    assert list_warnings(obj) == []
    obj.motion_matching.sources["rests"].enabled = False
    status.refresh(obj)

    rig_status.refresh(obj)
    obj.scale = 100.0, 100.0, 100.0
    bpy.context.view_layer.update()
    assert obj.session_uid not in runtime.statuses.stale
    rig_status.get_rig_state(obj)  # as the panels ask at every redraw
    rig_status._refresh_pending()
    assert obj.session_uid in runtime.statuses.stale, "what fits is found out again"
    assert status.refresh(obj).states["fits"].kind == "mapped"
    assert [item for item in list_warnings(obj) if item.kind != warnings.RIG_KIND] == []


def test_each_problem_of_a_source_has_its_kind_and_its_button(tmp_path, clip):
    obj = create_character()
    ops, settings = bpy.ops.motion_matching, obj.motion_matching
    ops.add_actions()
    walk, run_source, starts = settings.sources
    walk.use_range, walk.frame_start, walk.frame_end = True, 90, 20
    bpy.data.actions.remove(run_source.action)
    starts.kind, starts.filepath = "FILE", str(tmp_path / "gone.bvh")
    (tmp_path / "broken.bvh").write_text("HIERARCHY\nROOT Hips\n{ nonsense")
    for name in ("still", "broken", "sound"):
        source = settings.sources.add()
        source.name = name
        if name == "still":
            source.action = bpy.data.actions.new("still")
        else:
            source.kind, source.filepath = "FILE", str(tmp_path / f"{name}.bvh")
    bvh.save(clip, tmp_path / "sound.bvh")

    found = {item.kind: item for item in list_warnings(obj, "database")}
    assert set(found) == {"range", "lost", "missing", "still", "unreadable"}
    assert "gone.bvh" in found["missing"].text
    assert "broken.bvh" in found["unreadable"].text
    assert state.get_database_state(obj) == ("ERROR", "1 of 6")

    assert run(find_button(found["still"], "Select")) == {"FINISHED"}
    assert settings.sources[settings.source_index].name == "still"
    assert run(find_button(found["range"], "Whole Range")) == {"FINISHED"}
    assert not walk.use_range
    assert "range" not in {item.kind for item in list_warnings(obj)}


def test_lost_paths_by_hand_go_back_to_the_computed_ones_by_one_button():
    obj = create_character()
    ops, settings = bpy.ops.motion_matching, obj.motion_matching
    ops.add_actions()
    for index in (0, 2):
        settings.source_index = index
        ops.edit_path()
        bpy.context.scene.collection.objects.unlink(settings.sources[index].path)
    settings.source_index = 1
    [item] = list_warnings(obj)
    assert item.kind == "path"
    assert run(find_button(item, "Back to Computed")) == {"FINISHED"}
    assert list_warnings(obj) == []
    assert settings.source_index == 1
    assert [source.use_path for source in settings.sources] == [False] * 3
    assert [source.path for source in settings.sources] == [None] * 3
    assert not [other for other in bpy.data.objects if other.type == "EMPTY"]


def test_selecting_goes_through_the_sources_that_a_warning_is_about():
    obj = create_character()
    ops, settings = bpy.ops.motion_matching, obj.motion_matching
    ops.add_actions()
    for action in list(bpy.data.actions)[:2]:
        bpy.data.actions.remove(action)
    [item] = list_warnings(obj)
    assert len(item.about) == 2
    select, seen = find_button(item, "Select"), []
    for _ in range(3):
        run(select)
        seen.append(settings.sources[settings.source_index].name)
    assert set(seen) == set(item.about)
    assert seen[0] != seen[1]


def test_a_build_without_some_sources_says_how_many_and_why_and_has_no_tick(tmp_path, clip):
    obj = create_character()
    ops, settings = bpy.ops.motion_matching, obj.motion_matching
    ops.add_actions()
    assert ops.build() == {"FINISHED"}
    assert state.get_database_state(obj) == ("CHECKMARK", "Fresh")
    assert state.get_standing(bpy.context, obj).text == "Ready"
    assert list_warnings(obj) == [], "clips that start or end in motion are no reason to warn"

    bvh.save(clip.crop(0, 6), tmp_path / "blink.bvh")
    ops.add_files(filepath=str(tmp_path / "blink.bvh"))
    walk = settings.sources[0]
    walk.loop, walk.use_range, walk.frame_start, walk.frame_end = True, True, 40, 120
    assert ops.build() == {"FINISHED"}
    assert state.get_database_state(obj) == ("ERROR", "3 of 4")
    assert state.get_standing(bpy.context, obj) == (
        "ERROR",
        "Ready with 3 of 4 Sources",
        (state.START, state.BAKE),
    )
    found = {item.kind: item for item in list_warnings(obj)}
    assert set(found) == {"short", "loop"}
    assert found["short"].about == ("blink",)
    assert "needs at least" in found["short"].text
    assert run(find_button(found["loop"], "Do Not Loop")) == {"FINISHED"}
    assert not walk.loop
    assert status.refresh(obj).kind == "stale"


def test_notes_of_the_version_before_are_not_shown_as_something_else():
    assert warnings.parse_notes("Left out 'walk': it has 2 frames and needs at least 30.") == ()
    assert warnings.parse_notes("[" * 100_000) == ()


def test_a_dismissed_warning_stays_away_until_it_is_about_something_else():
    obj = create_character()
    ops, settings = bpy.ops.motion_matching, obj.motion_matching
    ops.add_actions()

    def break_range(source):
        source.use_range, source.frame_start, source.frame_end = True, 90, 20

    break_range(settings.sources[0])
    [item] = list_warnings(obj)
    warnings.dismiss(obj.session_uid, item.identity)
    assert list_warnings(obj) == []
    assert state.get_database_state(obj) == ("ERROR", "2 of 3"), "the state is still the state"

    break_range(settings.sources[1])
    [item] = list_warnings(obj)
    assert item.about == tuple(source.name for source in settings.sources[:2])
    ops.dismiss_warning(warning=str(list(item.identity)).replace("'", '"'))
    assert list_warnings(obj) == []

    # mended, and wrong again
    for source in settings.sources[:2]:
        source.use_range = False
    assert list_warnings(obj) == []
    for source in settings.sources[:2]:
        source.use_range = True
    assert len(list_warnings(obj)) == 1


def test_problems_of_the_armature_are_warnings_with_their_fix():
    obj = create_character()
    bpy.data.batch_remove(list(bpy.data.actions))
    obj.scale = (0.5, 0.5, 1.0)
    bpy.context.view_layer.update()
    rig_status.refresh(obj)
    [item] = list_warnings(obj, "character")
    assert item.about == ("Uneven Scale",)
    assert run(find_button(item, "Apply Scale")) == {"FINISHED"}
    assert list_warnings(obj, "character") == []


def test_a_scale_that_is_handled_is_no_warning_and_can_be_applied():
    obj = create_character()
    bpy.ops.motion_matching.add_actions()
    obj.scale = (0.5, 0.5, 0.5)
    bpy.context.view_layer.update()
    rig_status.refresh(obj)
    assert list_warnings(obj, "character") == []
    assert state.get_character_state(obj) == ("CHECKMARK", "Ready")
    [offer] = state.list_offers(obj)
    assert run(offer) == {"FINISHED"}
    assert tuple(obj.scale) == (1.0, 1.0, 1.0)
    assert state.list_offers(obj) == []


def test_dismissing_no_warning_changes_nothing():
    """Scripts may leave out which one."""
    obj = create_character()
    bpy.ops.motion_matching.add_actions()
    assert bpy.ops.motion_matching.dismiss_warning(warning="[]") == {"FINISHED"}
    assert status.refresh(obj).kind == "none"
    assert not runtime.dismissed.get(obj.session_uid)
