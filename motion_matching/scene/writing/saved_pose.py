"""Save the pose and action of an armature before a live session drives it, and restore them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import bpy
import numpy as np

from ...engine.files.json_files import (
    EntryError,
    expect_list,
    expect_number,
    expect_object,
    expect_whole_number,
)
from ..blender import id_properties
from ..blender.animation.actions import MAX_FRAME, keep_in_file
from ..blender.animation.playback import PlaybackState
from ..blender.handle import Handle
from ..blender.id_properties import Switch, expect_rows
from ..blender.transforms.transforms import REST, ROTATIONS, read_property
from .hidden_objects import HiddenObject, expect_hidden, show_hidden

# custom property of an object: its saved pose, while a session drives it
SAVED_POSE = "motion_matching_found"
_LARGEST = 1e12  # value of a property


@dataclass(frozen=True)
class SavedPose:
    """Transforms of bones by `bone_indices` (N,), of the object if it moves, and its playback.

    `properties` are custom properties that are restored with the pose, and `hidden` the objects
    that are hidden in the meantime.
    """

    bone_indices: np.ndarray
    bones: dict[str, np.ndarray]  # of all bones (B, C), by property
    object_channels: dict[str, tuple[float, ...]]
    pose_position: str
    playing: PlaybackState
    frame: float
    properties: tuple[Switch, ...] = ()
    hidden: tuple[HiddenObject, ...] = ()

    @classmethod
    def capture(
        cls,
        obj: bpy.types.Object,
        bone_indices: np.ndarray,
        *,
        moves_object: bool,
        plays_on: bool,
        properties: tuple[Switch, ...] = (),
        hides: Sequence[bpy.types.Object] = (),
    ) -> SavedPose:
        """Save everything, take the action off unless it plays on, and reset the bones' scale.

        The objects that it `hides` are visible, or their animation may show them.
        """
        names = ("location", *ROTATIONS) if moves_object else ()
        placement = {name: tuple(getattr(obj, name)) for name in names}
        bones = {name: read_property(obj.pose.bones, name) for name in REST}
        playing = PlaybackState.from_object(obj)
        position = obj.data.pose_position
        frame = bpy.context.scene.frame_float
        hidden = tuple(map(HiddenObject.from_visible, hides))
        saved = cls(bone_indices, bones, placement, position, playing, frame, properties, hidden)
        obj[SAVED_POSE] = saved._to_property()
        if not plays_on:
            saved.playing.suspend(obj)
        if saved.pose_position != "POSE":
            obj.data.pose_position = "POSE"
        scale = bones["scale"].copy()
        scale[bone_indices] = 1.0
        obj.pose.bones.foreach_set("scale", scale.ravel())
        for one in hidden:
            one.set_hidden(True)
        return saved

    @classmethod
    def from_property(cls, obj: bpy.types.Object) -> SavedPose:
        """Read what a session saved in an object's custom property, or raise EntryError."""
        note = expect_object(id_properties.read(obj, SAVED_POSE), "a saved pose")
        rows = expect_object(note.get("bones"), "'bones'", REST)
        bones = {name: expect_rows(rows.get(name), len(REST[name])) for name in REST}
        count = len(bones["scale"])
        listed = expect_list(note.get("numbers"), "'numbers'")
        indices = np.array([expect_whole_number(n, "a number", 0) for n in listed], np.intp)
        if any(len(values) != count for values in bones.values()) or np.any(indices >= count):
            raise EntryError("a saved pose belongs to other bones")
        placed = expect_object(note.get("placed"), "'placed'", ("location", *ROTATIONS))
        placement = {
            name: tuple(expect_rows(values, len(REST[name]), 1)[0].tolist())
            for name, values in placed.items()
        }
        position = note.get("position")
        if position not in ("POSE", "REST"):
            raise EntryError("a saved pose has no position")
        frame = expect_number(note.get("frame"), "'frame'", -MAX_FRAME, MAX_FRAME)
        playing = _expect_playback(note)
        properties = _expect_properties(note)
        hidden = expect_hidden(note)
        return cls(indices, bones, placement, position, playing, frame, properties, hidden)

    def _to_property(self) -> dict[str, Any]:
        """Return a custom property, which undo steps keep; it keeps the action in the file."""
        playing = asdict(self.playing)
        properties = [one._asdict() for one in self.properties]
        del playing["action"]
        action = self.playing.find_action()
        hidden = [one.to_property() for one in self.hidden]
        return {
            "numbers": self.bone_indices.tolist(),
            "position": self.pose_position,
            "frame": self.frame,
            "bones": {name: values.ravel().tolist() for name, values in self.bones.items()},
            "placed": {name: list(values) for name, values in self.object_channels.items()},
            "playing": playing,
            **({"action": action} if action else {}),
            **({"properties": properties} if properties else {}),
            **({"hidden": hidden} if hidden else {}),
        }

    def restore(self, obj: bpy.types.Object, keep_action: bool) -> None:
        """Restore everything, except the action if the object is to keep the one it has now."""
        if id_properties.has(obj, SAVED_POSE):
            del obj[SAVED_POSE]
        show_hidden(self.hidden)
        if self.pose_position != obj.data.pose_position:
            obj.data.pose_position = self.pose_position
        self.playing.resume(obj, keep_action=keep_action)
        keep_in_file(self.playing.find_action())  # a take may play in its place
        if not keep_action:
            # what plays again would win over the pose at the next update
            bpy.context.view_layer.update()
        if len(obj.pose.bones) == len(self.bones["scale"]):
            for name, before in self.bones.items():
                values = read_property(obj.pose.bones, name)
                values[self.bone_indices] = before[self.bone_indices]
                obj.pose.bones.foreach_set(name, values.ravel())
        for name, value in self.object_channels.items():
            setattr(obj, name, value)
        for one in self.properties:
            one.set(obj)
        obj.update_tag()
        bpy.context.view_layer.update()
        if keep_action or bpy.context.scene.frame_float != self.frame:
            obj.update_tag(refresh={"TIME"})  # the action's keys show, over the pose
            bpy.context.view_layer.update()


def _expect_properties(note: Mapping[str, Any]) -> tuple[Switch, ...]:
    """Return the custom properties of a saved pose; earlier versions saved none."""
    result = []
    for entry in expect_list(note.get("properties", []), "'properties'"):
        one = expect_object(entry, "a property", Switch._fields)
        bone = one.get("bone")
        name = one.get("name")
        if not isinstance(bone, str) or not isinstance(name, str):
            raise EntryError("a saved pose has a property without a name")
        value = expect_number(one.get("value"), "a value", -_LARGEST, _LARGEST)
        result.append(Switch(bone, name, value))
    return tuple(result)


def _expect_playback(note: Mapping[str, Any]) -> PlaybackState:
    """Return what an object played."""
    names = {field.name for field in fields(PlaybackState)} - {"action"}
    playing = expect_object(note.get("playing"), "'playing'", names)
    slots = [playing.get(name, "") for name in ("slot", "last_slot")]
    action = note.get("action")
    if not all(isinstance(slot, str) for slot in slots):
        raise EntryError("a saved pose has a slot without a name")
    if not isinstance(action, bpy.types.Action | None):
        raise EntryError("a saved pose plays something that is not an action")
    handle = Handle.from_block(action, "actions") if action else None
    has_data = bool(playing.get("has_data"))
    use_nla = bool(playing.get("use_nla"))
    return PlaybackState(has_data, handle, slots[0], slots[1], use_nla)
