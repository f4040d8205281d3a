"""An armature as it is posed, over work that has it play something else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from . import actions

CHANNELS = {
    "location": (0, 0, 0),
    "rotation_quaternion": (1, 0, 0, 0),
    "rotation_euler": (0, 0, 0),
    "rotation_axis_angle": (0, 0, 1, 0),
    "scale": (1, 1, 1),
}
_LAST = re.compile(
    r'(.*)\["((?:[^"\\]|\\.)*)"\]|(?:(.*)\.)?(\w+)'
)  # owner and custom property of a path, or property


@contextmanager
def keeping_pose(obj: bpy.types.Object) -> Iterator[None]:
    """After the block the object and its bones are posed as before, also where they have no keys, or others, and what else
    the object is set to play has the values that it had."""
    bones, before, own = (
        obj.pose.bones,
        _posed(obj),
        {name: tuple(getattr(obj, name)) for name in CHANNELS},
    )
    others = _played_values(obj)
    try:
        yield
    finally:
        bpy.context.view_layer.update()  # whatever it plays by now would be looked at later
        for (
            path,
            value,
        ) in others.items():  # first: a bone whose rotation mode is set turns its rotation
            if _value(obj, path) != value:
                _set_value(obj, path, value)
        for name, shown in before.items():
            bones.foreach_set(name, shown)
            setattr(obj, name, own[name])
        obj.update_tag(refresh={"OBJECT", "DATA"})


def _played_values(obj: bpy.types.Object) -> dict[str, Any]:
    """What an object is set to play and what drivers give it, but for the channels of poses, by path."""
    paths = {
        curve.data_path
        for action, slot in actions.played_by(obj)
        for curve in actions.curves_of(action, slot)
    }
    if obj.animation_data:
        paths |= {curve.data_path for curve in obj.animation_data.drivers}
    found = {path: _value(obj, path) for path in paths if path.rpartition(".")[2] not in CHANNELS}
    return {path: value for path, value in found.items() if value is not None}


def _value(obj: bpy.types.Object, path: str) -> Any:
    """The value at a path, a tuple where it has components; None where the path leads nowhere."""
    try:
        value: Any = obj.path_resolve(path)
    except ValueError:
        return None
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str | set) else value


def _set_value(obj: bpy.types.Object, path: str, value: Any) -> None:
    found = _LAST.fullmatch(path)
    if found is None:
        return
    above, custom, owner, name = found.groups()
    held: Any = obj.path_resolve(above or owner) if above or owner else obj
    if custom is None:
        setattr(held, name, value)
    elif isinstance(value, tuple):
        held[bpy.utils.unescape_identifier(custom)][:] = value
    else:
        held[bpy.utils.unescape_identifier(custom)] = value


def _posed(obj: bpy.types.Object) -> dict[str, np.ndarray]:
    """The channels of all bones, one after the other."""
    bones, result = obj.pose.bones, {}
    for name, rest in CHANNELS.items():
        result[name] = np.empty(len(rest) * len(bones), dtype=np.float32)
        bones.foreach_get(name, result[name])
    return result
