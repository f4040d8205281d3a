"""Armatures as users have them, and the state of a file for comparison. Runs inside Blender."""

from __future__ import annotations

from collections.abc import Callable
from math import radians

import bpy
import numpy as np
from mathutils import Euler, Matrix, Vector

from building.locomotion.humanoid import build_humanoid_skeleton
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.skeleton import Skeleton
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.rig.armature import create_armature
from tests.scene.keys import read_channels

MODES = ("QUATERNION", "XYZ", "AXIS_ANGLE", "ZXY", "YXZ", "XZY", "YZX", "ZYX")
COUNTS = {
    "location": 3,
    "rotation_quaternion": 4,
    "rotation_euler": 3,
    "rotation_axis_angle": 4,
    "scale": 3,
}


def get_bone_path(bone: str, channel: str) -> str:
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{channel}'


def edit_bones(
    obj: bpy.types.Object, change: Callable[[bpy.types.ArmatureEditBones], None]
) -> None:
    """Change an armature's bones in edit mode."""
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    change(obj.data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.select_set(False)


def create_awkward_armature(
    rng: np.random.Generator, bones: int = 20, connected: float = 0.4
) -> bpy.types.Object:
    """Create a tree of bones with any rolls, some connected, in all rotation modes, with names that
    need escaping.
    """
    data = bpy.data.armatures.new("Awkward")
    obj = bpy.data.objects.new("Awkward", data)
    bpy.context.scene.collection.objects.link(obj)

    def build(edit_bones: bpy.types.ArmatureEditBones) -> None:
        made: list[bpy.types.EditBone] = []
        for number in range(bones):
            bone = edit_bones.new(f'bone "{number}"\\')
            parent = (
                made[int(rng.integers(max(0, number - 3), number))] if number > 1 else None
            )  # two roots
            bone.head = rng.normal(size=3)
            if parent and rng.random() < connected:
                bone.head = parent.tail
            bone.tail = bone.head + Vector(rng.normal(size=3))
            bone.roll = rng.uniform(-3, 3)
            bone.parent = parent
            bone.use_connect = bool(parent) and (Vector(bone.head) - parent.tail).length < 1e-6
            made.append(bone)

    edit_bones(obj, build)
    for number, bone in enumerate(obj.pose.bones):
        bone.rotation_mode = MODES[number % len(MODES)]
    return obj


def insert_keys(
    action: bpy.types.Action, bone: str, channel: str, frames: np.ndarray, values: np.ndarray
) -> None:
    """Write linear curves of a bone's property (C, F)."""
    actions.write_channel(
        action,
        get_bone_path(bone, channel),
        frames.astype(np.float32),
        values.astype(np.float32),
        bone,
    )


def get_curves(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    return list(actions.get_channelbag(action).fcurves)


def insert_random_keys(
    rng: np.random.Generator,
    obj: bpy.types.Object,
    action: bpy.types.Action,
    frames: np.ndarray,
    scales: bool = False,
) -> None:
    """Key some channels, in any rotation mode, with random interpolation, handles and modifiers."""
    for bone in obj.pose.bones:
        for channel, count in COUNTS.items():
            if rng.random() < 0.3 or (channel == "scale" and not scales):
                continue
            some = (
                frames
                if rng.random() < 0.3
                else np.unique(rng.choice(frames, size=max(2, len(frames) // 4)))
            )
            values = rng.normal(size=(count, len(some)))
            values = np.exp(0.3 * values) if channel == "scale" else values
            insert_keys(action, bone.name, channel, some, values)
    for curve in get_curves(action):
        for keyframe in curve.keyframe_points:
            keyframe.interpolation = str(rng.choice(["CONSTANT", "LINEAR", "BEZIER", "BOUNCE"]))
            if rng.random() < 0.2:
                keyframe.handle_right_type = "FREE"
                keyframe.handle_right = (keyframe.co[0] + 3.0, keyframe.co[1] + 2.0)
        if curve.keyframe_points[0].interpolation != "BOUNCE":
            curve.update()
        curve.extrapolation = str(rng.choice(["CONSTANT", "LINEAR"]))
        chance = rng.random()
        if chance < 0.1:
            curve.modifiers.new("NOISE").strength = 0.5
        elif chance < 0.2:
            curve.modifiers.new("CYCLES")
        elif chance < 0.3:
            curve.mute = True
        elif chance < 0.4:
            curve.modifiers.new("NOISE").mute = True
    groups = list(actions.get_channelbag(action).groups)
    groups[0].mute = True
    for curve in get_curves(action)[5:12]:  # channels with missing components
        if curve.array_index == 1:
            actions.get_channelbag(action).fcurves.remove(curve)


def create_mixamo_armature() -> bpy.types.Object:
    """Create a person like Mixamo imports: centimetres and Y up in the armature, undone by the
    object.
    """
    obj = create_armature(build_humanoid_skeleton(), "Armature")
    to_file = (Matrix.Scale(0.01, 4) @ Euler((radians(90), 0, 0)).to_matrix().to_4x4()).inverted()
    lie_down = to_file.to_3x3().normalized().to_4x4()

    def change(edit_bones: bpy.types.ArmatureEditBones) -> None:
        for bone in edit_bones:
            bone.transform(lie_down)
            bone.head, bone.tail = 100 * bone.head, 100 * bone.tail
            bone.name = f"mixamorig:{bone.name}"

    edit_bones(obj, change)
    obj.rotation_euler = (radians(90), 0, 0)
    obj.scale = (0.01, 0.01, 0.01)
    return obj


def create_rigify_armature() -> bpy.types.Object:
    """Create a person like Rigify's: controls move ORG- bones, a connected chain; DEF- bones follow
    them.
    """
    skeleton = build_humanoid_skeleton()
    obj = create_armature(skeleton, "rig")
    names = list(skeleton.names)

    def change(edit_bones: bpy.types.ArmatureEditBones) -> None:
        root = edit_bones.new("root")
        root.head, root.tail = (0, 0, 0), (0, 1, 0)
        for name in names:
            control = edit_bones[name]
            for prefix in ("ORG-", "DEF-"):
                bone = edit_bones.new(prefix + name)
                bone.head, bone.tail, bone.roll = control.head, control.tail, control.roll
        for name in names:
            above = edit_bones[name].parent.name if edit_bones[name].parent else None
            edit_bones[f"ORG-{name}"].parent = edit_bones[f"ORG-{above}"] if above else root
            edit_bones[f"DEF-{name}"].parent = edit_bones[f"ORG-{name}"]
        edit_bones[names[0]].parent = root

    edit_bones(obj, change)
    for bone in obj.data.bones:
        bone.use_deform = bone.name.startswith("DEF-")
    for name in names:
        for follower, followed in ((f"ORG-{name}", name), (f"DEF-{name}", f"ORG-{name}")):
            constraint = obj.pose.bones[follower].constraints.new("COPY_TRANSFORMS")
            constraint.target, constraint.subtarget = obj, followed
    return obj


def add_sway(clip: Clip, rng: np.random.Generator, sway: float = 0.02) -> Clip:
    """Let every bone sway a little, except in the first frame."""
    turns = quat.from_scaled_angle_axis(sway * rng.normal(size=(*clip.rotations.shape[:2], 3)))
    turns[0] = quat.IDENTITY
    return Clip(
        clip.name,
        clip.skeleton,
        clip.positions,
        quat.mul(clip.rotations, turns).astype(np.float32),
        clip.fps,
    )


def as_skeleton(clip: Clip, skeleton: Skeleton) -> Clip:
    """Return a clip on another skeleton that rests alike, whatever its bone axes, order, prefixes
    and hierarchy.
    """
    theirs = _shorten_names(clip.skeleton)
    order = [theirs.index(name) for name in _shorten_names(skeleton)]
    rotations, positions = (part[:, order].astype(np.float64) for part in clip.compute_world())
    rest = clip.skeleton.compute_rest_world()[0][order]
    turned = quat.mul(quat.mul_inv(rotations, rest), skeleton.compute_rest_world()[0])
    turned, moved = quat.ik(turned, positions, skeleton.parents)
    return Clip(clip.name, skeleton, moved.astype(np.float32), turned.astype(np.float32), clip.fps)


def _shorten_names(skeleton: Skeleton) -> list[str]:
    return [name.split(":")[-1].removeprefix("DEF-") for name in skeleton.names]


def assert_alike(first: Clip, second: Clip, tolerance: float = 1e-4) -> None:
    """Check that two clips with equal bone names put them in the same places and orientations."""
    assert first.skeleton.names == second.skeleton.names
    assert np.array_equal(first.skeleton.parents, second.skeleton.parents)
    assert first.frame_count == second.frame_count
    for ours, theirs in zip(first.compute_world(), second.compute_world(), strict=True):
        if ours.shape[-1] == 4:
            theirs = theirs * np.sign(np.sum(ours * theirs, axis=-1, keepdims=True))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance)


def read_state(obj: bpy.types.Object) -> dict[str, object]:
    """Return everything in the file that sampling might disturb."""
    context, scene, data = bpy.context, bpy.context.scene, obj.animation_data
    return {
        "frame": (scene.frame_current, scene.frame_subframe, scene.frame_start, scene.frame_end),
        "mode": (context.mode, obj.mode),
        "active": context.view_layer.objects.active.name,
        "selected": sorted(o.name for o in context.selected_objects),
        "bones selected": [getattr(b, "select", None) for b in (*obj.data.bones, *obj.pose.bones)],
        "visible": {
            o.name: (o.hide_viewport, o.hide_get(), o.hide_render)
            for o in context.view_layer.objects
        },
        "pose": [[list(getattr(b, channel)) for channel in COUNTS] for b in obj.pose.bones],
        "shown": [list(map(list, b.matrix)) for b in obj.pose.bones],
        "placed": list(map(list, obj.matrix_world)),
        "pose position": obj.data.pose_position,
        "animation": data
        and {p: repr(getattr(data, p)) for p in dict(data.bl_rna.properties) if p != "nla_tracks"},
        "nla": data
        and [
            (
                t.name,
                t.mute,
                t.is_solo,
                t.select,
                [
                    (
                        s.name,
                        s.mute,
                        s.select,
                        s.active,
                        s.influence,
                        s.frame_start,
                        s.frame_end,
                        repr(s.action),
                    )
                    for s in t.strips
                ],
            )
            for t in data.nla_tracks
        ],
        "actions": {
            a.name: (
                a.users,
                a.use_fake_user,
                tuple(a.frame_range),
                {path: keys.tobytes() for path, keys in read_channels(a).items()},
                [(s.identifier, s.target_id_type) for s in getattr(a, "slots", ())],
                getattr(a, "id_root", None),
            )
            for a in bpy.data.actions
        },
        "data": {
            name: sorted(block.name for block in getattr(bpy.data, name))
            for name in ("scenes", "objects", "armatures", "collections", "meshes")
        },
    }


def assert_same(before: dict[str, object], after: dict[str, object]) -> None:
    for name, was in before.items():
        assert after[name] == was, f"{name} was {was}, is {after[name]}"
