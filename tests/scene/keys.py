"""Read the keys of an action for comparison."""

from __future__ import annotations

import bpy
import numpy as np

from motion_matching.scene.blender.animation import actions


def read_channels(action: bpy.types.Action) -> dict[tuple[str, int], np.ndarray]:
    """Return the keys (F, 2), frame and value, of the first slot's curves by path and component."""
    bag = actions.get_channelbag(action)
    channels = {}
    for curve in bag.fcurves if bag else ():
        keys = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
        curve.keyframe_points.foreach_get("co", keys)
        channels[curve.data_path, curve.array_index] = keys.reshape(-1, 2)
    return channels
