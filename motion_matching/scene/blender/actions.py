"""Actions and their curves: the only module that knows how Blender 4.2 to 5.2 differ.

Since 4.4 an action holds slots, and curves lie in the channelbag of a slot; before, the action
itself held them. From 5.0 on the older way is gone. A channelbag and an old action offer `fcurves`
and `groups` alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import bpy
import numpy as np

from ...engine.errors import MotionDataError, RigChangedError, RigError
from .handle import Handle

LINEAR = 1  # the number of this interpolation, for foreach_set
_SLOTS = bpy.app.version >= (4, 4, 0)
_STEPLESS = re.compile(r"(^|\.)(location|rotation_(quaternion|euler|axis_angle)|scale)$")
_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
_TWEAKED = "The NLA strip of '{}' is being tweaked; leave tweak mode (Tab in the NLA editor) first."
_MAX_KEYS = 40_000  # read between two pauses: some milliseconds
_MAX_CURVES = 300  # written between two pauses: some milliseconds
ON_KEY = 1e-3  # frames by which a key may miss its frame


@contextmanager
def create_action(
    name: str,
    obj: bpy.types.Object,
    *,
    track: str | None = None,
    frame_start: int = 1,
    keep_active: bool = False,
    with_own: bool = False,
) -> Iterator[bpy.types.Action]:
    """Create an empty action to be filled within the block, and assign it or put it onto the NLA.

    With a `track`, the action becomes a strip that starts at `frame_start`, on a new track of that
    name above all others. The active action, which would play instead, is then unassigned unless
    `keep_active`. The action that was assigned stays in the file; `with_own` gives the new one
    copies of its curves. If the block fails, everything is as before. Raises RigError in the NLA's
    tweak mode.
    """
    had_data = obj.animation_data is not None
    data: Any = obj.animation_data or obj.animation_data_create()
    if data.use_tweak_mode:
        raise RigError(_TWEAKED.format(obj.name))
    before, slot_before = data.action, data.action_slot if _SLOTS else None
    tracks_before = len(data.nla_tracks)
    plays = before is not None and (slot_before is not None or not _SLOTS)
    action = (
        _copy_action(before, slot_before, name)
        if with_own and plays
        else bpy.data.actions.new(name)
    )
    try:
        slot = _ensure_slot(action)
        if track is None:
            _assign(data, action, slot)
        yield action
        if track is not None:
            _put_on_track(data, action, slot, track, frame_start)
            if not keep_active:
                data.action = None
    except BaseException:
        for added in list(data.nla_tracks)[tracks_before:]:
            data.nla_tracks.remove(added)
        bpy.data.actions.remove(action)
        if not had_data:
            obj.animation_data_clear()
        elif before and data.action != before:
            _assign(data, before, slot_before)
        raise
    if before and before.users == 0:
        before.use_fake_user = True  # else Blender would drop it when the file is saved


def _ensure_slot(action: bpy.types.Action) -> Any:
    """Return an action's first slot, created with room for curves if need be; None before 4.4."""
    if not _SLOTS:
        return None
    if action.slots:
        return action.slots[0]
    slot = action.slots.new(id_type="OBJECT", name="Slot")
    strip: Any = action.layers.new("Layer").strips.new(type="KEYFRAME")
    strip.channelbag(slot, ensure=True)
    return slot


def _copy_action(source: bpy.types.Action, slot: Any, name: str) -> bpy.types.Action:
    """Copy what an action has in one slot; this takes as long as it has keys."""
    action = source.copy()
    action.name, action.use_fake_user, action.use_frame_range = name, False, False
    for other in list(action.slots) if _SLOTS else ():
        if other.identifier != slot.identifier:
            action.slots.remove(other)
    return action


def get_channelbag(action: bpy.types.Action, slot: str = "") -> Any:
    """Return what holds the `fcurves` and `groups` of an action's slot, or None.

    Without an identifier, it is the first slot.
    """
    slots = action.slots if _SLOTS and slot else ()
    return _find_channelbag(
        action, next((other for other in slots if other.identifier == slot), None)
    )


def get_channelbags(action: bpy.types.Action) -> list[Any]:
    """Return what holds the `fcurves` of each slot that has any; the action itself before 4.4."""
    return (
        [bag for slot in action.slots if (bag := _find_channelbag(action, slot))]
        if _SLOTS
        else [action]
    )


def get_played_actions(obj: bpy.types.Object) -> list[tuple[bpy.types.Action, Any]]:
    """Return the actions that an object plays, assigned or on its NLA, each with its slot."""
    data: Any = obj.animation_data
    if data is None:
        return []
    players = [data, *(strip for track in data.nla_tracks for strip in track.strips)]
    return [
        (player.action, getattr(player, "action_slot", None)) for player in players if player.action
    ]


def _assign(data: Any, action: bpy.types.Action, slot: Any) -> None:
    data.action = action
    if _SLOTS:
        data.action_slot = slot  # unless it is set, nothing would move and nothing would complain


def assign(obj: bpy.types.Object, action: bpy.types.Action) -> None:
    """Have an object play an action; the one that was assigned stays in the file.

    Raises RigError in the NLA's tweak mode.
    """
    data: Any = obj.animation_data or obj.animation_data_create()
    if data.use_tweak_mode:
        raise RigError(_TWEAKED.format(obj.name))
    before = data.action
    _assign(data, action, find_slot(action, obj))
    if before and before.users == 0:
        before.use_fake_user = True  # else Blender would drop it when the file is saved


def _put_on_track(
    data: Any, action: bpy.types.Action, slot: Any, name: str, frame_start: int
) -> None:
    track = data.nla_tracks.new(prev=data.nla_tracks[-1] if data.nla_tracks else None)
    track.name = name
    strip = track.strips.new(action.name, frame_start, action)
    if _SLOTS:
        strip.action_slot = slot


def remove_strips(obj: bpy.types.Object, action: bpy.types.Action) -> None:
    """Remove an action's strips from an object's NLA, and the tracks that hold nothing else."""
    tracks = obj.animation_data.nla_tracks if obj.animation_data else ()
    for track in list(tracks):
        strips = [strip for strip in track.strips if strip.action == action]
        for strip in strips:
            track.strips.remove(strip)
        if strips and not track.strips:
            tracks.remove(track)


def write_channel(
    action: bpy.types.Action,
    data_path: str,
    frames: np.ndarray,
    values: np.ndarray,
    group: str,
    components: Iterable[int] | None = None,
) -> None:
    """Write a property's curves, one linear curve per component.

    `values` (C, F) are at rising `frames` (F,). With `components`, only those are written.
    """
    bag = _find_channelbag(action)
    folder = bag.groups.get(group) or bag.groups.new(group)
    for component in range(len(values)) if components is None else components:
        _create_curve(bag, data_path, component, frames, values[component]).group = folder


def _create_curve(
    bag: Any, data_path: str, component: int, frames: np.ndarray, values: np.ndarray
) -> bpy.types.FCurve:
    """Create a linear curve with `values` (F,) at rising `frames` (F,)."""
    curve = bag.fcurves.new(data_path, index=component)
    curve.keyframe_points.add(len(frames))
    curve.keyframe_points.foreach_set("co", _flatten_keys(frames, values))
    # also spares `update()`: sorted linear keys need no handles. Bytes are copied as they are,
    # other types one by one
    curve.keyframe_points.foreach_set("interpolation", np.full(len(frames), LINEAR, dtype=np.uint8))
    return curve


def _flatten_keys(frames: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.column_stack([frames, values]).astype(np.float32).ravel()


def read_channels(action: bpy.types.Action) -> dict[tuple[str, int], np.ndarray]:
    """Return the keys (F, 2), frame and value, of the first slot's curves by path and component."""
    bag = _find_channelbag(action)
    result = {}
    for curve in bag.fcurves if bag else ():
        keys = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
        curve.keyframe_points.foreach_get("co", keys)
        result[curve.data_path, curve.array_index] = keys.reshape(-1, 2)
    return result


def find_actions(obj: bpy.types.Object) -> list[bpy.types.Action]:
    """Return the file's actions most of whose bones are this armature's, sorted by name."""

    def fits(action: bpy.types.Action) -> bool:
        moved = find_moved_bones(get_active_curves(action, find_slot(action, obj)))
        return 2 * sum(bone in obj.data.bones for bone in moved) > len(moved)

    return [action for action in bpy.data.actions if fits(action)]


def find_slot(action: bpy.types.Action, obj: bpy.types.Object) -> Any:
    """Return the slot of an action that animates this armature, or None.

    Of several that move its bones: the one assigned to it, else the one of its name, else the one
    that moves most.
    """
    if not _SLOTS:
        return None
    data = obj.animation_data
    assigned = data.action_slot if data and data.action == action else None

    def rank(slot: Any) -> tuple[bool, bool, bool, int]:
        moved = sum(
            bone in obj.data.bones for bone in find_moved_bones(get_active_curves(action, slot))
        )
        return moved > 0, slot == assigned, slot.identifier == f"OB{obj.name}", moved

    return max(
        (slot for slot in action.slots if slot.target_id_type in ("OBJECT", "UNSPECIFIED")),
        key=rank,
        default=None,
    )


def get_active_curves(action: bpy.types.Action, slot: Any) -> list[bpy.types.FCurve]:
    """Return the curves of a slot (None before 4.4) that are played: neither muted nor empty."""
    bag = _find_channelbag(action, slot) if slot or not _SLOTS else None

    def is_muted(curve: bpy.types.FCurve) -> bool:
        # since 4.4 curves are played although their group is muted
        return curve.mute or bool(not _SLOTS and curve.group and curve.group.mute)

    return [
        curve for curve in (bag.fcurves if bag else ()) if not (curve.is_empty or is_muted(curve))
    ]


def iterate_curves(
    action: bpy.types.Action, obj: bpy.types.Object, frames: int = 0
) -> Iterator[bpy.types.FCurve | None]:
    """Yield the curves of an action that move an armature, and None now and then for a pause.

    After a pause everything is looked up again, because Blender may have moved it. A curve costs as
    much as its keys, or as `frames`. Raises MotionDataError if the action was deleted or has other
    curves, RigChangedError if the armature was deleted.
    """
    name, handles = (
        action.name,
        (Handle.from_block(action, "actions"), Handle.from_block(obj, "objects")),
    )
    curves, spent = _sort_curves(action, obj), 0
    moved = _get_channels(curves)
    for index in range(len(curves)):
        if spent > _MAX_KEYS:
            yield None
            action, obj = (handle.find() for handle in handles)
            if obj is None:
                raise RigChangedError(
                    f"armature '{handles[1].name}' was deleted while its motion was read; start "
                    "again."
                )
            curves, spent = _sort_curves(action, obj) if action else [], 0
            if _get_channels(curves) != moved:
                raise MotionDataError(f"action '{name}' changed while it was read; try again.")
        spent += max(frames, len(curves[index].keyframe_points))
        yield curves[index]


def _sort_curves(action: bpy.types.Action, obj: bpy.types.Object) -> list[bpy.types.FCurve]:
    return sorted(
        get_active_curves(action, find_slot(action, obj)),
        key=lambda curve: (curve.data_path, curve.array_index),
    )


def _get_channels(curves: Iterable[bpy.types.FCurve]) -> list[tuple[str, int]]:
    return [(curve.data_path, curve.array_index) for curve in curves]


def get_assigned_curves(obj: bpy.types.Object) -> list[bpy.types.FCurve]:
    """Return the curves of the action assigned to an object of any kind, if any."""
    data: Any = obj.animation_data
    if data is None or data.action is None:
        return []
    return get_active_curves(data.action, data.action_slot if _SLOTS else None)


def moves_object(action: bpy.types.Action, obj: bpy.types.Object) -> bool:
    """Return whether an action moves the armature object itself, not only its bones."""
    parts = ("location", "rotation", "scale", "delta_")
    return any(
        curve.data_path.startswith(parts)
        for curve in get_active_curves(action, find_slot(action, obj))
    )


def find_moved_bones(curves: Iterable[bpy.types.FCurve]) -> set[str]:
    """Return the names of the bones that have curves."""
    return {bone for curve in curves if (bone := parse_bone_name(curve.data_path)) is not None}


def parse_bone_name(data_path: str) -> str | None:
    """Return the bone that a path such as 'pose.bones["Hips"].location' leads to, or None."""
    match = _BONE.match(data_path)
    return bpy.utils.unescape_identifier(match[1]) if match else None


def build_bone_path(bone: str) -> str:
    """Return the data path of a pose bone."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"]'


def compute_frame_range(
    action: bpy.types.Action, curves: Sequence[bpy.types.FCurve]
) -> tuple[int, int]:
    """Return the first and last whole frame, of the action's manual range or else of the keys."""
    if action.use_frame_range:
        low, high = action.frame_start, action.frame_end
    else:
        ranges = [
            curve.range()
            for curve in curves
            if len(curve.keyframe_points) or len(curve.sampled_points)
        ]
        low = min((r[0] for r in ranges), default=action.frame_range[0])
        high = max((r[1] for r in ranges), default=action.frame_range[1])
    first = int(np.ceil(low - ON_KEY))
    return first, max(first, int(np.floor(high + ON_KEY)))


def find_selected_frame_range(curves: Iterable[bpy.types.FCurve]) -> tuple[int, int] | None:
    """Return the frames of the first and the last selected key; None if no key is selected."""
    frames = [np.empty(0)]
    for curve in curves:
        count = len(curve.keyframe_points)
        keys, selected = np.empty(2 * count, np.float32), np.empty(count, bool)
        curve.keyframe_points.foreach_get("co", keys)
        curve.keyframe_points.foreach_get("select_control_point", selected)
        frames.append(keys[::2][selected])
    joined = np.concatenate(frames)
    return (round(joined.min()), round(joined.max())) if len(joined) else None


def get_scene_fps(scene: bpy.types.Scene) -> float:
    """Return a scene's frames per second."""
    return scene.render.fps / scene.render.fps_base


def is_cyclic(action: bpy.types.Action) -> bool:
    """Return whether the action is marked as a cycle whose last frame repeats its first."""
    return action.use_frame_range and action.use_cyclic


def evaluate_curve(curve: bpy.types.FCurve, frames: np.ndarray) -> np.ndarray:
    """Return a curve's values (F,) at rising whole frames (F,), as Blender evaluates it."""
    keys = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
    curve.keyframe_points.foreach_get("co", keys)
    times, heights = keys[::2], keys[1::2]
    ends_hold = len(times) > 0 and (
        curve.extrapolation == "CONSTANT" or (times[0] <= frames[0] and frames[-1] <= times[-1])
    )
    # integers and enums change in steps, whatever their keys say
    stepless = _STEPLESS.search(curve.data_path)
    if (
        stepless
        and ends_hold
        and np.all(np.diff(times) > 0)
        and all(modifier.mute for modifier in curve.modifiers)
    ):
        inner = np.clip(frames, times[0], times[-1])
        near = np.searchsorted(times, inner)
        if np.array_equal(
            times[near], inner
        ):  # a key on every frame: interpolation does not matter
            return heights[near]
        interpolations = np.empty(len(times), dtype=np.int32)
        curve.keyframe_points.foreach_get("interpolation", interpolations)
        if np.all(interpolations == LINEAR):
            return np.interp(frames, times, heights).astype(np.float32)
    return np.fromiter(map(curve.evaluate, frames.tolist()), np.float32, len(frames))


@contextmanager
def preserve_animation(obj: bpy.types.Object) -> Iterator[None]:
    """Let other actions play without the NLA within the block, and restore all after it."""
    had_data = obj.animation_data is not None
    data: Any = obj.animation_data or obj.animation_data_create()
    tweaked, nla = data.use_tweak_mode, data.use_nla
    data.use_tweak_mode = False  # no other action can be assigned while a strip is tweaked
    before = data.action
    slot, slot_name = (data.action_slot, data.last_slot_identifier) if _SLOTS else (None, "")
    try:
        data.use_nla = False
        yield
    finally:
        if had_data:
            data.action = before
            if _SLOTS:
                if before:
                    data.action_slot = slot
                data.last_slot_identifier = slot_name
            data.use_nla, data.use_tweak_mode = nla, tweaked
        else:
            obj.animation_data_clear()


def play(obj: bpy.types.Object, action: bpy.types.Action, slot: Any) -> bpy.types.Action:
    """Have an object play an action; return the one that it plays.

    Assigning an action for the first time would mark it as one for objects: then a copy plays.
    """
    data: Any = obj.animation_data or obj.animation_data_create()
    owner: Any = slot if _SLOTS else action
    unmarked = owner.target_id_type == "UNSPECIFIED" if _SLOTS else not owner.id_root
    played = action.copy() if unmarked else action
    _assign(data, played, played.slots[list(action.slots).index(slot)] if _SLOTS else None)
    return played


def play_new_action(obj: bpy.types.Object) -> bpy.types.Action:
    """Have an object play a new, empty action, to be filled."""
    action = bpy.data.actions.new(obj.name)
    _assign(obj.animation_data or obj.animation_data_create(), action, _ensure_slot(action))
    return action


def fill_steps(
    action: bpy.types.Action, curves: Sequence[tuple[str, int, np.ndarray]], frames: np.ndarray
) -> Iterator[None]:
    """Give an action these curves (data path, component, values) at frames (F,).

    A new action gets the curves; one that has them already gets other values at as many frames.
    Pauses now and then, looks the action up again, and ends if it was deleted.
    """
    handle = Handle.from_block(action, "actions")
    for start in range(0, len(curves), _MAX_CURVES):
        if start:
            yield
            action = handle.find()
            if action is None:
                return
        bag = _find_channelbag(action)
        existing = list(islice(bag.fcurves, start, start + _MAX_CURVES))
        for index, (path, component, values) in enumerate(curves[start : start + _MAX_CURVES]):
            if index < len(existing):
                existing[index].keyframe_points.foreach_set("co", _flatten_keys(frames, values))
            else:
                _create_curve(bag, path, component, frames, values)
    action.update_tag()


@dataclass(frozen=True)
class PlaybackState:
    """What an object plays: its action and slot, by name, and whether its NLA counts."""

    has_data: bool
    action: Handle | None = None
    slot: str = ""
    last_slot: str = ""
    use_nla: bool = True

    @classmethod
    def from_object(cls, obj: bpy.types.Object) -> PlaybackState:
        """Read what an object plays.

        Raises RigError in the NLA's tweak mode, where the action is not the object's own.
        """
        data: Any = obj.animation_data
        if data is None:
            return cls(False)
        if data.use_tweak_mode:
            raise RigError(_TWEAKED.format(obj.name))
        action = data.action
        slot = data.action_slot.identifier if _SLOTS and action and data.action_slot else ""
        return cls(
            True,
            action and Handle.from_block(action, "actions"),
            slot,
            data.last_slot_identifier if _SLOTS else "",
            data.use_nla,
        )

    def suspend(self, obj: bpy.types.Object) -> None:
        """Take the action off and switch the NLA off, so that only poses move the object."""
        if self.has_data:
            obj.animation_data.action, obj.animation_data.use_nla = None, False

    def resume(self, obj: bpy.types.Object, *, keep_action: bool = False) -> None:
        """Let the object play that again, with its NLA, unless it is to keep its current action.

        An object that played nothing keeps its current action as well: it has the user's keys. The
        action that is taken off stays in the file.
        """
        if obj.animation_data is None:
            return
        data: Any = obj.animation_data
        data.use_nla = self.use_nla
        if keep_action:
            return
        if not (self.has_data or data.action or data.drivers or data.nla_tracks):
            obj.animation_data_clear()
            return
        action, current = self.action.find() if self.action else None, data.action
        if action is None:
            return
        if current != action:
            data.action = action
            if _SLOTS:
                data.action_slot = next(
                    (slot for slot in action.slots if slot.identifier == self.slot), None
                )
                data.last_slot_identifier = self.last_slot
            if current and current.users == 0:
                current.use_fake_user = True  # else Blender would drop it when the file is saved


def _find_channelbag(action: bpy.types.Action, slot: Any = None) -> Any:
    """Return what holds the curves of a slot (by default the first), or None."""
    if not _SLOTS:
        return action
    if not action.slots or not action.layers or not action.layers[0].strips:
        return None
    strip: Any = action.layers[0].strips[0]
    return strip.channelbag(slot or action.slots[0])
