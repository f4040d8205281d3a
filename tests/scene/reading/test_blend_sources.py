"""Databases from the actions of a Blender file give the same takes as from BVH; errors are clear."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.engine.bvh import bvh
from motion_matching.engine.database import database as databases
from motion_matching.engine.database.tags.tags import load_tags
from motion_matching.engine.takes import takes
from motion_matching.scene.reading.markers import MarkedRange, write_tags
from motion_matching.scene.rig.armature import compute_standing_rest, create_armature
from motion_matching.scene.writing.bake import bake
from tests.command_line import run, run_line
from tests.demo import FEW, generate_clips


def open_new_file(fps):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.render.fps = round(fps)
    bpy.context.scene.render.fps_base = round(fps) / fps


def save(folder, name):
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / name))


WITHOUT_BLENDER = """
import sys
sys.modules.pop("bpy")
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "bpy" else find(name, *rest)
from motion_matching.cli import main
assert main(["build", sys.argv[1], "-o", sys.argv[1] + ".npz"]) == 1
assert main(["build", __file__.replace(".py", ".bvh"), "--armature", "A", "-o", sys.argv[1] + ".npz"]) == 1
"""


def check_same_take(folder, *options):
    clips = [bvh.load(file) for file in sorted((folder / "clips").glob("*.bvh"))]
    open_new_file(clips[0].fps)
    # the roll of mirrored bones comes from the rest pose, so it has to be the same
    rest = (
        clips[0].skeleton if "--mirror" in [folder, *options] else compute_standing_rest(clips[0])
    )
    person = create_armature(rest, "Person")
    person.location = (3, -2, 0)
    person.rotation_euler.z = 1.0
    for clip in clips:
        bake(replace(clip, skeleton=rest), person, name=clip.name)
    person.hide_viewport = True
    save(folder, "walk.blend")

    options = ["--quiet", *[*options]]
    assert run("build", folder / "clips", "-o", folder / "bvh.npz", *options) == 0
    assert (
        run(
            "build",
            folder / "walk.blend",
            "--armature",
            "Person",
            "-o",
            folder / "blend.npz",
            *options,
        )
        == 0
    )
    ours, theirs = (databases.load(folder / name) for name in ("bvh.npz", "blend.npz"))
    assert [r.clip for r in ours.ranges] == [r.clip for r in theirs.ranges]
    assert np.array_equal(ours.stops, theirs.stops)
    assert ours.fps == theirs.fps
    assert ours.skeleton.names == theirs.skeleton.names
    made = []
    for database in (ours, theirs):
        settings = takes.make_default_settings(ours)
        performance = takes.prepare_performance(
            ours, settings, "random", gait="walk", seconds=12, seed=5
        )
        made.append(takes.perform(database, settings, performance))
    assert np.array_equal(made[0].frames, made[1].frames), "other frames are played"
    assert made[0].jumped.sum() > 5
    places = {
        feet: [
            replace(take, poses=getattr(take, feet)).to_clip().compute_world()[1] for take in made
        ]
        for feet in ("unlocked_poses", "poses")
    }
    np.testing.assert_allclose(*places["unlocked_poses"], rtol=0, atol=1e-3)
    # the lock of feet holds a leg back or lets it go at a limit, which rounding may pass a tick later
    apart = np.abs(np.subtract(*places["poses"]))
    assert np.percentile(apart, 99.5) < 1e-3
    assert apart.max() < 0.01


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [[], ["--mirror"]],
    ids=["as they are", "mirrored too"],
)
def test_actions_and_their_files_give_the_same_take(tmp_path: Path, options: list[str]) -> None:
    from motion_matching.engine.bvh import bvh

    (tmp_path / "clips").mkdir()
    for clip in generate_clips():
        if clip.name in FEW:
            bvh.save(clip, tmp_path / "clips" / f"{clip.name}.bvh")
    check_same_take(tmp_path, *options)


def test_actions_and_files_of_real_mocap_give_the_same_take(tmp_path: Path, mocap: Path) -> None:
    (tmp_path / "clips").mkdir()
    for name in ("walk-turn-left", "walk-turn-right", "walk", "run"):
        [file] = (mocap / "bandai-namco").glob(f"dataset-2_{name}_normal_001.bvh")
        (tmp_path / "clips" / file.name).symlink_to(file)
    check_same_take(tmp_path)


def test_armature_actions_and_frames_can_be_chosen(tmp_path: Path, capsys) -> None:
    folder = tmp_path

    clips = generate_clips()[:3]
    open_new_file(30)
    rest = compute_standing_rest(clips[0])
    person, _other = (
        create_armature(rest, "Person"),
        create_armature(rest.with_names(tuple(f"x{n}" for n in rest.names)), "Other"),
    )
    for clip in clips:
        bake(replace(clip, skeleton=rest), person, name=clip.name)
    action = bpy.data.actions[clips[1].name]
    action.use_frame_range = action.use_cyclic = True
    action.frame_start, action.frame_end = 1, 1 + clips[1].frame_count - 1
    bare = bpy.data.actions.new("Bare")
    bare.use_fake_user = True
    save(folder, "walk.blend")
    open_new_file(30)
    save(folder, "empty.blend")
    (folder / "broken.blend").write_bytes(b"BLENDER? no")
    names = [clip.name for clip in clips]
    (folder / "list.json").write_text(
        json.dumps(
            [
                {
                    "file": "walk.blend",
                    "armature": "Person",
                    "action": names[2],
                    "start": 10,
                    "stop": 90,
                    "tags": [{"name": "first"}],
                },
                {"file": "walk.blend", "armature": "Person", "action": names[0], "mirror": True},
            ]
        )
    )
    (folder / "wrong.json").write_text(json.dumps([{"file": "walk.blend", "armature": 3}]))
    out = folder / "walk.npz"

    def check_refused(*args):
        assert run("build", *args, "-o", out) == 1

    assert run("build", folder / "walk.blend", "--armature", "Person", "-o", out) == 0
    database = databases.load(out)
    assert [r.clip for r in database.ranges] == sorted(names)
    assert [r.loop for r in database.ranges] == [name == names[1] for name in sorted(names)]
    assert (
        run_line(
            "build {} --armature Person --actions {} -o {}",
            folder / "walk.blend",
            f"{names[2]},{names[0]}",
            out,
        )
        == 0
    )
    assert [r.clip for r in databases.load(out).ranges] == [names[2], names[0]]
    assert run("build", folder / "list.json", "-o", out) == 0
    database = databases.load(out)
    assert [(r.clip, r.mirrored) for r in database.ranges] == [
        (names[2], False),
        (names[0], False),
        (names[0], True),
    ]
    assert database.stops[0] == 80
    assert database.tag_names == ("first",)
    check_refused(folder / "walk.blend")
    check_refused(folder / "walk.blend", "--armature", "Nobody")
    check_refused(folder / "walk.blend", "--armature", "Other")
    check_refused(folder / "walk.blend", "--armature", "Person", "--actions", "Missing")
    check_refused(folder / "walk.blend", "--armature", "Person", "--actions", "Bare")
    check_refused(folder / "empty.blend")
    check_refused(folder / "broken.blend")
    check_refused(folder / "wrong.json")
    said = capsys.readouterr().out
    assert "3 actions of armature 'Person', read from curves, 1 as loops." in said


def test_tag_markers_of_an_action_become_tags_of_its_clip(tmp_path: Path) -> None:
    folder = tmp_path

    clips = generate_clips()[:2]
    open_new_file(30)
    rest = compute_standing_rest(clips[0])
    person = create_armature(rest, "Person")
    for clip in clips:
        bake(replace(clip, skeleton=rest), person, name=clip.name, frame_start=11)
    action = bpy.data.actions[clips[0].name]
    assert action.frame_range[0] == 11
    write_tags(
        action,
        [
            MarkedRange("limp", 41, 60),
            MarkedRange("early", 1, 20),
            MarkedRange("gone", 1, 10),
            MarkedRange("prefer", 71, 80, -2.0),
        ],
    )
    action.pose_markers.new("a note").frame = 50
    save(folder, "marked.blend")
    out = folder / "marked.npz"
    assert run("build", folder / "marked.blend", "-o", out) == 0
    database = databases.load(out)
    start = int(database.starts[[r.clip for r in database.ranges].index(clips[0].name)])

    def find_frames(name):
        return (np.flatnonzero(database.make_tag_mask({name})) - start).tolist()

    # the first frame of the action is 11, and of its clip 0
    assert set(database.tag_names) == {"limp", "early", "prefer"}
    assert find_frames("limp") == list(range(30, 50)), find_frames("early")
    assert find_frames("early") == list(range(10)), find_frames("early")
    assert find_frames("prefer") == list(range(60, 70))
    assert np.allclose(database.bias[start + 60 : start + 70], -2.0)

    # a file of tags written from the markers replaces them
    assert (
        run("build", folder / "marked.blend", "-o", out, "--save-tags", folder / "tags.json") == 0
    )
    assert {tag.name for tag in load_tags(folder / "tags.json")[clips[0].name]} == {
        "limp",
        "early",
        "prefer",
    }
    (folder / "tags.json").write_text(json.dumps({clips[0].name: [{"name": "other"}]}))
    assert run("build", folder / "marked.blend", "-o", out, "--tags", folder / "tags.json") == 0
    assert databases.load(out).tag_names == ("other",)

    # unpaired markers are reported
    action = bpy.data.actions[clips[0].name]
    action.pose_markers.remove(next(m for m in action.pose_markers if m.name == "end: limp"))
    save(folder, "marked.blend")
    assert run("build", folder / "marked.blend", "-o", out) == 1


@pytest.mark.slow
def test_a_blender_file_needs_blender(tmp_path: Path, run_in_blender: Callable[..., str]) -> None:
    (tmp_path / "walk.blend").touch()
    run_in_blender(WITHOUT_BLENDER, tmp_path / "walk.blend")
