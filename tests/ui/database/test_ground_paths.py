"""The drawn path of the simulation bone follows the settings and reads the motion only once."""

from __future__ import annotations

import bpy
import numpy as np

import motion_matching
from motion_matching.app.database import build
from motion_matching.app.database.content import compute_key
from motion_matching.app.database.library import get_library
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.reading import sampling
from motion_matching.ui.database import ground_paths
from tests.ui.characters import create_character


def test_the_drawn_path_follows_settings_and_armature(monkeypatch):
    ops, obj = bpy.ops.motion_matching, create_character()
    settings, bone = obj.motion_matching, obj.motion_matching.simulation_bone
    ops.add_actions(mirror=False)
    names = [source.action.name for source in settings.sources]
    settings.source_index = names.index("walk_curves")
    source = settings.sources[settings.source_index]
    reads = []
    monkeypatch.setattr(ground_paths, "_SLOW", 60.0)  # seconds
    read_source = build.read_source
    monkeypatch.setattr(
        build, "read_source", lambda *a, **k: reads.append(1) or read_source(*a, **k)
    )

    def refresh_tracks():
        ground_paths.refresh()
        return ground_paths.get_cache().snapshot and ground_paths.get_cache().snapshot.tracks

    assert refresh_tracks() is None
    assert not ground_paths.overlay.is_on
    settings.show_path = True
    tracks = refresh_tracks()
    assert list(tracks) == ["raw", "smoothed"]
    assert ground_paths.overlay.is_on
    assert not ground_paths.get_cache().note

    # the drawn path is the one in the database
    ops.build()
    built = get_library().load(compute_key(obj))
    there = slice(
        int(built.starts[names.index("walk_curves")]), int(built.stops[names.index("walk_curves")])
    )
    assert np.abs(tracks["smoothed"].positions - built.track[there, :2]).max() < 1e-4
    assert np.abs(tracks["smoothed"].yaw - built.track[there, 2]).max() < 0.02
    lines = [points for points, _, _ in ground_paths.get_cache().snapshot.lines]
    assert lines[0].shape == (2 * (there.stop - there.start) - 2, 3)
    assert np.allclose(lines[0][0, :2], built.track[there.start, :2])
    # an arrow starts on the path and points along the facing
    shaft = lines[1][1] - lines[1][0]
    yaw = tracks["smoothed"].yaw[0]
    assert np.allclose(shaft[:2] / np.linalg.norm(shaft), [np.sin(yaw), -np.cos(yaw)], atol=1e-5)

    obj.animation_data.action = source.action
    bpy.context.view_layer.update()
    refresh_tracks()
    reads.clear()

    # sliders change the smoothing without reading again
    def measure_roughness(track):
        return np.abs(np.diff(track.positions, 2, axis=0)).sum()

    bone.position_window = 0.0
    assert np.array_equal(refresh_tracks()["smoothed"].positions, refresh_tracks()["raw"].positions)
    before = measure_roughness(refresh_tracks()["smoothed"])
    bone.position_window, bone.standing = 1.5, 0.4
    assert measure_roughness(refresh_tracks()["smoothed"]) < 0.7 * before
    assert ops.smooth_path(preset="notebook") == {"FINISHED"}
    assert bone.heading == "angle"
    assert bone.direction_order == 5
    assert bone.standing == 1.0
    assert (
        np.abs(refresh_tracks()["smoothed"].positions - tracks["smoothed"].positions).max() > 0.01
    )
    ops.smooth_path(preset="article")
    assert np.allclose(refresh_tracks()["smoothed"].positions, tracks["smoothed"].positions)
    assert not reads

    # the armature is moved, rotated and scaled: the path moves with it
    obj.animation_data.action = None
    obj.location, obj.rotation_euler.z, obj.scale = (3.0, 1.0, 0.5), 0.8, (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    reads.clear()
    moved = refresh_tracks()
    assert not reads
    turn = np.array([[np.cos(0.8), -np.sin(0.8)], [np.sin(0.8), np.cos(0.8)]])
    expected = 2.0 * tracks["raw"].positions @ turn.T + [3.0, 1.0]
    assert np.abs(moved["raw"].positions - expected).max() < 1e-4
    assert np.abs(moved["raw"].yaw - tracks["raw"].yaw - 0.8).max() < 1e-4
    assert abs(ground_paths.get_cache().snapshot.lines[0][0][0, 2] - 0.51) < 1e-6
    sampled = sampling.sample(obj, [source.action])[0].clip
    spine = sampled.skeleton.index("UpperChest")
    assert (
        np.abs(
            sampled.skeleton.compute_bone_world(spine, sampled.rotations, sampled.positions)[1][
                :, :2
            ]
            - expected
        ).max()
        < 1e-3
    )
    obj.scale = (1.0, 2.0, 1.0)
    bpy.context.view_layer.update()
    assert refresh_tracks() is None
    assert "scaled unevenly" in ground_paths.get_cache().note
    obj.location, obj.rotation_euler.z, obj.scale = (0, 0, 0), 0.0, (1, 1, 1)
    bpy.context.view_layer.update()
    assert np.abs(refresh_tracks()["raw"].positions - tracks["raw"].positions).max() < 1e-4

    # other roles, a part of the source, another bone
    settings.roles.spine = "Head"
    assert np.abs(refresh_tracks()["raw"].positions - tracks["raw"].positions).max() > 0.01
    settings.roles.spine = ""
    source.use_range, source.frame_start, source.frame_end = True, 11, 60
    assert refresh_tracks()["raw"].frame_count == 50
    assert np.allclose(refresh_tracks()["raw"].positions, tracks["raw"].positions[10:60], atol=1e-5)
    source.use_range = False
    bone.source = "root"
    assert refresh_tracks() is None
    assert "root bone" in ground_paths.get_cache().note
    settings.roles.root = "Hips"
    bone.source = "spine"
    settings.roles.root = ""

    # a path edited by hand
    ops.edit_path(fewer_keys=0.0)
    assert list(refresh_tracks()) == ["raw", "computed", "by hand"]
    assert (
        np.abs(refresh_tracks()["by hand"].positions - refresh_tracks()["computed"].positions).max()
        < 1e-4
    )
    actions.get_assigned_curves(source.path)[0].keyframe_points[30].co.y += 0.4
    assert (
        abs(
            np.abs(
                refresh_tracks()["by hand"].positions - refresh_tracks()["computed"].positions
            ).max()
            - 0.4
        )
        < 1e-4
    )
    bpy.context.view_layer.objects.active = source.path
    assert refresh_tracks(), "while the empty is edited"
    bpy.context.view_layer.objects.active = obj
    ops.computed_path()

    # a change of the motion
    obj.animation_data.action = source.action
    bpy.context.view_layer.update()
    refresh_tracks()
    reads.clear()
    hips = next(
        c
        for c in actions.get_assigned_curves(obj)
        if c.data_path == 'pose.bones["Hips"].location' and c.array_index == 0
    )
    hips.keyframe_points[40].co.y += 0.3
    hips.update()
    bpy.context.scene.frame_set(41)
    source.action.update_tag()
    bpy.context.view_layer.update()
    after = refresh_tracks()["raw"].positions
    assert np.abs(after - tracks["raw"].positions).max() > 0.2
    assert len(reads) == 1

    # slow sources are read again only when the path is switched off and on
    monkeypatch.setattr(ground_paths, "_SLOW", 0.0)
    hips.keyframe_points[40].co.y -= 0.3
    source.action.update_tag()
    bpy.context.view_layer.update()
    assert np.array_equal(refresh_tracks()["raw"].positions, after)
    assert "switch this off and on" in ground_paths.get_cache().note
    assert len(reads) == 1
    settings.show_path = False
    refresh_tracks()
    settings.show_path = True
    assert np.abs(refresh_tracks()["raw"].positions - tracks["raw"].positions).max() < 1e-4
    assert not ground_paths.get_cache().note
    obj.animation_data.action = None
    bpy.context.view_layer.objects.active = None
    assert refresh_tracks() is None
    assert not ground_paths.overlay.is_on
    bpy.context.view_layer.objects.active = obj
    assert refresh_tracks()
    file = bpy.app.tempdir + "shown.blend"
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert ground_paths.get_cache().snapshot is None
    assert not ground_paths.overlay.is_on
    bpy.ops.wm.open_mainfile(filepath=file)
    assert ground_paths.get_cache().snapshot is None
    assert refresh_tracks(), "the file with the setting shows it again"
    motion_matching.unregister()
    assert ground_paths.get_cache().snapshot is None
    assert not ground_paths.overlay.is_on
