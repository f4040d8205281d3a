"""What an extension can leave behind in Blender. Also run as text, in Blenders without this folder."""

from __future__ import annotations

import sys
import threading

import bpy


def list_rna_types():
    found = [getattr(bpy.types, name) for name in dir(bpy.types) if not name.startswith("_")]
    return [kind for kind in found if isinstance(kind, type) and hasattr(kind, "bl_rna")]


# Blender lists no timers, draw handlers or message bus subscribers, so their additions are noted
# here.
timers, drawn, listening = [], {}, []
add_timer = bpy.app.timers.register
add_drawing, remove_drawing = (
    vars(bpy.types.Space)["draw_handler_" + verb] for verb in ("add", "remove")
)


subscribe, unsubscribe = bpy.msgbus.subscribe_rna, bpy.msgbus.clear_by_owner


def note_listener(*, owner, notify, **options):
    subscribe(owner=owner, notify=notify, **options)
    listening.append((owner, notify))


def forget_listeners(owner):
    unsubscribe(owner)
    listening[:] = [entry for entry in listening if entry[0] is not owner]


def note_timer(function, **options):
    timers.append(function)
    return add_timer(function, **options)


def note_drawing(space, function, *arguments):
    handle = add_drawing.__get__(None, space)(function, *arguments)
    drawn[handle] = function
    return handle


def forget_drawing(space, handle, region):
    remove_drawing.__get__(None, space)(handle, region)
    drawn.pop(handle, None)


def watch():
    """Note what is added from now on."""
    bpy.msgbus.subscribe_rna, bpy.msgbus.clear_by_owner = note_listener, forget_listeners
    bpy.app.timers.register = note_timer
    bpy.types.Space.draw_handler_add = classmethod(note_drawing)
    bpy.types.Space.draw_handler_remove = classmethod(forget_drawing)


def give_back():
    """Stop noting."""
    bpy.msgbus.subscribe_rna, bpy.msgbus.clear_by_owner = subscribe, unsubscribe
    bpy.app.timers.register = add_timer
    bpy.types.Space.draw_handler_add, bpy.types.Space.draw_handler_remove = (
        add_drawing,
        remove_drawing,
    )


def list_keymap_items():
    for config in bpy.context.window_manager.keyconfigs:
        for keymap in config.keymaps:
            for item in keymap.keymap_items:
                yield config.name, keymap.name, item.idname, item.type


def find_menu_draw_functions(kind):
    return getattr(getattr(kind, "draw", None), "_draw_funcs", ())


def traces():
    """Return everything registered in Blender that an extension could have added, by kind."""
    kinds = list_rna_types()
    return {
        "classes": {kind.__name__ for kind in kinds},
        "properties": {
            (kind.__name__, name)
            for kind in kinds
            for name in kind.bl_rna.properties.keys()  # noqa: SIM118  # otherwise it yields properties
        },
        "attributes": {
            (kind.__name__, name)
            for kind in kinds
            for name in vars(kind)
            if not name.startswith("__")
            and name not in ("draw_handler_add", "draw_handler_remove", "_draw_funcs")
        },
        "menu entries": sorted(
            (kind.__name__, str(function))
            for kind in kinds
            for function in find_menu_draw_functions(kind)
            if len(find_menu_draw_functions(kind)) > 1
        ),
        "handlers": sorted(
            (name, str(handler))
            for name in dir(bpy.app.handlers)
            if isinstance(getattr(bpy.app.handlers, name), list)
            for handler in getattr(bpy.app.handlers, name)
        ),
        "timers": [str(function) for function in timers if bpy.app.timers.is_registered(function)],
        "listeners": {
            str(notify) for _, notify in listening
        },  # loading a file adds Blender's own handlers again
        "draw handlers": [str(function) for function in drawn.values()],
        "keymap items": sorted(list_keymap_items()),
        "preset folders": bpy.utils.preset_paths("motion_matching"),
        "threads": {thread.name for thread in threading.enumerate()},
        "paths": list(sys.path),
    }


def differences(before, after):
    """Return what was added and removed, by kind."""
    return {
        kind: [
            entry
            for entry in (*before[kind], *after[kind])
            if (entry in before[kind]) != (entry in after[kind])
        ]
        for kind in before
        if before[kind] != after[kind]
    }
