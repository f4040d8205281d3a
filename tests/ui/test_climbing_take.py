"""From the demo performer with stairs to a baked take up and down a flight of them."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.app.database import status
from tests.ui.climbing import RISER, add_stairs, find_height


@pytest.mark.slow
def test_a_performer_from_the_menu_climbs_stairs_in_the_scene():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    ops = bpy.ops.motion_matching
    assert ops.add_demo_performer(climbs=True) == {"FINISHED"}
    obj = bpy.context.object
    settings = obj.motion_matching
    assert any(source.action.name.startswith("stairs_up") for source in settings.sources)
    assert ops.build() == {"FINISHED"}
    assert status.refresh(obj).kind == "fresh"

    settings.obstacles = add_stairs()
    options = {"script": "stop_and_go", "seconds": 6.0, "frame_start": 1}
    assert ops.bake_script(**options) == {"FINISHED"}
    scene, toes, hips = bpy.context.scene, [], []
    for frame in range(1, 6 * 24, 2):
        scene.frame_set(frame)
        shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        place, bones = shown.matrix_world, shown.pose.bones
        hips.append((place @ bones["Hips"].head)[:])
        toes.append([(place @ bones[f"{side}Toe"].head)[:] for side in ("Left", "Right")])
    hips, toes = np.array(hips), np.array(toes)
    assert hips[-1, 2] - hips[0, 2] > 2 * RISER
    floor = np.array([[find_height(-y) for _, y, _ in row] for row in toes.tolist()])
    above = toes[..., 2] - floor
    assert above.min() > -0.01
    still = np.linalg.norm(np.diff(toes, axis=0), axis=-1) < 0.002
    assert still.any(axis=0).all()
    assert np.percentile(above[1:][still], 95) < 0.05
