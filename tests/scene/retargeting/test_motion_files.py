"""Motion in files of any kind; of two characters in one file, one has to be chosen."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import MotionDataError, SettingsError
from motion_matching.scene.retargeting import files
from tests.scene.retargeting.armatures import add_walker, make_walk, select
from tests.scene.rigs import assert_same, read_state


def write_two_characters(path):
    """Write a BVH file of two roots, each with the bones of a person; the second has a prefix."""
    clip = make_walk(5)
    bvh.save(clip, path)
    head, _, motion = path.read_text().partition("MOTION\n")
    body = head.removeprefix("HIERARCHY\n")
    second = body.replace("ROOT ", "ROOT Second").replace("JOINT ", "JOINT Second")
    lines = motion.splitlines()
    doubled = [*lines[:2], *(f"{line} {line}" for line in lines[2:])]
    path.write_text("HIERARCHY\n" + body + second + "MOTION\n" + "\n".join(doubled) + "\n")
    return clip


def test_two_characters_in_a_bvh_file_are_both_named(tmp_path):
    path = tmp_path / "duo.bvh"
    clip = write_two_characters(path)
    with pytest.raises(MotionDataError, match=r"2 characters, 'Hips' and 'SecondHips'; name the"):
        files.read_file(path)
    [motion] = files.read_file(path, character="SecondHips")
    assert motion.clip.skeleton.names[0] == "SecondHips"
    assert motion.clip.skeleton.bone_count == clip.skeleton.bone_count
    with pytest.raises(MotionDataError, match=r"no root 'Third'; choose one of 'Hips', 'Second"):
        files.read_file(path, character="Third")


def test_a_prop_beside_a_character_is_no_second_one(tmp_path):
    path = tmp_path / "prop.bvh"
    bvh.save(make_walk(5), path)
    head, _, motion = path.read_text().partition("MOTION\n")
    prop = "ROOT Ball\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\nEnd Site\n{\n"
    lines = motion.splitlines()
    padded = [*lines[:2], *(f"{line} 0 0 0" for line in lines[2:])]
    path.write_text(head + prop + "OFFSET 0 1 0\n}\n}\nMOTION\n" + "\n".join(padded) + "\n")
    [motion] = files.read_file(path)
    assert motion.clip.skeleton.names[0] == "Hips"


def test_an_fbx_file_is_read_and_leaves_nothing_behind(tmp_path):
    obj, _ = add_walker(frames=12)
    wanted = make_walk(12)
    path = tmp_path / "walk.fbx"
    select(obj)
    bpy.ops.export_scene.fbx(
        filepath=str(path), add_leaf_bones=False, bake_anim_simplify_factor=0.0
    )
    before = read_state(obj)
    motions = files.read_file(path)
    assert_same(before, read_state(obj))
    motion = next(m for m in motions if m.clip.frame_count >= 12)
    assert motion.first_frame is None
    ours, theirs = (clip.compute_world()[1] for clip in (motion.clip, wanted))
    order = [motion.clip.skeleton.index(name) for name in wanted.skeleton.names]
    np.testing.assert_allclose(ours[:12, order], theirs, atol=0.02)


def test_two_characters_in_an_fbx_file_are_both_named(tmp_path):
    pair = [add_walker(name, frames=8)[0] for name in ("Anna", "Bert")]
    path = tmp_path / "duo.fbx"
    select(*pair)
    bpy.ops.export_scene.fbx(filepath=str(path), add_leaf_bones=False)
    for obj in pair:
        bpy.data.objects.remove(obj)
    with pytest.raises(MotionDataError, match=r"2 characters, 'Anna' and 'Bert'; name the one"):
        files.read_file(path)
    motions = files.read_file(path, character="Bert")
    assert motions
    with pytest.raises(MotionDataError, match=r"no character 'Carl' that moves; choose 'Anna', "):
        files.read_file(path, character="Carl")


@pytest.mark.parametrize(
    ("name", "said"),
    [("gone.bvh", "does not exist"), ("notes.txt", "not a BVH, FBX, glTF or Blender file")],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, name, said):
    (tmp_path / "notes.txt").write_text("notes")
    with pytest.raises(SettingsError, match=rf"{name}.*{said}"):
        files.read_file(tmp_path / name)
