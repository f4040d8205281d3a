"""Hide objects while something else shows a character, and show them again as they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import bpy

from ...engine.files.json_files import expect_list, expect_object, expect_text
from ..blender.animation.actions import find_animated_paths
from ..blender.handle import Handle

_SWITCH = "hide_viewport"  # of what is disabled Blender evaluates nothing


class HiddenObject(NamedTuple):
    """An object that is hidden, and whether it was selected: Blender deselects what is hidden.

    It is disabled in viewports. If animation sets that, it is hidden in a view `layer` of a scene
    instead, which nothing can animate.
    """

    handle: Handle
    selected: bool
    scene: Handle | None = None
    layer: str = ""

    @classmethod
    def from_visible(cls, obj: bpy.types.Object) -> HiddenObject:
        """Return an object of the active view layer as it is before it is hidden."""
        handle = Handle.from_block(obj, "objects")
        selected = obj.select_get()
        if not has_animated_visibility(obj):
            return cls(handle, selected)
        scene = bpy.context.scene
        layer = bpy.context.view_layer
        return cls(handle, selected, Handle.from_block(scene, "scenes"), layer.name)

    def set_hidden(self, hidden: bool) -> None:
        """Hide the object, or show it again, if it is still there."""
        obj = self.handle.find()
        if obj is None:
            return
        if self.scene is None:
            obj.hide_viewport = hidden
            return
        scene = self.scene.find()
        layer = scene.view_layers.get(self.layer) if scene else None
        if layer is not None and obj.name in layer.objects:
            obj.hide_set(hidden, view_layer=layer)

    def to_property(self) -> dict[str, Any]:
        """Return plain data for a custom property."""
        layer = {"scene": self.scene.name, "layer": self.layer} if self.scene else {}
        return {"name": self.handle.name, "selected": self.selected, **layer}


def has_animated_visibility(obj: bpy.types.Object) -> bool:
    """Return whether keys or a driver disable and enable an object in viewports."""
    return _SWITCH in find_animated_paths(obj)


def show_hidden(hidden: Sequence[HiddenObject]) -> None:
    """Show objects again, and restore their selection."""
    for one in hidden:
        one.set_hidden(False)
    for one in hidden:
        if one.selected and one.handle.find() and one.handle.name in bpy.context.view_layer.objects:
            one.handle.find().select_set(True)


def expect_hidden(note: Mapping[str, Any]) -> tuple[HiddenObject, ...]:
    """Return the objects that a saved pose has hidden, as far as they are in the file."""
    listed = expect_list(note.get("hidden", []), "'hidden'")
    return tuple(found for entry in listed if (found := _expect_object(entry)))


def _expect_object(entry: Any) -> HiddenObject | None:
    one = expect_object(entry, "a hidden object", ("name", "selected", "scene", "layer"))
    name = expect_text(one.get("name"), "'name'")
    selected = bool(one.get("selected"))
    obj: bpy.types.Object | None = bpy.data.objects.get(name)
    if obj is None:
        return None
    handle = Handle.from_block(obj, "objects")
    if "scene" not in one:
        return HiddenObject(handle, selected)
    scene_name, layer = (expect_text(one.get(key), f"'{key}'") for key in ("scene", "layer"))
    scene: bpy.types.Scene | None = bpy.data.scenes.get(scene_name)
    place = Handle.from_block(scene, "scenes") if scene else None
    return HiddenObject(handle, selected, place, layer) if place else None
