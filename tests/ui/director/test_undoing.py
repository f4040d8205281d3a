"""What the director's buttons do is undone, and done again, as a whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest

from motion_matching.app.direct import jumps
from motion_matching.app.marks import marks
from motion_matching.scene.direct import stored_shots
from tests.ui.characters import create_character
from tests.ui.director.marked import add_marks

ops = bpy.ops.motion_matching


def read_scene() -> dict[str, Any]:
    """Return what the director's operators change."""
    obj = bpy.data.objects["Hero"]
    settings = obj.motion_matching
    takes = [take.action.name for take in settings.takes]
    kept = {name: stored_shots.read_kept(bpy.data.actions[name]) for name in takes}
    empties = [each for each in bpy.data.objects if marks.is_mark_of(each, obj)]
    return {
        "takes": takes,
        "index": settings.take_index,
        "action": obj.animation_data.action.name,
        "actions": set(bpy.data.actions.keys()),
        "texts": set(bpy.data.texts.keys()),
        "kept": kept,
        "marks": {(each.name, marks.get_frame(each), marks.describe(each)) for each in empties},
        "markers": {(m.name, m.frame) for m in bpy.context.scene.timeline_markers},
    }


def go_to_jump() -> None:
    """Go to a jump in the middle of the active take."""
    settings = bpy.data.objects["Hero"].motion_matching
    known = jumps.list_jumps(settings.takes[settings.take_index].action)
    bpy.context.scene.frame_set(known[len(known) // 2].frame)


CASES: dict[str, Callable[[], set[str]]] = {
    "Solve": ops.direct,
    "Solve Again": ops.direct_again,
    "Variations": lambda: ops.direct_variations(count=2),
    "Keep Jump": ops.pin_jump,
    "Replace Jump": ops.replace_jump,
    "Forbid Jump": ops.forbid_jump,
    "Slower Here": lambda: ops.add_tempo(pace="SLOWER"),
    "Faster Here": lambda: ops.add_tempo(pace="FASTER"),
    "Add Pin": lambda: ops.add_pin(limb="left_hand"),
    "Keep Pose at This Frame": ops.keep_pose,
    "Remove Mark": ops.remove_mark,
    "Flip Take": ops.flip_take,
}


@pytest.fixture(scope="module")
def solved_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test saves the character and its take for the others."""
    return tmp_path_factory.mktemp("solved") / "solved.blend"


@pytest.fixture(autouse=True)
def solved(solved_file: Path):
    """A character with a take of three marks, on the frame of one of its jumps."""
    if not solved_file.exists():
        create_character()
        ops.add_actions()
        add_marks()
        assert ops.direct() == {"FINISHED"}
        bpy.ops.wm.save_as_mainfile(filepath=str(solved_file))
    bpy.ops.wm.open_mainfile(filepath=str(solved_file))
    bpy.context.preferences.edit.use_global_undo = True
    bpy.context.preferences.edit.undo_steps = 32
    go_to_jump()
    bpy.context.view_layer.objects.active = bpy.data.objects["Hero"]
    bpy.ops.ed.undo_push(message="before")


@pytest.mark.slow
@pytest.mark.parametrize("label", CASES)
def test_a_button_is_undone_and_done_again(label):
    if label == "Flip Take":
        ops.direct_again()
        bpy.ops.ed.undo_push(message="two takes")
    before = read_scene()
    assert CASES[label]() == {"FINISHED"}
    bpy.ops.ed.undo_push(message=label)
    after = read_scene()
    assert after != before
    bpy.ops.ed.undo()
    assert read_scene() == before
    bpy.ops.ed.redo()
    assert read_scene() == after


@pytest.mark.parametrize(
    "follow",
    [lambda: ops.bake_again(method="DIRECTOR"), ops.direct_take],
    ids=["Re-solve Path", "Take to Marks"],
)
def test_following_a_take_is_undone_and_done_again(follow):
    ops.bake_script(script="square", seconds=4.0)
    bpy.ops.ed.undo_push(message="baked")
    before = read_scene()
    assert follow() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="followed")
    after = read_scene()
    assert len(after["takes"]) == len(before["takes"]) + 1
    bpy.ops.ed.undo()
    assert read_scene() == before
    bpy.ops.ed.redo()
    assert read_scene() == after


@pytest.mark.slow
def test_the_state_after_an_undo_is_solved_on():
    assert ops.replace_jump() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="another")
    bpy.ops.ed.undo()
    assert ops.direct_again() == {"FINISHED"}
    assert ops.pin_jump() == {"FINISHED"}
    hero = bpy.data.objects["Hero"]
    assert len(hero.motion_matching.takes) == 2
