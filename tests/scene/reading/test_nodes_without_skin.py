"""glTF files whose nodes move without a skin, among them VRM animations, are read as characters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching import api
from motion_matching.engine.body import rig
from motion_matching.engine.bvh import bvh
from motion_matching.engine.database import database as databases
from motion_matching.engine.errors import MotionDataError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.scene.reading import imports
from motion_matching.scene.retargeting import files
from tests.command_line import run
from tests.demo import generate_clips
from tests.engine.sentences import check_sentence
from tests.gltf_nodes import VRM_BONES, NodeFile, add_humanoid
from tests.scene.rigs import assert_same, read_state

FRAMES = 40


def get_clip(name: str = "walk_curves") -> Clip:
    return next(clip for clip in generate_clips() if clip.name == name).crop(0, FRAMES)


def write_vrma(path: Path, clip: Clip) -> Path:
    """Write a VRM animation whose nodes have names that say nothing."""
    file = NodeFile()
    nodes = file.add_clip(clip, names=[f"node{n}" for n in range(clip.skeleton.bone_count)])
    add_humanoid(file, clip, nodes)
    file.put_below(name="Armature")
    return file.write(path)


def assert_is(clip: Clip, expected: Clip, names: dict[str, str], atol: float = 1e-3) -> None:
    """Check joints in the world; `names` are those in `clip` by those in `expected`."""
    pairs = [(clip.skeleton.index(new), expected.skeleton.index(old)) for old, new in names.items()]
    ours, theirs = np.array(pairs).T
    assert clip.frame_count == expected.frame_count
    assert clip.fps == pytest.approx(expected.fps)
    np.testing.assert_allclose(
        clip.compute_world()[1][:, ours], expected.compute_world()[1][:, theirs], atol=atol
    )


OWN_NAMES = {name: name for name in get_clip().skeleton.names}


def test_a_vrm_animation_is_read_by_the_bones_that_it_names(tmp_path):
    base = get_clip()
    [motion] = files.read_file(write_vrma(tmp_path / "walk.vrma", base))
    names = {old: new for new, old in VRM_BONES.items()}
    assert_is(motion.clip, base, names)
    roles, expected = (rig.find_roles(clip.skeleton, [clip]) for clip in (motion.clip, base))
    assert motion.clip.skeleton.names[roles.hips] == names[base.skeleton.names[expected.hips]]
    [clip] = api.load(tmp_path / "walk.vrma")
    assert_is(clip, base, names)


@pytest.mark.parametrize("ending", [".glb", ".gltf", ".GLB"])
@pytest.mark.parametrize("buffer", ["", "my data.bin"])
def test_nodes_without_a_skin_are_read(ending, buffer, tmp_path):
    base, file = get_clip(), NodeFile()
    file.add_clip(base)
    folder = tmp_path / "some files"
    folder.mkdir()
    [motion] = files.read_file(file.write(folder / f"walk{ending}", buffer))
    assert_is(motion.clip, base, OWN_NAMES)


def test_a_still_node_above_a_body_places_it(tmp_path):
    """Exporters put a scale and a turn of the axes above bones in centimetres with Z up."""
    base, file = get_clip(), NodeFile()
    file.add_clip(base)
    for node in file.nodes:
        node["translation"] = [100 * value for value in node["translation"]]
    file.blob = scale_translations(file, 100.0)
    file.put_below(name="Root", scale=[0.01, 0.01, 0.01], translation=[0, 0, 0])
    file.put_below(name="Scene")
    [motion] = files.read_file(file.write(tmp_path / "walk.glb"))
    assert_is(motion.clip, base, OWN_NAMES)


def scale_translations(file: NodeFile, factor: float) -> bytes:
    blob = bytearray(file.blob)
    for channel in file.channels:
        if channel["target"]["path"] == "translation":
            view = file.views[
                file.accessors[file.samplers[channel["sampler"]]["output"]]["bufferView"]
            ]
            part = slice(view["byteOffset"], view["byteOffset"] + view["byteLength"])
            blob[part] = (
                (factor * np.frombuffer(blob[part], np.float32)).astype(np.float32).tobytes()
            )
    return bytes(blob)


def turn_frames(clip: Clip) -> Clip:
    """Give each bone a frame of its own, as rigs have; joints rest and move as before."""
    skeleton, rng = clip.skeleton, np.random.default_rng(5)
    turns = quat.normalize(rng.normal(size=(skeleton.bone_count, 4)))
    rest = quat.ik(turns, skeleton.compute_rest_world()[1].astype(float), skeleton.parents)
    rotations, positions = (part.astype(float) for part in clip.compute_world())
    moved = quat.ik(quat.mul(rotations, turns), positions, skeleton.parents)
    (turned, places), (rotations, positions) = (
        tuple(part.astype(np.float32) for part in pair) for pair in (rest, moved)
    )
    turned_skeleton = replace(skeleton, rest_positions=places, rest_rotations=turned, end_sites=())
    return replace(
        clip, skeleton=turned_skeleton, positions=positions, rotations=quat.unroll(rotations)
    )


def test_nodes_have_frames_of_their_own(tmp_path):
    base, file = get_clip(), NodeFile()
    turned = turn_frames(base)
    nodes = file.add_clip(turned)
    add_humanoid(file, turned, nodes)
    mouth = len(file.nodes)  # an expression, which is a node that slides
    file.nodes.append({"name": "happy"})
    file.roots.append(mouth)
    times = file.add_values(np.arange(FRAMES) / base.fps, "SCALAR")
    file.animate(mouth, "translation", times, file.add_values(np.zeros((FRAMES, 3)), "VEC3"))
    [motion] = files.read_file(file.write(tmp_path / "walk.vrma"))
    names = {old: new for new, old in VRM_BONES.items()}
    assert_is(motion.clip, base, names)
    own = motion.clip.skeleton
    rest = own.compute_rest_world()[1][[own.index(new) for new in names.values()]]
    expected = base.skeleton.compute_rest_world()[1][[base.skeleton.index(old) for old in names]]
    np.testing.assert_allclose(rest, expected, atol=1e-3)


def test_two_bodies_of_nodes_are_two_characters(tmp_path):
    walk, run, file = get_clip(), get_clip("run_curves"), NodeFile()
    file.add_clip(walk, "Anna_")
    file.add_clip(run, "Bert_")
    file.nodes.append({"name": "Camera"})
    file.roots.append(len(file.nodes) - 1)
    file.put_below(name="Scene")
    path = file.write(tmp_path / "duo.glb")
    with pytest.raises(MotionDataError) as caught:
        files.read_file(path)
    check_sentence(caught, "2 characters", "'Anna_Hips'", "'Bert_Hips'")
    for prefix, base in {"Anna_": walk, "Bert_": run}.items():
        [motion] = files.read_file(path, character=f"{prefix}Hips")
        assert_is(motion.clip, base, {name: prefix + name for name in OWN_NAMES})


def test_reading_leaves_the_scene_as_it_was(tmp_path):
    bpy.ops.object.armature_add()
    obj = bpy.context.object
    before, blocks = read_state(obj), imports.collect_uids()
    files.read_file(write_vrma(tmp_path / "walk.vrma", get_clip()))
    assert_same(before, read_state(obj))
    assert imports.collect_uids() == blocks
    assert bpy.context.scene.render.fps == 24


def test_nodes_of_no_body_are_refused_for_that(tmp_path):
    file = NodeFile()
    times = file.add_values(np.arange(3) / 30, "SCALAR")
    file.nodes.append({"name": "Cube"})
    file.animate(0, "translation", times, file.add_values(np.eye(3), "VEC3"))
    file.roots.append(0)
    path = file.write(tmp_path / "cube.glb")
    with pytest.raises(MotionDataError) as caught:
        files.read_file(path)
    check_sentence(caught, path, "no armature", "moving character")


@pytest.mark.parametrize("change", [b"glTF", b'"children"', b'"node"', b'"nodes"', b'"path"'])
def test_damaged_files_are_refused_in_one_sentence(change, tmp_path):
    path = write_vrma(tmp_path / "walk.vrma", get_clip())
    data = path.read_bytes()
    assert change in data
    path.write_bytes(data.replace(change, bytes(reversed(change))))
    with pytest.raises(MotionDataError) as caught:
        files.read_file(path)
    check_sentence(caught, path)


def test_databases_are_built_from_vrm_animations_and_bvh(tmp_path):
    base = get_clip()
    write_vrma(tmp_path / "walk.vrma", base)
    bvh.save(base, tmp_path / "walk.bvh")
    found = []
    for ending in ("vrma", "bvh"):
        out = tmp_path / f"{ending}.npz"
        assert run("build", tmp_path / f"walk.{ending}", "-o", out, "--quiet") == 0
        found.append(databases.load(out))
    ours, theirs = found
    assert ours.frame_count == theirs.frame_count
    assert ours.fps == theirs.fps
    np.testing.assert_allclose(ours.track, theirs.track, atol=2e-3)
    np.testing.assert_allclose(ours.features, theirs.features, atol=2e-2)


def test_a_vrm_animation_makes_a_character_and_its_sources(tmp_path):
    ops = bpy.ops.motion_matching
    bpy.context.view_layer.objects.active = None
    path = write_vrma(tmp_path / "walk.vrma", get_clip())
    assert ops.import_motion(filepath=str(path)) == {"FINISHED"}
    obj = bpy.context.object
    assert obj.type == "ARMATURE"
    assert set(VRM_BONES) <= set(obj.data.bones.keys())
    [source] = obj.motion_matching.sources
    assert source.action
