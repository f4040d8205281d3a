"""Long work tells how long it still takes."""

from __future__ import annotations

TIME_LEFT = """
import motion_matching
motion_matching.register()
from motion_matching.ui.work import TimeLeft
left = TimeLeft()
assert left.of(0.0, 100.0) == "" and left.of(0.1, 100.1) == "", "too early to tell"
assert left.of(0.2, 102.0) == "8 s left"
assert left.of(0.25, 150.0) == "2 min 30 s left"
assert left.of(1.0, 160.0) == "0 s left"
# a part that is less than before is a new stage
assert left.of(0.5, 200.0) == ""
assert left.of(0.75, 210.0) == "10 s left"
"""


def test_the_time_left_is_what_the_part_done_took(run_in_blender):
    run_in_blender(TIME_LEFT)


FORWARD = """
import sys
from pathlib import Path
from types import SimpleNamespace
import motion_matching
motion_matching.register()
from tests.ui.characters import *
from motion_matching.engine.motion import bvh
from motion_matching.ui import operators_build, operators_import, status
from motion_matching.ui.preferences import library
ops, obj = bpy.ops.motion_matching, character()
ops.add_actions()

def parts(work, word):
    told = [part for text, part in work if text.startswith(word)]
    assert len(told) > 3 and max(told) > 0.6, told
    assert told == sorted(told), f"{word} goes back: {told}"

# read from curves, and evaluated
parts(operators_build.read_sources(obj.session_uid), "Reading")
limit = obj.pose.bones["Head"].constraints.new("LIMIT_ROTATION")
parts(operators_build.read_sources(obj.session_uid), "Reading")
obj.pose.bones["Head"].constraints.remove(limit)

# several files that are imported
clip = next(clip for clip in locomotion.generate() if clip.name == "walk_curves")
files = []
for number in range(3):
    bvh.save(clip, Path(sys.argv[1]) / f"{number}.bvh")
    files.append(SimpleNamespace(name=f"{number}.bvh"))
wanted = SimpleNamespace(directory=sys.argv[1], files=files, filepath="", mirror=True, report=print)
parts(operators_import.MOTION_MATCHING_OT_import_motion.steps(wanted, bpy.context), "")

# the memory that is reported is the one that the panel shows
ops.build()
database = library().load(obj.motion_matching.built_key)
assert f"{status.shown(obj).megabytes:.1f} MB" == f"{status.megabytes(database):.1f} MB"
"""


def test_progress_goes_forward_alone(run_in_blender, tmp_path):
    run_in_blender(FORWARD, tmp_path)
