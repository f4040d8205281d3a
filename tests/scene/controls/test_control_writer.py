"""Poses shown on the controls of a rig: near those that are asked for, and undone afterwards."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.engine.errors import RigError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.scene.blender.transforms.rotation_modes import from_mode
from motion_matching.scene.controls.bake_controls import ControlSettings
from motion_matching.scene.controls.finding.find_controls import (
    match_control_rig,
    read_deform_skeleton,
    set_ik_stretch_off,
)
from motion_matching.scene.controls.live.control_writer import ControlWriter, measure_live_rate
from motion_matching.scene.writing.channel_writer import CarrierMove
from tests.scene.controls.control_rigs import bake_controls, retarget_walk
from tests.scene.rigify import create_rigify_rig
from tests.scene.rigs import assert_same, read_state

MODES = ("QUATERNION", "XYZ", "AXIS_ANGLE", "ZYX")


def create_rig() -> bpy.types.Object:
    """Return Rigify's basic human as the active object."""
    obj = create_rigify_rig("basic_human")
    bpy.context.view_layer.objects.active = obj
    return obj


def create_character(**settings: str) -> tuple[bpy.types.Object, Clip, ControlWriter]:
    """Create a rig whose controls rotate in all modes, elsewhere and scaled, with a writer."""
    obj = create_rig()
    set_ik_stretch_off(obj)
    obj.location, obj.rotation_euler, obj.scale = (3.0, -1.0, 0.0), (0.0, 0.0, 1.0), (0.5,) * 3
    bpy.context.view_layer.update()
    for number, bone in enumerate(obj.pose.bones):
        bone.rotation_mode = MODES[number % 4]
    return obj, *create_writer(obj, **settings)


def create_writer(obj: bpy.types.Object, **settings: str) -> tuple[Clip, ControlWriter]:
    rig, skeleton = match_control_rig(obj), read_deform_skeleton(obj)
    assert rig is not None
    writer = ControlWriter(obj, rig, skeleton, ControlSettings(**settings))
    return retarget_walk(skeleton), writer


def get_poses(clip: Clip) -> np.ndarray:
    """Return poses (F, 7, B) of a clip."""
    return np.concatenate([clip.positions, clip.rotations], axis=2).transpose(0, 2, 1)


def read_heads(obj: bpy.types.Object, names: tuple[str, ...]) -> np.ndarray:
    body = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([body.matrix_world @ body.pose.bones[name].head for name in names])


@pytest.mark.parametrize(("legs", "arms"), [("IK", "FK"), ("FK", "IK")])
def test_poses_are_shown_and_all_is_restored(legs: str, arms: str) -> None:
    obj, clip, writer = create_character(legs=legs, arms=arms)
    before = read_state(obj)
    writer.take_over()
    heads = clip.compute_world()[1]
    for frame in range(0, clip.frame_count, 15):
        writer.show(get_poses(clip)[frame])
        away = np.linalg.norm(read_heads(obj, clip.skeleton.names) - heads[frame], axis=-1)
        assert away.max() < 0.003
    writer.restore()
    bpy.context.view_layer.update()
    assert_same(before, read_state(obj))


def test_what_is_shown_is_what_a_bake_of_the_same_poses_plays() -> None:
    obj, clip, writer = create_character()
    rig = match_control_rig(obj)
    assert rig is not None
    shown = []
    writer.take_over()
    for pose in get_poses(clip)[:60:12]:
        writer.show(pose)
        shown.append(read_heads(obj, clip.skeleton.names))
    writer.restore()
    bake_controls(obj, rig, clip)
    for number, heads in enumerate(shown):
        bpy.context.scene.frame_set(1 + 12 * number)
        away = np.linalg.norm(read_heads(obj, clip.skeleton.names) - heads, axis=-1)
        assert away.max() < 0.003


def move_keys(channels: np.ndarray, move: CarrierMove) -> tuple[np.ndarray, np.ndarray]:
    """Return the rotation (4,) and location (3,) that channels of a carrier become."""
    rows = channels[None]
    turned = from_mode(move.rotation.get_values(rows), move.mode)[0]
    location = move.location.get_values(rows)[:, 0]
    return quat.mul(move.turn, turned), quat.mul_vec(move.linear, location) + move.shift


def test_a_character_that_is_moved_moves_only_the_controls_that_nothing_carries() -> None:
    """Channels of poses elsewhere are those that the keys of carriers are moved to."""
    _, clip, writer = create_character()
    pose = get_poses(clip)[30].astype(np.float64)
    channels = writer.compute_channels(pose, writer.at_rest)
    x, y, yaw = 1.5, -0.7, 0.8
    moved, root = pose.copy(), int(np.flatnonzero(clip.skeleton.parents < 0)[0])
    turn = quat.from_yaw(np.array(yaw))
    moved[:3, root] = quat.mul_vec(turn, pose[:3, root]) + np.array([x, y, 0.0])
    moved[3:, root] = quat.mul(turn, pose[3:, root])
    there = writer.compute_channels(moved, channels)
    moves = writer.find_carrier_moves((x, y, yaw))
    groups = {move.location.group for move in moves}
    assert {"torso", "foot_ik.L", "foot_ik.R", "thigh_ik_target.L"} <= groups
    poles = {group for group in groups if group.endswith(("ik_target.L", "ik_target.R"))}
    for move in moves:
        rotation, location = move_keys(channels, move)
        np.testing.assert_allclose(move.location.get_values(there[None])[:, 0], location, atol=1e-5)
        if move.location.group not in poles:  # they do not turn
            own = from_mode(move.rotation.get_values(there[None]), move.mode)[0]
            assert quat.angle_between(own, rotation) < 1e-5
    for track in writer.tracks:
        if track.group not in groups:
            both = [track.get_values(rows[None]) for rows in (channels, there)]
            np.testing.assert_allclose(*both, atol=1e-4)


def test_a_locked_control_that_has_to_move_is_named() -> None:
    obj = create_rig()
    obj.pose.bones["torso"].lock_location[2] = True
    clip, writer = create_writer(obj)
    with pytest.raises(RigError, match=r"the location of control 'torso' .* locked.*unlock"):
        writer.show(get_poses(clip)[40] + np.array([0, 0, 0.2, 0, 0, 0, 0])[:, None])


def test_the_rate_is_measured_without_a_trace() -> None:
    obj = create_rig()
    rig = match_control_rig(obj)
    assert rig is not None
    before = read_state(obj)
    skeleton = read_deform_skeleton(obj)
    rate = measure_live_rate(ControlWriter(obj, rig, skeleton), skeleton)
    assert 1.0 < rate < 10_000.0
    assert_same(before, read_state(obj))
