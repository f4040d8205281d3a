"""The same settings give the same content key as in earlier versions, so cached databases are
found.
"""

from __future__ import annotations

import bpy

from motion_matching.app.controller.features import set_features
from motion_matching.app.database.content import compute_key
from motion_matching.engine.files import presets


def test_content_keys_equal_those_of_earlier_versions(tmp_path):
    def create_file_character(files):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        obj = bpy.data.objects.new("Hero", bpy.data.armatures.new("Hero"))
        bpy.context.scene.collection.objects.link(obj)
        for number in range(files):
            file = tmp_path / f"clip_{number}.bvh"
            file.write_bytes(b"motion %d" % number)
            source = obj.motion_matching.sources.add()
            source.name, source.kind, source.filepath = file.stem, "FILE", str(file)
        return obj

    # with the default features as they were before contacts were among them
    obj = create_file_character(1)
    data = presets.load("features", "holden") | {"beyond_range": "extrapolate"}
    set_features(obj.motion_matching.features, data, "")
    assert compute_key(obj) == "2e5c6903a0134c37f88d84b1557e7cfd"

    obj = create_file_character(2)
    settings = obj.motion_matching
    bpy.context.scene.render.fps = 60
    settings.speed, settings.contact_speed, settings.bones = 1.1, 0.2, "DEFORM"
    settings.auto_tags, settings.thresholds.run_speed, settings.thresholds.turn_rate = (
        True,
        2.4,
        0.5,
    )
    bone = settings.simulation_bone
    bone.position_window, bone.heading, bone.standing = 1.0, "angle", 0.35
    settings.roles.hips, settings.roles.left_toe = "Pelvis", "Toe.L"
    settings.up, settings.forward, settings.file_scale = "Z", "-Y", 0.01
    for kind in ("bone_position", "trajectory_position"):
        item = settings.features.items.add()
        item.kind, item.bone, item.times, item.weight, item.axes = (
            kind,
            "left_foot",
            "0.5, 1",
            2.5,
            "xy",
        )
    settings.features.normalization, settings.features.beyond_range = "dimension", "hold"
    source = settings.sources[0]
    source.mirror, source.speed, source.gait, source.tags = False, 1.2, "walk", "limp"
    assert compute_key(obj) == "5a6a28a7989f04222ad1a2f0a9bcb6dc"

    # order and weights do not change the key
    settings.sources.move(0, 1)
    settings.features.items.move(0, 1)
    settings.features.items[0].weight = 9.0
    assert compute_key(obj) == "5a6a28a7989f04222ad1a2f0a9bcb6dc"
