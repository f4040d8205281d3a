"""In a window: clicks on the strip lead from an empty file to takes, live and baked; work is
cancelled there, and warnings unfold.
"""

from __future__ import annotations

import os
import random
import sys
import time

import bpy

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    alive,
    call,
    click,
    drawn,
    empty_file,
    event,
    load_module,
    look_at_performer,
    redrawn,
    region_of,
    run,
    ticked,
    until,
    view,
    worked,
)


def measure_heights():
    """Return the heights of the panels of the tab, by name, as the sidebar has them."""
    sidebar = region_of(view()[1], "UI")
    return sidebar.height, sidebar.view2d.region_to_view(0, 0)


def cancel_a_build(settings):
    """Click the button that cancels; the build ends, and the tab is as it was."""
    settings.contact_speed = random.uniform(0.14, 0.16)  # never built
    yield from until(
        lambda: load_module("app.database.status").get_status(bpy.context.object).kind != "fresh"
    )
    before = settings.built_key
    heights = measure_heights()
    yield from click("motion_matching.build")
    yield from until(lambda: alive().progress)
    assert measure_heights() == heights, "something has moved"
    yield from click("motion_matching.cancel", at=region_of(view()[1], "UI").width - 55)
    yield from until(lambda: alive().work is None, 20.0)
    assert settings.built_key == before
    yield from redrawn("UI")


def play_live(settings):
    """Start, record and stop with the buttons of the strip."""
    yield from click("motion_matching.start")
    yield from until(lambda: alive().live)
    live = alive().live
    yield from ticked(live, 5)
    yield from click("motion_matching.record")
    yield from until(lambda: live.session.is_recording)
    event("MOUSEMOVE", "NOTHING")
    event("W", unicode="w")
    yield from ticked(live, 24)
    event("W", "RELEASE")
    yield from click("motion_matching.stop", at=region_of(view()[1], "UI").width * 2 // 3)
    yield from until(lambda: alive().live is None)
    assert len(settings.takes) == 1


def bake_as_by_search(settings):
    """Run the operator as a search does, without options: it bakes what the panel shows."""
    script = settings.script
    script.script, script.gait, script.seconds = "strafe_circle", "run", 1.0
    call(bpy.ops.motion_matching.bake_script, "INVOKE_DEFAULT")
    yield from worked()
    yield from until(lambda: len(settings.takes) == 3)
    assert settings.takes[2].action.name.startswith("Strafe Circle Run")


def is_range_told():
    """Return whether there is a warning about the range of a source."""
    found = load_module("app.strip.state").get_warnings(bpy.context.object)
    return any(item.kind == "range" for item in found)


def unfold_warnings(settings):
    """Unfold the warnings, of which one is about the returned source."""
    source = settings.sources[3]
    source.use_range, source.frame_start, source.frame_end = True, 90, 20
    yield from until(is_range_told)
    yield from redrawn("UI")
    yield from click("motion_matching.unfold_warnings")
    yield from redrawn("UI")
    return source


def use_whole_range(source):
    """Click the button of the unfolded warning."""
    yield from click("motion_matching.edit_named_sources")
    yield from until(lambda: not source.use_range)
    yield from until(lambda: not is_range_told())


def add_performer():
    """Add the demo performer; progress that has not changed is not drawn again."""
    yield from click("motion_matching.add_demo_performer")
    before, since = drawn["UI"], time.monotonic()
    yield from worked()
    count = drawn["UI"] - before
    print(f"the performer stands after {time.monotonic() - since:.1f} s and {count} redraws")
    assert count <= 10


def scenario():
    yield from empty_file()
    yield from add_performer()
    look_at_performer()
    settings = bpy.context.object.motion_matching
    yield from redrawn("UI")
    yield from click("motion_matching.build")
    yield from until(lambda: settings.built_key)
    yield from worked()
    yield from play_live(settings)
    yield from redrawn("UI")
    yield from click("motion_matching.bake_script", at=region_of(view()[1], "UI").width * 2 // 3)
    yield from worked()
    yield from until(lambda: len(settings.takes) == 2)
    yield from bake_as_by_search(settings)
    yield from cancel_a_build(settings)
    source = yield from unfold_warnings(settings)
    yield from use_whole_range(source)


if __name__ == "__main__":
    run(scenario)
