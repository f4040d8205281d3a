"""A motion field is chosen in the panel, trained by its button, stopped by Esc and gone on with, and steered and pushed."""

from __future__ import annotations

import math
import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    PACKAGE,
    check_left_nothing,
    click,
    event,
    module,
    performer,
    run,
    started,
    tap,
    ticked,
    traces,
    until,
    worked,
)

TRAIN = "motion_matching.train"


def open_controller():
    """Have the Controller's panel open and above the others from the first time that it is drawn."""
    bpy.ops.preferences.addon_enable(module=PACKAGE)
    classes = module("ui.panels_controller").CLASSES
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
    classes[0].bl_options, classes[0].bl_order = set(), -1
    for cls in classes:
        bpy.utils.register_class(cls)


def trains(obj):
    """Stopped by Esc, and gone on with to the end."""
    fields, work = module("ui.fields"), module("ui.work")
    yield from click(TRAIN)
    yield from until(lambda: work.running and "actions" in work.running[0] and work.running[1] > 0.1)
    before = work.running[1]
    tap("ESC")
    yield from until(lambda: not work.running)
    yield from until(lambda: fields.standing(obj) == "stopped")
    yield from click(TRAIN)
    yield from until(lambda: work.running and "actions" in work.running[0])
    assert work.running[1] >= before, "it began anew"
    yield from worked()
    yield from until(lambda: fields.standing(obj) == "fresh")
    assert obj.motion_matching.controller.neighbours == 9


def goes_and_is_pushed(live):
    assert live.field.function.finished
    start = live.place
    event("W", unicode="w")
    yield from ticked(live, 72)
    event("W", "RELEASE")
    went = math.dist(start, live.place)
    print(f"went {went:.2f} m, a tick took {1000 * live.pace.seconds:.1f} ms")
    assert went > 1.0
    yield from ticked(live, 24)
    intents = len(live.session._history.intents)
    tap("E", unicode="e")
    yield from ticked(live, 24)
    assert any(intent.push for intent in live.session._history.intents[intents:])


def play():
    open_controller()
    yield from performer()
    obj = bpy.context.object
    settings = obj.motion_matching
    settings.controller.method, settings.training.quality = "FIELD", 1
    for place, source in enumerate(settings.sources):
        source.mirror, source.enabled = False, place % 3 == 0
    yield from trains(obj)
    before = traces()
    live = yield from started()
    yield from goes_and_is_pushed(live)
    tap("ESC")
    yield from check_left_nothing(live, before)


run(play)
