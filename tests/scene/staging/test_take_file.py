"""`take --onto` puts the take on an armature of a user's file, in a copy of it."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.engine.bvh import bvh
from motion_matching.engine.database import database as databases
from tests.command_line import check_refusals, run_with_errors
from tests.demo import load_few
from tests.scene.bodies import create_person, place_armature


def check_command(folder):
    database, user = folder / "walk.npz", folder / "user.blend"

    def run(*arguments):
        return run_with_errors("take", database, "--seconds", 3, "--quiet", *arguments)

    def read_heads(obj, names, frames):
        result = []
        for frame in frames:
            bpy.context.scene.frame_set(int(frame))
            found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
            result.append([found.matrix_world @ found.pose.bones[name].head for name in names])
        return np.array(result)

    # a user's file at the database's rate: an armature in centimetres, lying on its back, with an
    # own action
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start = 30, 11
    obj = create_person("Hero", root=True)
    place_armature(obj, y_up=True, scale=0.01, turn=1.0, location=(3, 2, 0))
    mine = bpy.data.actions.new("Mine")
    obj.animation_data_create().action = mine
    create_person("Other").pose.bones["Hips"].rotation_mode = "XYZ"
    bpy.ops.wm.save_as_mainfile(filepath=str(user))
    before = user.read_bytes()

    out, take = folder / "out.blend", folder / "take.bvh"
    on_root = ("--armature", "Hero", "--root", "bone", "--root-bone", "Root")
    assert run("--onto", user, *on_root, "-o", out, "--bvh", take) == (0, "")
    assert user.read_bytes() == before
    assert not [name for name in folder.iterdir() if name.name.startswith(".")]
    clip = bvh.load(take, scale=0.01)
    bpy.ops.wm.open_mainfile(filepath=str(out))
    scene, obj = bpy.context.scene, bpy.data.objects["Hero"]
    action = obj.animation_data.action
    assert action.name == "figure_eight walk"
    assert bpy.data.actions["Mine"].use_fake_user
    assert (scene.render.fps, scene.frame_start, action.frame_range[0]) == (30, 11, 11)
    frames = 11 + np.arange(clip.frame_count)
    np.testing.assert_allclose(
        read_heads(obj, clip.skeleton.names, frames), clip.compute_world()[1], atol=1e-3
    )
    assert np.allclose(obj.matrix_world.translation, (3, 2, 0))

    on_track = ("--armature", "Other", "--track", "Take", "--frame", -20, "--fewer-keys", 0.005)
    assert run("--onto", user, *on_track, "-o", out) == (0, "")
    bpy.ops.wm.open_mainfile(filepath=str(out))
    strip = bpy.data.objects["Other"].animation_data.nla_tracks["Take"].strips[0]
    assert (strip.frame_start, strip.action.name) == (-20, "figure_eight walk")
    found = read_heads(bpy.data.objects["Other"], clip.skeleton.names, frames - 31)
    assert 1e-4 < np.linalg.norm(found - clip.compute_world()[1], axis=-1).max() < 0.0055

    # a file made by the program, whose armature rests differently from the clips
    for root in ("object", "bone", "hips", "in-place"):
        assert run("-o", folder / "made.blend", "--root", root) == (0, "")
        assert run(
            "--onto", folder / "made.blend", "-o", out, "--bvh", take, "--script", "square"
        ) == (0, "")
        clip = bvh.load(take, scale=0.01)
        bpy.ops.wm.open_mainfile(filepath=str(out))
        [obj] = [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]
        frames = 1 + np.arange(clip.frame_count)
        np.testing.assert_allclose(
            read_heads(obj, clip.skeleton.names, frames), clip.compute_world()[1], atol=1e-3
        )

    cases = (
        (("--onto", user, "-o", out), "choose one with --armature"),
        (("--onto", user, "-o", out, "--armature", "Nobody"), "'Nobody'"),
        (("--onto", user, "-o", user), "choose another name"),
        (("--onto", database, "-o", out), "cannot be opened"),
        (("--onto", folder / "no.blend", "-o", out), "does not exist"),
        (("--onto", user), "-o FILE.blend"),
        (("--root", "hips"), "-o FILE.blend"),
        (("-o", out, "--armature", "Hero"), "--onto"),
        (("-o", out, "--track", "Take"), "--onto"),
        (("-o", out, "--root-bone", "Root"), "--onto"),
        (("--onto", user, "-o", out, "--root-bone", "Root"), "--root bone"),
        (("-o", out, "--fewer-keys", "5"), "--fewer-keys"),
        (
            (
                "--onto",
                user,
                "-o",
                out,
                "--armature",
                "Hero",
                "--root",
                "bone",
                "--root-bone",
                "Toe",
            ),
            "'Toe'",
        ),
        (
            ("--onto", user, "-o", out, "--armature", "Other", "--root", "bone"),
            "name the root bone",
        ),
    )
    check_refusals(run, cases, out)
    assert user.read_bytes() == before


@pytest.mark.slow
def test_a_take_goes_onto_an_armature_in_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    databases.save(load_few(), folder / "walk.npz")
    check_command(folder)
