"""Single curves of animation: their paths, their keys, and their values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np

LINEAR = 1  # the number of this interpolation, for foreach_set
# numbers of an interpolation and of a type of handles
_BEZIER = 2
_ALIGNED = 5
ON_KEY = 1e-3  # frames by which a key may miss its frame
_STEPLESS = re.compile(r"(^|\.)(location|rotation_(quaternion|euler|axis_angle)|scale)$")
_NAME = r'\["((?:[^"\\]|\\.)*)"\]'
_BONE = re.compile(rf"pose\.bones{_NAME}")
_CUSTOM = re.compile(rf"(pose\.bones{_NAME})?{_NAME}")


def parse_bone_name(data_path: str) -> str | None:
    """Return the bone that a path such as 'pose.bones["Hips"].location' leads to, or None."""
    match = _BONE.match(data_path)
    return bpy.utils.unescape_identifier(match[1]) if match else None


def build_bone_path(bone: str) -> str:
    """Return the data path of a pose bone."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"]'


def is_custom_property(data_path: str) -> bool:
    """Return whether a path leads to a custom property of an object or of a pose bone."""
    return _CUSTOM.fullmatch(data_path) is not None


def create_curve(bag: Any, data_path: str, component: int, group: str = "") -> Any:
    """Create a curve without keys in a channelbag, and in a group if one is named."""
    curve = bag.fcurves.new(data_path, index=component)
    if group:
        curve.group = bag.groups.get(group) or bag.groups.new(group)
    return curve


def write_linear_keys(
    curves: Iterable[tuple[bpy.types.FCurve, np.ndarray]], frames: np.ndarray
) -> None:
    """Replace the keys of curves by linear ones: values (F,) of each at rising `frames` (F,)."""
    keys = np.empty((len(frames), 2), dtype=np.float32)
    keys[:, 0] = frames
    # also spares `update()`: sorted linear keys need no handles. Bytes are copied as they are,
    # other types one by one
    linear = np.full(len(frames), LINEAR, dtype=np.uint8)
    for curve, values in curves:
        points = curve.keyframe_points
        if len(points) > len(frames):
            points.clear()
        points.add(len(frames) - len(points))
        keys[:, 1] = values
        points.foreach_set("co", keys.ravel())
        points.foreach_set("interpolation", linear)


def read_keys(curve: bpy.types.FCurve, part: str = "co") -> np.ndarray:
    """Return a curve's keys (F, 2), frame and value; `part` may also be a handle's name."""
    keys = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
    curve.keyframe_points.foreach_get(part, keys)
    return keys.reshape(-1, 2)


def read_shape(curve: bpy.types.FCurve) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve's keys (F, 6), each with its left and right handle, and interpolations (F,).

    A handle that does not shape the curve is where its key is.
    """
    kinds = np.empty(len(curve.keyframe_points), np.int32)
    curve.keyframe_points.foreach_get("interpolation", kinds)
    keys = read_keys(curve)
    bends = kinds == _BEZIER
    bent = {"handle_left": np.append(False, bends[:-1]), "handle_right": bends}
    handles = [np.where(on[:, None], read_keys(curve, part), keys) for part, on in bent.items()]
    return np.column_stack([keys, *handles]), kinds


def evaluate_curve(curve: bpy.types.FCurve, frames: np.ndarray) -> np.ndarray:
    """Return a curve's values (F,) at rising whole frames (F,), as Blender evaluates it."""
    times, heights = read_keys(curve).T
    ends_hold = len(times) > 0 and (
        curve.extrapolation == "CONSTANT" or (times[0] <= frames[0] and frames[-1] <= times[-1])
    )
    # integers and enums change in steps, whatever their keys say
    stepless = _STEPLESS.search(curve.data_path) and all(part.mute for part in curve.modifiers)
    if stepless and ends_hold and np.all(np.diff(times) > 0):
        inner = np.clip(frames, times[0], times[-1])
        near = np.searchsorted(times, inner)
        if np.array_equal(times[near], inner):  # interpolation does not matter with a key on each
            return heights[near]
        interpolations = np.empty(len(times), dtype=np.int32)
        curve.keyframe_points.foreach_get("interpolation", interpolations)
        if np.all(interpolations == LINEAR):
            return np.interp(frames, times, heights).astype(np.float32)
    return np.fromiter(map(curve.evaluate, frames.tolist()), np.float32, len(frames))


def evaluate_smooth_keys(
    keys: np.ndarray, values: np.ndarray, slopes: np.ndarray, count: int
) -> np.ndarray:
    """Return curves (C, count) of keys on frames (K,), of `values` and `slopes` per frame (C, K).

    These are cubics, as Blender's Bezier keys make them with handles a third of the way to the next
    key, so that time runs evenly. The first key is on frame 0 and the last one on frame count - 1.
    """
    gaps = np.diff(keys)
    stretch = np.minimum(np.repeat(np.arange(len(gaps)), gaps), len(gaps) - 1)
    stretch = np.append(stretch, len(gaps) - 1)
    gap = gaps[stretch].astype(np.float64)
    t = (np.arange(count) - keys[stretch]) / gap
    s = 1.0 - t
    low, high = values[:, stretch], values[:, stretch + 1]
    rise = slopes[:, stretch] * gap
    fall = slopes[:, stretch + 1] * gap
    return s * s * ((1.0 + 2.0 * t) * low + t * rise) + t * t * ((1.0 + 2.0 * s) * high - s * fall)


def write_smooth_keys(
    curve: Any, frames: np.ndarray, values: np.ndarray, slopes: np.ndarray
) -> None:
    """Give an empty curve keys: `values` (K,) at rising `frames` (K,), `slopes` (K,) per frame."""
    points = curve.keyframe_points
    gaps = np.diff(frames)
    points.add(len(frames))
    points.foreach_set("co", np.stack([frames, values], axis=-1).astype(np.float32).ravel())
    points.foreach_set("interpolation", np.full(len(frames), _BEZIER, np.uint8))
    before = np.append(gaps[:1], gaps) / 3.0
    after = np.append(gaps, gaps[-1:]) / 3.0
    for side, away in (("left", -before), ("right", after)):
        points.foreach_set(f"handle_{side}_type", np.full(len(frames), _ALIGNED, np.uint8))
        handles = np.stack([frames + away, values + slopes * away], axis=-1)
        points.foreach_set(f"handle_{side}", handles.astype(np.float32).ravel())
    curve.update()
