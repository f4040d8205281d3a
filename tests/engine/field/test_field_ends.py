"""A motion field stays away from the ends of clips, where no neighbour plays on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.building import retagging
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.facts.idles import find_idles, find_standing
from motion_matching.engine.field.method import MotionField
from motion_matching.engine.field.states.gaits import RUNNING, classify_gaits, find_gait_states
from motion_matching.engine.field.states.states import MotionStates
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import takes
from tests.demo import generate_clips

NEAR_END = 0.2  # seconds


def build_pieces(seconds: float):
    """Build a database of a run that is cut into pieces, which end in the middle of a stride."""
    clip = next(clip for clip in generate_clips() if clip.name == "run_at_random")
    length = round(seconds * clip.fps)
    starts = range(0, clip.frame_count - length, length)
    return build([Source(clip=clip, start=at, stop=at + length) for at in starts], BuildSettings())[
        0
    ]


@pytest.fixture(scope="module")
def pieces():
    return build_pieces(1.5)


def test_no_clip_is_played_to_its_end(pieces):
    settings = takes.make_default_settings(pieces)
    performance = takes.prepare_performance(
        pieces, settings, "turns", gait="run", seconds=10.0, seed=0
    )
    take = takes.perform(pieces, settings, performance, controller=MotionField)
    stops = pieces.stops[pieces.range_of_frame[take.frames]]
    moves = np.linalg.norm(take.desired_velocity, axis=1) > 1.0
    assert ((stops - take.frames)[moves] > NEAR_END * pieces.fps).all()


def test_a_gait_that_is_only_at_the_end_of_a_clip_keeps_its_states():
    clip = next(clip for clip in generate_clips() if clip.name == "run_curves")
    whole = build([Source(clip=clip)], BuildSettings())[0]
    first = int(np.argmax(classify_gaits(whole)[0] == RUNNING))
    stop = round((first / whole.fps + NEAR_END) * clip.fps)
    starts = build([Source(clip=clip, stop=stop)], BuildSettings())[0]
    assert find_gait_states(starts, MotionStates.from_database(starts))[RUNNING].any()


def test_a_loop_has_no_end(pieces):
    loop, stop = pieces.ranges[0], int(pieces.stops[0])
    looped = replace(pieces, ranges=(replace(loop, loop=True), *pieces.ranges[1:]))
    states = MotionStates.from_database(looped)
    lasting = states.find_lasting(looped, round(pieces.fps))
    assert lasting[:stop].all()
    assert not lasting[stop:].all()


@pytest.mark.slow
def test_a_stance_at_the_end_of_a_clip_is_held_as_it_is(demo_database):
    """The last frames of clips have no state: nothing but the one just before shows their pose."""
    moving = retagging.exclude(demo_database, demo_database.derive(find_standing))
    field = MotionField(moving, takes.make_default_settings(moving))
    stances = np.asarray(moving.derive(find_idles).entries)
    ends = stances[~np.isin(stances, field.states.frames)]
    assert moving.derive(find_idles).holds
    assert len(ends)
    for frame in ends.tolist():
        field.reset()
        shown = field._idle(frame).pose
        assert np.abs(shown[:, 1:] - moving.poses[frame][:, 1:]).max() < 0.03
