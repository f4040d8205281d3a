"""Errors are reported in one sentence, and nothing of the user's is lost."""

from __future__ import annotations

import threading
from dataclasses import replace
from types import SimpleNamespace

import bpy
import pytest

from motion_matching.app.database import status
from motion_matching.app.database.build import load_or_build_steps
from motion_matching.app.database.library import get_library
from motion_matching.app.strip import warnings
from motion_matching.app.takes import baking
from motion_matching.engine.building import build
from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import MotionMatchingError
from motion_matching.ui.character import operators as character_operators
from motion_matching.ui.takes import operators as takes_operators
from tests.demo import generate_clips
from tests.ui.characters import create_character, expect_refusal, read_state


def list_notes(settings):
    return [(note.source, note.kind) for note in warnings.parse_notes(settings.built_notes)]


@pytest.mark.slow
def test_failures_say_what_to_do_and_change_nothing(tmp_path):
    ops = bpy.ops.motion_matching
    folder = tmp_path

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    broken, other = folder / "broken.bvh", folder / "notes.txt"
    broken.write_text("HIERARCHY\nROOT Hips\n{ nonsense")
    other.write_text("no motion")
    before = read_state()
    expect_refusal(ops.add_files, "broken.bvh", filepath=str(broken))
    expect_refusal(ops.add_files, "notes.txt", ".bvh", filepath=str(other))
    expect_refusal(ops.add_files, "gone.bvh", filepath=str(folder / "gone.bvh"))
    assert read_state() == before, "an armature or a source was left behind"

    obj = create_character()
    settings = obj.motion_matching
    ops.add_actions()
    bpy.context.scene.frame_set(33)

    # a deleted action is reported, and refused if there is no other source
    bpy.data.actions.remove(bpy.data.actions["walk_curves"])
    settings.search = "walk_curves"
    ops.edit_sources(edit="on")
    settings.search = ""
    others = [source for source in settings.sources if source.action]
    for source in others:
        source.enabled = False
    before = read_state()
    for operator in (ops.build, ops.bake_script):
        expect_refusal(operator, "walk_curves", "lost its action")
    assert read_state() == before
    assert status.refresh(obj).kind == "broken"
    assert "walk_curves" in status.refresh(obj).problem
    for source in others:
        source.enabled = True
    assert ops.build() == {"FINISHED"}
    assert status.refresh(obj).kind == "fresh"
    assert list_notes(settings) == [("walk_curves", "lost")]
    settings.source_index = [s.name for s in settings.sources].index("walk_curves")
    ops.remove_source()
    assert status.refresh(obj).kind == "fresh", "the same database"

    # a source with another skeleton
    clip = generate_clips()[1]
    bvh.save(
        replace(
            clip, skeleton=clip.skeleton.with_names(tuple(f"My{n}" for n in clip.skeleton.names))
        ),
        folder / "mine.bvh",
    )
    ops.add_files(filepath=str(folder / "mine.bvh"))
    assert ops.build() == {"FINISHED"}
    assert status.refresh(obj).clips == 3
    assert list_notes(settings) == []
    assert status.refresh(obj).states["mine"].kind == "mapped"
    # unreadable and missing files do not affect the rest
    bvh.save(clip, folder / "gone.bvh")
    ops.add_files(filepath=str(folder / "gone.bvh"))
    (folder / "gone.bvh").unlink()
    settings.sources[-1].name = "gone"
    source = settings.sources.add()
    source.name, source.kind, source.filepath = "broken", "FILE", str(broken)
    _ = status.refresh(obj).frames
    assert ops.build() == {"FINISHED"}
    found = list_notes(settings)
    assert ("gone", "missing") in found, found
    assert ("broken", "unreadable") in found, found
    said = " ".join(item.text for item in warnings.describe_notes(settings.built_notes))
    assert "broken.bvh" in said, said
    assert status.refresh(obj).clips == 3
    assert status.refresh(obj).megabytes > 0.1
    assert "m/s" in status.refresh(obj).coverage
    for _ in range(3):
        ops.remove_source()
        settings.source_index = len(settings.sources) - 1
    assert len(settings.sources) == 2
    before = read_state()

    # settings that name nothing
    settings.features.items[0].bone = "tail"
    expect_refusal(ops.build, "tail")
    settings.features.items[0].bone = "left_foot"
    settings.features.items[5].times = "soon"
    expect_refusal(ops.build, "soon")
    settings.features.items[5].times = "0.33, 0.67, 1"
    assert read_state() == before | {"sources": {"Hero": [s.name for s in settings.sources]}}

    # an armature that cannot carry the root motion
    settings.root, settings.root_bone = "BONE", "Hips"
    before = read_state()
    expect_refusal(ops.bake_script, "Hips", "part of the body", seconds=2.0)
    after = read_state()
    assert after["keys"] != before["keys"], "the database was built and is kept"
    assert {k: v for k, v in after.items() if k != "keys"} == {
        k: v for k, v in before.items() if k != "keys"
    }
    settings.root = "AUTO"
    assert ops.bake_script(seconds=2.0) == {"FINISHED"}


@pytest.mark.slow
def test_cancelling_leaves_nothing_behind(monkeypatch):
    obj = create_character()
    bpy.ops.motion_matching.add_actions()

    def list_stages(work):
        for stage, part in work:
            assert 0.0 <= part <= 1.0
            yield stage

    # the engine's thread waits until the test has seen this stage, which may be too short to see
    was_seen, add_tracks = threading.Event(), build.add_tracks

    def add_tracks_once_seen(*arguments):
        was_seen.wait(30)
        return add_tracks(*arguments)

    monkeypatch.setattr(build, "add_tracks", add_tracks_once_seen)

    def cancel_at(stage, work, after=0):
        named = list_stages(work)
        assert any(stage in name for name in named), stage
        for _ in range(after):
            next(named)
        was_seen.set()
        work.close()
        for thread in threading.enumerate():
            if thread.name.startswith("motion_matching"):
                thread.join(30)
                assert not thread.is_alive()

    before = read_state()
    cancel_at("Finding simulation bones", load_or_build_steps(obj))
    cancel_at("Reading", load_or_build_steps(obj), 1)
    assert read_state() == before
    assert not list(get_library().folder.glob("*.npz"))
    asked = {"script": "random", "gait": "walk", "seconds": 60.0, "seed": 1, "tags": ""}
    options = SimpleNamespace(along="script", **asked)
    jobs = [(obj, takes_operators.make_plan(options, 1))]
    cancel_at("Performing", baking.bake_steps(jobs), 2)
    after = read_state()
    assert {k: v for k, v in after.items() if k != "keys"} == {
        k: v for k, v in before.items() if k != "keys"
    }

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    before = read_state()
    add_performer = character_operators.MOTION_MATCHING_OT_add_demo_performer
    cancel_at("Adding", add_performer.steps(SimpleNamespace(climbs=False), bpy.context), 3)
    assert read_state() == before, read_state()

    # what a script makes meanwhile stays
    adding = add_performer.steps(SimpleNamespace(climbs=False), bpy.context)
    stages = list_stages(adding)
    assert any("Adding" in stage for stage in stages)
    bpy.data.objects.new("Mine", None)
    bpy.data.actions.new("Mine")
    adding.close()
    assert bpy.data.objects.keys() == ["Mine"]
    assert bpy.data.actions.keys() == ["Mine"]
    bpy.data.batch_remove([bpy.data.objects["Mine"], bpy.data.actions["Mine"]])

    # an armature that goes into edit mode stops the build; its sources are not left out
    obj = create_character()
    bpy.ops.motion_matching.add_actions()
    obj.pose.bones["Head"].constraints.new("LIMIT_ROTATION")

    def build_and_edit():
        for text, _ in load_or_build_steps(obj, again=True):
            if text == "Reading walk_curves" and obj.mode != "EDIT":
                bpy.ops.object.mode_set(mode="EDIT")

    with pytest.raises(MotionMatchingError) as caught:
        build_and_edit()
    assert "Edit Mode" in str(caught.value)
    bpy.ops.object.mode_set(mode="OBJECT")

    # running work holds no references: its armature may be deleted
    obj = create_character()
    bpy.ops.motion_matching.add_actions()
    building = load_or_build_steps(obj, again=True)
    next(building)
    bpy.data.objects.remove(obj)
    with pytest.raises(MotionMatchingError) as caught:  # no armature is left
        list(building)
    assert "armature" in str(caught.value)
