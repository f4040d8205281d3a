"""Drawing the tab "Motion" for a character with many sources and tags. Loads Blender, in a process
of its own.

A popover draws with a real layout without a window too, but a Blender without one crashes once it
wants to show it: from within one, all panels are drawn again and again, each into the new layout of
a popover that is never shown, as a sidebar gives each a layout of its own; then the process ends
itself.
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

import numpy as np

from .bench_search import Row

REACH = 2_000.0  # microseconds
SOURCES, TAGGED, RANGES = 500, 50_000, 20
_CHECKOUT = Path(__file__).resolve().parents[2]


def run(quick: bool) -> list[Row]:
    """Rows of a redraw: of the panels as they open and of all, with the sources as they are and
    searched.
    """
    rows = []
    wanted = (
        ("as they open", "", False),
        ("all panels", "", True),
        ("all panels, searching", "7", True),
    )
    for item, search, closed in wanted:
        spent = [
            seconds for _ in range(1 if quick else 5) for seconds in _drawn(20, search, closed)
        ]
        rows.append(
            Row(
                f"{SOURCES} sources",
                TAGGED,
                item,
                float(np.median(spent)),
                float(np.percentile(spent, 99)),
                REACH,
            )
        )
    return rows


def _drawn(repeats: int, search: str, closed: bool) -> list[float]:
    """Microseconds of each redraw. AssertionError where nothing was drawn."""
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


class Drawn:
    """A panel as it is drawn, in the layout of a popover."""

    def __init__(self, panel: type, layout: Any) -> None:
        self.panel, self.layout = panel, layout

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.panel, name)
        return found.__get__(self) if isinstance(found, FunctionType) else found


def redraw(panels: list[Any], context: Any, closed: bool) -> float:
    """Draw all panels once, of those that are closed at first the headers alone unless `closed`;
    returns seconds of this thread, whoever else is at work.
    """
    begin = context.window_manager.popover_begin__internal
    drawn = [
        Drawn(panel, begin(ui_units_x=12, from_active_button=False).layout) for panel in panels
    ]
    start = time.thread_time()  # one look at it takes as long as a panel does
    for one in drawn:
        if one.panel.poll(context):
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
    character(search)

    class BENCH_PT_all(bpy.types.Panel):  # noqa: N801  # Blender names panels so
        bl_label, bl_space_type, bl_region_type = "All", "VIEW_3D", "WINDOW"

        def draw(self, context: bpy.types.Context) -> None:
            try:
                spent = [redraw(ours, context, closed) for _ in range(repeats + 2)][2:]
                Path(results).write_text(json.dumps([1e6 * seconds for seconds in spent]))
            except Exception:
                os.write(told, traceback.format_exc().encode())
            os._exit(0)

    bpy.utils.register_class(BENCH_PT_all)
    told = os.dup(2)
    os.dup2(
        os.open(os.devnull, os.O_WRONLY), 1
    )  # a Blender without a window says of every icon that there is none
    os.dup2(1, 2)
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.wm.call_panel("INVOKE_DEFAULT", name="BENCH_PT_all", keep_open=False)


def character(search: str) -> None:
    """An armature with many sources, all of their frames in one of many ranges of tags, and what
    the panels ask about.
    """
    import bpy

    from motion_matching.engine.locomotion import locomotion
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
