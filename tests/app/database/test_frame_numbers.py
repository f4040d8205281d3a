"""Frames are told by the numbers that the timeline and the preview of a source have."""

from __future__ import annotations

import bpy

from motion_matching.app.database import frame_numbers
from motion_matching.app.database.build import load_or_build_steps
from motion_matching.engine.progress import run_to_end
from tests.ui.characters import create_character

ops = bpy.ops.motion_matching


def test_each_of_two_sources_of_one_action_counts_from_its_own_first_frame():
    obj = create_character(clips=("walk_curves",))
    ops.add_actions()
    sources = obj.motion_matching.sources
    ops.add_actions()
    while len(sources) < 2:
        sources.add().action = sources[0].action
    limits = ((31, 90), (101, 200))
    for source, (start, end), mirror in zip(sources, limits, (False, True), strict=True):
        source.use_range, source.frame_start, source.frame_end = True, start, end
        source.mirror = mirror
    database = run_to_end(load_or_build_steps(obj))
    firsts = frame_numbers.find_first_frames(obj, database)
    told = [
        (frame_numbers.get_numbered_source(database, firsts, int(start)).frame, origin.mirrored)
        for start, origin in zip(database.starts, database.ranges, strict=True)
    ]
    assert sorted(told) == [(31, False), (101, False), (101, True)]
    assert all(not origin.first_source_frame for origin in database.ranges)

    # what was removed from the list is told as the database counts
    sources.remove(0)
    sources.remove(0)
    assert frame_numbers.find_first_frames(obj, database) == (0, 0, 0)
