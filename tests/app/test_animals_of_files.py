"""A dog from its files to a take, by buttons alone: its four paws stay where they are planted."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.app.controller import features
from motion_matching.engine.bvh import bvh
from motion_matching.engine.maths.rotations import quat
from motion_matching.scene.reading.moving_pose import PoseReader
from motion_matching.scene.writing.pose_writer import PoseWriter
from motion_matching.ui.character.panel import list_further_legs
from tests.app.test_sources_of_both_kinds import add_files, build, import_with_blender
from tests.engine import animals

PAWS = {
    "left": "LeftFoot",
    "right": "RightFoot",
    "left2": "LeftHand",
    "right2": "RightHand",
}


def write_dog(folder: Path, size: float = 1.0) -> list[Path]:
    files = []
    for motion in animals.make_dog_motions(size, fps=30.0)[::2]:
        files.append(folder / f"{motion.clip.name}.bvh")
        bvh.save(motion.clip, files[-1])
    return files


def read_paws(obj: bpy.types.Object) -> np.ndarray:
    """Return the world positions (F, 4, 3) of the tails of the last bones of legs in a take."""
    first, last = map(int, obj.animation_data.action.frame_range)
    paws = []
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)
        bones = [obj.pose.bones[name] for name in PAWS.values()]
        paws.append([tuple(obj.matrix_world @ bone.tail) for bone in bones])
    return np.array(paws)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["actions", "files"])
def test_a_dog_of_files_walks_on_four_paws(tmp_path: Path, kind: str):
    files = write_dog(tmp_path)
    bpy.context.scene.render.fps = 30
    if kind == "actions":
        obj = import_with_blender(*files, global_scale=0.01)
        bpy.ops.motion_matching.add_actions(mirror=False)
    else:
        bpy.context.view_layer.objects.active = None
        add_files(*files)
        obj = bpy.context.object
    database = build(obj)
    legs = database.roles.legs
    assert database.roles.leg_names == ("left", "right", "left2", "right2")
    assert len(database.toe_ends) == 4
    listed = obj.motion_matching.features
    assert features.is_built_with(listed, database.schema)
    weights = features.compute_weights(listed, database.schema)
    np.testing.assert_allclose(weights, [f.weight for f in database.schema.features], rtol=1e-6)
    bake = bpy.ops.motion_matching.bake_script
    assert bake(script="square", seconds=8.0) == {"FINISHED"}
    paws = read_paws(obj)
    speed = 30.0 * np.linalg.norm(np.diff(paws[..., :2], axis=0), axis=-1)
    heights = np.minimum(paws[1:, :, 2], paws[:-1, :, 2])
    low = heights < np.percentile(paws[..., 2], 5, axis=0) + 0.01
    assert (speed[low] < 0.05).mean() > 0.75
    # every paw stands for its share of the time, and goes as far as the body in the rest of it
    assert ((speed < 0.03).mean(axis=0) > 0.3).all()
    assert (speed.max(axis=0) > 1.0).all()
    assert list_further_legs(obj) == [
        f"{side} 2: {side}Arm, {side}ForeArm, {side}Hand" for side in ("Left", "Right")
    ]
    reader = PoseReader(obj, database)
    read = reader.read(obj, range(1, 61))
    toes = quat.compute_world(read, database.skeleton.parents)[1][:, [leg.toe for leg in legs]]
    np.testing.assert_allclose(toes, paws[:60], atol=2e-3)
    contacts = reader.find_contacts(read)
    assert contacts[:5].all()  # it starts standing on all four
    _, state = reader.read_start(obj, 30.0, 1.0)
    assert state.fits(database.skeleton)
    writer = PoseWriter(obj, database.skeleton, hips="Hips")
    writer.take_over()
    writer.show(read[40].astype(np.float32))
    shown = [tuple(obj.matrix_world @ obj.pose.bones[name].tail) for name in PAWS.values()]
    np.testing.assert_allclose(shown, paws[40], atol=2e-3)
    names = {bone.name for bone in obj.data.bones}
    assert not any(name.endswith("_end") for name in names)
