"""After `quit.py`: the panel offers the interrupted recording, and it becomes a take."""

from __future__ import annotations

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(__file__))
from drive import alive, click, empty_file, event, redrawn, run, started, tap, ticked, until

FILE = os.path.join(os.environ["MOTION_MATCHING_TEST_FOLDER"], "quit.blend")


def scenario():
    yield from empty_file()
    bpy.ops.wm.open_mainfile(filepath=FILE)
    yield 1.0
    yield from until(lambda: len(alive().interrupted) == 1)
    yield from redrawn("UI")
    yield from click("motion_matching.recover_take")
    yield from until(lambda: not alive().interrupted)
    obj = bpy.data.objects["Performer"]
    [take] = obj.motion_matching.takes
    assert obj.animation_data.action == take.action
    print(f"recovered {take.seconds:.2f} s")
    assert take.seconds >= 2.0
    # a session still starts
    live = yield from started()
    event("W", unicode="w")
    yield from ticked(live, 10)
    event("W", "RELEASE")
    tap("ESC")
    yield from until(lambda: alive().live is None)
    assert obj.animation_data.action == take.action


run(scenario)
