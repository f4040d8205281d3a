"""Generate Blender's own rigs: Rigify's metarigs and the control rigs that it makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

# after bpy, which brings it
import addon_utils  # isort: skip


@contextmanager
def enabled_rigify() -> Iterator[None]:
    """Enable Rigify, which `reset_blender` would leave half enabled."""
    addon_utils.enable("rigify", default_set=True)
    try:
        yield
    finally:
        addon_utils.disable("rigify", default_set=True)
        for handler in list(bpy.app.handlers.load_post):
            if handler.__module__.startswith("rigify"):  # it leaves some, which then fail
                bpy.app.handlers.load_post.remove(handler)


def generate_rig(kind: str) -> bpy.types.Object:
    """Generate the control rig of a metarig, such as 'basic_human', and return it."""
    with enabled_rigify():
        getattr(bpy.ops.object, f"armature_{kind}_metarig_add")()
        metarig = bpy.context.object
        bpy.ops.pose.rigify_generate()
        rig = bpy.context.object
        bpy.data.objects.remove(metarig)
    return rig
