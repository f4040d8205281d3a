"""The simulation bone's path, computed anew while a slider or the armature moves. Loads Blender."""

from __future__ import annotations

import time

import bpy
import numpy as np

import motion_matching
from motion_matching.engine.motion.clip import Clip
from motion_matching.scene.rig.armature import create_armature
from motion_matching.scene.writing.bake import bake
from motion_matching.ui.database import ground_paths
from motion_matching.ui.database.operators_sources import add_source

from .bench_search import Row

REACH = 50_000.0  # microseconds


def run(clip: Clip, repeats: int) -> list[Row]:
    """Measure snapshots of one clip with adaptive windows, from motion that is already read."""
    motion_matching.register()
    try:
        obj = create_armature(clip.skeleton, "Bench Path")
        bpy.context.view_layer.objects.active = obj
        add_source(obj, "Bench", kind="ACTION", action=bake(clip, obj, name="Bench Path"))
        obj.animation_data.action = None
        bpy.ops.motion_matching.smooth_path(preset="adaptive")
        obj.motion_matching.show_path = True
        ground_paths.refresh()
        assert ground_paths.get_cache().snapshot, ground_paths.get_cache().note
        slider, moved = [], []
        for step in range(repeats):
            obj.motion_matching.simulation_bone.position_window = 0.5 + step / repeats
            slider.append(_time_refresh())
            obj.location.x = float(step)
            bpy.context.view_layer.update()
            moved.append(_time_refresh())
    finally:
        motion_matching.unregister()
    return [
        Row(
            f"{clip.skeleton.bone_count} bones",
            clip.frame_count,
            item,
            float(np.median(spent)),
            max(spent),
            REACH,
        )
        for item, spent in (
            ("path as a slider moves", slider),
            ("path as the armature moves", moved),
        )
    ]


def _time_refresh() -> float:
    """Return the microseconds of a refresh."""
    began = time.perf_counter()
    ground_paths.refresh()
    return 1e6 * (time.perf_counter() - began)
