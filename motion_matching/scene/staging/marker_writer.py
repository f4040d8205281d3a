"""Show the place of the simulation object by an empty, for sessions without a character."""

from __future__ import annotations

from collections.abc import Mapping

import bpy
import numpy as np

from ...engine.maths.planar import wrap
from ..blender.animation.actions import get_assigned
from ..blender.evaluation.channels import OBJECT_GROUP
from ..blender.handle import Handle, find_posable
from ..writing.channel_writer import Track

_SIZE = 0.25  # metres


def create_marker(name: str) -> bpy.types.Object:
    """Create an empty in the current scene that shows a position and a heading."""
    marker = bpy.data.objects.new(name, None)
    marker.empty_display_type = "ARROWS"
    marker.empty_display_size = _SIZE
    bpy.context.scene.collection.objects.link(marker)
    return marker


class MarkerWriter:
    """Writes position and heading of bone 0 of poses (7, B) onto an empty, like a `PoseWriter`.

    The empty exists from `take_over` to `restore`, stays if it has an action, and faces -Y at rest.
    """

    alone = True
    collection = ""
    travels = True
    shows_keys = True
    scaled: tuple[str, ...] = ()
    tracks = (
        Track("location", OBJECT_GROUP, 0, (0, 1, 2), (0.0,) * 3),
        Track("rotation_euler", OBJECT_GROUP, 3, (2,), (0.0,) * 3),
    )
    channel_count = 6
    at_rest = np.zeros(6)

    def __init__(self, name: str, start: tuple[float, float, float]) -> None:
        self.armature = Handle("objects", name, 0)  # of no object yet
        self.start = start
        self._last_channels = self.at_rest

    def take_over(self) -> None:
        """Put the empty into the scene."""
        self.armature = Handle.from_block(create_marker(self.armature.name), "objects")

    def restore(self, *, keep_action: bool = False) -> None:
        """Remove the empty, unless it is to stay with its action; a second time does nothing."""
        marker = self.armature.find()
        if marker and not keep_action:
            bpy.data.objects.remove(marker)
            self.armature = Handle("objects", self.armature.name, 0)
        bpy.context.view_layer.update()

    def find_action(self) -> Handle | None:
        """Return the empty's action."""
        action = get_assigned(find_posable(self.armature))
        return Handle.from_block(action, "actions") if action else None

    def compute_channels(self, pose: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Return location and rotation (6,) of a pose (7, B), turned near `before` (6,)."""
        x, y, z, qw, _, _, qz = pose[:, 0].tolist()
        yaw = before[5] + wrap(2.0 * float(np.arctan2(qz, qw)) - before[5])
        return np.array([x, y, z, 0.0, 0.0, yaw])

    def show(self, pose: np.ndarray, *, update: bool = True) -> None:
        """Move the empty; raise RigError if it was deleted."""
        self._last_channels = self.compute_channels(pose, self._last_channels)
        self.show_again(update=update)

    def show_again(self, *, update: bool = True) -> None:
        """Move the empty where it was, after keys or a frame change moved it."""
        marker = find_posable(self.armature)
        x, y, z, *turn = self._last_channels.tolist()
        marker.location = (x, y, z)
        marker.rotation_euler = turn
        if update:
            bpy.context.view_layer.update()

    def rename_bones(self, names: Mapping[str, str]) -> None:
        """Do nothing: an empty has no bones."""
