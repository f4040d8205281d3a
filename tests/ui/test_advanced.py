"""*Advanced* hides what is rarely changed, but nothing that was changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest

from motion_matching.app.runtime import runtime
from motion_matching.ui import classes
from motion_matching.ui.play.panel import MOTION_MATCHING_PT_layers
from tests.ui.characters import create_character
from tests.ui.drawn import RecordingLayout, draw_panels

FIRST = ["Character", "Motion", "Perform", "Direct", "Takes"]
REST = ["Retarget", "Controller", "Insight"]
INSIGHT = {
    "Insight",
    "Coverage",
    "Odd Postures",
    "Redundant Motion",
    "Frame Inspector",
    "Map of Poses",
}


def list_panels() -> list[str]:
    """Return the labels of the panels that are shown, those at the top first, in their order."""
    shown = [
        cls
        for cls in classes.ALL
        if issubclass(cls, bpy.types.Panel)
        and "HIDE_HEADER" not in getattr(cls, "bl_options", ())
        and cls.poll(bpy.context)
    ]
    shown.sort(key=lambda cls: getattr(cls, "bl_order", 99))
    names = {cls.__name__ for cls in shown}
    # one below a hidden panel is hidden, too
    return [cls.bl_label for cls in shown if getattr(cls, "bl_parent_id", cls.__name__) in names]


def test_the_panels_of_a_new_character_come_in_the_order_of_the_work(addon):
    create_character(clips=("walk_curves",))
    bpy.ops.motion_matching.add_actions()
    assert list_panels()[:7] == [*FIRST, "Retarget", "Advanced"]
    hidden = {"Controller", "Insight", "Features", "Simulation Bone", "Thresholds"}
    assert hidden.isdisjoint(list_panels())
    draw_panels()

    addon.preferences.show_advanced = True
    assert list_panels()[:9] == [*FIRST, *REST, "Advanced"]
    assert hidden < set(list_panels())
    draw_panels()


def test_nothing_is_hidden_where_there_are_no_preferences():
    create_character()
    assert list_panels()[:8] == FIRST + REST
    assert "Advanced" not in list_panels()


def set_value(name: str, value: Any) -> Callable[[Any], None]:
    def change(settings: Any) -> None:
        group, _, attribute = name.rpartition(".")
        setattr(getattr(settings, group) if group else settings, attribute, value)

    return change


CHANGES = [
    (set_value("controller.method", "FIELD"), {"Controller", "Training"}),
    (set_value("controller.velocity_halflife", 0.5), {"Controller"}),
    (set_value("controller.search_interval", 0.3), {"Controller", "Search"}),
    (set_value("controller.walk", (1.0, 1.0, 1.0)), set()),  # the data's are used
    (set_value("controller.clamp", False), {"Controller", "Displacement"}),
    (lambda settings: settings.controller.labels.add(), {"Controller", "Displacement", "Labels"}),
    (set_value("features.responsiveness", 2.0), {"Features"}),
    (lambda settings: bpy.ops.motion_matching.remove_feature(), {"Features"}),
    (lambda settings: setattr(settings.features.items[0], "weight", 2.0), {"Features"}),
    (set_value("simulation_bone.position_order", 2), {"Simulation Bone"}),
    (set_value("show_path", True), {"Simulation Bone"}),
    (lambda settings: setattr(settings.sources[0], "use_path", True), {"Simulation Bone"}),
    (set_value("thresholds.plant_angle", 1.0), {"Thresholds"}),
    (set_value("insight.lay_over", True), INSIGHT),
    (set_value("insight.keep", 0.5), INSIGHT),
]


@pytest.mark.parametrize(("change", "panels"), CHANGES)
def test_a_changed_setting_is_shown(addon, change, panels):
    obj = create_character(clips=("walk_curves",))
    bpy.ops.motion_matching.add_actions()
    before = set(list_panels())
    change(obj.motion_matching)
    assert set(list_panels()) - before == panels


def test_speeds_of_the_users_own_are_shown(addon):
    controller = create_character().motion_matching.controller
    controller.speeds_from_data = False
    assert {"Controller", "Speeds"} <= set(list_panels())


def test_what_was_measured_is_shown(addon):
    create_character(clips=("walk_curves",))
    bpy.ops.motion_matching.add_actions()
    bpy.ops.motion_matching.build()
    before = set(list_panels())
    bpy.ops.motion_matching.measure_coverage()
    assert set(list_panels()) - before == INSIGHT
    runtime.coverage_reports.clear()
    assert set(list_panels()) == before
    bpy.ops.motion_matching.inspect_frame()
    assert set(list_panels()) - before == INSIGHT
    draw_panels()


def test_a_hidden_row_is_shown_once_it_is_changed(addon):
    obj = create_character()

    def list_rows() -> list[str]:
        layout = PropertyLayout()
        panel = type("Drawn", (), {"layout": layout})()
        MOTION_MATCHING_PT_layers.draw_settings(panel, obj, obj.motion_matching)
        return layout.names

    assert "show_ghosts" in list_rows()
    assert "show_ghost_row" not in list_rows()
    obj.motion_matching.play.show_ghost_row = True
    assert "show_ghost_row" in list_rows()
    obj.motion_matching.play.show_ghost_row = False
    addon.preferences.show_advanced = True
    assert "show_ghost_row" in list_rows()


class PropertyLayout(RecordingLayout):
    """A layout that keeps the names of the properties that are drawn into it."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __getattr__(self, name):
        add = super().__getattr__(name)

        def keep(*given, **options):
            if name == "prop":
                self.names.append(given[1])
            return add(*given, **options)

        return keep
