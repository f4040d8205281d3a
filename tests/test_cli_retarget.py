"""The command `retarget`: files of any kind onto a character in a copy of a Blender file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.engine.bvh import bvh
from motion_matching.scene.reading.sampling import sample
from tests.command_line import check_refusals, run, run_with_errors
from tests.engine import stand_ins
from tests.engine.mending.test_source_doctor import add_rest_pose
from tests.scene.retargeting.armatures import add_mixamo, add_walker, make_walk, select
from tests.scene.retargeting.spoilt import roll_left_foot
from tests.scene.retargeting.test_motion_files import write_two_characters


@pytest.fixture(scope="module")
def folder(registered, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with walking in files of each kind, and Blender files of characters."""
    folder = tmp_path_factory.mktemp("retarget")
    open_empty()  # whose frame rate the walk has
    bvh.save(make_walk(30), folder / "walk.bvh")
    write_two_characters(folder / "duo.bvh")
    add_mixamo()
    bpy.context.scene.frame_start = 5
    save(folder / "hero.blend")
    add_mixamo("Second")
    save(folder / "heroes.blend")
    open_empty()
    walker, _ = add_walker(frames=30)
    select(walker)
    bpy.ops.export_scene.fbx(
        filepath=str(folder / "walk.fbx"), add_leaf_bones=False, bake_anim_simplify_factor=0.0
    )
    save(folder / "walker.blend")
    open_empty()
    save(folder / "empty.blend")
    return folder


def open_empty() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def save(path: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)


def read_heads(path: Path, name: str) -> tuple[bpy.types.Action, np.ndarray]:
    """Open a file, and return an action of its character with the world heads (F, B, 3)."""
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    hero = bpy.data.objects[name]
    action = hero.animation_data.action
    return action, sample(hero, [action])[0].clip.compute_world()[1]


@pytest.mark.parametrize("source", ["walk.bvh", "walk.fbx", "walker.blend"])
def test_a_file_of_any_kind_becomes_an_action_in_a_copy(folder, tmp_path, capsys, source):
    before = (folder / "hero.blend").read_bytes()
    out, report = tmp_path / "out.blend", tmp_path / "report.json"
    options = "-o", out, "--report", report
    assert run("retarget", folder / source, "--onto", folder / "hero.blend", *options) == 0
    assert "20 of 20" in capsys.readouterr().out
    assert (folder / "hero.blend").read_bytes() == before
    data = json.loads(report.read_text())
    assert (data["mapped"], data["total"], data["needs_help"]) == (20, 20, False)
    assert data["armature"] == "Hero"
    [made] = data["actions"] if source != "walk.fbx" else data["actions"][-1:]
    assert made["legs"] < 3.0
    assert made["slide"] <= made["source_slide"] + 0.1
    assert 0.98 < made["hips"] < 1.02
    assert made["against"] == 0
    action, heads = read_heads(out, "Hero")
    assert action.use_fake_user
    assert action.frame_range[0] == 5
    assert 1.3 < np.ptp(heads[..., 2], axis=1).mean() < 2.0, "metres"
    assert -0.1 < heads[..., 2].min() < 0.1


def test_settings_frame_and_bones_can_be_given(folder, tmp_path):
    mapping, out = tmp_path / "mine.json", tmp_path / "out.blend"
    mapping.write_text('{"version": 1, "target": {"neck": ""}}')
    report = tmp_path / "report.json"
    given = ["--mapping", mapping, "--set", "scale=2", "--set", "foot_ik=false", "--frame", 11]
    onto = "--onto", folder / "heroes.blend", "--armature", "Second"
    assert (
        run(
            "retarget", folder / "walk.bvh", *onto, "-o", out, "--report", report, *given, "--quiet"
        )
        == 0
    )
    data = json.loads(report.read_text())
    assert data["settings"]["scale"] == 2
    assert data["settings"]["foot_ik"] is False
    assert (data["mapped"], data["armature"]) == (19, "Second")
    action, heads = read_heads(out, "Second")
    assert action.frame_range[0] == 11
    hips = heads[:, 0]
    own = make_walk(30).compute_world()[1][:, 0]
    ways = [np.linalg.norm((path[-1] - path[0])[:2]) for path in (hips, own)]
    assert ways[0] / ways[1] == pytest.approx(2.0, rel=0.05)


def test_the_options_for_other_axes_are_named_and_right(folder, tmp_path, capsys):
    out, path = tmp_path / "out.blend", tmp_path / "other.bvh"
    bvh.save(make_walk(30), path, up="Z", forward="-Y")
    onto = "--onto", folder / "hero.blend", "-o", out
    assert run("retarget", path, *onto) == 0
    said = capsys.readouterr().out
    assert "Warning: 'other' lies or stands on its head" in said
    assert "(--up Z --forward -Y)." in said
    assert run("retarget", path, *onto, "--up", "Z", "--forward", "-Y") == 0
    assert "Warning" not in capsys.readouterr().out
    found = read_heads(out, "Hero")[1]
    assert run("retarget", folder / "walk.bvh", *onto) == 0
    assert "Warning" not in capsys.readouterr().out
    np.testing.assert_allclose(found, read_heads(out, "Hero")[1], atol=1e-3)
    database = tmp_path / "walk.npz"
    assert run("build", path, "-o", database) == 0
    assert "(--up Z --forward -Y)." in capsys.readouterr().out


def test_a_rest_pose_is_left_out_unless_frames_are_kept(folder, tmp_path, capsys):
    walk = bvh.load(folder / "walk.bvh")
    bvh.save(add_rest_pose(walk, 1, at_end=False, in_place=False), tmp_path / "posed.bvh")
    out, report = tmp_path / "out.blend", tmp_path / "report.json"
    options = "--onto", folder / "hero.blend", "-o", out, "--report", report
    assert run("retarget", folder / "walk.bvh", *options) == 0
    assert "Warning" not in capsys.readouterr().out
    wanted = read_heads(out, "Hero")[1]
    assert run("retarget", tmp_path / "posed.bvh", *options) == 0
    said = capsys.readouterr().out
    assert "Warning: Frame 0 of 'posed' is unlike the others, as a T-pose is" in said
    assert "the new action begins with frame 1 of its source." in said
    data = json.loads(report.read_text())
    assert [each["skipped"] for each in data["actions"]] == [1]
    assert data["notes"][0].startswith("Frame 0 of 'posed'")
    action, heads = read_heads(out, "Hero")
    assert action.frame_range[0] == 5
    np.testing.assert_allclose(heads, wanted, atol=1e-3)
    assert run("retarget", tmp_path / "posed.bvh", *options, "--keep-frames", "--force") == 0
    assert "it was kept as it is, and would be left out otherwise." in capsys.readouterr().out
    assert len(read_heads(out, "Hero")[1]) == len(wanted) + 1


@pytest.mark.parametrize(("scale", "words"), [(0.0, "walks in place"), (100.0, "another unit")])
def test_hips_that_do_not_go_where_feet_push_are_told(folder, tmp_path, capsys, scale, words):
    walk = make_walk(140)
    positions = walk.positions.copy()
    positions[:, 0, :2] *= scale
    bvh.save(replace(walk, positions=positions), tmp_path / "wrong.bvh", scale=0.01)
    options = "--onto", folder / "hero.blend", "-o", tmp_path / "out.blend", "--force"
    assert run("retarget", tmp_path / "wrong.bvh", *options, "--scale", "0.01") == 0
    assert words in capsys.readouterr().out


def test_bones_that_make_no_body_need_help_by_name(folder, tmp_path, capsys):
    """A thigh in the place of the other one is told, and so are parts that were not found."""
    walk = bvh.load(folder / "walk.bvh")
    broken = stand_ins.insert_hip_joints(walk, ("LHipJoint", "RHipJoint"))
    bvh.save(broken, tmp_path / "broken.bvh")
    mapping, report = tmp_path / "mapping.json", tmp_path / "report.json"
    thighs = {"left_thigh": "LHipJoint", "right_thigh": "RHipJoint"}
    mapping.write_text(json.dumps({"version": 1, "source": thighs, "target": {}}))
    options = "-o", tmp_path / "out.blend", "--report", report, "--mapping", mapping
    onto = "--onto", folder / "hero.blend"
    assert run("retarget", tmp_path / "broken.bvh", *onto, *options, "--force") == 0
    assert "Needs help: The source 'broken': the left thigh 'LHipJoint'" in capsys.readouterr().out
    data = json.loads(report.read_text())
    assert data["needs_help"]
    assert "RHipJoint" in data["problems"][0]


@pytest.mark.parametrize("beside", [False, True])
def test_a_build_tells_of_bones_that_make_no_body_as_retargeting_does(
    folder, tmp_path, capsys, beside
):
    """Alone, or beside sources of another skeleton."""
    walk = make_walk(60)
    positions, rest = walk.positions.copy(), walk.skeleton.rest_positions.copy()
    foot = walk.skeleton.index("LeftFoot")
    positions[:, foot] *= 2.0
    rest[foot] *= 2.0
    skeleton = replace(walk.skeleton, rest_positions=rest)
    path = tmp_path / "uneven.bvh"
    bvh.save(replace(walk, positions=positions, skeleton=skeleton), path)
    onto = "--onto", folder / "hero.blend", "-o", tmp_path / "out.blend"
    assert run("retarget", path, *onto, "--force") == 0
    said = [line for line in capsys.readouterr().out.splitlines() if "Needs help" in line]
    assert "'LeftLeg'" in said[0]
    others = []
    if beside:
        for number in range(2):
            others.append(tmp_path / f"other{number}.bvh")
            bvh.save(stand_ins.rename(make_walk(60), {"Spine": "Lumbar"}), others[-1])
    assert run("build", path, *others, "-o", tmp_path / "walk.npz") == 0
    built = [line for line in capsys.readouterr().out.splitlines() if "Needs help" in line]
    assert built == said


def test_a_wrong_result_is_refused_but_with_force(folder, tmp_path, capsys, monkeypatch):
    out, report = tmp_path / "out.blend", tmp_path / "report.json"
    options = "--onto", folder / "hero.blend", "-o", out, "--report", report
    roll_left_foot(monkeypatch)
    code, said = run_with_errors("retarget", folder / "walk.bvh", *options)
    assert code == 1
    assert said.count("\n") <= 1
    assert "'walk' came out wrong: the roll of the left foot is off by" in said
    assert "--force" in said
    assert not out.exists()
    assert not report.exists()
    assert run("retarget", folder / "walk.bvh", *options, "--force") == 0
    assert "Written all the same: 'walk' came out wrong" in capsys.readouterr().out
    [made] = json.loads(report.read_text())["actions"]
    assert made["result"]["wrong"]
    assert out.exists()


def test_what_goes_wrong_is_one_sentence(folder, tmp_path):
    out = tmp_path / "out.blend"
    out.write_bytes(b"kept")
    hero, walk = folder / "hero.blend", folder / "walk.bvh"

    def run_command(source, onto, *options):
        return run_with_errors("retarget", source, "--onto", onto, "-o", out, *options)

    (tmp_path / "broken.json").write_text('{"version": 1, "target": {"nose": "Nose"}}')
    (tmp_path / "wrong.json").write_text('{"version": 1, "target": {"left_thigh": "Femur"}}')
    cases = [
        ((folder / "duo.bvh", hero), "'Hips' and 'SecondHips'"),
        ((folder / "gone.bvh", hero), "gone.bvh does not exist"),
        ((walk, folder / "gone.blend"), "gone.blend does not exist"),
        ((walk, folder / "empty.blend"), "has no armature"),
        ((walk, folder / "heroes.blend"), "choose one with --armature"),
        ((walk, hero, "--armature", "Nobody"), "no armature 'Nobody'"),
        ((walk, hero, "--set", "hand_ik=2"), "'hand_ik' is 2"),
        ((walk, hero, "--set", "speed=2"), "no retargeting setting 'speed'"),
        ((walk, hero, "--set", "offsets=2"), "offsets"),
        ((walk, hero, "--mapping", tmp_path / "broken.json"), "nose"),
        ((walk, hero, "--mapping", tmp_path / "wrong.json"), "'Femur'"),
        ((folder / "walker.blend", hero, "--actions", "Jump"), "no action 'Jump'"),
        ((walk, hero, "--actions", "Jump"), "no action 'Jump'"),
        ((walk, hero, "--frame", "2000000"), "--frame"),
        ((hero, hero), "no action that moves bones"),
    ]
    check_refusals(run_command, cases, out)
    code, said = run_with_errors("retarget", walk, "--onto", hero, "-o", hero)
    assert code == 1
    assert "--onto" in said
