"""Rigify's human in a window, alone or with meshes that make it too slow to drive live."""

from __future__ import annotations

import bpy

# after bpy, which brings it
import addon_utils  # isort: skip

from drive import call, find_motion_capture, load_module, worked


def generate_rig():
    """Generate Rigify's human, select it, and return it."""
    addon_utils.enable("rigify", default_set=True)
    call(bpy.ops.object.armature_human_metarig_add)
    metarig = bpy.context.object
    call(bpy.ops.pose.rigify_generate)
    rig = bpy.context.object
    bpy.data.objects.remove(metarig)
    return rig


def add_meshes(rig):
    """Add a body that takes long to evaluate, and a hat that is hidden; return both."""
    skeleton = load_module("scene.controls.finding.find_controls").read_deform_skeleton(rig)
    limbs = load_module("scene.controls.live.proxy_writer").find_human_limbs(skeleton)
    create = load_module("scene.staging.character").create_character_body
    body, hat = (create(rig, skeleton, limbs, name) for name in ("Body", "Hat"))
    body.modifiers.new("Subdivision", "SUBSURF").levels = 3
    body.modifiers.move(1, 0)  # the last one might be left to the graphics card
    body.data.materials.clear()
    hat.hide_set(True)
    return body, hat


def build():
    """Add motion capture to the active rig, and build its database."""
    folder, files = find_motion_capture()
    names = [{"name": file.name} for file in files]
    call(bpy.ops.motion_matching.add_files, directory=str(folder), files=names)
    yield 1.0
    call(bpy.ops.motion_matching.build, "INVOKE_DEFAULT")
    yield from worked()
    assert bpy.context.object.motion_matching.built_key
