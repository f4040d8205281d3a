"""Choose, train, stop and resume a motion field, then steer and push it.

Its neighbours and its training curve are drawn, and one neighbour is forced.
"""

from __future__ import annotations

import math
import os
import sys

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    PACKAGE,
    alive,
    call,
    check_left_nothing,
    click,
    create_performer,
    event,
    load_module,
    read_traces,
    redrawn,
    region_of,
    run,
    started,
    take_screenshot,
    tap,
    ticked,
    until,
    view,
)

TRAIN, FAVOUR = "motion_matching.train", "motion_matching.favour"
MUCH = 300  # pixels that a thick line over the character covers at least


def open_controller():
    """Open the Controller's panel and draw it above the others from the start."""
    bpy.ops.preferences.addon_enable(module=PACKAGE)
    classes = load_module("ui.classes").get_classes(load_module("ui.controller.panel"))
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
    classes[0].bl_options, classes[0].bl_order = set(), -1
    for cls in classes:
        bpy.utils.register_class(cls)


def train(obj):
    """Stop the training with Esc, and resume it to the end."""
    fields = load_module("app.controller.training")
    yield from click(TRAIN)
    yield from until(
        lambda: alive().progress and "actions" in alive().progress[0] and alive().progress[1] > 0.1
    )
    before = alive().progress[1]
    tap("ESC")
    yield from until(lambda: not alive().progress)
    yield from until(lambda: fields.get_training_state(obj) == "stopped")
    yield from click(TRAIN)
    yield from until(lambda: alive().progress and "actions" in alive().progress[0])
    assert alive().progress[1] >= before, "the training started again"
    yield from until(lambda: fields.get_training_state(obj) == "fresh")
    assert obj.motion_matching.controller.neighbours == 9


def walk_and_push(live):
    assert live.field.function.finished
    start = live.position
    event("W", unicode="w")
    yield from ticked(live, 72)
    event("W", "RELEASE")
    went = math.dist(start, live.position)
    print(f"went {went:.2f} m, a tick took {1000 * live.pace.seconds:.1f} ms")
    assert went > 1.0
    yield from ticked(live, 24)
    intents = len(live.session._history.intents)
    tap("E", unicode="e")
    yield from ticked(live, 24)
    assert any(intent.push for intent in live.session._history.intents[intents:])
    intents = len(live.session._history.intents)
    assert call(bpy.ops.motion_matching.push) == {"FINISHED"}
    yield from ticked(live, 24)
    assert sum(intent.push is not None for intent in live.session._history.intents[intents:]) == 1


def count_pixels(shot, color):
    """Count the pixels of a theme's colour."""
    return int((np.abs(shot[..., :3] - 255.0 * np.array(color[:3])) < 6).all(axis=-1).sum())


def show_neighbours(live):
    """The chosen neighbour is drawn in its theme colour, the others by their heading; both can be
    hidden.
    """
    play, cache = (
        bpy.context.object.motion_matching.play,
        alive().get_cache(load_module("ui.play.drawing").HudCache),
    )
    play.show_paths = False  # uses the same colour
    chosen, counts = load_module("ui.base.colors").get_color("chosen"), []
    for shown in (False, True, False):
        play.show_ghosts = shown
        yield from ticked(live, 3)
        counts.append(count_pixels((yield from take_screenshot()), chosen))
        if shown:
            ghosts = cache.snapshot.neighbour_ghosts
            assert len(ghosts.others) > 8 * len(ghosts.chosen) - 12
            print(f"drawing took {1000 * float(np.median(cache.draw_seconds)):.2f} ms with them")
    print(f"the chosen neighbour takes {counts[1]} pixels, {counts[0]} and {counts[2]} without")
    assert counts[1] > MUCH + max(counts[0], counts[2])
    play.show_ghosts = play.show_ghost_row = True
    yield from ticked(live, 3)
    beside = count_pixels((yield from take_screenshot()), chosen)
    print(f"in rows, the chosen neighbour takes {beside} pixels")
    assert beside > MUCH + max(counts[0], counts[2])
    play.show_ghosts = play.show_ghost_row = False
    play.show_paths = True


def force_neighbour(live):
    """A neighbour's button forces it at every tick; pressed again, it releases it."""
    controller = bpy.context.object.motion_matching.controller
    yield from click(FAVOUR, at=22)
    yield from until(lambda: controller.favour)
    yield from redrawn()
    assert region_of(view()[1], "HUD").height == 1, (
        "the redo panel covers the figures, and its undo would end the session"
    )
    yield from ticked(live, 12)
    chosen = set()
    for _ in range(8):
        yield from ticked(live, 1)
        chosen.add(live.decision.chosen)
    assert chosen == {controller.favour - 1}, chosen
    yield from click(FAVOUR, at=22)
    yield from until(lambda: not controller.favour)
    yield from ticked(live, 12)
    assert live.decision.chosen == live.decision.scores.argmax()


def scenario():
    open_controller()
    yield from create_performer()
    obj = bpy.context.object
    settings = obj.motion_matching
    settings.controller.method, settings.training.quality = "FIELD", 1
    settings.controller.idle = False  # it stands, too, and while it idles it has no neighbours
    for place, source in enumerate(settings.sources):
        source.mirror, source.enabled = False, place % 3 == 0
    yield from train(obj)
    before = read_traces()
    live = yield from started()
    yield from walk_and_push(live)
    yield from show_neighbours(live)
    yield from force_neighbour(live)
    tap("ESC")
    yield from check_left_nothing(live, before)


run(scenario)
