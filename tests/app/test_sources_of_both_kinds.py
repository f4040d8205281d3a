"""Actions of an armature and files of its skeleton as sources of one database.

Whoever imported the files, with whatever options, a take holds the body together, and a motion is
the same from a file and from an action.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.app.database import status
from motion_matching.app.database.build import load_or_build_steps
from motion_matching.app.strip import warnings
from motion_matching.engine.bvh import bvh
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.progress import run_to_end
from motion_matching.engine.skeleton.skeleton import Skeleton
from tests.demo import generate_clips

CLIPS = ("walk_starts_and_stops", "walk_curves", "run_curves")
LAYOUTS = ("T-pose", "bones anyhow", "under a root")
PART = 5.0, 15.0  # seconds of each clip: importing keys takes most of the time of these tests
# options of Blender's importer, and of the armature object that it made
IMPORTS = {
    "as it is": {"global_scale": 0.01},
    "in quaternions": {"global_scale": 0.01, "rotate_mode": "QUATERNION"},
    "in one order": {"global_scale": 0.01, "rotate_mode": "YZX"},
    "facing sideways": {"global_scale": 0.01, "axis_forward": "X"},
    "lying": {"global_scale": 0.01, "axis_forward": "Y", "axis_up": "Z"},
}


@cache
def load_clips() -> tuple[Clip, ...]:
    """Return parts of generated clips that stand, walk and run."""
    clips = (clip for clip in generate_clips() if clip.name in CLIPS)
    return tuple(clip.crop(*(round(second * clip.fps) for second in PART)) for clip in clips)


def write_files(folder: Path, layout: str = "T-pose", size: float = 1.0) -> list[Path]:
    """Write generated clips as BVH; their bones have frames of any kind, or a root that stays."""
    files = []
    for clip in load_clips():
        if layout != "T-pose":
            clip = turn_frames(clip)
        if layout == "under a root":
            clip = put_under_root(clip)
        clip = replace(
            clip,
            positions=size * clip.positions,
            skeleton=replace(clip.skeleton, rest_positions=size * clip.skeleton.rest_positions),
        )
        files.append(folder / f"{clip.name}.bvh")
        bvh.save(clip, files[-1])
    return files


def turn_frames(clip: Clip) -> Clip:
    """Return the same motion in bone frames that differ from bone to bone, as mocap's do."""
    skeleton = clip.skeleton
    turns = np.random.default_rng(5).normal(size=(skeleton.bone_count, 4))
    turns = quat.normalize(turns)
    above = np.where((skeleton.parents < 0)[:, None], quat.IDENTITY, turns[skeleton.parents])
    rotations = quat.unroll(quat.mul(quat.inv_mul(above, clip.rotations), turns))
    return replace(
        clip,
        skeleton=replace(
            skeleton, rest_positions=quat.inv_mul_vec(above, skeleton.rest_positions), end_sites=()
        ),
        positions=quat.inv_mul_vec(above, clip.positions).astype(np.float32),
        rotations=rotations.astype(np.float32),
    )


def put_under_root(clip: Clip) -> Clip:
    """Return the motion below a root that stays; the hips rest where they are in frame 1."""
    skeleton = clip.skeleton
    rests = skeleton.rest_positions.copy()
    rests[0] = clip.positions[0, 0] + [3.0, 2.0, 0.1 * len(clip.name)]
    return replace(
        clip,
        skeleton=Skeleton(
            ("Root", *skeleton.names),
            np.concatenate([[-1], skeleton.parents + 1]),
            np.concatenate([np.zeros((1, 3), np.float32), rests.astype(np.float32)]),
            np.concatenate([quat.IDENTITY[None], skeleton.rest_rotations]).astype(np.float32),
        ),
        positions=np.pad(clip.positions, ((0, 0), (1, 0), (0, 0))),
        rotations=np.concatenate(
            [np.tile(quat.IDENTITY, (clip.frame_count, 1, 1)), clip.rotations], axis=1
        ).astype(np.float32),
    )


def import_with_blender(*files: Path, **options: object) -> bpy.types.Object:
    """Import files with Blender's importer; the first gives the armature, all give actions."""
    bpy.context.scene.render.fps = round(bvh.load(files[0]).fps)
    armatures = []
    for file in files:
        bpy.ops.import_anim.bvh(filepath=str(file), **options)
        armatures.append(bpy.context.object)
        armatures[-1].animation_data.action.use_fake_user = True
        armatures[-1].animation_data.action.name = file.stem
    for other in armatures[1:]:
        bpy.data.objects.remove(other)
    select(armatures[0])
    return armatures[0]


def select(obj: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)


def add_files(*files: Path, mirror: bool = False) -> None:
    names = [{"name": file.name} for file in files]
    options = {"directory": str(files[0].parent), "files": names, "mirror": mirror}
    assert bpy.ops.motion_matching.add_files(**options) == {"FINISHED"}


def build(obj: bpy.types.Object):
    """Build the database, of which nothing is left out."""
    assert bpy.ops.motion_matching.build() == {"FINISHED"}
    assert status.refresh(obj).kind == "fresh"
    assert find_left_out(obj) == {}
    return run_to_end(load_or_build_steps(obj))


def find_left_out(obj: bpy.types.Object) -> dict[str, str]:
    """Return the reasons, by source, why sources are not in the database."""
    notes = warnings.parse_notes(obj.motion_matching.built_notes)
    left_out = [note for note in notes if warnings.SOURCE_KINDS[note.kind].is_left_out]
    return {note.source: note.reason for note in left_out}


def find_mapped(obj: bpy.types.Object) -> list[str]:
    """Return the sources whose bones are mapped to the character's."""
    states = status.refresh(obj).states
    return [name for name, state in states.items() if state.kind == "mapped"]


def assert_take_holds_together(obj: bpy.types.Object, *sliding: str) -> None:
    """Bake a take of random steering, and look where each bone is seen from its parent."""
    bake = bpy.ops.motion_matching.bake_script
    assert bake(script="random", seed=3, seconds=6.0) == {"FINISHED"}
    first, last = map(int, obj.animation_data.action.frame_range)
    bones = [bone for bone in obj.pose.bones if bone.parent and bone.name not in sliding]
    scale = obj.matrix_world.to_scale()[0]
    away, steps = {}, []
    for frame in range(first, last + 1, 2):
        bpy.context.scene.frame_set(frame)
        steps.append([tuple(bone.head) for bone in bones])
        for bone in bones:
            now = bone.parent.matrix.inverted() @ bone.head
            rest = bone.bone.parent.matrix_local.inverted() @ bone.bone.head_local
            away[bone.name] = max(away.get(bone.name, 0.0), scale * (now - rest).length)
    assert max(away.values()) < 1e-4, max(away.items(), key=lambda item: item[1])
    assert scale * np.ptp(steps, axis=0).max() > 0.5, "nothing moves"


def compute_bodies(database, number: int) -> np.ndarray:
    """Return the joints (F, B, 3) of a range as seen from its simulation bone."""
    frames = slice(database.starts[number], database.stops[number])
    poses = database.poses[frames].transpose(0, 2, 1).copy()  # (F, B, 7)
    poses[:, 0] = [0, 0, 0, 1, 0, 0, 0]
    return quat.fk(poses[..., 3:], poses[..., :3], database.skeleton.parents)[1]


def assert_same_motion(database) -> None:
    """Check that the ranges of one name, from a file and from an action, hold the same motion."""
    by_name: dict[tuple[str, bool], list[int]] = {}
    for number, part in enumerate(database.ranges):
        by_name.setdefault((part.clip, part.mirrored), []).append(number)
    pairs = [numbers for numbers in by_name.values() if len(numbers) == 2]
    assert pairs, by_name
    for one, two in pairs:
        bodies = [compute_bodies(database, number) for number in (one, two)]
        np.testing.assert_allclose(bodies[0], bodies[1], rtol=0, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("mirror", [False, True], ids=["", "mirrored"])
def test_a_take_of_actions_and_files_holds_the_body_together(
    tmp_path: Path, layout: str, mirror: bool
):
    files = write_files(tmp_path, layout)
    obj = import_with_blender(files[0], **IMPORTS["as it is"])
    bpy.ops.motion_matching.add_actions(mirror=mirror)
    add_files(*files, mirror=mirror)
    database = build(obj)
    assert len(database.ranges) == (8 if mirror else 4)
    assert_same_motion(database)
    assert_take_holds_together(obj, "Hips" if layout == "under a root" else "")


@pytest.mark.parametrize("options", IMPORTS.values(), ids=IMPORTS)
def test_options_of_the_importer_do_not_matter(tmp_path: Path, options: dict[str, object]):
    files = write_files(tmp_path, "bones anyhow")
    obj = import_with_blender(files[0], **options)
    if "axis_up" in options:
        obj.rotation_euler.x = np.pi / 2
    bpy.ops.motion_matching.add_actions(mirror=False)
    add_files(*files)
    assert_same_motion(build(obj))
    assert_take_holds_together(obj)


@pytest.mark.slow
def test_a_turned_and_scaled_armature_takes_files_too(tmp_path: Path):
    files = write_files(tmp_path, "bones anyhow")
    obj = import_with_blender(*files[:2], global_scale=1.0)
    obj.scale = (0.01, 0.01, 0.01)
    obj.rotation_euler.z, obj.location = 2.0, (3.0, -1.0, 0.0)
    bpy.ops.motion_matching.add_actions(mirror=True)
    add_files(*files, mirror=True)
    assert_same_motion(build(obj))
    assert_take_holds_together(obj)


@pytest.mark.slow
def test_connected_bones_take_files_too(tmp_path: Path):
    files = write_files(tmp_path)
    obj = import_with_blender(*files[:2], global_scale=0.01)
    bpy.ops.object.mode_set(mode="EDIT")
    connected = 0
    for bone in obj.data.edit_bones:
        if bone.parent and (bone.parent.tail - bone.head).length < 1e-6:
            bone.use_connect = True
            connected += 1
    bpy.ops.object.mode_set(mode="OBJECT")
    assert connected > 5
    bpy.ops.motion_matching.add_actions(mirror=True)
    add_files(*files, mirror=True)
    assert_same_motion(build(obj))
    assert_take_holds_together(obj)


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("mirror", [False, True], ids=["", "mirrored"])
def test_actions_imported_on_a_character_of_files_go_with_its_files(
    tmp_path: Path, layout: str, mirror: bool
):
    files = write_files(tmp_path, layout)
    bpy.context.scene.render.fps = 30
    bpy.context.view_layer.objects.active = None
    add_files(*files[:2], mirror=mirror)
    obj = bpy.context.object
    names = [{"name": file.name} for file in files[1:]]
    bpy.ops.motion_matching.import_motion(directory=str(tmp_path), files=names, mirror=mirror)
    kinds = [source.kind for source in obj.motion_matching.sources]
    assert kinds == ["FILE", "FILE", "ACTION", "ACTION"]
    assert_same_motion(build(obj))
    assert_take_holds_together(obj, "Hips" if layout == "under a root" else "")


@pytest.mark.slow
def test_the_order_of_sources_does_not_matter(tmp_path: Path):
    files = write_files(tmp_path, "bones anyhow")
    obj = import_with_blender(*files[:2], **IMPORTS["as it is"])
    add_files(*files[1:])
    bpy.ops.motion_matching.add_actions(mirror=False)
    assert obj.motion_matching.sources[0].kind == "FILE"
    assert_same_motion(build(obj))
    assert_take_holds_together(obj)


@pytest.mark.slow
def test_performers_of_nearly_one_size_share_the_armatures_bones(tmp_path: Path):
    (tmp_path / "other").mkdir()
    files = write_files(tmp_path, "bones anyhow")
    others = write_files(tmp_path / "other", "bones anyhow", size=1.01)
    obj = import_with_blender(*files[:2], **IMPORTS["as it is"])
    bpy.ops.motion_matching.add_actions(mirror=False)
    add_files(*others)
    build(obj)
    assert_take_holds_together(obj)


@pytest.mark.slow
def test_a_file_with_another_rest_pose_is_mapped(tmp_path: Path):
    files = write_files(tmp_path)
    (tmp_path / "anyhow").mkdir()
    others = write_files(tmp_path / "anyhow", "bones anyhow")
    obj = import_with_blender(*files[:2], **IMPORTS["as it is"])
    bpy.ops.motion_matching.add_actions(mirror=True)
    add_files(files[2], mirror=True)
    add_files(others[0], mirror=True)
    bpy.ops.motion_matching.build()
    assert find_left_out(obj) == {}
    assert find_mapped(obj) == [f"{others[0].stem}.001"]
    assert_take_holds_together(obj)


def test_files_of_another_size_than_the_armature_are_mapped(tmp_path: Path):
    files = write_files(tmp_path)
    obj = import_with_blender(files[0], global_scale=0.02)
    bpy.ops.motion_matching.add_actions(mirror=False)
    add_files(files[1])
    build(obj)
    assert find_mapped(obj) == [files[1].stem]
    assert_take_holds_together(obj)


@pytest.mark.slow
def test_files_of_two_exports_with_other_bone_frames_are_mixed(tmp_path: Path):
    files = write_files(tmp_path)
    (tmp_path / "anyhow").mkdir()
    others = write_files(tmp_path / "anyhow", "bones anyhow")
    bpy.context.view_layer.objects.active = None
    add_files(*files[:2])
    add_files(others[2])
    obj = bpy.context.object
    build(obj)
    assert find_mapped(obj) == [others[2].stem]
    assert_take_holds_together(obj)
    # alone, it plays on the character of the others, too
    for number, source in enumerate(obj.motion_matching.sources):
        source.enabled = number == 2
    build(obj)
    assert_take_holds_together(obj)


@pytest.mark.parametrize(
    ("data", "pattern"),
    [
        ("bandai-namco", "dataset-2_*_normal_00[12].bvh"),
        ("lafan1", "*.bvh"),
        ("cmu", "martial_0*.bvh"),
    ],
)
def test_real_mocap_of_both_kinds(mocap: Path, data: str, pattern: str):
    files = sorted((mocap / data).glob(pattern))[:4]
    obj = import_with_blender(*files[:1], **IMPORTS["as it is"])
    bpy.ops.motion_matching.add_actions(mirror=True)
    add_files(*files, mirror=True)
    assert_same_motion(build(obj))
    assert_take_holds_together(obj, *(["Hips"] if data == "bandai-namco" else []))
