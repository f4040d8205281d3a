"""Quit Blender while recording. The recording is offered at the next start, see `recover.py`."""

from __future__ import annotations

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(__file__))
from drive import call, check_keys_arrived, create_performer, event, recorded, run, started

FILE = os.path.join(os.environ["MOTION_MATCHING_TEST_FOLDER"], "quit.blend")


def scenario():
    yield from create_performer()
    call(bpy.ops.wm.save_as_mainfile, filepath=FILE)
    live = yield from started()
    event("W", unicode="w")
    yield from recorded(live, 72)
    check_keys_arrived()
    print(f"played to its end, {live.session.recorded_seconds:.2f} s are recorded", flush=True)
    call(bpy.ops.wm.quit_blender)
    yield 60.0
    raise AssertionError("Blender does not quit")


run(scenario)
