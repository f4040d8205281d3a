"""Update files of earlier versions, where marks without Lead Character were pins."""

from __future__ import annotations

import bpy

from ...scene.blender.animation.actions import get_scene_fps
from . import marks, outcomes


def update_pin(empty: bpy.types.Object) -> None:
    """Make a pin a mark that asks for the same; what became of it still counts."""
    bpy.context.view_layer.update()  # a file that was just opened does not say where objects are
    mark, outcome = marks.mark_of(empty), outcomes.get_outcome(empty)
    frames = max(mark.frame_end - marks.get_frame(empty), 0)
    marks.bring_limb(empty, mark.limb, frames / get_scene_fps(bpy.context.scene))
    if outcome in ("met", "missed"):
        mark.asked = outcomes.describe_request(empty)
