"""Keep an armature's pose over work that has it play something else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from ..blender.animation import actions
from ..blender.transforms.transforms import REST, read_property

# owner and custom property of a path, or property
_LAST = re.compile(r'(.*)\["((?:[^"\\]|\\.)*)"\]|(?:(.*)\.)?(\w+)')


@contextmanager
def preserve_pose(obj: bpy.types.Object) -> Iterator[None]:
    """Restore an armature's pose and what its actions and drivers set after the block."""
    bones, own = obj.pose.bones, {name: tuple(getattr(obj, name)) for name in REST}
    before = {name: read_property(bones, name) for name in REST}
    # what actions and drivers set, but for transforms
    paths = [path for path in actions.find_animated_paths(obj) if path.split(".")[-1] not in REST]
    others = {path: _read_value(obj, path) for path in paths}
    try:
        yield
    finally:
        # otherwise Blender would evaluate what it plays now later on, over the pose
        bpy.context.view_layer.update()
        # first: a bone whose rotation mode is set turns its rotation
        for path, value in others.items():
            if value is not None and _read_value(obj, path) != value:
                _set_value(obj, path, value)
        for name, values in before.items():
            bones.foreach_set(name, values.ravel())
            setattr(obj, name, own[name])
        obj.update_tag(refresh={"OBJECT", "DATA"})


def _read_value(obj: bpy.types.Object, path: str) -> Any:
    """Return the value at a path, a tuple if it has components; None if the path leads nowhere."""
    try:
        value: Any = obj.path_resolve(path)
    except ValueError:
        return None
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str | set) else value


def _set_value(obj: bpy.types.Object, path: str, value: Any) -> None:
    match = _LAST.fullmatch(path)
    if match is None:
        return
    above, custom, owner, name = match.groups()
    holder: Any = obj.path_resolve(above or owner) if above or owner else obj
    if custom is None:
        setattr(holder, name, value)
    elif isinstance(value, tuple):
        holder[bpy.utils.unescape_identifier(custom)][:] = value
    else:
        holder[bpy.utils.unescape_identifier(custom)] = value
