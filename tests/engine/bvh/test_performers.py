"""Files with several characters: each can be chosen, and a camera or a prop is none."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.bvh import bvh
from motion_matching.engine.bvh.bvh_text import is_body, list_performers
from motion_matching.engine.errors import MotionDataError, SettingsError
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.sources.sources import Source, choose_character, find_sources
from tests.demo import generate_clips
from tests.engine import stand_ins
from tests.engine.sentences import check_sentence
from tests.performers import CAMERA, SWORD, write_roots

FRAMES = 60


@pytest.fixture(scope="module")
def clips() -> list[Clip]:
    """Two performers, the second with more bones."""
    walk, run = (clip for clip in generate_clips() if clip.name in ("walk_curves", "run_curves"))
    return [walk.crop(0, FRAMES), stand_ins.add_fingers(run.crop(0, FRAMES))]


def assert_is(clip: Clip, expected: Clip, prefix: str) -> None:
    bones = [clip.skeleton.index(prefix + name) for name in expected.skeleton.names]
    assert len(bones) == clip.skeleton.bone_count
    np.testing.assert_allclose(
        clip.compute_world()[1][:, bones], expected.compute_world()[1], atol=5e-5
    )


@pytest.mark.parametrize("order", ["AB", "BA"])
def test_each_performer_of_a_file_can_be_chosen(order, clips, tmp_path):
    named = dict(zip("AB", clips, strict=True))
    path = write_roots(tmp_path / "duo.bvh", {f"{letter}_": named[letter] for letter in order})
    assert list_performers(path) == [f"{letter}_Hips" for letter in order]
    for letter, expected in named.items():
        clip = bvh.load(path, root=f"{letter}_Hips")
        assert clip.warnings == ()
        assert_is(clip, expected, f"{letter}_")
        skeleton = bvh.load_skeleton(path, root=f"{letter}_Hips")
        assert skeleton.names == clip.skeleton.names
    largest = bvh.load(path)
    assert_is(largest, named["B"], "B_")
    [note] = largest.warnings
    for word in ("2 characters", "'A_Hips'", "'B_Hips'", "'B_Hips' is read", "--character"):
        assert word in note


def test_performers_of_one_name_are_told_apart(clips, tmp_path):
    path = write_roots(tmp_path / "duo.bvh", {"": clips[0], " ": clips[1]})
    assert list_performers(path) == ["Hips", "Hips.001"]
    for name, expected in zip(("Hips", "Hips.001"), clips, strict=True):
        clip = bvh.load(path, root=name)
        assert_is(clip, expected, "")
        assert clip.warnings == ()


@pytest.mark.parametrize("first", [False, True])
def test_a_root_that_is_no_body_is_left_out_by_itself(first, clips, tmp_path):
    parts: dict[str, Clip | str] = {"": clips[0]}
    others: dict[str, Clip | str] = {"camera": CAMERA, "sword": SWORD}
    path = write_roots(tmp_path / "props.bvh", others | parts if first else parts | others)
    assert list_performers(path) == ["Hips"]
    clip = bvh.load(path)
    assert_is(clip, clips[0], "")
    assert "Camera, Sword left out" in " ".join(clip.warnings)
    assert bvh.load(path, root="Camera").skeleton.names == ("Camera",)


def test_a_name_that_no_root_has_is_refused_with_those_there_are(clips, tmp_path):
    path = write_roots(tmp_path / "duo.bvh", {"A_": clips[0], "B_": clips[1]})
    for read in (bvh.load, bvh.load_skeleton):
        with pytest.raises(MotionDataError) as caught:
            read(path, root="C_Hips")
        check_sentence(caught, path, "'C_Hips'", "'A_Hips', 'B_Hips'")


def test_a_body_is_told_from_a_glove_and_a_camera(clips):
    small, large = (clip.skeleton for clip in clips)
    assert is_body(small.parents)
    assert is_body(large.parents)
    assert not is_body(np.array([-1, 0, 1, 1]))
    hand = large.index("LeftHand")
    bones = [hand, *large.get_descendants(hand)]
    glove = [bones.index(large.parents[bone]) if bone != hand else -1 for bone in bones]
    assert not is_body(np.array(glove))


def test_databases_are_built_from_either_performer(clips, tmp_path):
    duo = {"A_": clips[0], "B_": replace(clips[0], name="twin")}
    slow = duo["B_"].positions.copy()
    slow[:, 0, :2] *= 0.5
    duo["B_"] = replace(duo["B_"], positions=slow)
    path = write_roots(tmp_path / "duo.bvh", duo)
    entries = [{"file": "duo.bvh", "character": f"{letter}_Hips"} for letter in "AB"]
    (tmp_path / "list.json").write_text(json.dumps(entries))
    sources = find_sources([tmp_path / "list.json"])
    assert [source.name for source in sources] == ["duo A_Hips", "duo B_Hips"]
    speeds = []
    for source in sources:
        database, report = build([source], BuildSettings())
        assert not report.warnings
        assert {name.partition("_")[0] for name in database.skeleton.names[1:]} == {source.name[4]}
        assert database.ranges[0].clip == source.name
        steps = np.diff(database.track[:, :2], axis=0)
        speeds.append(np.linalg.norm(steps, axis=1).sum())
    assert speeds[1] == pytest.approx(0.5 * speeds[0], rel=0.05)
    chosen = choose_character([Source(file=path)], "B_Hips")
    assert [source.name for source in chosen] == ["duo B_Hips"]


def test_a_character_counts_only_in_files_that_hold_several(clips, tmp_path):
    duo = write_roots(tmp_path / "duo.bvh", {"A_": clips[0], "B_": clips[1]})
    alone = write_roots(tmp_path / "alone.bvh", {"": clips[0], "camera": CAMERA})
    chosen = choose_character([Source(file=alone), Source(file=duo)], "A_Hips")
    assert [source.character for source in chosen] == [None, "A_Hips"]
    for sources in ([Source(file=alone)], [Source(file=alone), Source(file=alone)]):
        assert choose_character(sources, "Hips") == sources  # there is no other
    with pytest.raises(SettingsError) as caught:
        choose_character([Source(file=alone)], "A_Hips")
    check_sentence(caught, "'A_Hips'", "leave it out")


@pytest.mark.parametrize("entry", [{"character": 3}, {"character": "A", "file": "a.blend"}])
def test_a_list_names_characters_of_bvh_files_alone(entry, tmp_path):
    for name in ("a.bvh", "a.blend"):
        (tmp_path / name).write_text("")
    (tmp_path / "list.json").write_text(json.dumps([{"file": "a.bvh"} | entry]))
    with pytest.raises(SettingsError) as caught:
        find_sources([tmp_path / "list.json"])
    check_sentence(caught, "list.json", "'character'", ".bvh")
