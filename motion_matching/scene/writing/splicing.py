"""Keys in curves that have some: of a growing recording, and of a take recorded into again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import bpy
import numpy as np

from ..blender.actions import LINEAR, ON_KEY, get_channelbag
from ..blender.channels import OBJECT_GROUP

_VECTOR = 2  # the number of a type of handles, for foreach_set
# a key's parts and what a new linear one has: None stands for its own frame and value
_KEY_PARTS: dict[str, tuple[Any, Any]] = {
    "co": (np.float32, None),
    "handle_left": (np.float32, None),
    "handle_right": (np.float32, None),
    "interpolation": (np.int32, LINEAR),
    "handle_left_type": (np.int32, _VECTOR),
    "handle_right_type": (np.int32, _VECTOR),
    "easing": (np.int32, 0),
    "type": (np.int32, 0),
    "amplitude": (np.float32, 0.0),
    "back": (np.float32, 0.0),
    "period": (np.float32, 0.0),
}


class GrowingCurves:
    """The curves of an action, to be used at once; untouched curves are found by index."""

    def __init__(self, action: bpy.types.Action) -> None:
        self._bag = get_channelbag(action)
        self._curves = list(self._bag.fcurves)  # looking one up by index counts from the first

    def grow(
        self,
        first: int,
        data_path: str,
        frames: np.ndarray,
        values: np.ndarray,
        group: str,
        components: Iterable[int],
    ) -> int:
        """Extend a property's curves to `values` (C, F) at rising `frames` (F,).

        The curves hold the first of these already; `first` is the index of the property's first
        curve among the action's. Returns the number of keys that were touched: all of them.
        """
        keys = np.empty((len(frames), 2), dtype=np.float32)
        keys[:, 0] = frames
        linear = np.full(len(frames), LINEAR, dtype=np.uint8)
        touched = 0
        for number, component in enumerate(components):
            points = self._find_curve(first + number, data_path, component, group).keyframe_points
            missing = len(frames) - len(points)
            if missing < 0:  # somebody added keys
                points.clear()
                missing = len(frames)
            points.add(missing)
            keys[:, 1] = values[component]
            points.foreach_set("co", keys.ravel())
            points.foreach_set("interpolation", linear)
            touched += len(frames)
        return touched

    def _find_curve(self, index: int, data_path: str, component: int, group: str) -> Any:
        if index < len(self._curves):
            curve = self._curves[index]
            if curve.array_index == component and curve.data_path == data_path:
                return curve
        return self._bag.fcurves.find(data_path, index=component) or _create_curve(
            self._bag, data_path, component, group
        )


def clear_keys(action: bpy.types.Action, data_paths: Collection[str]) -> None:
    """Remove all keys of some properties from an action and leave their curves."""
    for curve in get_channelbag(action).fcurves:
        if curve.data_path in data_paths:
            curve.keyframe_points.clear()


def copy_other_keys(action: bpy.types.Action, bag: Any, data_paths: Collection[str]) -> None:
    """Copy keys of properties other than these from an action to a channelbag.

    Curves with the same keys already are left alone.
    """
    for curve in get_channelbag(action).fcurves:
        if curve.data_path in data_paths or not curve.keyframe_points:
            continue
        keys = {name: _read_key_values(curve, name) for name in _KEY_PARTS}
        own = bag.fcurves.find(curve.data_path, index=curve.array_index)
        if own is None:
            own = _create_curve(
                bag,
                curve.data_path,
                curve.array_index,
                curve.group.name if curve.group else OBJECT_GROUP,
            )
        elif all(
            np.array_equal(_read_key_values(own, name), values) for name, values in keys.items()
        ):
            continue
        _write_keys(own, keys, np.empty((0, 2), np.float32))


def remove_channels(action: bpy.types.Action, data_paths: Collection[str]) -> None:
    """Remove the curves of some properties from an action."""
    bag = get_channelbag(action)
    for curve in [curve for curve in bag.fcurves if curve.data_path in data_paths]:
        bag.fcurves.remove(curve)


def has_channel(action: bpy.types.Action, data_path: str) -> bool:
    """Return whether an action has a curve of a property."""
    return any(curve.data_path == data_path for curve in get_channelbag(action).fcurves)


def splice_channel(
    action: bpy.types.Action,
    data_path: str,
    frames: np.ndarray,
    values: np.ndarray,
    group: str,
    components: Iterable[int],
    rest: Sequence[float],
    extent: Sequence[float],
) -> None:
    """Replace a property's keys from the first of the `frames` (F,) to the last by `values` (C, F).

    Keys before and after stay as they are, handles included; new ones are linear. If the action
    begins before or goes on after, by its `extent` (first and last frame before anything was
    spliced), but a curve has no key right beside the new ones, it gets one there with its own
    value, or with `rest` if it is new. So all frames beside play as before.
    """
    bag, before, after = get_channelbag(action), frames[0] - 1.0, frames[-1] + 1.0
    edges = [
        edge
        for edge, holds in ((before, extent[0] <= before), (after, after <= extent[1]))
        if holds
    ]
    for component in components:
        curve = bag.fcurves.find(data_path, index=component)
        is_new = curve is None
        if is_new:
            curve = _create_curve(bag, data_path, component, group)
        old = {name: _read_key_values(curve, name) for name in _KEY_PARTS}
        times = old["co"][:, 0]
        held = [
            (edge, rest[component] if is_new else curve.evaluate(edge))
            for edge in edges
            if not np.any(np.abs(times - edge) < 1.0 - ON_KEY)
        ]
        outside = (times < frames[0] - ON_KEY) | (times > frames[-1] + ON_KEY)
        added = np.concatenate(
            [np.column_stack([frames, values[component]]), np.array(held).reshape(-1, 2)]
        )
        _write_keys(
            curve, {name: part[outside] for name, part in old.items()}, added.astype(np.float32)
        )


def _read_key_values(curve: bpy.types.FCurve, name: str) -> np.ndarray:
    """Return a part of all keys: (K, 2) or (K,)."""
    kind, default = _KEY_PARTS[name]
    values = np.empty(len(curve.keyframe_points) * (2 if default is None else 1), kind)
    curve.keyframe_points.foreach_get(name, values)
    return values.reshape(-1, 2) if default is None else values


def _write_keys(curve: bpy.types.FCurve, old: dict[str, np.ndarray], added: np.ndarray) -> None:
    """Give a curve the old keys and linear ones at `added` (A, 2), in order."""
    order = np.argsort(np.concatenate([old["co"][:, 0], added[:, 0]]), kind="stable")
    curve.keyframe_points.clear()
    curve.keyframe_points.add(len(order))
    for name, (kind, default) in _KEY_PARTS.items():
        new = added if default is None else np.full(len(added), default, kind)
        curve.keyframe_points.foreach_set(name, np.concatenate([old[name], new])[order].ravel())
    curve.update()


def _create_curve(bag: Any, data_path: str, component: int, group: str) -> Any:
    curve = bag.fcurves.new(data_path, index=component)
    curve.group = bag.groups.get(group) or bag.groups.new(group)
    return curve
