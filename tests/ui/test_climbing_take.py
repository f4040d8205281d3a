"""From the demo performer with stairs to a baked take up and down a flight of them."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.app import status

RISER, TREAD, STEPS, BEGIN = 0.17, 0.29, 6, 1.2


def add_stairs() -> bpy.types.Collection:
    """Add boxes that rise along -Y, and a platform."""
    collection = bpy.data.collections.new("Stairs")
    bpy.context.scene.collection.children.link(collection)
    for step in range(STEPS):
        near = -BEGIN - step * TREAD
        far = -BEGIN - (step + 1) * TREAD if step < STEPS - 1 else -BEGIN - STEPS * TREAD - 4.0
        mesh = bpy.data.meshes.new(f"Step {step}")
        corners = [
            (x, y, z) for x in (-1.5, 1.5) for y in (far, near) for z in (0.0, (step + 1) * RISER)
        ]
        faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        mesh.from_pydata(corners, [], faces)
        collection.objects.link(bpy.data.objects.new(mesh.name, mesh))
    return collection


def find_height(ahead: float) -> float:
    return RISER * min(max(int((ahead - BEGIN) // TREAD) + 1, 0), STEPS)


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
