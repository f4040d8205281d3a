"""Whatever skeleton, file and armature sources have, a take of both kinds holds the body together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.engine.bvh import bvh
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.skeleton import Skeleton
from motion_matching.scene.blender.animation import actions
from tests.app.test_sources_of_both_kinds import (
    add_files,
    assert_same_motion,
    assert_take_holds_together,
    build,
    find_mapped,
    import_with_blender,
    load_clips,
    write_files,
)
from tests.engine import rigs
from tests.scene.bodies import EditBones
from tests.ui.characters import expect_refusal

UNITS = (0.01, 1.0, 0.0254)  # metres: of centimetres, metres and inches


def grow_bones(clip: Clip, rng: np.random.Generator, count: int) -> Clip:
    """Return the clip with bones that swing anywhere on the body, some at their parent's head."""
    skeleton, frames = clip.skeleton, clip.frame_count
    bones = skeleton.bone_count
    parents = [int(rng.integers(bones + number)) for number in range(count)]
    offsets = 0.2 * rng.normal(size=(count, 3)) * (rng.random((count, 1)) > 0.15)
    phases = np.sin(3.0 * np.arange(frames) / clip.fps)[:, None, None] * rng.normal(size=(count, 3))
    rests = np.tile(quat.IDENTITY, (count, 1))
    turns = quat.from_scaled_angle_axis(0.7 * phases)
    return replace(
        clip,
        skeleton=Skeleton(
            (*skeleton.names, *(f"Extra {number}" for number in range(count))),
            np.append(skeleton.parents, parents).astype(skeleton.parents.dtype),
            np.concatenate([skeleton.rest_positions, offsets]).astype(np.float32),
            np.concatenate([skeleton.rest_rotations, rests]).astype(np.float32),
            skeleton.end_sites,
        ),
        positions=np.concatenate(
            [clip.positions, np.broadcast_to(offsets, (frames, count, 3))], axis=1
        ).astype(np.float32),
        rotations=np.concatenate([clip.rotations, turns], axis=1).astype(np.float32),
    )


def write_random_files(rng: np.random.Generator, folder: Path) -> list[Path]:
    """Write the clips with a random skeleton: more bones, other frames, ends, order and units."""
    count, unit, seed = int(rng.integers(8)), float(rng.choice(UNITS)), int(rng.integers(1000))
    total = load_clips()[0].skeleton.bone_count + count
    makers = (None, rigs.make_random_rolls, rigs.make_aligned_rolls)
    make_rolls, files = makers[rng.integers(3)], []
    rolls = make_rolls(total, rng) if make_rolls else None
    for clip in load_clips():
        clip = grow_bones(clip, np.random.default_rng(seed), count)
        if rolls is not None:
            clip = rigs.roll_axes(clip, rolls, keep_rest=False)
        clip, _ = rigs.shuffle_siblings(clip, rng)  # another order in each file
        if rng.random() < 0.5:
            ends = [b for b in range(total) if not clip.skeleton.get_children(b)]
            sites = tuple((bone, tuple((0.1 * rng.normal(size=3)).tolist())) for bone in ends)
            clip = replace(clip, skeleton=replace(clip.skeleton, end_sites=sites))
        files.append(folder / f"{clip.name}.bvh")
        bvh.save(clip, files[-1], scale=unit)
    return files


def import_anyhow(rng: np.random.Generator, file: Path) -> bpy.types.Object:
    """Import a file with Blender's importer and random options, and place what it made anywhere."""
    options: dict[str, object] = {"rotate_mode": str(rng.choice(["NATIVE", "QUATERNION", "YZX"]))}
    lies = bool(rng.random() < 0.3)
    if lies:
        options |= {"axis_forward": "Y", "axis_up": "Z"}
    elif rng.random() < 0.5:
        options["axis_forward"] = "X"
    obj = import_with_blender(file, **options)
    # as large as the file says; then nothing but its transform brings it to metres
    skeleton = bvh.load(file).skeleton
    pairs = [
        (np.linalg.norm(offset), (bone.head_local - bone.parent.head_local).length)
        for name, offset in zip(skeleton.names, skeleton.rest_positions, strict=True)
        if (bone := obj.data.bones[name]).parent
    ]
    obj.scale = (float(np.divide(*np.sum(pairs, axis=0))),) * 3
    obj.rotation_euler = (np.pi / 2 if lies else 0.0, 0.0, rng.uniform(-3.0, 3.0))
    obj.location = (*rng.normal(size=2), 0.0)
    if rng.random() < 0.5:
        with EditBones(obj) as bones:
            for bone in bones:
                if bone.parent and (bone.parent.tail - bone.head).length < 1e-6:
                    bone.use_connect = bool(rng.random() < 0.7)
    return obj


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds",
    [range(3), range(3, 25)],
    ids=["few", "many"],
)
def test_a_take_of_any_skeleton_holds_the_body_together(tmp_path: Path, seeds: range):
    for seed in seeds:
        rng, folder = np.random.default_rng(seed), tmp_path / str(seed)
        folder.mkdir()
        files = write_random_files(rng, folder)
        obj = import_anyhow(rng, files[0])
        mirror, files_first = (bool(value) for value in rng.random(2) < 0.5)
        if files_first:
            add_files(*files[1:], mirror=mirror)
        bpy.ops.motion_matching.add_actions(mirror=mirror)
        if not files_first:
            add_files(*files, mirror=mirror)
        build(obj)
        assert_take_holds_together(obj)
        for other in bpy.data.objects:
            bpy.data.objects.remove(other)
        for action in bpy.data.actions:
            bpy.data.actions.remove(action)


def put_into_second_slot(obj: bpy.types.Object) -> None:
    """Give the action a slot of another armature first, with another motion."""
    if "slots" not in bpy.types.Action.bl_rna.properties:
        pytest.skip("actions have slots since Blender 4.4")
    data, other = obj.animation_data, obj.copy()
    bpy.context.scene.collection.objects.link(other)
    both = bpy.data.actions.new("both")
    for owner, source in ((other, bpy.data.actions["walk_curves"]), (obj, data.action)):
        curves = list(actions.get_channelbag(source).fcurves)
        slot = both.slots.new("OBJECT", owner.name)
        layer = both.layers[0] if both.layers else both.layers.new("Layer")
        strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
        bag = strip.channelbag(slot, ensure=True)
        for curve in curves:
            made = bag.fcurves.new(curve.data_path, index=curve.array_index)
            for point in curve.keyframe_points:
                made.keyframe_points.insert(*point.co).interpolation = "LINEAR"
        owner.animation_data.action = both
        owner.animation_data.action_slot = slot
    bpy.data.objects.remove(other)
    bpy.data.actions["walk_starts_and_stops"].name = "old"
    both.name = "walk_starts_and_stops"


def constrain(obj: bpy.types.Object) -> None:
    limb = obj.pose.bones["LeftArm"].constraints.new("COPY_ROTATION")
    limb.target, limb.subtarget, limb.influence = obj, "RightArm", 0.4


def drive(obj: bpy.types.Object) -> None:
    bone = obj.pose.bones["LeftForeArm"]
    curve = bone.driver_add("rotation_euler", 0)
    curve.driver.expression = "0.3 * sin(frame / 10)"


def push_down(obj: bpy.types.Object) -> None:
    track = obj.animation_data.nla_tracks.new()
    track.strips.new("below", 1, bpy.data.actions["walk_curves"]).blend_type = "ADD"


@pytest.mark.slow
@pytest.mark.parametrize("prepare", [put_into_second_slot, constrain, drive, push_down])
def test_actions_of_rigs_with_more_than_curves_go_with_files(tmp_path: Path, prepare):
    files = write_files(tmp_path, "bones anyhow")
    obj = import_with_blender(*files[:2], global_scale=0.01)
    prepare(obj)
    bpy.ops.motion_matching.add_actions(mirror=False)
    sources = obj.motion_matching.sources
    for number in reversed(range(len(sources))):
        if sources[number].action.name != "walk_starts_and_stops":
            sources.remove(number)
    add_files(*files)
    database = build(obj)
    if prepare in (put_into_second_slot, push_down):
        assert_same_motion(database)
    if prepare is constrain:
        refused = {"script": "random", "seconds": 2.0}
        expect_refusal(bpy.ops.motion_matching.bake_script, "'Copy Rotation'", **refused)
        obj.pose.bones["LeftArm"].constraints[0].mute = True
    assert_take_holds_together(obj)


def test_files_of_other_proportions_than_the_armature_are_mapped(tmp_path: Path):
    files = write_files(tmp_path)
    obj = import_with_blender(*files[:1], global_scale=0.01)
    with EditBones(obj) as bones:
        moved = bones["LeftForeArm"]
        for bone in [moved, *moved.children_recursive]:
            bone.head.x += 0.06
            bone.tail.x += 0.06
    bpy.ops.motion_matching.add_actions(mirror=False)
    add_files(files[1])
    build(obj)
    assert find_mapped(obj) == [files[1].stem]
    assert_take_holds_together(obj)
