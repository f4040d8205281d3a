"""Write the files of this folder. Runs on the version before the reorganisation (see README.md),
not on this one.

cd OLD_CHECKOUT && PYTHONPATH=. .venv/bin/python PATH/TO/make.py /tmp/before

Then with each Blender: PATH/TO/make.py /tmp/before keys
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

OUT = Path(sys.argv[1]).resolve()
USER = Path(tempfile.mkdtemp(prefix="before-"))
os.environ["BLENDER_USER_RESOURCES"] = os.environ["HOME"] = str(USER)  # files store the home folder

import bpy  # noqa: E402
from motion_matching.live.inputs.keyboard import Keyboard  # noqa: E402
from motion_matching.live.inputs.steering import Steering  # noqa: E402
from motion_matching.ui.operators_sources import add_source  # noqa: E402
from motion_matching.ui.operators_tags import add_range  # noqa: E402

import motion_matching  # noqa: E402
from motion_matching import cli  # noqa: E402
from motion_matching.engine.matching.method import MotionMatching  # noqa: E402
from motion_matching.engine.motion import bvh, locomotion  # noqa: E402
from motion_matching.scene import armature, bake, fitting, library  # noqa: E402
from motion_matching.ui import fields, performing, recordings, request, status, tuning  # noqa: E402
from tests.ui.every_property import fill, leaves  # noqa: E402

FPS = 15
ops = bpy.ops.motion_matching


def main() -> None:
    motion_matching.register()
    try:
        if sys.argv[2:] == ["keys"]:
            add_keys()
            return
        shutil.rmtree(OUT, ignore_errors=True)
        OUT.mkdir(parents=True)
        write_sources()
        write_command_line_files()
        write_performer()
        write_every_property()
        write_recovery_file()
    finally:
        motion_matching.unregister()
        shutil.rmtree(USER, ignore_errors=True)
        for backup in OUT.glob("*.blend1"):
            backup.unlink()


def run(work: Generator[Any, None, Any]) -> Any:
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def clip(name: str, start: float, stop: float) -> Any:
    [made] = [c for c in locomotion.generate(fps=FPS) if c.name == name]
    return made.sliced(round(start * FPS), round(stop * FPS))


def write_json(name: str, data: Any) -> None:
    (OUT / name).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


# ---------------------------------------------------------------- the command line


def write_sources() -> None:
    bvh.save(clip("walk_curves", 2, 10), OUT / "curves.bvh")


def command(*arguments: str) -> None:
    code = cli.main([*arguments, "--quiet"])
    assert code == 0, arguments


def write_command_line_files() -> None:
    os.chdir(OUT)
    (OUT / "tags.json").write_text(
        json.dumps(
            {
                "curves": [
                    {"name": "limp", "start": 20, "stop": 70},
                    {"name": "prefer", "start": 30, "stop": 60, "bias": -2.0},
                ]
            }
        )
    )
    command(
        "build",
        "curves.bvh",
        "-o",
        "curves.npz",
        "--tags",
        "tags.json",
        "--features",
        "holden",
        "--simulation-bone",
        "adaptive",
        "--auto-tags",
        "--set",
        "idle_speed=0.35",
        "--save-tags",
        "saved_tags.json",
    )
    (OUT / "tags.json").unlink()
    command(
        "train",
        "curves.npz",
        "-o",
        "curves_field.npz",
        "--quality",
        "draft",
        "--task",
        "direction",
        "--directions",
        "5",
        "--neighbours",
        "4",
        "--sweeps",
        "30",
    )
    command(
        "take",
        "curves.npz",
        "--script",
        "random",
        "--seconds",
        "4",
        "--seed",
        "3",
        "--set",
        "velocity_halflife=0.2",
        "--save-performance",
        "performance.json",
        "--save-contacts",
        "contacts.json",
        "--bvh",
        "take.bvh",
    )
    command(
        "take",
        "curves.npz",
        "--controller",
        "field",
        "--field",
        "curves_field.npz",
        "--script",
        "square",
        "--seconds",
        "4",
        "--save-performance",
        "field_performance.json",
        "--bvh",
        "field_take.bvh",
    )
    os.chdir("/")


# ---------------------------------------------------------------- files of Blender


def empty_file() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.render.fps = FPS


def character(name: str) -> bpy.types.Object:
    made = clip("walk_starts_and_stops", 2, 9)
    obj = armature.create_armature(made.skeleton, name)
    fitting.keep_rest(obj, made.skeleton)
    bake.bake(made, obj, name="starts").use_fake_user = True
    obj.animation_data.action = None
    for bone in obj.pose.bones:
        bone.matrix_basis.identity()
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    return obj


def save(name: str) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(OUT / name), compress=True)


def write_performer() -> None:
    empty_file()
    save("performer.blend")  # for relative paths
    obj = character("Performer")
    settings = obj.motion_matching
    add_source(
        obj, "starts", kind="ACTION", action=bpy.data.actions["starts"], gait="walk", mirror=False
    )
    add_source(
        obj,
        "curves",
        kind="FILE",
        filepath="//curves.bvh",
        gait="walk",
        mirror=False,
        speed=1.05,
        tags="bends",
    )
    change_settings(settings)
    add_tags(settings)
    edit_path(settings)
    add_obstacle(settings)
    save_presets(settings)

    # two named databases; the second is shown at the end
    ops.add_database(label="Starts Only")
    settings.sources[1].enabled = False
    assert ops.build() == {"FINISHED"}
    keys = {"Starts Only": settings.built_key}
    ops.add_database(label="Everything")
    settings.sources[1].enabled = True
    assert ops.build() == {"FINISHED"}
    keys["Everything"] = settings.built_key
    assert ops.train() == {"FINISHED"}
    settings.controller.neighbours, settings.controller.drift = 6, 0.2

    takes = make_takes(obj)
    steer_alone(obj)
    settings.play.take = bpy.data.objects["Steered Path"].animation_data.action
    stand_as_before(obj)
    assert status.refresh(obj).kind == "fresh"
    assert fields.standing(obj) == "fresh"
    folder = library.folder()
    (OUT / "library").mkdir()
    for key, name in ((keys["Everything"], "database"), (settings.training.trained_key, "field")):
        shutil.copyfile(folder / f"{key}.npz", OUT / "library" / f"{name}.npz")
    fresh = status.refresh(obj)
    save("performer.blend")
    write_json(
        "performer.json",
        {
            "made_with": bpy.app.version_string,
            "properties": dict(leaves(settings)),
            "keys": keys,
            "trained_key": settings.training.trained_key,
            "takes": takes,
            "status": [
                fresh.frames,
                fresh.clips,
                fresh.bones,
                fresh.dimensions,
                sorted(fresh.tags),
            ],
            "markers": {
                action.name: sorted((m.name, m.frame) for m in action.pose_markers)
                for action in bpy.data.actions
            },
            "performer_settings": json.loads(
                json.dumps(request.performer_settings(obj, run(built(obj))).to_dict())
            ),
        },
    )


def stand_as_before(obj: bpy.types.Object) -> None:
    """Put the armature where it stood at the build, as a path edited by hand is relative to it."""
    obj.animation_data.action = None
    obj.matrix_world.identity()
    for bone in obj.pose.bones:
        bone.matrix_basis.identity()
    bpy.context.view_layer.update()


def add_keys() -> None:
    """Save the content keys that the old code computes for performer.blend with this Blender."""
    bpy.ops.wm.open_mainfile(filepath=str(OUT / "performer.blend"))
    obj = bpy.data.objects["Performer"]
    keys = {}
    for index, database in enumerate(obj.motion_matching.databases):
        obj.motion_matching.database_index = index
        keys[database.label] = request.key(obj)
    keys["field"] = fields.Asked.of(obj).key(keys["Everything"])
    file = OUT / "keys.json"
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    write_json("keys.json", known | {"{}.{}".format(*bpy.app.version): keys})


def built(obj: bpy.types.Object) -> Any:
    from motion_matching.ui.operators_build import built

    return built(obj)


def change_settings(settings: Any) -> None:
    """Set everything that affects databases and takes to values other than the defaults."""
    ops.apply_preset(kind="features", filepath="holden")
    settings.features.items[0].weight = 1.75
    settings.features.items[1].times = "0.2, 0.5, 0.9"
    settings.features.normalization = "dimension"
    settings.features.responsiveness, settings.features.continuity = 1.2, 0.9
    settings.speed, settings.contact_speed, settings.auto_tags = 1.02, 0.2, True
    settings.thresholds.idle_speed, settings.thresholds.turn_rate, settings.thresholds.shortest = (
        0.35,
        0.5,
        0.3,
    )
    bone = settings.simulation_bone
    bone.position_window, bone.direction_window, bone.standing, bone.heading = (
        0.8,
        1.2,
        0.5,
        "angle",
    )
    settings.roles.head = "Head" if "Head" in settings.id_data.data.bones else ""
    controller = settings.controller
    controller.velocity_halflife, controller.search_interval, controller.displacement = (
        0.2,
        0.2,
        "synchronize",
    )
    controller.speeds_from_data, controller.walk, controller.run = (
        False,
        (1.3, 1.0, 0.9),
        (2.5, 2.0, 1.5),
    )
    controller.inertialization_halflife, controller.swing_clearance = 0.15, 0.04
    training = settings.training
    training.quality, training.metric, training.speed, training.tags = 1, "notebook", False, "bends"
    training.show_residuals = True
    play = settings.play
    play.gait, play.push, play.view, play.show_contacts, play.show_text = (
        "run",
        1.5,
        "still",
        True,
        True,
    )
    insight = settings.insight
    insight.show_strands, insight.use_wish, insight.wish, insight.show_map = (
        True,
        True,
        (0.5, 1.5),
        False,
    )
    script = settings.script
    script.script, script.gait, script.seconds, script.seed, script.tags = (
        "square",
        "run",
        12.5,
        7,
        "walk",
    )
    settings.fewer_keys, settings.bones, settings.root = 0.0, "ALL", "OBJECT"
    settings.set_frame_range, settings.search, settings.show_tags = True, "starts", False


def add_tags(settings: Any) -> None:
    source = settings.sources[0]
    add_range(source, "limp", "FREE", 20, 45)
    add_range(source, "Prefer", "prefer", 50, 70).bias = -2.5
    add_range(source, "Do Not Start Here", "no_entry", 5, 12)
    settings.source_index = 0
    assert ops.tags_to_markers() == {"FINISHED"}
    add_range(settings.sources[1], "turning", "FREE", 10, 60)


def edit_path(settings: Any) -> None:
    """Edit the path by hand and move one of its keys."""
    settings.source_index = 0
    assert ops.edit_path() == {"FINISHED"}
    action = settings.sources[0].path.animation_data.action
    curve = (
        action.fcurves[0]
        if hasattr(action, "fcurves")
        else action.layers[0].strips[0].channelbags[0].fcurves[0]
    )
    curve.keyframe_points[40].co.y += 0.05
    curve.update()


def add_obstacle(settings: Any) -> None:
    mesh = bpy.data.meshes.new("Block")
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (0.0, 1.0)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(corners, [], faces)
    block = bpy.data.objects.new("Block", mesh)
    block.location = (0.0, -2.0, 0.0)
    settings.obstacles = bpy.data.collections.new("Obstacles")
    settings.obstacles.objects.link(block)
    bpy.context.scene.collection.children.link(settings.obstacles)


def save_presets(settings: Any) -> None:
    head, settings.roles.head = (
        settings.roles.head,
        "",
    )  # without roles, the detected ones are saved
    for kind in ("features", "controllers", "rigs"):
        assert ops.save_preset(kind=kind, name="Mine") == {"FINISHED"}
    settings.roles.head = head
    shutil.copytree(USER / "scripts" / "presets" / "motion_matching", OUT / "presets")


def make_takes(obj: bpy.types.Object) -> list[list[Any]]:
    """Make takes by script, by motion field and live, each with its Bake Again: method, first,
    again.
    """
    settings, pairs = obj.motion_matching, []

    def bake_again(method: str, use_markers: bool) -> None:
        first = settings.takes[settings.take_index].action.name
        assert ops.bake_again(use_markers=use_markers) == {"FINISHED"}
        pairs.append([method, use_markers, first, settings.takes[settings.take_index].action.name])

    assert ops.bake_script(script="random", seconds=4.0, seed=5, gait="walk", tags="") == {
        "FINISHED"
    }
    settings.takes[0].is_kept = True
    markers = settings.takes[0].action.pose_markers
    moved = next(m for m in markers if m.name.endswith("lift") and m.frame > 10)
    moved.frame += 1
    bake_again("MATCHING", True)

    settings.controller.method = "FIELD"
    assert ops.bake_script(script="square", seconds=3.0, gait="walk", tags="bends") == {"FINISHED"}
    bake_again("FIELD", False)

    settings.controller.method = "MATCHING"
    keyboard = Keyboard()
    live = performing.start(obj, *run(performing.prepared(obj)), keyboard, Steering(keyboard), 0.0)
    steer(live, keyboard)
    performing.end()
    assert live.takes == ["Live Take"], (live.takes, live.ending)
    bake_again("MATCHING", False)
    settings.controller.method = "FIELD"
    bpy.context.scene.frame_set(1)
    return pairs


def steer(live: Any, keyboard: Keyboard) -> None:
    """Walk ahead, record two seconds, and turn meanwhile."""
    keyboard.handle("W", "PRESS")
    for tick in range(3 * FPS):
        if tick == FPS:
            live.toggle_recording()
        if tick == 2 * FPS:
            keyboard.handle("A", "PRESS")
        live.tick((tick + 1) / FPS, 0.0)
    assert live.ending is None, live.ending


def steer_alone(obj: bpy.types.Object) -> None:
    keyboard = Keyboard()
    steer(tuning.start(obj, keyboard, None, 0.0), keyboard)
    performing.end()
    assert "Steered Path" in bpy.data.objects


def write_every_property() -> None:
    """Write a character with every property set to another value than its default."""
    empty_file()
    obj = bpy.data.objects.new("Filled", bpy.data.armatures.new("Filled"))
    bpy.context.scene.collection.objects.link(obj)
    fill(obj.motion_matching)
    for block in (*bpy.data.actions, *bpy.data.objects, *bpy.data.collections):
        block.use_fake_user = True
    save("every_property.blend")
    write_json("every_property.json", dict(leaves(obj.motion_matching)))


def write_recovery_file() -> None:
    """Write an interrupted recording of an armature in an unsaved file."""
    from motion_matching.engine import takes
    from motion_matching.engine.matching import database

    empty_file()
    obj = character("Performer")
    data = database.load(OUT / "curves.npz")
    settings, keyboard = takes.default_settings(data), Keyboard()
    live = performing.start(
        obj, data, MotionMatching(data, settings), settings, keyboard, Steering(keyboard), 0.0
    )
    steer(live, keyboard)
    [path] = performing.end(leaves_recording=True)
    shutil.copyfile(path, OUT / "cut_off.mmrecovery")
    recordings.look()
    action = recordings.recover(path)
    write_json("cut_off.json", {"name": action.name, "frames": list(action.frame_range)})


if __name__ == "__main__":
    main()
