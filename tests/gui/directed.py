"""What the scenarios of the director share: marks, the character, and pictures of the screen."""

from __future__ import annotations

import bpy
from drive import event, load_module, redrawn, view
from screen import SCREEN, read_screen, save_png

MARKS = ((60, (0.2, -1.5), 0.0), (160, (0.4, -4.2), 0.3), (240, (1.4, -6.6), 0.5))


def take_picture(path):
    """Save what the screen shows, if SCREEN_FILE names the screen."""
    yield from redrawn()
    yield from redrawn("UI")
    yield 0.3
    if SCREEN:
        save_png(read_screen(), path)


def find_hero():
    return next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")


def list_marks():
    return load_module("app.marks.marks").list_leading(find_hero())


def look_at_marks():
    seen = view()[1].spaces.active.region_3d
    seen.view_distance, seen.view_location = 11.0, (2.2, -2.6, 0.4)
    event("MOUSEMOVE", "NOTHING")
