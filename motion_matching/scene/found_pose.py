"""The pose and action that a live session finds on an armature, and gives back as they were."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import bpy
import numpy as np

from .actions import Playing
from .handle import Handle

SIZES = {
    "location": 3,
    "rotation_quaternion": 4,
    "rotation_euler": 3,
    "rotation_axis_angle": 4,
    "scale": 3,
}
NOTED = "motion_matching_found"  # custom property of an object: what was found on it, while a session has it
_OF_OBJECT = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle")


@dataclass(frozen=True)
class FoundPose:
    """Channels of some bones, by their `numbers` (N,), and of the object if it is moved, and what it played."""

    numbers: np.ndarray
    bones: dict[str, np.ndarray]
    placed: dict[str, tuple[float, ...]]
    position: str
    playing: Playing
    frame: float

    @classmethod
    def take(
        cls, obj: bpy.types.Object, numbers: np.ndarray, *, moves_object: bool, plays_on: bool
    ) -> FoundPose:
        """Note everything, take the action off unless it plays on for other bones, and undo the scale of the bones.

        RigError where an NLA strip is being tweaked; then nothing has changed.
        """
        placed = {name: tuple(getattr(obj, name)) for name in _OF_OBJECT} if moves_object else {}
        bones = {name: _read(obj, name) for name in SIZES}
        found = cls(
            numbers,
            bones,
            placed,
            obj.data.pose_position,
            Playing.of(obj),
            bpy.context.scene.frame_float,
        )
        obj[NOTED] = found._to_property()
        if not plays_on:
            found.playing.suspend(obj)
        if found.position != "POSE":
            obj.data.pose_position = "POSE"
        scale = bones["scale"].copy()
        scale[numbers] = 1.0
        obj.pose.bones.foreach_set("scale", scale.ravel())
        return found

    @classmethod
    def noted(cls, obj: bpy.types.Object) -> FoundPose:
        """What a session found on an object that carries a note of it."""
        noted = obj[NOTED].to_dict()
        bones = {
            name: np.array(values, np.float32).reshape(-1, SIZES[name])
            for name, values in noted["bones"].items()
        }
        placed = {name: tuple(values) for name, values in noted["placed"].items()}
        action = noted.get("action")
        playing = Playing(**{**noted["playing"], "action": action and Handle.of(action, "actions")})
        return cls(
            np.array(noted["numbers"]), bones, placed, noted["position"], playing, noted["frame"]
        )

    def _to_property(self) -> dict[str, Any]:
        """As a custom property, which undo steps have that Blender makes meanwhile.

        It points at the action itself, so that one that nobody else plays stays in the file.
        """
        playing = asdict(self.playing)
        del playing["action"]
        action = self.playing.action.find() if self.playing.action else None
        return {
            "numbers": self.numbers.tolist(),
            "position": self.position,
            "frame": self.frame,
            "bones": {name: values.ravel().tolist() for name, values in self.bones.items()},
            "placed": {name: list(values) for name, values in self.placed.items()},
            "playing": playing,
            **({"action": action} if action else {}),
        }

    def restore(self, obj: bpy.types.Object, keep_action: bool) -> None:
        """Bring everything back, but the action where the object is to keep the one it has got since."""
        if NOTED in obj.keys():  # noqa: SIM118  # bpy's types know no `in`
            del obj[NOTED]
        if self.position != obj.data.pose_position:
            obj.data.pose_position = self.position
        self.playing.resume(obj, keep_action=keep_action)
        action = self.playing.action.find() if self.playing.action else None
        if action and action.users == 0:
            action.use_fake_user = True  # a take is played in its place, and Blender would drop it when the file is saved
        if not keep_action:
            # what plays again would win over the pose at the next update
            bpy.context.view_layer.update()
        self._restore_pose(obj)
        bpy.context.view_layer.update()
        if keep_action or bpy.context.scene.frame_float != self.frame:
            obj.update_tag(refresh={"TIME"})  # what it keys shows, over the pose
            bpy.context.view_layer.update()

    def _restore_pose(self, obj: bpy.types.Object) -> None:
        if len(obj.pose.bones) == len(self.bones["scale"]):
            for name, before in self.bones.items():
                now = _read(obj, name)
                now[self.numbers] = before[self.numbers]
                obj.pose.bones.foreach_set(name, now.ravel())
        for name, value in self.placed.items():
            setattr(obj, name, value)
        obj.update_tag()


def _read(obj: bpy.types.Object, name: str) -> np.ndarray:
    """A property of all pose bones (B, C)."""
    values = np.empty(SIZES[name] * len(obj.pose.bones), np.float32)
    obj.pose.bones.foreach_get(name, values)
    return values.reshape(-1, SIZES[name])
