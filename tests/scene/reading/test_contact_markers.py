"""Contacts as markers of an action: write them, move them like an animator, read them back."""

from __future__ import annotations

import bpy
import pytest

from motion_matching.engine.errors import SettingsError
from motion_matching.engine.feet.contact_ranges import ContactRange
from motion_matching.scene.reading.markers import read_markers, write_markers


def test_markers_are_read_as_the_ranges_they_were_written_from() -> None:
    legs = ("left", "right", "left2", "right2")
    ranges = [
        ContactRange(0, 0, 12),
        ContactRange(0, 12, 44),
        ContactRange(1, 3, 29),
        ContactRange(3, 7, 8),
    ]
    action = bpy.data.actions.new("Take")
    action.pose_markers.new("left foot").frame = 5  # the animator's own
    for start, rate in ((1, 1.0), (-20, 2.0), (1000, 50 / 30)):
        write_markers(action, ranges, legs, start, rate)
        assert read_markers(action, legs, start, rate) == ranges, (start, rate)
    assert len(action.pose_markers) == 1 + 2 * len(ranges)

    write_markers(action, ranges, legs, 1)
    lift = next(m for m in action.pose_markers if m.name == "right foot lift")
    lift.frame += 6
    assert ContactRange(1, 3, 35) in read_markers(action, legs, 1)

    action.pose_markers.remove(lift)
    with pytest.raises(SettingsError, match=r"Take.*right foot lift"):
        read_markers(action, legs, 1)

    action.pose_markers.new("left foot plant").frame = 20
    with pytest.raises(SettingsError) as refused:
        read_markers(action, legs, 1)
    message = str(refused.value)
    assert "frame 20" not in message or "left foot lift" in message


def test_ranges_shorter_than_a_frame_give_readable_markers() -> None:
    legs = ("left", "right")
    ranges = [ContactRange(0, 1, 20), ContactRange(0, 25, 26), ContactRange(1, 10, 11)]
    action = bpy.data.actions.new("Take")
    write_markers(action, ranges, legs, 1, 0.4)
    assert [(r.leg, r.start) for r in read_markers(action, legs, 1, 0.4)] == [(0, 0)]


def test_a_lift_without_a_plant_is_reported() -> None:
    action = bpy.data.actions.new("Take")
    action.pose_markers.new("left foot lift").frame = 5
    with pytest.raises(SettingsError, match=r"a marker 'left foot lift' on frame 5 and no"):
        read_markers(action, ("left",), 1)
    action.pose_markers.new("left foot plant").frame = 2
    action.pose_markers.new("left foot plant").frame = 3
    with pytest.raises(SettingsError, match=r"'left foot plant' on frame 3 and no .* lift' before"):
        read_markers(action, ("left",), 1)
