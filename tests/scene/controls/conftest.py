from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def scene():
    """The scene at 30 frames per second, the rate of the motion."""
    import bpy

    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = 30, 1.0
    return scene
