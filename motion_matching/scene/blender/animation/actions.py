"""Actions and their curves. Only this module and `playback` know how Blender 4.2 to 5.2 differ.

Since 4.4 an action holds slots, and curves lie in the channelbag of a slot; before, the action
itself held them. From 5.0 on the older way is gone. A channelbag and an old action offer `fcurves`
and `groups` alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from operator import attrgetter
from typing import Any

import bpy
import numpy as np

from ....engine.errors import MotionDataError, RigError
from ....engine.names import to_readable
from ..handle import Handle, find_read_armature
from .curves import ON_KEY, create_curve, parse_bone_name, read_keys, write_linear_keys

HAS_SLOTS = bpy.app.version >= (4, 4, 0)
MAX_FRAME = 1_048_574  # of Blender's timeline
_MAX_KEYS = 40_000  # read between two pauses: some milliseconds
_MAX_CURVES = 300  # written between two pauses: some milliseconds
_get_channel = attrgetter("data_path", "array_index")  # of a curve


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

    With a `track`, it becomes a strip at `frame_start` on a new track above all others; the active
    action is then unassigned unless `keep_active`. The assigned action stays in the file;
    `with_own` copies its curves. If the block fails, everything is as before. Raises RigError in
    tweak mode.
    """
    had_data = obj.animation_data is not None
    name = to_readable(name)
    data = get_untweaked_data(obj)
    before = data.action
    slot_before = getattr(data, "action_slot", None)
    tracks_before = len(data.nla_tracks)
    if with_own and before is not None and (slot_before is not None or not HAS_SLOTS):
        action = _copy_action(before, slot_before, name)
    else:
        action = bpy.data.actions.new(name)
    try:
        slot = ensure_slot(action)
        if track is None:
            set_action(data, action, slot)
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
            set_action(data, before, slot_before)
        raise
    keep_in_file(before)


def _put_on_track(
    data: Any, action: bpy.types.Action, slot: Any, name: str, frame_start: int
) -> None:
    track = data.nla_tracks.new(prev=data.nla_tracks[-1] if data.nla_tracks else None)
    track.name = to_readable(name)
    add_strip(track, action, slot, frame_start)


def add_strip(track: Any, action: bpy.types.Action, slot: Any, frame_start: int) -> Any:
    """Add a strip of an action's slot (None before 4.4) to an NLA track, and return it."""
    strip = track.strips.new(action.name, frame_start, action)
    if HAS_SLOTS:
        strip.action_slot = slot
    return strip


def get_untweaked_data(obj: bpy.types.Object) -> Any:
    """Return an object's animation data, created if need be; raise RigError in tweak mode."""
    data = obj.animation_data or obj.animation_data_create()
    if data.use_tweak_mode:
        raise RigError(
            f"The NLA strip of '{obj.name}' is being tweaked; leave tweak mode (Tab in the NLA "
            "editor) first."
        )
    return data


def keep_in_file(action: bpy.types.Action | None) -> None:
    """Give an action that nothing uses any longer a fake user, else saving would drop it."""
    if action and action.users == 0:
        action.use_fake_user = True


def ensure_slot(action: bpy.types.Action) -> Any:
    """Return an action's first slot, created with room for curves if need be; None before 4.4."""
    if not HAS_SLOTS:
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
    action.name = name
    action.use_fake_user = False
    action.use_frame_range = False
    for other in list(action.slots) if HAS_SLOTS else ():
        if other.identifier != slot.identifier:
            action.slots.remove(other)
    return action


def get_channelbag(action: bpy.types.Action, slot: Any = None) -> Any:
    """Return what holds the `fcurves` and `groups` of a slot, by default the first, or None."""
    if not HAS_SLOTS:
        return action
    if not action.slots or not action.layers or not action.layers[0].strips:
        return None
    strip: Any = action.layers[0].strips[0]
    return strip.channelbag(slot or action.slots[0])


def get_channelbags(action: bpy.types.Action) -> list[Any]:
    """Return what holds the `fcurves` of each slot that has any; the action itself before 4.4."""
    return [bag for _, bag in list_channelbags(action)]


def list_channelbags(action: bpy.types.Action) -> list[tuple[str, Any]]:
    """Return the name of each slot that has curves, and what holds them; '' before 4.4."""
    if not HAS_SLOTS:
        return [("", action)]
    bags = [(slot.identifier, get_channelbag(action, slot)) for slot in action.slots]
    return [(name, bag) for name, bag in bags if bag]


def get_played_actions(obj: bpy.types.Object) -> list[tuple[bpy.types.Action, Any]]:
    """Return the actions that an object plays, assigned or on its NLA, each with its slot."""
    data: Any = obj.animation_data
    if data is None:
        return []
    players = [data, *(strip for track in data.nla_tracks for strip in track.strips)]
    return [(one.action, getattr(one, "action_slot", None)) for one in players if one.action]


def get_drivers(block: Any) -> list[bpy.types.FCurve]:
    """Return the drivers of an object or its data."""
    return list(block.animation_data.drivers) if block.animation_data else []


def has_nla_tracks(obj: bpy.types.Object) -> bool:
    """Return whether an object has NLA tracks, which show through where an action has no keys."""
    return bool(obj.animation_data and obj.animation_data.nla_tracks)


def find_animated_paths(obj: bpy.types.Object) -> set[str]:
    """Return the data paths that the actions an object plays, or its drivers, set."""
    played = get_played_actions(obj)
    curves = [curve for action, slot in played for curve in get_active_curves(action, slot)]
    return {curve.data_path for curve in (*curves, *get_drivers(obj))}


def set_action(data: Any, action: bpy.types.Action, slot: Any) -> None:
    """Have animation data play an action in one of its slots (None before 4.4)."""
    data.action = action
    if HAS_SLOTS:
        data.action_slot = slot  # unless it is set, nothing would move and nothing would complain


def assign(obj: bpy.types.Object, action: bpy.types.Action) -> None:
    """Have an object play an action, and keep the one before; raise RigError in tweak mode."""
    data = get_untweaked_data(obj)
    before = data.action
    set_action(data, action, find_slot(action, obj))
    keep_in_file(before)


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
    """Write (some components of) a property's `values` (C, F) at rising `frames` (F,), linearly."""
    bag = get_channelbag(action)
    written = range(len(values)) if components is None else components
    curves = ((create_curve(bag, data_path, c, group), values[c]) for c in written)
    write_linear_keys(curves, frames)


def fill_steps(
    action: bpy.types.Action, curves: Sequence[tuple[str, int, np.ndarray]], frames: np.ndarray
) -> Iterator[None]:
    """Give an action curves (data path, component, values) at frames (F,), in steps."""
    handle = Handle.from_block(action, "actions")
    for start in range(0, len(curves), _MAX_CURVES):
        if start:
            yield
            action = handle.find()
            if action is None:
                return
        bag = get_channelbag(action)
        part = curves[start : start + _MAX_CURVES]
        existing = list(islice(bag.fcurves, start, start + len(part)))
        new = [create_curve(bag, path, component) for path, component, _ in part[len(existing) :]]
        heights = (values for *_, values in part)
        write_linear_keys(zip(existing + new, heights, strict=True), frames)
    action.update_tag()


def find_actions(obj: bpy.types.Object) -> list[bpy.types.Action]:
    """Return the file's actions most of whose bones are this armature's, sorted by name."""

    def fits(action: bpy.types.Action) -> bool:
        moved = find_moved_bones(get_active_curves(action, find_slot(action, obj)))
        return 2 * sum(bone in obj.data.bones for bone in moved) > len(moved)

    return [action for action in bpy.data.actions if fits(action)]


def find_slot(action: bpy.types.Action, obj: bpy.types.Object) -> Any:
    """Return the slot of an action that animates this armature, or None.

    Of several that move its bones: the assigned one, else that of its name, else what moves most.
    """
    if not HAS_SLOTS:
        return None
    data = obj.animation_data
    assigned = data.action_slot if data and data.action == action else None

    def rank(slot: Any) -> tuple[bool, bool, bool, int]:
        bones = find_moved_bones(get_active_curves(action, slot))
        moved = sum(bone in obj.data.bones for bone in bones)
        return moved > 0, slot == assigned, slot.identifier == f"OB{obj.name}", moved

    slots = [slot for slot in action.slots if slot.target_id_type in ("OBJECT", "UNSPECIFIED")]
    return slots[0] if len(slots) == 1 else max(slots, key=rank, default=None)


def get_active_curves(action: bpy.types.Action, slot: Any) -> list[bpy.types.FCurve]:
    """Return the curves of a slot (None before 4.4) that are played: neither muted nor empty."""
    bag = get_channelbag(action, slot) if slot or not HAS_SLOTS else None

    def is_muted(curve: bpy.types.FCurve) -> bool:
        # since 4.4 curves are played although their group is muted
        return curve.mute or bool(not HAS_SLOTS and curve.group and curve.group.mute)

    curves = bag.fcurves if bag else ()
    return [curve for curve in curves if not (curve.is_empty or is_muted(curve))]


def iterate_curves(
    action: bpy.types.Action, obj: bpy.types.Object, frames: int = 0
) -> Iterator[bpy.types.FCurve | None]:
    """Yield the curves of an action that move an armature, and None now and then for a pause.

    Then everything is looked up again, because Blender may have moved it. A curve costs as much as
    its keys, or as `frames`. Raises MotionDataError if the action was deleted or has other curves,
    RigChangedError if the armature was deleted.
    """
    name = action.name
    owner = Handle.from_block(obj, "objects")
    handle = Handle.from_block(action, "actions")
    curves = _sort_curves(action, obj)
    spent = 0
    channels = list(map(_get_channel, curves))
    for index in range(len(curves)):
        if spent > _MAX_KEYS:
            yield None
            action = handle.find()
            obj = find_read_armature(owner)
            spent = 0
            curves = _sort_curves(action, obj) if action else []
            if list(map(_get_channel, curves)) != channels:
                raise MotionDataError(f"action '{name}' changed while it was read; try again.")
        spent += max(frames, len(curves[index].keyframe_points))
        yield curves[index]


def _sort_curves(action: bpy.types.Action, obj: bpy.types.Object) -> list[bpy.types.FCurve]:
    return sorted(get_active_curves(action, find_slot(action, obj)), key=_get_channel)


def get_assigned(obj: bpy.types.Object) -> bpy.types.Action | None:
    """Return the action assigned to an object, if any."""
    return obj.animation_data.action if obj.animation_data else None


def get_assigned_curves(obj: bpy.types.Object) -> list[bpy.types.FCurve]:
    """Return the curves of the action assigned to an object of any kind, if any."""
    action = get_assigned(obj)
    slot = getattr(obj.animation_data, "action_slot", None)
    return get_active_curves(action, slot) if action else []


def moves_object(action: bpy.types.Action, obj: bpy.types.Object) -> bool:
    """Return whether an action moves the armature object itself, not only its bones."""
    parts = ("location", "rotation", "scale", "delta_")
    curves = get_active_curves(action, find_slot(action, obj))
    return any(curve.data_path.startswith(parts) for curve in curves)


def pin_moving_group(action: bpy.types.Action) -> None:
    """Have animation editors show keys of an action although no bone is selected.

    They leave out bones that are not selected, but not pinned groups. Nothing is pinned if the
    object moves, which has keys to show; else the first bone that does.
    """
    bag = get_channelbag(action)
    moving = [curve for curve in (bag.fcurves if bag else ()) if len(curve.keyframe_points) > 1]
    is_of_bone = [parse_bone_name(curve.data_path) is not None for curve in moving]
    if moving and all(is_of_bone) and moving[0].group:
        moving[0].group.use_pin = True


def find_moved_bones(curves: Iterable[bpy.types.FCurve]) -> set[str]:
    """Return the names of the bones that have curves."""
    return {bone for curve in curves if (bone := parse_bone_name(curve.data_path)) is not None}


def compute_frame_range(
    action: bpy.types.Action, curves: Iterable[bpy.types.FCurve]
) -> tuple[int, int]:
    """Return the first and last whole frame, of the action's manual range or else of the keys."""
    ranges = [c.range() for c in curves if len(c.keyframe_points) or len(c.sampled_points)]
    if action.use_frame_range:
        low, high = action.frame_start, action.frame_end
    elif ranges:
        low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    else:
        low, high = action.frame_range[0], action.frame_range[1]
    first = int(np.ceil(low - ON_KEY))
    return first, max(first, int(np.floor(high + ON_KEY)))


def find_selected_frame_range(curves: Iterable[bpy.types.FCurve]) -> tuple[int, int] | None:
    """Return the frames of the first and the last selected key; None if no key is selected."""
    frames = [np.empty(0)]
    for curve in curves:
        selected = np.empty(len(curve.keyframe_points), bool)
        curve.keyframe_points.foreach_get("select_control_point", selected)
        frames.append(read_keys(curve)[selected, 0])
    joined = np.concatenate(frames)
    return (round(joined.min()), round(joined.max())) if len(joined) else None


def get_scene_fps(scene: bpy.types.Scene) -> float:
    """Return a scene's frames per second."""
    return scene.render.fps / scene.render.fps_base


def is_cyclic(action: bpy.types.Action) -> bool:
    """Return whether the action is marked as a cycle whose last frame repeats its first."""
    return action.use_frame_range and action.use_cyclic
