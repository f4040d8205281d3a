"""What a Blender file of a stranger, or a script, may hold: nothing of it removes what is the
user's, and no poll, panel or handler fails over it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.app.database import databases
from motion_matching.app.database import status as app_status
from motion_matching.app.sources import source_files, source_list
from motion_matching.app.takes import recordings, take_actions, take_list
from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import MotionMatchingError, RigError
from motion_matching.engine.performance import performance, scripts
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.live.recorder import RecordingPlan
from motion_matching.scene.blender.evaluation import evaluation
from motion_matching.scene.rig import armature
from motion_matching.scene.writing import recording, saved_pose
from motion_matching.scene.writing.bake import bake
from motion_matching.ui.tags.drawing import assign_lanes
from tests.demo import generate_clips
from tests.live.stage import FPS, Stage
from tests.ui.characters import create_character
from tests.ui.drawn import draw_panels

ops = bpy.ops.motion_matching
PARTS = recording.PARTS
SETTINGS = PerformerSettings()


@contextlib.contextmanager
def no_tracebacks():
    """Fail on a traceback, which Blender only prints where a handler or an update fails."""
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed):
        yield
    assert "Traceback" not in printed.getvalue(), printed.getvalue()


def call(operator, **options):
    """Return an operator's result, or the sentence of its refusal; fail on a traceback."""
    with no_tracebacks():
        try:
            return operator(**options)
        except RuntimeError as error:
            message = str(error)
    assert "Traceback" not in message, message
    return message


@pytest.fixture
def obj():
    return create_character(clips=("walk_curves",))


def make_take(obj, name="Take"):
    """List a take of a script, with two curves, as a bake leaves it."""
    action = bpy.data.actions.new(name)
    performed = scripts.build_script(
        "square", 2.0, 30.0, SETTINGS.steering.walk, SETTINGS.steering.run
    )
    recording.store_performance(action, performance.to_json(performed), 1.0, 60, 30.0)
    take_list.list_take(obj, action)
    return action


def make_part(**changes):
    text = bpy.data.texts.new("Take.performance.json")
    part = {"frame": 1.0, "ticks": 60, "fps": 30.0, "lead_in": 0, "collection": ""}
    return part | {"performance": text} | changes


STRANGE_TAKES = {
    "number": lambda: 5,
    "text": lambda: "x",
    "bytes": lambda: b"\xff\xfe",
    "numbers": lambda: [1, 2],
    "nan": lambda: float("nan"),
    "group": lambda: {"a": 1},
    "block": lambda: bpy.data.objects["Hero"],
    "no text": lambda: [make_part(performance="x")],
    "object for a text": lambda: [make_part(performance=bpy.data.objects["Hero"])],
    "frame": lambda: [make_part(frame=float("nan"))],
    "far frame": lambda: [make_part(frame=1e300)],
    "ticks": lambda: [make_part(ticks=-3)],
    "fps": lambda: [make_part(fps=0.0)],
    "lead-in": lambda: [make_part(lead_in="x")],
    "collection": lambda: [make_part(collection=b"\xff")],
    "empty group": lambda: [{}],
}


@pytest.mark.parametrize("kind", STRANGE_TAKES)
def test_an_action_with_strange_take_data_is_no_take(obj, kind):
    ops.add_actions()
    action = bpy.data.actions.new("Mine")
    take_list.list_take(obj, action)
    action[PARTS] = STRANGE_TAKES[kind]()
    texts = {text.name for text in bpy.data.texts}
    assert not recording.is_take(action)
    with no_tracebacks():
        assert not ops.bake_again.poll()
        assert not ops.compare_takes.poll()
    with pytest.raises(MotionMatchingError, match="'Mine'"):
        take_actions.read_parts(action)
    assert call(ops.remove_take) == {"FINISHED"}
    assert len(obj.motion_matching.takes) == 0
    take_list.list_take(obj, action)
    obj.motion_matching.takes[0].is_kept = False
    assert call(ops.discard_takes) == {"FINISHED"}
    assert "Mine" in bpy.data.actions, "it is the user's"
    assert action.use_fake_user, "saving would drop it"
    assert {text.name for text in bpy.data.texts} == texts
    bpy.ops.ed.undo_push()
    bpy.ops.ed.undo_push()
    with no_tracebacks():
        bpy.ops.ed.undo()
        bpy.ops.ed.redo()


def test_a_take_whose_text_was_edited_is_refused_in_a_sentence(obj):
    ops.add_actions()
    action = make_take(obj)
    text = action[PARTS][0]["performance"]
    whole = text.as_string()
    short = json.loads(whole) | {"intents": [{"ticks": 3}]}
    for content in ("", "{", "[" * 100_000, "null", json.dumps(short), whole.replace("1", "1e999")):
        text.from_string(content)
        if "intents" not in content:
            with pytest.raises(MotionMatchingError, match="The take 'Take'"):
                take_actions.read_parts(action)
        assert isinstance(call(ops.bake_again), str)
    text.from_string(whole)
    action[PARTS] = [action[PARTS][0].to_dict() | {"lead_in": 2**31 - 1}]
    with pytest.raises(MotionMatchingError, match="lead-in"):
        take_actions.read_parts(action)


def test_a_discarded_take_takes_nothing_of_the_users_along(obj):
    # a text of the user's that the take names as its performance
    notes = bpy.data.texts.new("notes")
    notes.use_fake_user = False
    action = make_take(obj)
    action[PARTS] = [make_part(performance=notes)]
    assert call(ops.remove_take) == {"FINISHED"}
    assert "Take" not in bpy.data.actions
    assert "notes" in bpy.data.texts

    # an action that something else uses: another object, a source, the NLA of another object
    other = bpy.data.objects.new("Other", None)
    other.animation_data_create().action = make_take(obj, "Played")
    strips = bpy.data.objects.new("Strips", None).animation_data_create().nla_tracks.new().strips
    strips.new("Strip", 1, make_take(obj, "Strip"))
    source = obj.motion_matching.sources.add()
    source.action = make_take(obj, "Source")
    make_take(obj, "Loose")
    assert call(ops.discard_takes) == {"FINISHED"}
    assert {"Played", "Strip", "Source"} <= set(bpy.data.actions.keys())
    assert "Loose" not in bpy.data.actions
    assert source.action.name == "Source"
    assert other.animation_data.action.name == "Played"


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "5", "[[1]]", '{"a": 1}', "[null]", "["])
def test_a_database_with_a_damaged_list_of_sources_is_shown_as_it_is(obj, text):
    ops.add_actions()
    ops.add_database(label="One")
    ops.add_database(label="Two")
    settings = obj.motion_matching
    settings.databases[0].sources, settings.databases[0].built_key = text, "of one"
    enabled = [source.enabled for source in settings.sources]
    with no_tracebacks():
        settings.database_index = 0
    assert settings.database_shown == 0
    assert settings.built_key == "of one"
    assert [source.enabled for source in settings.sources] == enabled
    databases.add(settings, "Three")
    assert json.loads(settings.databases[0].sources) == ["walk_curves"]


STRANGE_POSES = {
    "number": 5,
    "text": "x",
    "empty": {},
    "numbers": {"numbers": ["x"]},
    "other bones": {"numbers": [0, 9999]},
    "position": {"position": "SIDEWAYS"},
    "frame": {"frame": float("inf")},
    "placed": {"placed": {"name": [1.0, 2.0]}},
    "short": {"placed": {"location": [1.0]}},
    "playing": {"playing": {"__class__": 1}},
    "slot": {"playing": {"has_data": True, "slot": 5}},
    "hidden": {"hidden": [{"name": 5}]},
}


@pytest.mark.parametrize("kind", STRANGE_POSES)
def test_a_strange_saved_pose_changes_nothing(obj, kind):
    saved_pose.SavedPose.capture(obj, np.array([0, 1]), moves_object=True, plays_on=False)
    note, change = obj[saved_pose.SAVED_POSE].to_dict(), STRANGE_POSES[kind]
    obj[saved_pose.SAVED_POSE] = note | change if isinstance(change, dict) and change else change
    obj.location, obj.name = (1, 2, 3), "Hero"
    bpy.ops.ed.undo_push()
    bpy.ops.ed.undo_push()
    with no_tracebacks():
        bpy.ops.ed.undo()
    obj = bpy.data.objects["Hero"]
    assert tuple(obj.location) == (1, 2, 3)
    assert saved_pose.SAVED_POSE not in obj


def test_marks_in_a_file_remove_nothing_that_is_used(obj, tmp_path):
    # all that the file has is marked as if sampling had made it, and as a recording that grows
    action = bpy.data.actions["walk_curves"]
    obj.animation_data.action = action
    action[recording.GROWING] = True
    saved_pose.SavedPose.capture(obj, np.array([0, 1]), moves_object=True, plays_on=True)
    action.use_fake_user = True
    for block in (bpy.context.scene, obj, obj.data, action):
        block[evaluation._MARK] = True
    path = str(tmp_path / "marked.blend")
    with no_tracebacks():
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
    assert bpy.data.scenes.keys() == ["Scene"]
    assert {"Hero"} <= set(bpy.data.objects.keys())
    assert "walk_curves" in bpy.data.actions

    # also where another scene is left
    other = bpy.data.scenes.new("Other")
    mine = bpy.data.objects.new("Mine", None)
    bpy.data.scenes["Scene"].collection.objects.link(mine)
    other.collection.objects.link(bpy.data.objects["Hero"])
    with no_tracebacks():
        evaluation.remove_evaluation_copies()
    assert {"Scene", "Other"} <= set(bpy.data.scenes.keys())
    assert {"Hero", "Mine"} <= set(bpy.data.objects.keys())
    assert "walk_curves" in bpy.data.actions


def test_copies_that_undo_brings_back_still_go(obj):
    copy = evaluation.EvaluationCopy(obj)
    copy.get_scratch_action()
    names = {kind: set(getattr(bpy.data, kind).keys()) for kind in evaluation._KINDS}
    assert "Sampling" in names["scenes"]
    evaluation.remove_evaluation_copies()
    for kind in evaluation._KINDS:
        assert not any(name.startswith("Sampling") for name in getattr(bpy.data, kind).keys())  # noqa: SIM118
    copy.remove()


def get_raw(obj):
    """Return the properties as the file holds them, whatever Blender's limits say."""
    has_own_place = hasattr(obj, "bl_system_properties_get")
    return (obj.bl_system_properties_get() if has_own_place else obj)["motion_matching"]


def put(raw, name, value):
    """Store a value of another type than a property has."""
    raw.pop(name, None)
    raw[name] = value


def test_damaged_settings_of_a_file_are_reset_when_it_is_opened(obj, tmp_path):
    ops.add_actions()
    settings = obj.motion_matching
    settings.roles.preset, settings.roles.hips = "mixamo", "Hips"
    settings.speed, settings.up, settings.script.seconds = 1.2, "Z", 4.0
    settings.sources.add().name = "second"
    settings.insight.wish = (2.0, 1.0)
    raw = get_raw(obj)
    source = raw["sources"][0]
    put(raw["roles"], "preset", b"\xff\xfe")
    put(source, "name", b"\xff")
    put(source, "action", obj)
    put(source, "path", bpy.context.scene)
    put(source, "kind", 77)
    put(source, "frame_start", -5000)
    put(raw["script"], "seconds", 1e30)
    put(raw["script"], "script", 99)
    put(raw, "speed", float("nan"))
    put(raw["insight"], "wish", [float("inf"), 0.0])
    path = str(tmp_path / "damaged.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    with no_tracebacks():
        bpy.ops.wm.open_mainfile(filepath=path)

    def check(settings):
        source = settings.sources[0]
        assert settings.roles.preset == ""
        assert (source.name, source.action, source.path, source.kind) == ("", None, None, "ACTION")
        assert source.frame_start == 1
        assert settings.script.seconds == settings.script.bl_rna.properties["seconds"].default
        assert settings.script.script == "figure_eight"
        assert settings.speed == 1.0
        assert tuple(settings.insight.wish) == (1.0, 0.0)
        # what is whole stays
        assert (settings.roles.hips, settings.up, settings.sources[1].name) == (
            "Hips",
            "Z",
            "second",
        )

    check(bpy.data.objects["Hero"].motion_matching)
    # a character that is appended
    if hasattr(bpy.app.handlers, "blend_import_post"):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        with bpy.data.libraries.load(path) as (_, wanted):
            wanted.objects = ["Hero"]
        check(wanted.objects[0].motion_matching)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_files_whose_names_are_no_text_are_sources_like_others(tmp_path):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    clip = generate_clips()[1]
    odd = Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), b"w\xfe.bvh")))
    bvh.save(clip, tmp_path / "walk.bvh")
    (tmp_path / "walk.bvh").rename(odd)
    assert call(ops.add_folder, directory=str(tmp_path)) == {"FINISHED"}
    obj = bpy.context.object
    [source] = obj.motion_matching.sources
    assert source.name == "w?"
    assert source_files.find_file(source) == odd
    assert call(ops.build) == {"FINISHED"}
    assert call(ops.save_pictures, filepath=str(tmp_path / "pictures.svg")) == {"FINISHED"}
    assert "w?" in (tmp_path / "pictures.svg").read_text(encoding="utf-8")
    with no_tracebacks():
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert call(ops.import_motion, filepath=str(odd)) == {"FINISHED"}
    odd.unlink()
    assert "w?.bvh" in call(ops.build) or obj.motion_matching.built_notes
    assert "w?.bvh" in app_status.refresh(obj).problem or app_status.refresh(obj).clips


def test_names_that_are_too_long_are_refused_in_a_sentence(obj, tmp_path):
    ops.add_actions()
    name = "a" * 300
    for operator in (ops.add_files, ops.import_motion):
        assert name[:200] in call(operator, filepath=str(tmp_path / f"{name}.bvh"))
        files = [{"name": f"{name}.bvh"}]
        assert isinstance(call(operator, directory=str(tmp_path), files=files), str)
    assert isinstance(call(ops.add_blend_actions, filepath=str(tmp_path / f"{name}.blend")), str)
    assert isinstance(call(ops.save_pictures, filepath=str(tmp_path / f"{name}.svg")), str)
    for kind in ("features", "controllers", "rigs"):
        assert isinstance(call(ops.remove_preset, kind=kind, name=name), str)
        assert isinstance(call(ops.apply_preset, kind=kind, filepath=f"{name}.json"), str)
    source = obj.motion_matching.sources.add()
    source.name, source.kind, source.filepath = "far", "FILE", f"/{name}/{name}.bvh"
    source.beside = f"//{name}"
    with no_tracebacks():
        app_status.refresh(obj)
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert "does not exist" in source_list.find_source_problem(source)


def test_many_ranges_and_long_notes_do_not_stop_drawing(obj):
    ops.add_actions()
    settings = obj.motion_matching
    ops.build()
    assert app_status.refresh(obj).kind == "fresh", "else no note is drawn"
    settings.built_notes = "word " * 200_000 + "\n" * 200_000
    draw_panels()
    began = time.process_time()
    draw_panels()
    assert time.process_time() - began < 1.0
    began = time.process_time()
    lanes = assign_lanes([0] * 20_000, [100] * 20_000)
    assert time.process_time() - began < 1.0
    assert lanes == list(range(20_000))


def test_a_cut_off_recording_of_a_linked_armature_stays(tmp_path):
    stage = Stage()
    stage.run(3)
    folder = recordings.get_folder()
    stage.session.record(RecordingPlan("Cut Off", 1.0, 1.0, recovery=folder))
    stage.run(round(1.5 * FPS))
    [path] = folder.glob("*.mmrecovery")
    whole = path.read_bytes()
    stage.session.stop()
    path.write_bytes(whole)
    file = str(tmp_path / "person.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(file, link=True) as (_, wanted):
        wanted.objects = ["Person"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    recordings.refresh()
    assert "library override" in call(ops.recover_take)
    assert path.exists()
    assert wanted.objects[0].override_create(remap_local_usages=True)
    assert call(ops.recover_take) == {"FINISHED"}
    assert not path.exists()


def test_a_bone_whose_name_blender_cuts_is_named(obj):
    clip = generate_clips()[1]
    for letter in ("\0", "\udcfe"):
        names = tuple(f"{name}{letter}x" for name in clip.skeleton.names)
        skeleton = clip.skeleton.with_names(names)
        with pytest.raises(RigError, match="letter in its name that Blender cannot store"):
            armature.create_armature(skeleton, "Cut")
        with pytest.raises(RigError, match="zero byte"):
            bake(replace(clip, skeleton=skeleton), obj, name="Cut")
    assert "Cut" not in bpy.data.armatures
    assert "Cut" not in bpy.data.actions
