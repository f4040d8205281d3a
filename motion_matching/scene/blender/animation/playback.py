"""Save, restore or temporarily replace the action that an object plays, and its pose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy

from ..handle import Handle
from ..transforms.transforms import REST, read_property
from . import actions
from .actions import HAS_SLOTS

# owner and custom property of a path, or property
_LAST = re.compile(r'(.*)\["((?:[^"\\]|\\.)*)"\]|(?:(.*)\.)?(\w+)')


@contextmanager
def preserve_animation(obj: bpy.types.Object) -> Iterator[None]:
    """Let other actions play without the NLA within the block, and restore all after it."""
    had_data = obj.animation_data is not None
    data: Any = obj.animation_data or obj.animation_data_create()
    tweaked = data.use_tweak_mode
    nla = data.use_nla
    data.use_tweak_mode = False  # no other action can be assigned while a strip is tweaked
    before = data.action
    slot = getattr(data, "action_slot", None)
    slot_name = getattr(data, "last_slot_identifier", "")
    try:
        data.use_nla = False
        yield
    finally:
        if had_data:
            data.action = before
            if HAS_SLOTS:
                if before:
                    data.action_slot = slot
                data.last_slot_identifier = slot_name
            data.use_nla = nla
            data.use_tweak_mode = tweaked
        else:
            obj.animation_data_clear()


@contextmanager
def preserve_pose(obj: bpy.types.Object) -> Iterator[None]:
    """Restore an armature's pose and what its actions and drivers set after the block."""
    bones = obj.pose.bones
    own = {name: tuple(getattr(obj, name)) for name in REST}
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


def play(obj: bpy.types.Object, action: bpy.types.Action, slot: Any) -> bpy.types.Action:
    """Have an object play an action; return the one that it plays.

    Assigning an action for the first time would mark it as one for objects: then a copy plays.
    """
    owner: Any = slot if HAS_SLOTS else action
    unmarked = owner.target_id_type == "UNSPECIFIED" if HAS_SLOTS else not owner.id_root
    played: Any = action.copy() if unmarked else action
    own_slot = played.slots[list(action.slots).index(slot)] if HAS_SLOTS else None
    actions.set_action(obj.animation_data or obj.animation_data_create(), played, own_slot)
    return played


@dataclass(frozen=True)
class PlaybackState:
    """The playback of an object: its action and slot, by name, and whether its NLA counts."""

    has_data: bool
    action: Handle | None = None
    slot: str = ""
    last_slot: str = ""
    use_nla: bool = True

    @classmethod
    def from_object(cls, obj: bpy.types.Object) -> PlaybackState:
        """Read what an object plays; raise RigError in tweak mode, when that is not its own."""
        if obj.animation_data is None:
            return cls(False)
        data = actions.get_untweaked_data(obj)
        action = data.action and Handle.from_block(data.action, "actions")
        slot = getattr(data, "action_slot", None) if action else None
        last_slot = getattr(data, "last_slot_identifier", "")
        return cls(True, action, slot.identifier if slot else "", last_slot, data.use_nla)

    def find_action(self) -> bpy.types.Action | None:
        """Return the action, or None if there was none or it is no longer in the file."""
        return self.action.find() if self.action else None

    def find_slot(self, action: Any) -> Any:
        """Return the slot of that name in an action, or None."""
        slots = action.slots if HAS_SLOTS else ()
        return next((slot for slot in slots if slot.identifier == self.slot), None)

    def suspend(self, obj: bpy.types.Object) -> None:
        """Take the action off and switch the NLA off, so that only poses move the object."""
        if self.has_data:
            obj.animation_data.action = None
            obj.animation_data.use_nla = False

    def resume(self, obj: bpy.types.Object, *, keep_action: bool = False) -> None:
        """Let the object play that again, with its NLA, unless it is to keep its current action.

        It also keeps it if it played nothing before: it has the user's keys. No action is lost.
        """
        data: Any = obj.animation_data
        if data is None:
            return
        data.use_nla = self.use_nla
        if keep_action:
            return
        if not (self.has_data or data.action or data.drivers or data.nla_tracks):
            obj.animation_data_clear()
            return
        action = self.find_action()
        current = data.action
        if action is not None and current != action:
            actions.set_action(data, action, self.find_slot(action))
            if HAS_SLOTS:
                data.last_slot_identifier = self.last_slot
            actions.keep_in_file(current)
