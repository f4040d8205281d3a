"""An empty that is where the simulation object is, for sessions without a character."""

from __future__ import annotations

from collections.abc import Mapping

import bpy
import numpy as np

from ..engine.control.trajectory import wrap
from .channels import OBJECT_GROUP
from .handle import Handle, posable
from .pose import Track

_SIZE = 0.25  # metres


def new_marker(name: str) -> bpy.types.Object:
    """An empty in the current scene that shows where something is and what it faces."""
    marker = bpy.data.objects.new(name, None)
    marker.empty_display_type, marker.empty_display_size = "ARROWS", _SIZE
    bpy.context.scene.collection.objects.link(marker)
    return marker


class MarkerWriter:
    """Writes the place and heading of bone 0 of poses (7, B) onto an empty, as a `PoseWriter` does onto an armature.

    The empty is there from `take_over` to `give_back`, and stays where it has got an action. It faces -Y at rest.
    """

    alone, collection, travels = True, "", True
    scaled: tuple[str, ...] = ()
    tracks = (
        Track("location", OBJECT_GROUP, 0, (0, 1, 2), (0.0,) * 3),
        Track("rotation_euler", OBJECT_GROUP, 3, (2,), (0.0,) * 3),
    )
    channel_count, at_rest = 6, np.zeros(6)

    def __init__(self, name: str, start: tuple[float, float, float]) -> None:
        self.armature = Handle("objects", name, 0)  # of no object yet
        self.start = start
        self._shown = self.at_rest

    def take_over(self) -> None:
        """Put the empty into the scene."""
        self.armature = Handle.of(new_marker(self.armature.name), "objects")

    def give_back(self, *, keep_action: bool = False) -> None:
        """Take the empty out again, unless it is to stay with its action; a second time does nothing."""
        marker = self.armature.find()
        if marker and not keep_action:
            bpy.data.objects.remove(marker)
            self.armature = Handle("objects", self.armature.name, 0)
        bpy.context.view_layer.update()

    def playing(self) -> Handle | None:
        """The action that it has got."""
        data = posable(self.armature).animation_data
        return Handle.of(data.action, "actions") if data and data.action else None

    def channels(self, pose: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Location and rotation (6,) for a pose (7, B), turned as near as can be to the one before (6,)."""
        x, y, z, qw, _, _, qz = pose[:, 0].tolist()
        yaw = before[5] + wrap(2.0 * float(np.arctan2(qz, qw)) - before[5])
        return np.array([x, y, z, 0.0, 0.0, yaw])

    def show(self, pose: np.ndarray, *, update: bool = True) -> None:
        """Move the empty. RigError where it is gone."""
        self._shown = self.channels(pose, self._shown)
        self.show_again(update=update)

    def show_again(self, *, update: bool = True) -> None:
        """Move it where it was, after keys or a change of frame have moved it."""
        marker = posable(self.armature)
        marker.location, marker.rotation_euler = self._shown[:3].tolist(), self._shown[3:].tolist()
        if update:
            bpy.context.view_layer.update()

    def follow_names(self, names: Mapping[str, str]) -> None:
        """It has no bones that could be renamed."""
