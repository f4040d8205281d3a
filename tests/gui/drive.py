"""Drive a Blender with a window: simulated events, waiting, and access to the extension. Runs
inside Blender.

A scenario is a generator that yields seconds to wait. Start Blender with `--enable-event-simulate`.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
import gpu
import numpy as np
from traces import TRACES

Scenario = Iterator[float]
PACKAGE = "bl_ext.user_default.motion_matching"
FOLDER = Path(os.environ.get("MOTION_MATCHING_TEST_FOLDER", bpy.app.tempdir))
KEPT_CLEAN = ("handlers", "timers", "draw handlers", "threads")  # what a session might leave behind

heard: list[
    tuple[str, str]
] = []  # type and value of every event, except timers, that reached the live operator
drawn: Counter[str] = Counter()  # number of redraws of each kind of region of the 3D view
watching: dict[str, Any] = {}
exec(TRACES, watching)


# ---------------------------------------------------------------- windows and modules


def load_module(name: str) -> Any:
    """Import a module of the extension, such as 'ui.performing'."""
    return importlib.import_module(f"{PACKAGE}.{name}")


def alive() -> Any:
    """Return the extension's `Runtime`."""
    return load_module("app.runtime").runtime


def view() -> tuple[Any, Any, Any]:
    """Return the first window, its 3D view's area and the main region in it."""
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    return window, area, region_of(area, "WINDOW")


def region_of(area: Any, kind: str) -> Any:
    return next(region for region in area.regions if region.type == kind)


def call(operator: Any, *arguments: Any, **options: Any) -> Any:
    """Run an operator as if from the 3D view."""
    window, area, region = view()
    with bpy.context.temp_override(window=window, area=area, region=region):
        return operator(*arguments, **options)


# ---------------------------------------------------------------- events


def event(kind: str, value: str = "PRESS", dx: int = 0, dy: int = 0, **options: Any) -> None:
    """Send an event to the 3D view, at a third of its width."""
    window, _, region = view()
    window.event_simulate(
        type=kind,
        value=value,
        x=region.x + region.width // 3 + dx,
        y=region.y + region.height // 2 + dy,
        **options,
    )


def tap(kind: str, **options: Any) -> None:
    event(kind, "PRESS", **options)
    event(kind, "RELEASE", **{name: value for name, value in options.items() if name != "unicode"})


def choose(menu: str, letter: str) -> Scenario:
    """Open a menu and press the letter of an entry."""
    call(bpy.ops.wm.call_menu, name=menu)
    yield 0.2
    tap(letter, unicode=letter.lower())
    yield 0.2


def click(operator: str, at: int | None = None) -> Scenario:
    """Find the button of an operator, such as 'motion_matching.start', in the sidebar, and click
    it.

    For narrow buttons, `at` is their distance from the left in pixels.
    """
    dx = 0 if at is None else at - region_of(view()[1], "UI").width // 3
    command = bpy.ops.ui.copy_python_command_button
    y = yield from find_in_sidebar(
        operator, lambda: _read_button(command).startswith(f"bpy.ops.{operator}("), dx
    )
    send_to_sidebar(y, "LEFTMOUSE", "PRESS", dx)
    yield 0.0
    send_to_sidebar(y, "LEFTMOUSE", "RELEASE", dx)
    yield 0.0


def choose_option(path: str, letter: str) -> Scenario:
    """Find a menu, such as 'motion_matching.play.mode', in the sidebar, and choose by a letter."""
    y, field = yield from _find_field(path)
    send_to_sidebar(y, "LEFTMOUSE", "PRESS", dx=field)
    yield 0.0
    send_to_sidebar(y, "LEFTMOUSE", "RELEASE", dx=field)
    yield 0.3
    for value in ("PRESS", "RELEASE"):
        send_to_sidebar(y, letter, value, dx=field)
    yield 0.3


def _find_field(path: str) -> Iterator[float]:
    """Find a property in the sidebar; return its height, and how far beside its label it is."""
    field = region_of(view()[1], "UI").width // 3
    y = yield from find_in_sidebar(
        path, lambda: _read_button(bpy.ops.ui.copy_data_path_button) == path, field
    )
    return y, field


def drag(path: str, by: int) -> Scenario:
    """Find a number field, such as 'motion_matching.speed', in the sidebar, and drag it by `by`
    pixels.
    """
    y, field = yield from _find_field(path)
    send_to_sidebar(y, "LEFTMOUSE", "PRESS", dx=field)
    for step in range(1, 6):  # a drag starts only after the mouse has moved a little
        yield 0.0
        send_to_sidebar(y, dx=field + by * step // 5)
    yield 0.0
    send_to_sidebar(y, "LEFTMOUSE", "RELEASE", dx=field + by)
    yield 0.0


def send_to_sidebar(y: int, kind: str = "MOUSEMOVE", value: str = "NOTHING", dx: int = 0) -> None:
    """Send an event to the sidebar, at a height of the window and a third of its width."""
    window, area, _ = view()
    sidebar = region_of(area, "UI")
    window.event_simulate(type=kind, value=value, x=sidebar.x + sidebar.width // 3 + dx, y=y)


def scroll_sidebar(notches: int) -> None:
    """Scroll the sidebar down, or up; at its margin, where no list takes the scrolling, and at its
    top: where it is empty, the view behind it would take it.
    """
    sidebar = region_of(view()[1], "UI")
    for _ in range(abs(notches)):
        send_to_sidebar(
            sidebar.y + sidebar.height - 24,
            "WHEELDOWNMOUSE" if notches > 0 else "WHEELUPMOUSE",
            "PRESS",
            dx=4 - sidebar.width // 3,
        )


def find_in_sidebar(what: str, is_below: Callable[[], bool], dx: int = 0) -> Iterator[float]:
    """Move the mouse down the sidebar, scrolling if needed, until `is_below()`; return its height."""
    sidebar = region_of(view()[1], "UI")
    scroll_sidebar(-30)
    yield from redrawn("UI")
    for _ in range(10):
        for y in range(sidebar.y + sidebar.height - 6, sidebar.y, -14):  # rows are 20 high
            send_to_sidebar(y, dx=dx)
            yield 0.0
            yield 0.0
            if is_below():
                return y
        scroll_sidebar(10)
        yield from redrawn("UI")
    raise AssertionError(f"the sidebar has no {what}")


def _read_button(operator: Any) -> str:
    """Return what Blender copies from the button below the mouse."""
    window, area, _ = view()
    with bpy.context.temp_override(window=window, area=area, region=region_of(area, "UI")):
        if not operator.poll():
            return ""
        operator()
    return str(bpy.context.window_manager.clipboard)


# ---------------------------------------------------------------- waiting


def until(condition: Callable[[], Any], limit: float = 90.0) -> Scenario:
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, f"it takes too long; {describe_work()}"
        yield 0.05


def describe_work() -> str:
    """Return what runs and whether the active object can be performed with, for a failure."""
    running = [operator.bl_idname for operator in view()[0].modal_operators]
    start = call(bpy.ops.motion_matching.start.poll)
    return f"running {running}, progress {alive().progress}, active {bpy.context.object}, {start=}"


def redrawn(kind: str = "WINDOW") -> Scenario:
    """Wait until a region of the 3D view is redrawn."""
    before = drawn[kind]
    region_of(view()[1], kind).tag_redraw()
    yield from until(lambda: drawn[kind] > before)


def take_screenshot() -> Iterator[float]:
    """Wait until the 3D view is redrawn; return its colours (H, W, 4)."""
    shots: list[Any] = []

    def note() -> None:
        region = bpy.context.region
        colors = gpu.state.active_framebuffer_get().read_color(
            0, 0, region.width, region.height, 4, 0, "UBYTE"
        )
        colors.dimensions = region.height * region.width * 4  # Blender 4 mixes up rows and columns
        shots.append(np.array(colors, np.int16).reshape(region.height, region.width, 4))

    handle = bpy.types.SpaceView3D.draw_handler_add(note, (), "WINDOW", "POST_PIXEL")
    try:
        yield from redrawn()
        yield from until(lambda: shots)
    finally:
        bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")
    return shots[-1]


def worked() -> Scenario:
    """Wait until the operator that is running has finished."""
    yield 0.1
    yield from until(lambda: not alive().progress)


def count_ticks(live: Any) -> int:
    return len(live.session._history.intents)


def ticked(live: Any, count: int) -> Scenario:
    """Wait for a number of ticks. Not for seconds: machines draw at different speeds."""
    start = count_ticks(live)
    yield from until(lambda: count_ticks(live) >= start + count or alive().live is not live)


# ---------------------------------------------------------------- a session


def find_motion_capture() -> tuple[Path, list[Path]]:
    """Return a folder of BVH and its files: real recordings if available, else generated clips."""
    real = Path(os.environ.get("MOTION_MATCHING_MOCAP", "")) / "bandai-namco"
    if os.environ.get("MOTION_MATCHING_MOCAP") and real.is_dir():
        names = ("walk", "walk-turn-left", "walk-turn-right", "run")
        return real, [real / f"dataset-2_{name}_normal_001.bvh" for name in names]
    bvh, demo_clips = load_module("engine.bvh.bvh"), load_module("engine.building.demo_clips")
    folder = FOLDER / "clips"
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for clip in demo_clips.load_demo_clips()[:8]:
        files.append(folder / f"{clip.name}.bvh")
        bvh.save(clip, files[-1])
    return folder, files


def find_browser() -> tuple[Any, Any] | None:
    """Return the window and the area of the open file browser, if there is one."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "FILE_BROWSER":
                return window, area
    return None


def select_files(folder: Path, file: Path, count: Callable[[str], None] = print) -> Scenario:
    """Go to a folder in the file browser that is opening, and select all that it lists.

    `count` is told what a user would do for it.
    """
    yield from until(find_browser)
    window, area = find_browser()
    yield from until(lambda: area.spaces.active.params)
    area.spaces.active.params.directory = os.fsencode(folder)
    count("the path of the folder")
    yield 1.0
    with bpy.context.temp_override(window=window, area=area):
        area.spaces.active.activate_file_by_relative_path(relative_path=file.name)
    count("a file")
    region = region_of(area, "WINDOW")
    x, y = region.x + region.width // 2, region.y + region.height // 2
    for value in ("PRESS", "RELEASE"):
        window.event_simulate(type="A", value=value, x=x, y=y)
    yield 0.5
    count("all files")


def confirm_files() -> None:
    """Press the file browser's button."""
    window, area = find_browser()
    with bpy.context.temp_override(window=window, area=area, region=region_of(area, "WINDOW")):
        bpy.ops.file.execute("INVOKE_DEFAULT")


def empty_file(*panels: str) -> Scenario:
    """Enable the extension in an empty file, with the sidebar's tab open and only these panels in
    it; with *Advanced* if any of them needs it.
    """
    bpy.ops.preferences.addon_enable(module=PACKAGE)
    if panels:
        _open_panels({f"MOTION_MATCHING_PT_{name}" for name in panels})
        advanced = load_module("ui.base.panel_base").AdvancedPanel
        bpy.context.preferences.addons[PACKAGE].preferences.show_advanced = any(
            issubclass(getattr(bpy.types, f"MOTION_MATCHING_PT_{name}"), advanced)
            for name in panels
        )
    _watch_events()
    _, area, _ = view()
    area.spaces.active.show_region_ui = True
    bpy.context.preferences.system.viewport_aa = "OFF"
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    yield from redrawn("UI")
    region_of(area, "UI").active_panel_category = "Motion"
    yield from redrawn("UI")


def _open_panels(names: set[str]) -> None:
    """Open these panels when they are first drawn, and close all others."""
    panels = [cls for cls in load_module("ui.classes").ALL if issubclass(cls, bpy.types.Panel)]
    for cls in reversed(panels):
        bpy.utils.unregister_class(cls)
    for cls in panels:
        if "HIDE_HEADER" not in getattr(cls, "bl_options", ()):
            cls.bl_options = set() if cls.__name__ in names else {"DEFAULT_CLOSED"}
        bpy.utils.register_class(cls)


def create_performer() -> Scenario:
    """Add the demo performer to an otherwise empty file, and look at it from nearby."""
    yield from empty_file()
    call(bpy.ops.motion_matching.add_demo_performer, "INVOKE_DEFAULT")
    yield from worked()
    look_at_performer()
    yield from redrawn()


def look_at_performer() -> None:
    seen = view()[1].spaces.active.region_3d
    seen.view_distance, seen.view_location = 6.5, (0.0, 0.0, 0.8)
    event("MOUSEMOVE", "NOTHING")


def started() -> Iterator[float]:
    """Start with the shortcut, wait for some ticks, and return the session."""
    assert alive().live is None
    for _ in range(2):  # a window on a loaded machine may lose a key
        event("MOUSEMOVE", "NOTHING")
        tap("M", ctrl=True, alt=True)
        end = time.monotonic() + 10.0
        while not alive().live and time.monotonic() < end:
            yield 0.05
        if alive().live or view()[0].modal_operators:
            break
    yield from until(lambda: alive().live)
    live = alive().live
    yield from ticked(live, 10)
    return live


def recorded(live: Any, count: int) -> Scenario:
    """Start a recording with its key, and wait for ticks of it."""
    tap("SPACE", unicode=" ")
    yield from until(lambda: live.session.is_recording)
    yield from ticked(live, count)


def read_traces() -> dict[str, Any]:
    """Return what is registered in Blender that a session might leave behind."""
    found = watching["traces"]()
    kept = {kind: set(found[kind]) for kind in KEPT_CLEAN}
    # panels refresh databases and rigs a little after changes
    panels = {
        str(load_module("app.database.status")._refresh_stale),
        str(load_module("app.character.rig_status")._refresh_pending),
    }
    return {**kept, "timers": kept["timers"] - panels}


def check_left_nothing(live: Any, before: dict[str, Any]) -> Scenario:
    """Wait until a session has ended, and check that nothing of it is left."""
    yield from until(lambda: alive().live is None)
    assert not live.session.is_running
    assert not live.session.is_recording
    yield 0.3
    for _ in range(20):  # panels refresh a moment later
        if not (left := watching["differences"](before, read_traces())):
            break
        yield 0.1
    assert not left, left
    assert not alive().window_timers


def _watch_events() -> None:
    """Note the events that reach the live operator, and redraws."""
    operator = load_module("ui.play.operators").MOTION_MATCHING_OT_start
    modal = operator.modal

    def note_event(self: Any, context: Any, event: Any) -> Any:
        if event.type != "TIMER":
            heard.append((event.type, event.value))
        return modal(self, context, event)

    operator.modal = note_event
    for kind in ("WINDOW", "UI"):
        bpy.types.SpaceView3D.draw_handler_add(_note_drawing, (kind,), kind, "POST_PIXEL")


def _note_drawing(kind: str) -> None:
    drawn[kind] += 1


# ---------------------------------------------------------------- playing


def run(scenario: Callable[[], Scenario], needs_keys: bool = True) -> None:
    """Play a scenario, and exit Blender with 0, or with 3 after a failure or if no key arrived."""
    steps = scenario()

    def step() -> float:
        code = 3
        try:
            try:
                return next(steps)
            except StopIteration:
                if needs_keys:
                    check_keys_arrived()
                print("played to its end")
                load_module("registration").unregister()
                code = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

    bpy.app.timers.register(step, first_interval=1.0, persistent=True)


def check_keys_arrived() -> None:
    keys = {kind for kind, _ in heard if len(kind) == 1 or kind in ("SPACE", "ESC")}
    assert keys, "no key reached the live operator"
