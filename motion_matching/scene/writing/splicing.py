"""Keys in curves that have some: of a growing recording, and of a take recorded into again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from types import MappingProxyType
from typing import Any

import bpy
import numpy as np

from ...engine.maths.rotations import quat
from ..blender.animation.actions import get_channelbag
from ..blender.animation.curves import (
    LINEAR,
    ON_KEY,
    create_curve,
    evaluate_curve,
    write_linear_keys,
)
from ..blender.evaluation.channels import OBJECT_GROUP
from ..blender.transforms.rotation_modes import PROPERTIES, from_mode, to_mode
from .channel_writer import CarrierMove, Track

# by property: any order of Euler angles winds alike
_ROTATION_MODES = MappingProxyType(
    {prop: mode for mode, prop in PROPERTIES.items()} | {"rotation_euler": "XYZ"}
)
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


def grow_curves(
    action: bpy.types.Action,
    tracks: Iterable[tuple[int, Track]],
    frames: np.ndarray,
    rows: np.ndarray,
) -> int:
    """Extend curves of tracks to channels (F, C) at rising `frames` (F,); they may hold some
    already.

    With each track comes the index of its first curve. Returns the number of keys touched: all.
    """
    bag = get_channelbag(action)
    own = list(bag.fcurves)  # looking one up by index counts from the first
    curves = []
    for first, track in tracks:
        values = track.get_values(rows)
        for index, component in enumerate(track.free, first):
            curve = own[index] if index < len(own) else None
            if not curve or (curve.array_index, curve.data_path) != (component, track.path):
                curve = _ensure_curve(bag, track, component)
            curves.append((curve, values[component]))
    write_linear_keys(curves, frames)
    return len(frames) * len(curves)


def clear_keys(action: bpy.types.Action, data_paths: Collection[str]) -> None:
    """Remove all keys of some properties from an action and leave their curves."""
    for curve in get_channelbag(action).fcurves:
        if curve.data_path in data_paths:
            curve.keyframe_points.clear()


def copy_other_keys(action: bpy.types.Action, bag: Any, data_paths: Collection[str]) -> None:
    """Copy keys of other properties from an action to a channelbag that does not have the same."""
    for curve in get_channelbag(action).fcurves:
        path = curve.data_path
        component = curve.array_index
        if path in data_paths or not curve.keyframe_points:
            continue
        keys = _read_all_keys(curve)
        own = bag.fcurves.find(path, index=component)
        if own is None:
            group = curve.group.name if curve.group else OBJECT_GROUP
            own = create_curve(bag, path, component, group)
        else:
            current = _read_all_keys(own)
            if all(np.array_equal(current[name], values) for name, values in keys.items()):
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
    track: Track,
    frames: np.ndarray,
    values: np.ndarray,
    extent: Sequence[float],
) -> None:
    """Replace a track's keys from the first of the `frames` (F,) to the last by `values` (C, F).

    Keys before and after stay, handles included; new ones are linear. If the action begins before
    or goes on after, by its `extent` (first and last frame before), a curve gets keys right beside
    the new ones, with its own value, or with that at rest if it is new. So all frames beside play
    as before. Rotations are near each other on both sides, by whole turns and signs, which change
    no frame, so that what plays between two frames does not turn the long way around.
    """
    bag = get_channelbag(action)
    before = frames[0] - 1.0
    after = frames[-1] + 1.0
    edges = []
    if extent[0] <= before:
        edges.append(before)
    if after <= extent[1]:
        edges.append(after)
    factor = 1.0
    winding: np.ndarray = np.zeros(len(values))
    if mode := _ROTATION_MODES.get(track.path.rpartition(".")[2]):
        if before in edges:
            values = keep_near(values, _evaluate(action, track, np.array([before]))[:, 0], mode)
        if after in edges:
            late = _evaluate(action, track, np.array([after]))
            near = keep_near(late, values[:, -1], mode)
            start = int(mode == "AXIS_ANGLE")
            factor = -1.0 if mode in PROPERTIES and near[start:, 0] @ late[start:, 0] < 0 else 1.0
            winding = near[:, 0] - factor * late[:, 0]

    def wind(value: float, frame: float, component: int) -> float:
        return factor * value + float(winding[component]) if frame == after else value

    for component in track.free:
        is_new = bag.fcurves.find(track.path, index=component) is None
        curve = _ensure_curve(bag, track, component)
        old = _read_all_keys(curve)
        times = old["co"][:, 0]
        later = times > frames[-1] + ON_KEY
        for name in ("co", "handle_left", "handle_right"):
            old[name][later, 1] = factor * old[name][later, 1] + winding[component]
        held = [
            (edge, wind(track.rest[component] if is_new else curve.evaluate(edge), edge, component))
            for edge in edges
            if not np.any(np.abs(times - edge) < 1.0 - ON_KEY)
        ]
        outside = (times < frames[0] - ON_KEY) | (times > frames[-1] + ON_KEY)
        new = np.column_stack([frames, values[component]])
        added = np.concatenate([new, np.array(held).reshape(-1, 2)]).astype(np.float32)
        _write_keys(curve, _select_keys(old, outside), added)


def move_keys(action: bpy.types.Action, move: CarrierMove, after: float) -> None:
    """Move and turn what carries a character from the first key after a frame on.

    Linear keys stay where they are in time. Where curves bend between their keys, each frame gets
    one, as locations and rotations do not turn component by component.
    """
    location, times = _evaluate_after(action, move.location, after)
    if len(times):
        moved = quat.mul_vec(move.linear, location.T) + move.shift
        _replace_after(action, move.location, after, times, moved.T)
    rotation, times = _evaluate_after(action, move.rotation, after, move.mode != "QUATERNION")
    if len(times):
        turned = quat.mul(move.turn, from_mode(rotation, move.mode))
        before = _evaluate(action, move.rotation, np.array([after]))
        both = np.concatenate([from_mode(before, move.mode), turned])
        values = keep_near(to_mode(both.T, move.mode), before[:, 0], move.mode)
        _replace_after(action, move.rotation, after, times, values[:, 1:])


def keep_near(values: np.ndarray, before: np.ndarray, mode: str) -> np.ndarray:
    """Return the same rotations (C, F), by other signs or whole turns, near values (C,) before."""
    first = values[:, 0]
    if mode in PROPERTIES:
        start = 0 if mode == "QUATERNION" else 1
        if first[start:] @ before[start:] < 0.0:
            values = -values
        if mode == "AXIS_ANGLE":
            turns = np.round((before[0] - values[0, 0]) / (2.0 * np.pi))
            values = values + 2.0 * np.pi * turns * np.array([1.0, 0.0, 0.0, 0.0])[:, None]
        return values
    return values + 2.0 * np.pi * np.round((before - first) / (2.0 * np.pi))[:, None]


def _evaluate_after(
    action: bpy.types.Action, track: Track, after: float, bends: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return values (C, K) and times (K,) of the keys of a property after a frame."""
    keys = [_read_all_keys(curve) for curve in _find_curves(action, track) if curve]
    late = [_select_keys(part, part["co"][:, 0] > after + ON_KEY) for part in keys]
    parts = [part["co"][:, 0] for part in late]
    times = np.unique(np.concatenate([*parts, np.zeros(0)]).astype(np.float64))
    bends = bends or any(np.any(part["interpolation"] != LINEAR) for part in late)
    if bends and len(times):
        whole = np.arange(np.ceil(times[0]), times[-1] + ON_KEY)
        times = np.unique(np.concatenate([times, whole]))
    return _evaluate(action, track, times), times


def _evaluate(action: bpy.types.Action, track: Track, times: np.ndarray) -> np.ndarray:
    """Return the values (C, K) of a property at times (K,); at rest without a curve."""
    parts = [
        evaluate_curve(curve, times) if curve and len(times) else np.full(len(times), rest)
        for curve, rest in zip(_find_curves(action, track), track.rest, strict=True)
    ]
    return np.array(parts, np.float64)


def _replace_after(
    action: bpy.types.Action, track: Track, after: float, times: np.ndarray, values: np.ndarray
) -> None:
    """Replace the keys of a property after a frame by linear ones: values (C, K) at times (K,)."""
    bag = get_channelbag(action)
    for component in track.free:
        curve = _ensure_curve(bag, track, component)
        old = _read_all_keys(curve)
        early = old["co"][:, 0] <= after + ON_KEY
        added = np.column_stack([times, values[component]]).astype(np.float32)
        _write_keys(curve, _select_keys(old, early), added)


def _find_curves(action: bpy.types.Action, track: Track) -> list[bpy.types.FCurve | None]:
    bag = get_channelbag(action)
    return [bag.fcurves.find(track.path, index=i) for i in range(len(track.rest))]


def _ensure_curve(bag: Any, track: Track, component: int) -> Any:
    curve = bag.fcurves.find(track.path, index=component)
    return curve or create_curve(bag, track.path, component, track.group)


def _select_keys(keys: dict[str, np.ndarray], mask: np.ndarray) -> dict[str, np.ndarray]:
    return {name: part[mask] for name, part in keys.items()}


def _read_all_keys(curve: bpy.types.FCurve) -> dict[str, np.ndarray]:
    """Return all parts of a curve's keys by name: (K, 2) or (K,)."""
    result = {}
    points = curve.keyframe_points
    for name, (kind, default) in _KEY_PARTS.items():
        values = np.empty((len(points), 2) if default is None else len(points), kind)
        points.foreach_get(name, values.ravel())
        result[name] = values
    return result


def _write_keys(curve: bpy.types.FCurve, old: dict[str, np.ndarray], added: np.ndarray) -> None:
    """Give a curve the old keys and linear ones at `added` (A, 2), in order."""
    order = np.argsort(np.concatenate([old["co"][:, 0], added[:, 0]]), kind="stable")
    curve.keyframe_points.clear()
    curve.keyframe_points.add(len(order))
    for name, (kind, default) in _KEY_PARTS.items():
        new = added if default is None else np.full(len(added), default, kind)
        curve.keyframe_points.foreach_set(name, np.concatenate([old[name], new])[order].ravel())
    curve.update()
