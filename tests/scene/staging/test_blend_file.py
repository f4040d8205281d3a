"""A take's .blend opens elsewhere and moves like the take; a failed save leaves no trace."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest
from bpy_extras.object_utils import world_to_camera_view
from mathutils import Vector

from building.locomotion.humanoid import build_humanoid_skeleton
from motion_matching.engine.body.rig import find_hips_forward, find_roles
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.motion.simulation_bone import SimulationBoneSettings, attach, find_track
from motion_matching.scene.rig.armature import compute_standing_rest, find_sides
from motion_matching.scene.staging.character import create_character, find_rest
from motion_matching.scene.staging.take_file import build_scene, save_take
from tests.blender import reset_blender
from tests.engine.rigs import make_walk
from tests.scene.motions import (
    assert_moves_like,
    evaluate_motion_from_rest,
    fit_bones,
    make_random_clip,
    make_random_rotations,
)

HEAD = """
import os
import resource
import signal
import sys
from dataclasses import replace
from pathlib import Path
import numpy as np
import bpy
from bpy_extras.object_utils import world_to_camera_view
from mathutils import Vector
from motion_matching.engine.errors import MotionMatchingError
from building.locomotion.humanoid import build_humanoid_skeleton
from motion_matching.scene.rig.armature import find_sides, compute_standing_rest
from motion_matching.scene.staging.take_file import build_scene, save_take
from tests.scene.motions import *
"""

FAILS = (
    HEAD
    + """
folder, fault = Path(sys.argv[1]), sys.argv[2]
clip = make_random_clip(1)
target = folder / "take.blend"
if fault == "full disk":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))
elif fault == "no folder":
    target = folder / "nowhere" / "take.blend"
elif fault == "read-only folder":
    target = Path("/proc/take.blend")
elif fault == "a folder in its place":
    target = folder / "in the way"
try:
    save_take(clip, target, title="Take")
except MotionMatchingError as error:
    text = str(error)
    assert str(target) in text and "\\n" not in text, text
    print(text)
else:
    raise AssertionError("this cannot be saved")
"""
)


def save(file):
    save_take(make_random_clip(1, fps=29.97), str(file), title='Take "1"')


def reopen(file):
    bpy.ops.wm.open_mainfile(filepath=str(file))
    scene = bpy.context.scene
    clip = make_random_clip(1, fps=29.97)
    skeleton = compute_standing_rest(clip)
    armature = bpy.data.objects['Take "1"']
    assert abs(scene.render.fps / scene.render.fps_base - 29.97) < 1e-5
    assert (scene.frame_start, scene.frame_end, scene.frame_current) == (1, clip.frame_count, 1)
    assert armature.animation_data.action.name == 'Take "1"'
    fit_bones(armature, skeleton)  # raises if it does not fit
    assert_moves_like(armature, clip, skeleton, 1 + np.arange(clip.frame_count))

    for frame, heads in enumerate(clip.compute_world()[1]):  # the camera sees the whole body
        for head in heads:
            x, y, depth = world_to_camera_view(scene, scene.camera, Vector(head.tolist()))
            assert 0 <= x <= 1, (
                frame,
                x,
                y,
                depth,
            )
            assert 0 <= y <= 1, (
                frame,
                x,
                y,
                depth,
            )
            assert 0 < depth < scene.camera.data.clip_end, (
                frame,
                x,
                y,
                depth,
            )


def test_a_saved_take_moves_alike_in_a_new_process(tmp_path: Path) -> None:
    file = tmp_path / "files" / "take.blend"
    file.parent.mkdir()
    for _ in range(2):  # the second time it replaces the first
        reset_blender()
        save(file)
        assert os.listdir(file.parent) == ["take.blend"]
    reset_blender()
    reopen(file)


def test_the_body_follows_its_bones_and_shows_its_sides() -> None:
    rng = np.random.default_rng(2)
    person = build_humanoid_skeleton()
    person = person.with_names(
        tuple(name.replace("Arm", "Wing").replace("Shoulder", "Plume") for name in person.names)
    )  # no human body
    positions = np.repeat(person.rest_positions[None], 5, axis=0)
    clip = Clip("body", person, positions, make_random_rotations(rng, 5, person.bone_count), 30.0)
    clip.rotations[2] = person.rest_rotations
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    armature = build_scene(clip, "Person")
    body = bpy.data.objects["Person body"]
    mesh = body.data
    owners = []
    for vertex in mesh.vertices:
        assert len(vertex.groups) == 1
        assert vertex.groups[0].weight == 1.0
        owners.append(body.vertex_groups[vertex.groups[0].group].name)
    assert set(owners) == set(person.names)  # every bone of a person moves a part

    rest = np.array([vertex.co for vertex in mesh.vertices])
    assert rest[:, 2].min() > -0.1, np.ptp(rest, axis=0)
    assert 1.5 < np.ptp(rest[:, 2]) < 2.0, np.ptp(rest, axis=0)
    assert np.ptp(rest[:, 1]) < 0.6  # faces -Y: its arms point along X

    sided = dict(zip(person.names, find_sides(person), strict=True))
    centres = {name: rest[np.array(owners) == name].mean(axis=0) for name in person.names}
    for polygon in mesh.polygons:
        owner = owners[polygon.vertices[0]]
        side = sided[owner]
        assert mesh.materials[polygon.material_index].name.endswith(
            {"": "middle", "L": "left", "R": "right"}[side]
        )
        assert np.array(polygon.normal) @ (np.array(polygon.center) - centres[owner]) > 0, (
            "a face looks inwards"
        )

    moved = evaluate_motion_from_rest(armature, person.names, np.arange(1, 6))
    bones = np.array([person.names.index(owner) for owner in owners])
    for frame in range(5):
        bpy.context.scene.frame_set(frame + 1)
        found = body.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        points = np.array([vertex.co for vertex in found.vertices])
        expected = np.einsum("vij,vj->vi", moved[frame, bones], np.c_[rest, np.ones(len(rest))])[
            :, :3
        ]
        np.testing.assert_allclose(points, expected, atol=1e-4)


@pytest.mark.parametrize("rig", ["LAFAN1", "Mixamo"])
def test_a_take_of_other_humans_gets_the_mannequin_and_rest_pose_of_an_imported_character(
    rig: str,
) -> None:
    walk = make_walk(rig, frames=60)
    take = attach_simulation_bone(walk)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    armature = build_scene(take, "Take")
    imported = create_character([walk], "Imported")
    bodies = [bpy.data.objects[f"{name} body"] for name in ("Take", "Imported")]
    points = [np.array([vertex.co for vertex in body.data.vertices]) for body in bodies]
    np.testing.assert_allclose(*points, atol=2e-3)
    for bone in imported.data.bones:
        away = armature.data.bones[bone.name].head_local - bone.head_local
        assert away.length < 2e-3, bone.name
    skeleton = find_rest([take]).skeleton
    assert_moves_like(armature, take, skeleton, 1 + np.arange(take.frame_count))


def attach_simulation_bone(clip: Clip) -> Clip:
    """Return a clip as a take has it, below a simulation bone."""
    roles = find_roles(clip.skeleton, [clip])
    forward = find_hips_forward([clip], roles)
    track = find_track(clip, roles.hips, roles.spine, forward, SimulationBoneSettings())
    return attach(clip, track, roles.hips)


@pytest.mark.slow
def test_a_failed_save_is_reported_and_keeps_the_old_file(
    run_in_blender: Callable[..., str], tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    (folder / "in the way").mkdir(parents=True)
    file = folder / "take.blend"
    file.write_text("an older take")
    for fault in ("full disk", "no folder", "read-only folder", "a folder in its place"):
        run_in_blender(FAILS, folder, fault)
    file.chmod(0o444)
    assert "read-only" in run_in_blender(FAILS, folder, "read-only file")
    assert sorted(os.listdir(folder)) == ["in the way", "take.blend"]
    assert os.listdir(folder / "in the way") == []
    assert file.read_text() == "an older take"
