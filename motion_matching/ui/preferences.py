"""Preferences of the extension: the library of databases with the limit that they set, and the devices that steer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from ..engine.errors import SettingsError
from . import layers

if TYPE_CHECKING:
    from ..live.inputs.gamepad import Gamepad
    from ..live.inputs.keyboard import Keyboard
    from ..scene.library import Library

ROOT = __package__.rpartition(".")[0]
_GIGABYTE = 1024**3
TICK_BUDGET = 0.01  # seconds


# by action: what it is called, the keys that it has, as Blender's events name them, and the button, as SDL does
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
    ("a", "A", "The lower one of four, a cross on some pads"),
    ("b", "B", "The right one of four, a circle on some pads"),
    ("x", "X", "The left one of four, a square on some pads"),
    ("y", "Y", "The upper one of four, a triangle on some pads"),
    ("leftshoulder", "Left Shoulder", "The button above the left trigger"),
    ("rightshoulder", "Right Shoulder", "The button above the right trigger"),
    ("back", "Back", "The small one to the left of the middle"),
    ("start", "Start", "The small one to the right of it"),
    ("leftstick", "Left Stick", "Pressing the left stick"),
    ("rightstick", "Right Stick", "Pressing the right stick"),
    ("dpup", "Pad Up", "Up on the directional pad"),
    ("dpdown", "Pad Down", "Down on the directional pad"),
    ("dpleft", "Pad Left", "Left on the directional pad"),
    ("dpright", "Pad Right", "Right on the directional pad"),
]
_HERE = "in the preferences of the extension"
# events that are no keys, or that move the view
_NO_KEYS = (
    "NONE",
    "TIMER",
    "MOUSE",
    "LEFTMOUSE",
    "MIDDLEMOUSE",
    "RIGHTMOUSE",
    "PEN",
    "ERASER",
    "INBETWEEN",
    "EVT_",
    "WHEEL",
    "TRACKPAD",
    "WINDOW_",
    "ACTIONZONE",
    "XR_",
    "TEXTINPUT",
    "NDOF_MOTION",
)


def _keys(action: str) -> Any:
    name, default, _ = ACTIONS[action]
    return StringProperty(
        name=name,
        default=default,
        description="Keys that do this, by Blender's names and separated by commas, such as "
        "W, UP_ARROW or LEFT_SHIFT",
    )


def _button(action: str) -> Any:
    name, _, default = ACTIONS[action]
    return EnumProperty(
        name=f"{name} Button",
        default=default,
        items=BUTTONS,
        description="Button of the gamepad that does this",
    )


def _location(preferences: Any) -> str:
    from ..scene import library

    return str(library.folder())


class MotionMatchingPreferences(bpy.types.AddonPreferences):
    """How much room databases may take, and what steers a character"""

    bl_idname = ROOT

    limit: FloatProperty(
        name="Cache Limit (GB)",
        default=4.0,
        min=0.05,
        soft_max=100.0,
        precision=1,
        description="Room on the disk for databases and what is trained on them; beyond it what was used longest ago is "
        "deleted, and databases are built again when they are needed",
    )
    location: StringProperty(
        name="Location",
        get=_location,
        description="Folder of the databases, which can be built again at any time",
    )

    use_gamepad: BoolProperty(
        name="Gamepad",
        default=True,
        description="Let gamepads steer beside the keyboard; the one touched last does",
    )
    dead_zone: FloatProperty(
        name="Dead Zone",
        default=0.15,
        min=0.0,
        max=0.85,
        soft_max=0.5,
        subtype="FACTOR",
        description="Part of a stick's way in which it counts as released; higher where it drifts on its own",
    )
    curve: FloatProperty(
        name="Response",
        default=1.5,
        min=0.1,
        max=10.0,
        soft_min=0.5,
        soft_max=3.0,
        subtype="FACTOR",
        description="Power of a stick's way; higher: finer control of slow movement",
    )
    hold_run: BoolProperty(
        name="Hold to Run",
        default=False,
        description="Run while the key or button is held, rather than until the next press",
    )
    hold_strafe: BoolProperty(
        name="Hold to Keep Facing",
        default=False,
        description="Keep facing while the key or button is held, rather than until the next press",
    )
    key_ahead: _keys("ahead")
    key_back: _keys("back")
    key_left: _keys("left")
    key_right: _keys("right")
    key_run: _keys("run")
    key_strafe: _keys("strafe")
    key_push: _keys("push")
    key_tag: _keys("tag")
    key_record: _keys("record")
    pad_run: _button("run")
    pad_strafe: _button("strafe")
    pad_push: _button("push")
    pad_tag: _button("tag")
    pad_record: _button("record")

    show_paths: layers.toggle("paths")
    show_object: layers.toggle("object")
    show_ground: layers.toggle("ground")
    show_contacts: layers.toggle("contacts")
    show_recording: layers.toggle("recording")
    show_warnings: layers.toggle("warnings")
    show_map: layers.toggle("map")
    show_ghosts: layers.toggle("ghosts")
    show_text: layers.toggle("text")
    tick_budget: FloatProperty(
        name="Tick Budget",
        default=TICK_BUDGET,
        min=1e-5,
        max=10.0,
        soft_min=0.001,
        soft_max=0.05,
        precision=3,
        step=0.1,
        subtype="TIME_ABSOLUTE",
        unit="TIME_ABSOLUTE",
        description="Time that a tick may take before the view and the panel warn of it; higher warns later",
    )

    def draw(self, context: bpy.types.Context) -> None:
        self._draw_devices(self.layout.column(heading="Steering"))
        self._draw_layers(self.layout.column(heading="New Characters Show"))
        column = self.layout.column(heading="Databases")
        column.use_property_split = True
        column.prop(self, "limit")
        column.prop(self, "location")
        row = column.row()
        row.separator()
        row.operator("motion_matching.clear_cache", icon="TRASH")

    def _draw_devices(self, column: bpy.types.UILayout) -> None:
        column.use_property_split = True
        column.prop(self, "use_gamepad")
        sticks = column.column()
        sticks.active = self.use_gamepad
        sticks.prop(self, "dead_zone", slider=True)
        sticks.prop(self, "curve")
        column.prop(self, "hold_run")
        column.prop(self, "hold_strafe")
        keys = column.column(align=True)
        for action, (_, _, button) in ACTIONS.items():
            row = keys.row(align=True)
            row.prop(self, f"key_{action}")
            if button:
                pad = row.row(align=True)
                pad.active = self.use_gamepad
                pad.prop(self, f"pad_{action}", text="")
        wrong = problem()
        if wrong:
            column.label(text=wrong, icon="ERROR")

    def _draw_layers(self, column: bpy.types.UILayout) -> None:
        column.use_property_split = True
        for name in layers.PROPERTIES:
            column.prop(self, name)
        column.prop(self, "tick_budget")


def chosen() -> Any:
    """The preferences, or None where the package is no extension that is enabled."""
    addon: Any = bpy.context.preferences.addons.get(ROOT)
    return addon.preferences if addon else None


def devices() -> tuple[Keyboard, Gamepad | None]:
    """What steers, as the preferences say. SettingsError where they name a key that there is not, or give one two tasks."""
    from ..live.inputs.gamepad import Gamepad, PadSettings
    from ..live.inputs.keyboard import Keyboard

    settings = chosen()
    hold = tuple(
        action for action in ("run", "strafe") if settings and getattr(settings, f"hold_{action}")
    )
    keyboard = Keyboard(_checked_keys(), hold)
    if settings and not settings.use_gamepad:
        return keyboard, None
    pad = PadSettings(buttons=_checked_buttons(), hold=hold)
    return keyboard, Gamepad(
        replace(pad, dead_zone=settings.dead_zone, curve=settings.curve) if settings else pad
    )


def problem() -> str:
    """What is wrong with keys and buttons, in a sentence, or nothing."""
    settings = chosen()
    try:
        _checked_keys()
        if not settings or settings.use_gamepad:
            _checked_buttons()
    except SettingsError as error:
        return str(error)
    return ""


def _checked_keys() -> dict[str, list[str]]:
    """The keys of each action. SettingsError where one is none, is the session's own, or has two tasks."""
    known = bpy.types.Event.bl_rna.properties["type"].enum_items
    keys = {action: _names(action) for action in ACTIONS}
    for action, names in keys.items():
        label = ACTIONS[action][0]
        for name in names:
            if name not in known or name.startswith(_NO_KEYS):
                raise SettingsError(
                    f"There is no key '{name}' for '{label}'; write one such as W, UP_ARROW or LEFT_SHIFT "
                    f"{_HERE}."
                )
            if name == "ESC":
                raise SettingsError(
                    f"The key ESC cannot do '{label}', as it stops the session; choose another {_HERE}."
                )
    _check_tasks("key", keys)
    return keys


def _checked_buttons() -> dict[str, str]:
    """The button of each action that can have one. SettingsError where one has two tasks."""
    settings, labels = chosen(), {name: label for name, label, _ in BUTTONS}
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
        for name in names:
            label = ACTIONS[action][0]
            if tasks.get(name) == label:
                raise SettingsError(
                    f"The {what} {name} is given twice for '{label}'; take one away {_HERE}."
                )
            if name in tasks:
                raise SettingsError(
                    f"The {what} {name} is to do both '{tasks[name]}' and '{label}'; choose another for one "
                    f"of them {_HERE}."
                )
            tasks[name] = label


def _names(action: str) -> list[str]:
    settings = chosen()
    return _names_in(getattr(settings, f"key_{action}") if settings else ACTIONS[action][1])


def _names_in(text: str) -> list[str]:
    return [name.strip().upper() for name in text.split(",") if name.strip()]


def tick_budget() -> float:
    """Seconds that a tick may take."""
    settings = chosen()
    return settings.tick_budget if settings else TICK_BUDGET


def keys_in_words() -> str:
    """Which keys do what, in a line."""
    settings = chosen()
    return _in_words(
        *(
            getattr(settings, f"key_{action}") if settings else keys
            for action, (_, keys, _) in ACTIONS.items()
        )
    )


@cache
def _in_words(*keys: str) -> str:
    """The line for the keys of each action; panels show it at every redraw."""
    first = {
        action: (_names_in(text) or ["-"])[0].replace("_", " ").title()
        for action, text in zip(ACTIONS, keys, strict=True)
    }
    steer = " ".join(first[action] for action in ("ahead", "left", "back", "right"))
    return (
        f"{steer} steer,  {first['run']} runs,  {first['strafe']} keeps facing,  {first['push']} pushes,  "
        f"{first['tag']} asks for the next tag,  {first['record']} records,  Esc stops"
    )


def library() -> Library:
    """The library of databases, with the limit of the preferences. DatabaseError where it has no folder."""
    from ..scene import library as libraries

    settings = chosen()
    limit = settings.limit * _GIGABYTE if settings else libraries.DEFAULT_LIMIT
    return libraries.shared(round(limit))


CLASSES = (MotionMatchingPreferences,)
