"""Motion into Blender: poses, bakes, keys, recordings."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import bake, channel_writer, hidden_objects, pose_writer, recording, saved_pose
else:
    __getattr__ = load_on_use(__name__)
