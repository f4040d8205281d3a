"""Files with several characters in the panel: one is chosen where files are added, or later."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

from motion_matching.app.database.build import load_or_build_steps
from motion_matching.app.database.content import compute_key
from motion_matching.app.sources.source_files import list_performers
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.progress import run_to_end
from tests.demo import generate_clips
from tests.performers import CAMERA, write_roots

ops = bpy.ops.motion_matching


@pytest.fixture
def duo(tmp_path: Path) -> Path:
    clips: dict[str, Clip | str] = {"camera": CAMERA}
    for prefix, name in {"A_": "walk_curves", "B_": "run_curves"}.items():
        clips[prefix] = next(clip for clip in generate_clips() if clip.name == name).crop(0, 150)
    return write_roots(tmp_path / "duo.bvh", clips)


@pytest.fixture(autouse=True)
def nothing_selected() -> None:
    bpy.context.scene.render.fps = 30
    bpy.context.view_layer.objects.active = None


def build(obj: bpy.types.Object):
    return run_to_end(load_or_build_steps(obj))


def read_prefixes(obj: bpy.types.Object) -> set[str]:
    return {bone.name[:2] for bone in obj.data.bones}


def test_a_character_of_a_file_is_chosen_where_it_is_added(duo):
    ops.add_files(filepath=str(duo), character="B_Hips", mirror=False)
    obj = bpy.context.object
    [source] = obj.motion_matching.sources
    assert (source.character, source.name) == ("B_Hips", "duo B_Hips")
    assert read_prefixes(obj) == {"B_"}
    database = build(obj)
    assert {name[:2] for name in database.skeleton.names[1:]} == {"B_"}
    assert not obj.motion_matching.built_notes


def test_both_characters_of_a_file_are_sources_beside_each_other(duo):
    for character in ("A_Hips", "B_Hips"):
        ops.add_files(filepath=str(duo), character=character, mirror=False)
    obj = bpy.context.object
    names = ["duo A_Hips", "duo B_Hips"]
    assert [source.name for source in obj.motion_matching.sources] == names
    database = build(obj)
    assert {part.clip for part in database.ranges} == set(names)
    assert {name[:2] for name in database.skeleton.names[1:]} == {"A_"}


def test_another_character_is_chosen_in_the_panel(duo):
    ops.add_files(filepath=str(duo), mirror=False)
    obj = bpy.context.object
    [source] = obj.motion_matching.sources
    assert list_performers(source) == ["A_Hips", "B_Hips"]
    key, first = compute_key(obj), build(obj)
    assert "--character" in obj.motion_matching.built_notes
    source.character = "B_Hips"
    assert compute_key(obj) != key
    second = build(obj)
    steps = [abs(each.track[-1, :2] - each.track[0, :2]).sum() for each in (first, second)]
    assert steps[1] != pytest.approx(steps[0], rel=0.05)
    source.character = ""
    assert compute_key(obj) == key


def test_a_character_of_a_file_is_imported_as_actions(duo):
    ops.import_motion(filepath=str(duo), character="B_Hips")
    obj = bpy.context.object
    assert read_prefixes(obj) == {"B_"}
    assert [source.action.name for source in obj.motion_matching.sources] == ["duo B_Hips"]


def test_what_is_assumed_of_an_imported_file_is_told(duo, capfd):
    ops.import_motion(filepath=str(duo))
    said = capfd.readouterr()
    assert "holds 2 characters" in said.out + said.err


@pytest.mark.parametrize("add", ["add_files", "add_folder"])
def test_a_wrong_folder_is_refused_in_words_of_the_panel(add, tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "gone", tmp_path / "empty"):
        with pytest.raises(RuntimeError) as caught:
            getattr(ops, add)(directory=str(folder))
        said = str(caught.value)
        assert folder.name in said
        assert "choose" in said
        assert not any(word in said for word in (".json", ".blend", "give"))
