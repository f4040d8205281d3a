"""Long work reports its progress and the remaining time."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import bpy
import pytest

from motion_matching.app.database import status
from motion_matching.app.database.build import read_sources_steps
from motion_matching.app.database.library import get_library
from motion_matching.app.steps import (
    EndedEarly,
    RedrawPace,
    TimeLeft,
    join_threads,
    run_in_background_steps,
)
from motion_matching.engine.bvh import bvh
from motion_matching.engine.progress import run_to_end
from motion_matching.ui.database import operators_import
from tests.demo import generate_clips
from tests.ui.characters import create_character


def test_the_remaining_time_is_estimated_from_the_part_done():
    left = TimeLeft()
    assert left.estimate(0.0, 100.0) == ""
    assert left.estimate(0.1, 100.1) == "", "too early to tell"
    assert left.estimate(0.2, 102.0) == "8 s left"
    assert left.estimate(0.25, 150.0) == "2 min 30 s left"
    assert left.estimate(1.0, 160.0) == "0 s left"
    # progress that falls back starts a new stage
    assert left.estimate(0.5, 200.0) == ""
    assert left.estimate(0.75, 210.0) == "10 s left"


def test_progress_that_has_not_changed_is_not_drawn_again():
    pace = RedrawPace()
    pace.start_slice(10.0)
    assert pace.is_due(("Reading", "0%"), 10.08)
    pace.start_slice(10.1)
    assert not pace.is_due(("Reading", "0%"), 11.0)
    pace.start_slice(11.0)
    assert pace.is_due(("Reading", "1%"), 11.08)


def test_progress_that_changes_all_the_time_is_drawn_ten_times_a_second():
    pace, draws = RedrawPace(), 0
    for number in range(500):  # slices of 0.01 s, redraws of none
        now = 10.0 + 0.01 * number
        pace.start_slice(now)
        draws += pace.is_due(number, now + 0.01)
    assert 40 <= draws <= 51


def test_slow_redraws_take_a_fifth_of_the_time_at_most():
    pace, now, drawing = RedrawPace(), 10.0, 0.0
    for number in range(200):
        pace.start_slice(now)
        now += 0.08
        if pace.is_due(number, now):
            now, drawing = now + 0.2, drawing + 0.2
    assert 0.1 * (now - 10.0) < drawing < 0.21 * (now - 10.0)


def test_work_in_a_thread_that_is_ended_early_returns_what_it_has_unless_ended_twice():
    def count(report):
        done = 0
        try:
            while True:
                done += 1
                report("Counting", 0.5)
        except EndedEarly:
            report("Saving", 0.9)  # may go on reporting
            time.sleep(0.1)
            return done

    steps = run_in_background_steps(count, "Counting")
    next(steps)
    assert steps.throw(EndedEarly())[0] == "Ending"
    assert run_to_end(steps) > 0

    steps = run_in_background_steps(count, "Counting")
    next(steps)
    steps.throw(EndedEarly())
    with pytest.raises(EndedEarly):
        steps.throw(EndedEarly())


def test_no_thread_goes_on_once_the_extension_is_disabled():
    def work(report):
        while True:
            time.sleep(0.05)
            report("Working", 0.5)

    steps = run_in_background_steps(work, "Working")
    next(steps)
    steps.close()
    join_threads()
    assert [each.name for each in threading.enumerate() if "Working" in each.name] == []


@pytest.mark.slow
def test_progress_never_goes_backwards(tmp_path):
    ops, obj = bpy.ops.motion_matching, create_character()
    ops.add_actions()

    def check_progress(work, word):
        told = [part for text, part in work if text.startswith(word)]
        assert len(told) > 3, told
        assert max(told) > 0.6, told
        assert told == sorted(told), f"{word} goes back: {told}"

    # read from curves, then evaluated
    check_progress(read_sources_steps(obj.session_uid), "Reading")
    limit = obj.pose.bones["Head"].constraints.new("LIMIT_ROTATION")
    check_progress(read_sources_steps(obj.session_uid), "Reading")
    obj.pose.bones["Head"].constraints.remove(limit)

    # import of several files
    clip = next(clip for clip in generate_clips() if clip.name == "walk_curves")
    files = []
    for number in range(3):
        bvh.save(clip, tmp_path / f"{number}.bvh")
        files.append(SimpleNamespace(name=f"{number}.bvh"))
    wanted = SimpleNamespace(
        directory=str(tmp_path), files=files, filepath="", mirror=True, report=print, character=""
    )
    check_progress(operators_import.MOTION_MATCHING_OT_import_motion.steps(wanted, bpy.context), "")

    # the reported memory equals the value in the panel
    ops.build()
    database = get_library().load(obj.motion_matching.built_key)
    assert (
        f"{status.get_status(obj).megabytes:.1f} MB"
        == f"{status.measure_megabytes(database):.1f} MB"
    )
