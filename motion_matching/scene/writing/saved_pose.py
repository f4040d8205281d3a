"""Save the pose and action of an armature before a live session drives it, and restore them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import bpy
import numpy as np

from ..blender.actions import keep_in_file
from ..blender.handle import Handle
from ..blender.playback import PlaybackState
from ..blender.transforms import REST, ROTATIONS, read_property

# custom property of an object: its saved pose, while a session drives it
SAVED_POSE = "motion_matching_found"


@dataclass(frozen=True)
class SavedPose:
    """Transforms of bones by `bone_indices` (N,), of the object if it moves, and what it plays."""

    bone_indices: np.ndarray
    bones: dict[str, np.ndarray]  # of all bones (B, C), by property
    object_channels: dict[str, tuple[float, ...]]
    pose_position: str
    playing: PlaybackState
    frame: float

    @classmethod
    def capture(
        cls, obj: bpy.types.Object, bone_indices: np.ndarray, *, moves_object: bool, plays_on: bool
    ) -> SavedPose:
        """Save everything, take the action off unless it plays on, and reset the bones' scale."""
        names = ("location", *ROTATIONS) if moves_object else ()
        placement = {name: tuple(getattr(obj, name)) for name in names}
        bones = {name: read_property(obj.pose.bones, name) for name in REST}
        playing = PlaybackState.from_object(obj)
        position, frame = obj.data.pose_position, bpy.context.scene.frame_float
        saved = cls(bone_indices, bones, placement, position, playing, frame)
        obj[SAVED_POSE] = saved._to_property()
        if not plays_on:
            saved.playing.suspend(obj)
        if saved.pose_position != "POSE":
            obj.data.pose_position = "POSE"
        scale = bones["scale"].copy()
        scale[bone_indices] = 1.0
        obj.pose.bones.foreach_set("scale", scale.ravel())
        return saved

    @classmethod
    def from_property(cls, obj: bpy.types.Object) -> SavedPose:
        """Read what a session saved in an object's custom property."""
        note = obj[SAVED_POSE].to_dict()
        bones = {
            name: np.array(values, np.float32).reshape(-1, len(REST[name]))
            for name, values in note["bones"].items()
        }
        placement = {name: tuple(values) for name, values in note["placed"].items()}
        action = note.get("action")
        handle = action and Handle.from_block(action, "actions")
        playing = PlaybackState(**(note["playing"] | {"action": handle}))
        indices = np.array(note["numbers"])
        return cls(indices, bones, placement, note["position"], playing, note["frame"])

    def _to_property(self) -> dict[str, Any]:
        """Return a custom property, which undo steps keep; it keeps the action in the file."""
        playing = asdict(self.playing)
        del playing["action"]
        action = self.playing.find_action()
        return {
            "numbers": self.bone_indices.tolist(),
            "position": self.pose_position,
            "frame": self.frame,
            "bones": {name: values.ravel().tolist() for name, values in self.bones.items()},
            "placed": {name: list(values) for name, values in self.object_channels.items()},
            "playing": playing,
            **({"action": action} if action else {}),
        }

    def restore(self, obj: bpy.types.Object, keep_action: bool) -> None:
        """Restore everything, except the action if the object is to keep the one it has now."""
        if SAVED_POSE in obj.keys():  # noqa: SIM118  # bpy's types know no `in`
            del obj[SAVED_POSE]
        if self.pose_position != obj.data.pose_position:
            obj.data.pose_position = self.pose_position
        self.playing.resume(obj, keep_action=keep_action)
        keep_in_file(self.playing.find_action())  # a take may play in its place
        if not keep_action:
            # what plays again would win over the pose at the next update
            bpy.context.view_layer.update()
        self._restore_pose(obj)
        bpy.context.view_layer.update()
        if keep_action or bpy.context.scene.frame_float != self.frame:
            obj.update_tag(refresh={"TIME"})  # the action's keys show, over the pose
            bpy.context.view_layer.update()

    def _restore_pose(self, obj: bpy.types.Object) -> None:
        if len(obj.pose.bones) == len(self.bones["scale"]):
            for name, before in self.bones.items():
                values = read_property(obj.pose.bones, name)
                values[self.bone_indices] = before[self.bone_indices]
                obj.pose.bones.foreach_set(name, values.ravel())
        for name, value in self.object_channels.items():
            setattr(obj, name, value)
        obj.update_tag()
