"""A character with a few actions, as operators expect it. Runs inside Blender, with the extension
registered.
"""

from __future__ import annotations

import bpy

from building.locomotion.climbs import find_climb
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.rig import armature, fitting
from motion_matching.scene.writing import bake
from tests.demo import generate_clips

CLIPS = ("walk_starts_and_stops", "walk_curves", "run_curves")


def create_character(name: str = "Hero", clips: tuple[str, ...] = CLIPS) -> bpy.types.Object:
    """Create an active armature in an otherwise empty file, with generated clips as unassigned
    actions.
    """
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return add_character(name, clips)


def add_character(name: str, clips: tuple[str, ...] = CLIPS) -> bpy.types.Object:
    """Add such a character to the open file."""
    fps = actions.get_scene_fps(bpy.context.scene)
    climbs = [find_climb(name).pose(fps) for name in clips if name.startswith(("stairs", "ramp"))]
    made = [*(clip for clip in generate_clips(fps=fps) if clip.name in clips), *climbs]
    obj = armature.create_armature(made[0].skeleton, name)
    fitting.store_rest(obj, made[0].skeleton)
    for clip in made:
        bake.bake(clip, obj, name=clip.name).use_fake_user = True
    obj.animation_data.action = None
    for bone in obj.pose.bones:
        bone.matrix_basis.identity()
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    return obj


def override_character(path: str) -> bpy.types.Object:
    """Save the file, link its character into an empty one, and return its active override."""
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, target):
        target.objects = ["Hero"]
    bpy.context.scene.collection.objects.link(target.objects[0])
    obj = target.objects[0].override_create(remap_local_usages=True)
    bpy.context.view_layer.objects.active = obj
    return obj


def find_override() -> bpy.types.Object:
    return next(obj for obj in bpy.data.objects if obj.override_library)


def expect_refusal(operator: object, *words: str, **options: object) -> str:
    """Return the sentence with which an operator refuses; it must contain these words."""
    try:
        result = operator(**options)  # type: ignore[operator]
    except RuntimeError as error:
        said = str(error)
        assert all(word in said for word in words), said
        return said
    raise AssertionError(f"{operator} ran: {result}")


def read_state() -> dict[str, object]:
    """Return what a failed or cancelled operator must not change."""
    scene, layer = bpy.context.scene, bpy.context.view_layer
    return {
        "blocks": {
            kind: sorted(block.name for block in getattr(bpy.data, kind))
            for kind in (
                "objects",
                "actions",
                "armatures",
                "meshes",
                "materials",
                "scenes",
                "collections",
            )
        },
        "frame": (scene.frame_current, scene.frame_start, scene.frame_end, scene.render.fps),
        "active": layer.objects.active and layer.objects.active.name,
        "selected": sorted(obj.name for obj in bpy.context.selected_objects),
        "assigned": {
            obj.name: obj.animation_data.action and obj.animation_data.action.name
            for obj in bpy.data.objects
            if obj.animation_data
        },
        "sources": {
            obj.name: [source.name for source in obj.motion_matching.sources]
            for obj in bpy.data.objects
        },
        "takes": {
            obj.name: [take.name for take in obj.motion_matching.takes] for obj in bpy.data.objects
        },
        "keys": {obj.name: obj.motion_matching.built_key for obj in bpy.data.objects},
    }
