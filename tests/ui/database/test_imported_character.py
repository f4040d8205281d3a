"""The character that files bring along: it stands at the origin in a body of its measures."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.engine.bvh import bvh
from motion_matching.scene.reading.sampling import sample
from motion_matching.scene.rig import armature, fitting
from motion_matching.scene.staging.body import create_body
from tests.app.test_sources_of_both_kinds import LAYOUTS, find_left_out, write_files

ops = bpy.ops.motion_matching


def add(files: list[Path]) -> bpy.types.Object:
    """Add files, with no armature selected."""
    bpy.context.scene.render.fps = 30
    bpy.context.view_layer.objects.active = None
    names = [{"name": file.name} for file in files]
    assert ops.add_files(directory=str(files[0].parent), files=names) == {"FINISHED"}
    return bpy.context.object


def read_body(obj: bpy.types.Object) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the points (V, 3) of a character's body, and the weights (V,) by bone."""
    [body] = obj.children
    points = np.array([vertex.co for vertex in body.data.vertices])
    weights = {group.name: np.zeros(len(points)) for group in body.vertex_groups}
    names = [group.name for group in body.vertex_groups]
    for vertex in body.data.vertices:
        for group in vertex.groups:
            weights[names[group.group]][vertex.index] = group.weight
    return points, weights


def assert_body_fits(obj: bpy.types.Object) -> None:
    """Check that points lie about the bones that move them, and that the feet are on the ground."""
    points, weights = read_body(obj)
    np.testing.assert_allclose(sum(weights.values()), 1.0, atol=1e-3)
    assert np.isfinite(points).all()
    assert -0.04 < points[:, 2].min() < 0.04, points[:, 2].min()
    head = max(bone.head_local.z for bone in obj.data.bones)
    assert 0.1 < points[:, 2].max() - head < 0.35
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    assert abs(middle[0]) < 0.1
    for name, weight in weights.items():
        bone = obj.data.bones[name]
        joints = [bone.head_local, *(child.head_local for child in bone.children)]
        own = points[weight > 0.9]
        if len(own):
            ways = own[:, None] - np.array(joints)
            assert np.linalg.norm(ways, axis=-1).min(axis=1).max() < 0.4, name


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_character_of_files_stands_at_the_origin_in_a_fitting_body(tmp_path: Path, layout: str):
    folder = tmp_path / "street dance"
    folder.mkdir()
    obj = add(write_files(folder, layout))
    assert obj.name == "street dance"
    assert obj.matrix_world.to_translation().length == 0.0
    assert_body_fits(obj)
    bones = obj.data.bones
    assert abs(bones["Hips"].head_local.x) < 0.02
    assert abs(bones["Hips"].head_local.y) < 0.02
    assert bones["LeftUpLeg"].head_local.x > 0.05, "it faces -Y"
    assert 0.0 < bones["LeftToe"].head_local.z < 0.06
    assert bones["LeftHand"].head_local.x > 0.4, "the arms are at the sides"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_motion_on_it_is_that_of_the_files(tmp_path: Path, layout: str):
    files = write_files(tmp_path, layout)
    obj = add(files[:1])
    names = [{"name": file.name} for file in files]
    ops.import_motion(directory=str(tmp_path), files=names)
    for file in files:
        [found] = sample(obj, [bpy.data.actions[file.stem]])
        clip = bvh.load(file)
        order = [found.clip.skeleton.index(name) for name in clip.skeleton.names]
        heads = found.clip.compute_world()[1][:, order]
        np.testing.assert_allclose(heads, clip.compute_world()[1], rtol=0, atol=1e-4)


def test_import_motion_makes_the_same_character(tmp_path: Path):
    folder = tmp_path / "capture"
    folder.mkdir()
    files = write_files(folder, "bones anyhow")
    bpy.context.view_layer.objects.active = None
    assert ops.import_motion(directory=str(folder)) == {"FINISHED"}
    obj = bpy.context.object
    assert obj.name == "capture"
    assert len(obj.motion_matching.sources) == len(files)
    assert_body_fits(obj)


def test_it_comes_into_the_active_collection(tmp_path: Path):
    shot = bpy.data.collections.new("Shot")
    bpy.context.scene.collection.children.link(shot)
    layer = bpy.context.view_layer.layer_collection.children["Shot"]
    bpy.context.view_layer.active_layer_collection = layer
    obj = add(write_files(tmp_path))
    assert obj.users_collection == obj.children[0].users_collection == (shot,)


def test_characters_of_earlier_versions_take_files_and_actions(tmp_path: Path):
    """They rest in the narrowest frame of their first file, and know that in its bone frames."""
    files = write_files(tmp_path, "bones anyhow")
    rest = armature.compute_standing_rest(bvh.load(files[0]))
    obj = armature.create_armature(rest, "walk")
    fitting.store_rest(obj, rest)
    create_body(obj, rest, "walk body")
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    bpy.context.scene.render.fps = 30
    names = [{"name": file.name} for file in files]
    ops.add_files(directory=str(tmp_path), files=names[:2])
    ops.import_motion(directory=str(tmp_path), files=names[2:])
    ops.build()
    assert find_left_out(obj) == {}
    assert ops.bake_script(script="random", seconds=2.0) == {"FINISHED"}


@pytest.mark.parametrize("pattern", ["bandai-namco/dataset-1_dash*", "lafan1/*", "cmu/*"])
def test_characters_of_real_mocap_fit_their_bodies(mocap: Path, pattern: str):
    obj = add(sorted(mocap.glob(f"{pattern}.bvh")))
    assert obj.name == pattern.partition("/")[0]
    assert_body_fits(obj)
