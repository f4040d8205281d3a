"""Drawing the tab "Motion" for a character with many sources and tags. Loads Blender, in a process
of its own.

A popover draws with a real layout even without a window, but Blender then crashes when it wants to
show it. So all panels are drawn repeatedly from within one, each into a layout of its own, as in a
sidebar; then the process ends itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from types import FunctionType
from typing import Any

from .bench_search import Row

REACH = 2_000.0  # microseconds
SOURCES, TAGGED, RANGES = 500, 50_000, 20
_CHECKOUT = Path(__file__).resolve().parents[2]


def run(quick: bool) -> list[Row]:
    """Measure redraws of the panels as they open and of all, with and without a search for sources."""
    rows = []
    wanted = (
        ("as they open", "", False),
        ("all panels", "", True),
        ("all panels, searching", "7", True),
    )
    for item, search, closed in wanted:
        spent = [
            seconds
            for _ in range(1 if quick else 5)
            for seconds in _time_redraws(20, search, closed)
        ]
        rows.append(Row.from_times(f"{SOURCES} sources", TAGGED, item, spent, REACH))
    return rows


def _time_redraws(repeats: int, search: str, closed: bool) -> list[float]:
    """Return the microseconds of each redraw. Raise AssertionError if nothing was drawn."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "spent.json"
        command = [
            sys.executable,
            "-m",
            __spec__.name,
            str(results),
            str(repeats),
            search,
            str(int(closed)),
        ]
        environment = {**os.environ, "BLENDER_USER_RESOURCES": folder}
        done = subprocess.run(
            command,
            cwd=_CHECKOUT,
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=300,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
        if not results.exists():
            raise AssertionError(f"The panels were not drawn:\n{done.stderr[-2000:]}")
        return [float(value) for value in json.loads(results.read_text())]


# ---------------------------------------------------------------- in the process of its own


class DrawnPanel:
    """A panel that draws into the layout of a popover."""

    def __init__(self, panel: type, layout: Any) -> None:
        self.panel, self.layout = panel, layout

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.panel, name)
        return found.__get__(self) if isinstance(found, FunctionType) else found


def redraw(panels: list[Any], context: Any, closed: bool) -> float:
    """Draw all panels once and return the seconds of this thread.

    Of panels that are closed at first, draw only the headers unless `closed`.
    """
    begin = context.window_manager.popover_begin__internal
    drawn = [
        DrawnPanel(panel, begin(ui_units_x=12, from_active_button=False).layout) for panel in panels
    ]
    start = time.thread_time()  # reading it takes as long as a panel
    for one in drawn:
        if getattr(one.panel, "poll", lambda _: True)(context):
            shut = "DEFAULT_CLOSED" in getattr(one.panel, "bl_options", ()) and not closed
            for name in ("draw_header", "draw_header_preset", *(() if shut else ("draw",))):
                if hasattr(one.panel, name):
                    getattr(one, name)(context)
    return time.thread_time() - start


def main(results: str, repeats: int, search: str, closed: bool) -> None:
    import bpy

    import motion_matching
    from motion_matching.ui import classes

    motion_matching.register()
    ours = [
        cls
        for cls in classes.ALL
        if issubclass(cls, bpy.types.Panel) and cls.bl_space_type == "VIEW_3D"
    ]
    make_character(search)

    class BENCH_PT_all(bpy.types.Panel):  # noqa: N801  # Blender names panels so
        bl_label, bl_space_type, bl_region_type = "All", "VIEW_3D", "WINDOW"

        def draw(self, context: bpy.types.Context) -> None:
            try:
                spent = [redraw(ours, context, closed) for _ in range(repeats + 2)][2:]
                Path(results).write_text(json.dumps([1e6 * seconds for seconds in spent]))
            except Exception:
                os.write(errors, traceback.format_exc().encode())
            os._exit(0)

    bpy.utils.register_class(BENCH_PT_all)
    errors = os.dup(2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # without a window, Blender warns about every icon
    os.dup2(1, 2)
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.wm.call_panel("INVOKE_DEFAULT", name="BENCH_PT_all", keep_open=False)


def make_character(search: str) -> None:
    """Make an armature with many sources, whose frames are all in ranges of tags."""
    import bpy

    from building.locomotion import locomotion
    from motion_matching.scene.rig.armature import create_armature
    from motion_matching.ui.database.operators_sources import add_source
    from motion_matching.ui.tags.operators import add_range

    obj = create_armature(locomotion.generate()[0].skeleton, "Bench")
    bpy.context.view_layer.objects.active = obj
    settings = obj.motion_matching
    each = TAGGED // SOURCES // RANGES
    for number in range(SOURCES):
        name = f"clip {number:03d}"
        source = add_source(obj, name, action=bpy.data.actions.new(name))
        for place in range(RANGES):
            add_range(source, "limp", "FREE", place * each, (place + 1) * each - 1)
    if search:
        settings.search = search


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4] == "1")
