"""Poses as Blender evaluates them: with constraints, drivers and NLA, in a scene that holds the armature alone.

What the armature needs, such as parents and targets of constraints, Blender evaluates along with it; what only
follows it, such as its mesh, is left out, which is five times as fast. The user's scene is not evaluated at all, so
its frame, selection, visibility and the poses it shows stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ..engine.errors import RigError
from . import actions
from .matrices import local_poses

_CHUNK = 512  # frames whose matrices are held at a time
_CHANNELS = {"location": (0, 0, 0), "rotation_quaternion": (1, 0, 0, 0), "rotation_euler": (0, 0, 0),
             "rotation_axis_angle": (0, 0, 1, 0), "scale": (1, 1, 1)}
_LAST = re.compile(r'(.*)\["((?:[^"\\]|\\.)*)"\]|(?:(.*)\.)?(\w+)')  # owner and custom property of a path, or property


@contextmanager
def stage(obj: bpy.types.Object) -> Iterator[bpy.types.Scene]:
    """A scene in which the object is evaluated, also where the user hides it; it is gone after the block."""
    hidden, position = obj.hide_viewport, obj.data.pose_position
    scene = bpy.data.scenes.new("Sampling")
    try:
        scene.collection.objects.link(obj)
        if hidden:
            obj.hide_viewport = False
        if position != "POSE":
            obj.data.pose_position = "POSE"
        yield scene
    finally:
        bpy.data.scenes.remove(scene)
        if hidden:
            obj.hide_viewport = hidden
        if position != "POSE":
            obj.data.pose_position = position


@contextmanager
def at_rest(obj: bpy.types.Object) -> Iterator[None]:
    """Within the block all bones are posed as they rest, so that what an action does not key comes from nowhere else."""
    bones, before = obj.pose.bones, _posed(obj)
    for name, rest in _CHANNELS.items():
        bones.foreach_set(name, np.tile(np.array(rest, dtype=np.float32), len(bones)))
    obj.update_tag()
    try:
        yield
    finally:
        for name, shown in before.items():
            bones.foreach_set(name, shown)
        obj.update_tag()


@contextmanager
def keeping_pose(obj: bpy.types.Object) -> Iterator[None]:
    """After the block the object and its bones are posed as before, also where they have no keys, or others, and what else
    the object is set to play has the values that it had."""
    bones, before, own = obj.pose.bones, _posed(obj), {name: tuple(getattr(obj, name)) for name in _CHANNELS}
    others = _played_values(obj)
    try:
        yield
    finally:
        bpy.context.view_layer.update()  # whatever it plays by now would be looked at later
        for path, value in others.items():  # first: a bone whose rotation mode is set turns its rotation
            if _value(obj, path) != value:
                _set_value(obj, path, value)
        for name, shown in before.items():
            bones.foreach_set(name, shown)
            setattr(obj, name, own[name])
        obj.update_tag(refresh={"OBJECT", "DATA"})


def _played_values(obj: bpy.types.Object) -> dict[str, Any]:
    """What an object is set to play and what drivers give it, but for the channels of poses, by path."""
    paths = {curve.data_path for action, slot in actions.played_by(obj) for curve in actions.curves_of(action, slot)}
    if obj.animation_data:
        paths |= {curve.data_path for curve in obj.animation_data.drivers}
    found = {path: _value(obj, path) for path in paths if path.rpartition(".")[2] not in _CHANNELS}
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
    for name, rest in _CHANNELS.items():
        result[name] = np.empty(len(rest) * len(bones), dtype=np.float32)
        bones.foreach_get(name, result[name])
    return result


def world_matrix(obj: bpy.types.Object) -> np.ndarray:
    """An armature object's world matrix (4, 4) now, which Blender does not keep up to date where it is not shown."""
    bpy.context.evaluated_depsgraph_get()
    if obj.visible_get():
        return np.array(obj.matrix_world, dtype=np.float64)
    shown = bpy.context.scene
    with stage(obj) as scene:
        scene.frame_set(shown.frame_current, subframe=shown.frame_subframe)
        return np.array(obj.evaluated_get(scene.view_layers[0].depsgraph).matrix_world, dtype=np.float64)


def evaluate(
    scene: bpy.types.Scene, obj: bpy.types.Object, frames: range, names: tuple[str, ...], parents: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the object plays in a `stage`: local rotations (F, B, 4) and positions (F, B, 3) of these bones, in units of
    the armature, and the object's world matrices (F, 4, 4). RigError where its animation hides it.
    """
    rotations = np.empty((len(frames), len(names), 4), dtype=np.float32)
    positions = np.empty((len(frames), len(names), 3), dtype=np.float32)
    worlds = np.empty((len(frames), 4, 4))
    numbers = [obj.pose.bones.find(name) for name in names]
    matrices = np.empty((min(_CHUNK, len(frames)), 16 * len(obj.pose.bones)), dtype=np.float32)
    layer = scene.view_layers[0]
    for start in range(0, len(frames), _CHUNK):
        chunk = frames[start : start + _CHUNK]
        for row, frame in enumerate(chunk):
            scene.frame_set(frame)
            evaluated = obj.evaluated_get(layer.depsgraph)
            if evaluated.hide_viewport:  # then Blender leaves its pose as it was
                raise RigError(f"armature '{obj.name}' is animated to be hidden in frame {frame}; mute that animation.")
            evaluated.pose.bones.foreach_get("matrix", matrices[row])
            worlds[start + row] = np.array(evaluated.matrix_world)
        # Blender's matrices come column by column
        by_bone = matrices[: len(chunk)].reshape(len(chunk), -1, 4, 4).swapaxes(-1, -2)[:, numbers]
        there = slice(start, start + len(chunk))
        rotations[there], positions[there] = local_poses(by_bone, parents)
    return rotations, positions, worlds
