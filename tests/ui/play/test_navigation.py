"""While keys are held, the mouse orbits, pans and zooms the view as in Blender."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.ui.play import navigation


@pytest.mark.parametrize("key", ["LEFT_SHIFT", "RIGHT_SHIFT"])
def test_steering_keys_do_not_turn_orbiting_into_panning(key):
    window = bpy.context.window_manager.windows[0]
    view = next(navigation.find_views(window))
    x, y = view.region.x + view.region.width // 2, view.region.y + view.region.height // 2

    def drag(keyboard):
        """Drag with the middle button while Shift is down; return whether the view has turned."""
        before = view.data.view_rotation.copy()
        moving = navigation.Navigation(keyboard)
        event = {"ctrl": False, "alt": False, "shift": True, "mouse_x": x, "mouse_y": y}
        press = SimpleNamespace(type="MIDDLEMOUSE", value="PRESS", **event)
        assert moving.handle(window, press)
        move = SimpleNamespace(type="MOUSEMOVE", value="NOTHING", **(event | {"mouse_x": x + 50}))
        assert moving.handle(window, move)
        return view.data.view_rotation.rotation_difference(before).angle > 0.01

    assert not drag(Keyboard()), "shift pans"
    assert drag(Keyboard({"run": [key]}))


def test_a_view_that_does_not_show_the_character_is_moved_to_it():
    window = bpy.context.window_manager.windows[0]
    view, middle = next(navigation.find_views(window)), (0.5, -0.5, 0.25)
    view.data.view_location = middle
    navigation.ViewFollower(window, (1.0, -1.0)).look_at(window, 0.0)
    assert view.data.view_location[:] == middle, "it is seen as the view stands"
    navigation.ViewFollower(window, (300.0, -200.0)).look_at(window, 2.0)
    assert view.data.view_location[:] == (300.0, -200.0, 3.0)
