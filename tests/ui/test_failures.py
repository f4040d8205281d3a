"""What goes wrong is said in one sentence, and nothing of the user's is lost."""

from __future__ import annotations

FAILURES = """
import sys
from pathlib import Path
import motion_matching
motion_matching.register()
from tests.ui.characters import *
from motion_matching.ui import status
ops = bpy.ops.motion_matching
folder = Path(sys.argv[1])

bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
broken, other = folder / "broken.bvh", folder / "notes.txt"
broken.write_text("HIERARCHY\\nROOT Hips\\n{ nonsense")
other.write_text("no motion")
before = traces()
refused(ops.add_files, "broken.bvh", filepath=str(broken))
refused(ops.add_files, "notes.txt", ".bvh", filepath=str(other))
refused(ops.add_files, "gone.bvh", filepath=str(folder / "gone.bvh"))
assert traces() == before, "an armature or a source was left behind"

obj = character()
settings = obj.motion_matching
ops.add_actions()
bpy.context.scene.frame_set(33)

# an action that is deleted after it was added is told of, and refused where nothing else is there
bpy.data.actions.remove(bpy.data.actions["walk_curves"])
settings.search = "walk_curves"
ops.edit_sources(edit="on")
settings.search = ""
others = [source for source in settings.sources if source.action]
for source in others:
    source.enabled = False
before = traces()
for operator in (ops.build, ops.bake_script):
    refused(operator, "walk_curves", "lost its action")
assert traces() == before
assert status.refresh(obj).kind == "broken" and "walk_curves" in status.refresh(obj).problem
for source in others:
    source.enabled = True
assert ops.build() == {"FINISHED"} and status.refresh(obj).kind == "fresh"
assert "'walk_curves'" in settings.built_notes and "lost its action" in settings.built_notes
settings.source_index = [s.name for s in settings.sources].index("walk_curves")
ops.remove_source()
assert status.refresh(obj).kind == "fresh", "the same database"

# a source of another skeleton
from motion_matching.engine.motion import bvh, locomotion
from dataclasses import replace
clip = locomotion.generate()[1]
bvh.save(replace(clip, skeleton=clip.skeleton.renamed(tuple(f"My{n}" for n in clip.skeleton.names))), folder / "mine.bvh")
ops.add_files(filepath=str(folder / "mine.bvh"))
assert ops.build() == {"FINISHED"} and status.refresh(obj).clips == 2
assert "Left out 'mine'" in settings.built_notes and "not the same" in settings.built_notes
# files that cannot be read, or went away, leave the rest
bvh.save(clip, folder / "gone.bvh")
ops.add_files(filepath=str(folder / "gone.bvh"))
(folder / "gone.bvh").unlink()
settings.sources[-1].name = "gone"
source = settings.sources.add()
source.name, source.kind, source.filepath = "broken", "FILE", str(broken)
frames = status.refresh(obj).frames
assert ops.build() == {"FINISHED"}
found = settings.built_notes
assert "'gone'" in found and "not there" in found and "'broken'" in found and "broken.bvh" in found, found
assert status.refresh(obj).clips == 2 and status.refresh(obj).megabytes > 0.1 and "m/s" in status.refresh(obj).coverage
for _ in range(3):
    ops.remove_source()
    settings.source_index = len(settings.sources) - 1
assert len(settings.sources) == 2
before = traces()

# settings that lead nowhere
settings.features.items[0].bone = "tail"
refused(ops.build, "tail")
settings.features.items[0].bone = "left_foot"
settings.features.items[5].times = "soon"
refused(ops.build, "soon")
settings.features.items[5].times = "0.33, 0.67, 1"
assert traces() == before | {"sources": {"Hero": [s.name for s in settings.sources]}}

# an armature that cannot carry what is asked for
settings.root, settings.root_bone = "BONE", "Hips"
before = traces()
refused(ops.bake_script, "Hips", "part of the body", seconds=2.0)
after = traces()
assert after["keys"] != before["keys"], "the database was built, and that much is kept"
assert {k: v for k, v in after.items() if k != "keys"} == {k: v for k, v in before.items() if k != "keys"}
settings.root = "AUTO"
assert ops.bake_script(seconds=2.0) == {"FINISHED"}
"""


def test_failures_say_what_to_do_and_leave_everything_as_it_was(run_in_blender, tmp_path):
    run_in_blender(FAILURES, tmp_path)


CANCELLED = """
import threading
import time
from types import SimpleNamespace
import motion_matching
motion_matching.register()
from tests.ui.characters import *
from motion_matching.ui import operators_build, operators_bake, operators_demo, work
from motion_matching.ui.preferences import library
obj = character()
bpy.ops.motion_matching.add_actions()

def stages(work):
    for stage, part in work:
        assert 0.0 <= part <= 1.0
        yield stage

def given_up(work, stage, after=0):
    told = stages(work)
    assert any(stage in now for now in told), stage
    for _ in range(after):
        next(told)
    work.close()
    for thread in threading.enumerate():
        if thread.name.startswith("motion_matching"):
            thread.join(30)
            assert not thread.is_alive()

before = traces()
given_up(operators_build.built(obj), "Reading", 1)
given_up(operators_build.built(obj), "Finding simulation bones")
assert traces() == before and library().size() == 0
bake = operators_bake.MOTION_MATCHING_OT_bake_script
wish = SimpleNamespace(script="random", gait="walk", seconds=60.0, seed=1, tags="")
given_up(bake.steps(wish, bpy.context), "Performing", 2)
after = traces()
assert {k: v for k, v in after.items() if k != "keys"} == {k: v for k, v in before.items() if k != "keys"}

bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
before = traces()
given_up(operators_demo.MOTION_MATCHING_OT_add_demo_performer.steps(SimpleNamespace(), bpy.context), "Adding", 3)
assert traces() == before, traces()

# a source is not left out because the armature is being edited meanwhile: nothing is built
obj = character()
bpy.ops.motion_matching.add_actions()
obj.pose.bones["Head"].constraints.new("LIMIT_ROTATION")
building = operators_build.built(obj, again=True)
try:
    for text, _ in building:
        if text == "Reading walk_curves" and obj.mode != "EDIT":
            bpy.ops.object.mode_set(mode="EDIT")
except motion_matching.engine.errors.MotionMatchingError as error:
    assert "Edit Mode" in str(error)
else:
    raise AssertionError("built without " + obj.motion_matching.built_notes)
bpy.ops.object.mode_set(mode="OBJECT")

# what is going on holds no references: its armature may go meanwhile
obj = character()
bpy.ops.motion_matching.add_actions()
building = operators_build.built(obj, again=True)
next(building)
bpy.data.objects.remove(obj)
try:
    list(building)
except motion_matching.engine.errors.MotionMatchingError as error:
    assert "armature" in str(error)
else:
    raise AssertionError("built without an armature")
"""


def test_cancelling_leaves_nothing_behind(run_in_blender):
    run_in_blender(CANCELLED)
