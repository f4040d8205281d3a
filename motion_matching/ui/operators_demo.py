"""The operator that makes an empty file one to work in: a performer with motion of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from . import performing, request, status, work
from .operators_sources import add_source
from .work import Steps, Working, in_background

_GAITS = {
    "idle": "idle",
    "run": "run",
    "fast": "run",
}  # by the first word of a clip's name; the others walk
_KINDS = ("objects", "armatures", "meshes", "materials", "actions")


class MOTION_MATCHING_OT_add_demo_performer(Working, bpy.types.Operator):
    """Add a character with generated walking, running, turning and strafing, ready to build and to bake"""

    bl_idname = "motion_matching.add_demo_performer"
    bl_label = "Add Demo Performer"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if work.running:
            cls.poll_message_set("Wait for what is going on, or cancel it with Esc")
            return False
        if performing.current:
            cls.poll_message_set("Stop the live session first, with Esc")
            return False
        if context.mode != "OBJECT":
            cls.poll_message_set("Go to Object Mode first")
            return False
        return True

    def steps(self, context: bpy.types.Context) -> Steps[str]:
        from ..engine.motion import locomotion
        from ..scene import demo
        from ..scene.bake import scene_fps

        fps = scene_fps(context.scene)
        clips = yield from in_background(
            lambda tell: locomotion.generate(fps=fps), "Generating motion"
        )
        with _all_or_nothing(context):
            uid = demo.add_performer(context.scene).session_uid
            for number, clip in enumerate(clips):
                yield f"Adding {clip.name}", number / len(clips)
                obj = request.held(uid)
                action = demo.add_demo_actions(obj, [clip])[0]
                gait = _GAITS.get(clip.name.partition("_")[0], "walk")
                add_source(obj, action.name, kind="ACTION", action=action, gait=gait)
        obj.motion_matching.source_index = 0
        status.forget()
        return f"Added '{obj.name}' with {len(clips)} clips: build its database next"


@contextmanager
def _all_or_nothing(context: bpy.types.Context) -> Iterator[None]:
    """Remove what was made within the block where it fails or is given up, and select what was selected before."""
    there = {block.session_uid for block in _blocks()}
    selected = [obj.session_uid for obj in context.selected_objects]
    active = context.view_layer.objects.active
    chosen = active.session_uid if active else None
    try:
        yield
    except BaseException:
        bpy.data.batch_remove([block for block in _blocks() if block.session_uid not in there])
        layer = context.view_layer
        layer.update()  # until then it lists what is gone
        layer.objects.active = next(
            (obj for obj in layer.objects if obj.session_uid == chosen), None
        )
        for obj in layer.objects:
            obj.select_set(obj.session_uid in selected)
        raise


def _blocks() -> Iterator[Any]:
    for kind in _KINDS:
        yield from getattr(bpy.data, kind)


CLASSES = (MOTION_MATCHING_OT_add_demo_performer,)
