"""Long work tells how long it still takes."""

from __future__ import annotations

TIME_LEFT = """
import motion_matching
motion_matching.register()
from motion_matching.ui.work import TimeLeft
left = TimeLeft()
assert left.of(0.0, 100.0) == "" and left.of(0.1, 100.1) == "", "too early to tell"
assert left.of(0.2, 102.0) == "8 s left"
assert left.of(0.25, 150.0) == "2 min 30 s left"
assert left.of(1.0, 160.0) == "0 s left"
# a part that is less than before is a new stage
assert left.of(0.5, 200.0) == ""
assert left.of(0.75, 210.0) == "10 s left"
"""


def test_the_time_left_is_what_the_part_done_took(run_in_blender):
    run_in_blender(TIME_LEFT)
