"""Panels drawn without a window, into a stand-in for the layout that only a window has."""

from __future__ import annotations

import types
from typing import Any

import bpy

from motion_matching.ui import classes


class Layout:
    """Takes what panels draw, refuses what Blender would, and draws the rows of lists."""

    def __getattr__(self, name: str) -> Any:
        def add(*given: Any, **options: Any) -> Any:
            for value in (*given, *options.values()):
                if isinstance(value, str):
                    value.encode("utf-8")
            if name in ("prop", "prop_search"):
                assert given[1] in given[0].bl_rna.properties, given[1]
            if name == "template_list":
                _draw_rows(*given[:4])
            return Button(given[0]) if name == "operator" else Layout()

        return add


class Button:
    """The options of a button, which the operator must have."""

    def __init__(self, operator: str) -> None:
        module, _, name = operator.partition(".")
        options = getattr(getattr(bpy.ops, module), name).get_rna_type().properties
        object.__setattr__(self, "_options", options)

    def __setattr__(self, name: str, value: Any) -> None:
        option = self._options[name]
        if isinstance(value, str):
            value.encode("utf-8")
        if option.type == "ENUM":
            assert value in option.enum_items, (name, value)


class RecordingLayout(Layout):
    """A layout that keeps the texts of what is drawn into it, and the operators of its buttons."""

    def __init__(self):
        self.texts, self.operators = [], []

    def __getattr__(self, name):
        add = super().__getattr__(name)

        def keep(*given, **options):
            self.texts.append(options.get("text", ""))
            if name == "operator":
                self.operators.append(given[0])
            drawn = add(*given, **options)
            return drawn if isinstance(drawn, Button) else self

        return keep


def _draw_rows(kind: str, _: str, owner: Any, items: str) -> None:
    draw = getattr(bpy.types, kind).draw_row
    for item in getattr(owner, items):
        draw(None, Layout(), item)


class _Drawn:
    """A panel as its own methods see it."""

    def __init__(self, panel: type) -> None:
        self._panel, self.layout = panel, Layout()

    @property
    def __class__(self) -> type:  # which `super` asks
        return self._panel

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._panel, name)
        is_method = isinstance(value, types.FunctionType)
        return types.MethodType(value, self) if is_method else value


def override_region() -> Any:
    """Return a context as panels in the sidebar have it."""
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "UI")
    return bpy.context.temp_override(window=window, area=area, region=region)


def draw_panels() -> int:
    """Draw all panels that are shown, with their headers; return how many."""
    count = 0
    with override_region():
        for panel in classes.ALL:
            is_panel = issubclass(panel, bpy.types.Panel)
            if not is_panel or (hasattr(panel, "poll") and not panel.poll(bpy.context)):
                continue
            drawn = _Drawn(panel)
            for name in ("draw_header", "draw_header_preset", "draw"):
                if hasattr(panel, name):
                    getattr(drawn, name)(bpy.context)
            count += 1
    return count
