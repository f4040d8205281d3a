"""Preferences of the extension: devices that steer, overlays, colours, and the library."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import bpy

from .. import app, live
from ..app.live.leaders import LEADERS
from ..app.preferences import ROOT, TICK_BUDGET, get_preferences
from ..engine.errors import DatabaseError, SettingsError
from . import keymaps
from .base import colors
from .base.function_operators import operator
from .base.operator_base import IDLE, Operator
from .base.typed_properties import annotate, choice, declare, number, switch, text
from .play import layers

STEER = "motion_matching.steer"
START = "motion_matching.start"
# by action: its label, its keys as Blender's events name them, and its button as SDL names it
ACTIONS = {
    "ahead": ("Ahead", "W, UP_ARROW", ""),
    "back": ("Back", "S, DOWN_ARROW", ""),
    "left": ("Left", "A, LEFT_ARROW", ""),
    "right": ("Right", "D, RIGHT_ARROW", ""),
    "run": ("Run", "R", "rightshoulder"),
    "strafe": ("Keep Facing", "F", "leftshoulder"),
    "push": ("Push", "E", "x"),
    "tag": ("Next Tag", "C", "y"),
    "record": ("Record", "SPACE", "start"),
}
BUTTONS = [
    ("a", "A", "The lowest of the four, a cross on some pads"),
    ("b", "B", "The right one of the four, a circle on some pads"),
    ("x", "X", "The left one of the four, a square on some pads"),
    ("y", "Y", "The top one of the four, a triangle on some pads"),
    ("leftshoulder", "Left Shoulder", "The button above the left trigger"),
    ("rightshoulder", "Right Shoulder", "The button above the right trigger"),
    ("back", "Back", "The small one left of the middle"),
    ("start", "Start", "The small one right of the middle"),
    ("leftstick", "Left Stick", "Pressing the left stick"),
    ("rightstick", "Right Stick", "Pressing the right stick"),
    ("dpup", "Pad Up", "Up on the directional pad"),
    ("dpdown", "Pad Down", "Down on the directional pad"),
    ("dpleft", "Pad Left", "Left on the directional pad"),
    ("dpright", "Pad Right", "Right on the directional pad"),
]
_HERE = "in the preferences of the extension"
# events that are not keys, or that move the view
_NO_KEY = re.compile(
    "NONE|TIMER|MOUSE|LEFTMOUSE|MIDDLEMOUSE|RIGHTMOUSE|PEN|ERASER|INBETWEEN|EVT_|WHEEL|TRACKPAD|"
    "WINDOW_|ACTIONZONE|XR_|TEXTINPUT|NDOF_MOTION"
)
_RESPONSE: Any = {"min": 0.1, "max": 10.0, "soft_min": 0.5, "soft_max": 3.0, "subtype": "FACTOR"}
_BUDGET: Any = {"min": 1e-5, "max": 10.0, "soft_min": 0.001, "soft_max": 0.05}
_LOCATION_HELP = "Folder of the databases"
_FOLDER_HELP = "Another folder for databases; empty for one in Blender's user folder"
_HOLD = "while the key or button is held, instead of until it is pressed again"
_KEY_HELP = (
    "Default keys, by Blender's names, separated by commas, such as W, UP_ARROW or LEFT_SHIFT. "
    "Keys set in the preferences replace them"
)


def _key(action: str) -> str:
    name, default, _ = ACTIONS[action]
    return text(default, name, _KEY_HELP, update=lambda preferences, context: create_keys())


def _button(action: str) -> str:
    name, _, default = ACTIONS[action]
    return choice(default, f"{name} Button", "Gamepad button of this command", BUTTONS)


def _get_location(preferences: Any) -> str:
    try:
        return str(app.database.library.get_folder())
    except DatabaseError as error:
        return str(error)


@annotate
@declare(
    **{f"key_{action}": _key(action) for action in ACTIONS},
    **{f"pad_{action}": _button(action) for action, (_, _, button) in ACTIONS.items() if button},
)
class MotionMatchingPreferences(layers.Layers, colors.Palettes, bpy.types.AddonPreferences):
    """Disk space for databases, and the devices that steer a character"""

    bl_idname = ROOT

    show_advanced: bool = switch(
        False,
        "Advanced",
        "Also show panels and settings that are rarely changed. Changed ones are always shown",
        update=lambda preferences, context: app.callbacks.redraw(),
    )
    limit: float = number(
        4.0,
        "Cache Limit (GB)",
        "Disk space for databases and trained motion fields. Beyond it, the least recently used "
        "files are deleted, and built again when needed",
        min=0.05,
        soft_max=100.0,
        precision=1,
    )
    location: str = text("", "Location", _LOCATION_HELP, get=_get_location)
    folder: str = text("", "Folder", _FOLDER_HELP, subtype="DIR_PATH")
    submit_command: str = text(
        "",
        "Submit Command",
        "Program and arguments that submit a job of the panel Batch, without a shell. {job} is its "
        "folder, as in: deadline bundle submit {job}",
    )

    use_gamepad: bool = switch(
        True,
        "Gamepad",
        "Steer with gamepads as well as with the keyboard; a tilted stick comes before keys",
    )
    dead_zone: float = number(
        0.15,
        "Dead Zone",
        "Part of a stick's travel that counts as released; raise it for a drifting stick",
        min=0.0,
        max=0.85,
        soft_max=0.5,
        subtype="FACTOR",
    )
    curve: float = number(
        1.5,
        "Response",
        "Exponent of a stick's travel; higher: finer control of slow movement",
        **_RESPONSE,
    )
    hold_run: bool = switch(False, "Hold to Run", f"Run {_HOLD}")
    hold_strafe: bool = switch(False, "Hold to Keep Facing", f"Keep facing {_HOLD}")
    tick_budget: float = number(
        TICK_BUDGET,
        "Tick Budget",
        "Time of a tick at which view and panel warn; higher: warns later",
        precision=3,
        step=0.1,
        subtype="TIME_ABSOLUTE",
        unit="TIME_ABSOLUTE",
        **_BUDGET,
    )

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        self.layout.column(heading="Panels").prop(self, "show_advanced")
        self._draw_devices(self.layout.column(heading="Steering"))
        column = self.layout.column(heading="New Characters Show")
        for name in (*layers.PROPERTIES, "tick_budget"):
            column.prop(self, name)
        column = self.layout.column()
        background = colors.find_background()
        keymaps.draw_label(column, "Colors")  # Blender draws headings only before switches
        for role in colors.ROLES:
            column.prop(self, f"{background}_{role}")
        column = self.layout.column()
        keymaps.draw_label(column, "Databases")
        column.prop(self, "limit")
        column.prop(self, "location")
        row = column.row()
        row.separator()
        row.operator("motion_matching.move_databases", icon="FILE_FOLDER")
        if self.folder:
            row.operator("motion_matching.move_databases_back", icon="LOOP_BACK")
        row.operator("motion_matching.clear_cache", icon="TRASH")
        column = self.layout.column()
        keymaps.draw_label(column, "Farm")
        column.prop(self, "submit_command")

    def _draw_devices(self, column: bpy.types.UILayout) -> None:
        column.prop(self, "use_gamepad")
        sticks = column.column()
        sticks.active = self.use_gamepad
        sticks.prop(self, "dead_zone", slider=True)
        sticks.prop(self, "curve")
        column.prop(self, "hold_run")
        column.prop(self, "hold_strafe")
        keymaps.draw_shortcuts(column, START)
        self._draw_keys(column.column(align=True))
        keymaps.draw_label(column, "").operator("motion_matching.restore_keys", icon="LOOP_BACK")
        if wrong := find_problem():
            column.label(text=wrong, icon="ERROR")

    def _draw_keys(self, column: bpy.types.UILayout) -> None:
        """Draw, for each action, buttons that take the next key pressed, and its gamepad button."""
        items: dict[str, list[Any]] = {}
        for item in keymaps.iterate_items(STEER):
            items.setdefault(item.properties.action, []).append(item)
        for action, (label, _, button) in ACTIONS.items():
            row = keymaps.draw_label(column, label)
            for item in items.get(action, ()):
                keymaps.draw_key(row, item)
            keymaps.draw_add(row, action)
            if button:
                pad = row.row(align=True)
                pad.active = self.use_gamepad
                pad.prop(self, f"pad_{action}", text="")


class MOTION_MATCHING_OT_add_key(Operator, bpy.types.Operator):
    """Add another key for this: click the new field, then press the key"""

    bl_options = set()
    requires = IDLE

    action: str = text("", "Action", "What the key does while live; empty: Start")

    def run(self, context: bpy.types.Context) -> None:
        if self.action and self.action not in ACTIONS:
            known = ", ".join(ACTIONS)
            raise SettingsError(f"There is no action '{self.action}'; known ones are {known}.")
        if self.action:
            keymaps.add_key(STEER, self.action)
        else:
            keymaps.add_shortcut(START)
        context.preferences.is_dirty = True


@operator(requires=IDLE, options=set())
def restore_keys(context: bpy.types.Context) -> None:
    """Restore the default keys of live sessions and the default shortcut of Start"""
    keymaps.restore_keys(START)
    context.preferences.is_dirty = True


def create_devices() -> tuple[
    live.inputs.devices.keyboard.Keyboard, tuple[live.inputs.devices.devices.Device, ...]
]:
    """Create the keyboard and the other devices. SettingsError for unknown or doubled keys."""
    settings = get_preferences()
    hold = tuple[str, ...]()
    if settings:
        hold = tuple(name for name in ("run", "strafe") if getattr(settings, f"hold_{name}"))
    keyboard = live.inputs.devices.keyboard.Keyboard(_read_keys(), hold)
    others: list[live.inputs.devices.devices.Device] = []
    if not settings or settings.use_gamepad:
        gamepad = live.inputs.devices.gamepad.Gamepad(_read_buttons(), hold)
        if settings:
            gamepad.response = settings.dead_zone, settings.curve
        others.append(gamepad)
    return keyboard, tuple(others)


def find_problem() -> str:
    """Return what is wrong with keys and buttons in a sentence, or an empty string."""
    settings = get_preferences()
    try:
        _read_keys()
        if not settings or settings.use_gamepad:
            _read_buttons()
    except SettingsError as error:
        return str(error)
    return ""


def _read_keys() -> dict[str, list[str]]:
    """Return the keys of each action. SettingsError if reserved, or with two tasks."""
    keys = _get_keys()
    for action, names in keys.items():
        label = ACTIONS[action][0]
        for name in names:
            if _NO_KEY.match(name):
                problem = f"There is no key '{name}' for '{label}'"
                raise SettingsError(f"{problem}; press one of the keyboard {_HERE}.")
            if name == "ESC":
                problem = f"The key ESC cannot do '{label}': it stops the session"
                raise SettingsError(f"{problem}; choose another {_HERE}.")
    _check_tasks("key", keys)
    return keys


def _read_buttons() -> dict[str, str]:
    """Return the button of each action that can have one. SettingsError for one with two tasks."""
    settings = get_preferences()
    labels = {name: label for name, label, _ in BUTTONS}
    buttons = {
        action: getattr(settings, f"pad_{action}") if settings else button
        for action, (_, _, button) in ACTIONS.items()
        if button
    }
    _check_tasks("button", {action: [labels[button]] for action, button in buttons.items()})
    return buttons


def _check_tasks(what: str, given: Mapping[str, Sequence[str]]) -> None:
    tasks: dict[str, str] = {}
    for action, names in given.items():
        label = ACTIONS[action][0]
        for name in names:
            if tasks.get(name) == label:
                problem = f"is assigned twice to '{label}'; remove one"
                raise SettingsError(f"The {what} {name} {problem} {_HERE}.")
            if name in tasks:
                problem = f"is used for both '{tasks[name]}' and '{label}'; choose another for"
                raise SettingsError(f"The {what} {name} {problem} one of them {_HERE}.")
            tasks[name] = label


def create_keys() -> None:
    """Create the keymap from the default keys, or from the text stored by older versions."""
    keymaps.write_keys(STEER, _get_default_keys())


def _get_keys() -> dict[str, list[str]]:
    return keymaps.read_keys(STEER, tuple(ACTIONS)) or _get_default_keys()


def _get_default_keys() -> dict[str, list[str]]:
    settings = get_preferences()
    texts = {action: keys for action, (_, keys, _) in ACTIONS.items()}
    if settings:
        texts = {action: getattr(settings, f"key_{action}") for action in ACTIONS}
    return {
        action: [name.strip().upper() for name in keys.split(",") if name.strip()]
        for action, keys in texts.items()
    }


def describe_keys(steer: str = "devices", *, with_start: bool = False) -> str:
    """Describe in a line which keys work with what steers, and maybe the shortcut that starts."""
    shortcut = keymaps.get_shortcut(START) if with_start else ""
    starts = f"{shortcut}: start,  " if shortcut else ""
    return starts + _format_keys(steer, *map(tuple, _get_keys().values()))


@cache
def _format_keys(steer: str, *keys: tuple[str, ...]) -> str:
    """Return the line for the keys of each action; panels show it at every redraw."""
    first = {
        action: (names or ("-",))[0].replace("_", " ").title()
        for action, names in zip(ACTIONS, keys, strict=True)
    }
    commands = f"{first['tag']}: next tag,  {first['record']}: record,  Esc: stop"
    if steer in LEADERS:  # which lead the character, not keys
        return f"{LEADERS[steer].keys}{commands}"
    directions = " ".join(first[action] for action in ("ahead", "left", "back", "right"))
    return (
        f"{directions}: steer,  {first['run']}: run,  {first['strafe']}: keep facing,  "
        f"{first['push']}: push,  {commands}"
    )
