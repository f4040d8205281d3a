"""Actions and their curves: the only file that knows how Blender 4.2 to 5.2 differ.

Since 4.4 an action holds slots, and curves lie in the channelbag of a slot; before, the action itself held them. From
5.0 on the older way is gone. A channelbag and an old action offer `fcurves` and `groups` alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

_LINEAR = 1  # the number of that interpolation, as foreach_set wants it
_SLOTS = bpy.app.version >= (4, 4, 0)


@contextmanager
def new_action(name: str, obj: bpy.types.Object) -> Iterator[bpy.types.Action]:
    """A new, empty action assigned to the object, to be filled within the block.

    The action that was assigned stays in the file. If the block fails, the new one is removed and the old one is
    assigned again.
    """
    had_data = obj.animation_data is not None
    data = obj.animation_data or obj.animation_data_create()
    before, slot_before = data.action, data.action_slot if _SLOTS else None
    action = bpy.data.actions.new(name)
    try:
        data.action = action
        if _SLOTS:
            # without a slot of its own set here, nothing would move and nothing would complain
            data.action_slot = action.slots.new(id_type="OBJECT", name="Slot")
            strip: Any = action.layers.new("Layer").strips.new(type="KEYFRAME")
            strip.channelbag(data.action_slot, ensure=True)
        yield action
    except BaseException:
        bpy.data.actions.remove(action)
        if not had_data:
            obj.animation_data_clear()
        elif before:
            data.action = before
            if _SLOTS:
                data.action_slot = slot_before
        raise
    if before and before.users == 0:
        before.use_fake_user = True  # else Blender would drop it when the file is saved


def write_channel(
    action: bpy.types.Action, data_path: str, frames: np.ndarray, values: np.ndarray, group: str
) -> None:
    """Write the curves of a property: `values` (C, F) at rising `frames` (F,), one linear curve per component."""
    bag = _bag(action)
    folder = bag.groups.get(group) or bag.groups.new(group)
    keys = np.empty((len(frames), 2), dtype=np.float32)
    keys[:, 0] = frames
    linear = np.full(len(frames), _LINEAR, dtype=np.int32)
    for component, value in enumerate(values):
        curve = bag.fcurves.new(data_path, index=component)
        curve.group = folder
        keys[:, 1] = value
        curve.keyframe_points.add(len(frames))
        curve.keyframe_points.foreach_set("co", keys.ravel())
        # also spares `update()`: sorted linear keys need no handles
        curve.keyframe_points.foreach_set("interpolation", linear)


def read_channels(action: bpy.types.Action) -> dict[tuple[str, int], np.ndarray]:
    """The keys (F, 2), frame and value, of every curve in the action's first slot, by data path and component."""
    bag = _bag(action)
    result = {}
    for curve in bag.fcurves if bag else ():
        keys = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
        curve.keyframe_points.foreach_get("co", keys)
        result[curve.data_path, curve.array_index] = keys.reshape(-1, 2)
    return result


def _bag(action: bpy.types.Action) -> Any:
    """What holds the curves of the action's first slot, or None where there are none yet."""
    if not _SLOTS:
        return action
    if not action.slots or not action.layers or not action.layers[0].strips:
        return None
    strip: Any = action.layers[0].strips[0]
    return strip.channelbag(action.slots[0])
