"""Idles are where a character simply stands: calm, upright, on both feet, as it usually does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.facts.idles import find_idles, find_settling_frames
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.sources.sources import Source, TagRange
from tests import demo
from tests.engine import animals, sensors


@pytest.fixture(scope="module")
def idle_clip():
    return next(clip for clip in demo.generate_clips() if clip.name == "idle")


def find_idle_frames(database):
    result = np.zeros(database.frame_count, bool)
    for start, stop in zip(
        database.derive(find_idles).starts, database.derive(find_idles).stops, strict=True
    ):
        result[start:stop] = True
    return result


def test_idles_are_runs_of_half_a_second_or_more_that_hardly_move(demo_database):
    idles = demo_database.derive(find_idles)
    assert len(idles.starts) > 50
    assert (idles.stops - idles.starts >= 0.5 * demo_database.fps).all()
    ranges = demo_database.range_of_frame
    assert (ranges[idles.starts] == ranges[idles.stops - 1]).all()
    motion = demo_database.root_motion[find_idle_frames(demo_database)]
    assert np.hypot(*motion[:, :2].T).max() < 0.1
    assert demo_database.contacts[find_idle_frames(demo_database)].all()


@pytest.mark.slow
@pytest.mark.parametrize("fps", [60.0, 120.0])
def test_the_noise_of_a_sensor_hides_no_idles_at_any_frame_rate(demo_database, fps):
    clips = [sensors.record(clip, fps, seed) for seed, clip in enumerate(demo.generate_clips())]
    sources = [Source(clip=clip) for clip in clips]
    recorded = build(sources, BuildSettings(mirror=True))[0]
    usual, seconds = (
        (database.derive(find_idles).stops - database.derive(find_idles).starts).sum()
        / database.fps
        for database in (demo_database, recorded)
    )
    assert seconds == pytest.approx(usual, rel=0.1)


def test_every_idle_can_be_played_on_by_both_methods(demo_database):
    after = demo_database.successors[find_idle_frames(demo_database)]
    assert (after >= 0).all()
    assert (demo_database.successors[after] >= 0).all()


def test_entries_have_half_a_second_to_go(demo_database):
    idles = demo_database.derive(find_idles)
    left = (idles.stops[idles.runs] - idles.entries) / demo_database.fps
    np.testing.assert_allclose(left, idles.seconds, rtol=1e-5)
    assert left.min() >= 0.5
    assert idles.weights.sum() == pytest.approx(1.0)


@pytest.mark.slow
def test_waving_and_crouching_on_the_spot_are_no_idles(idle_clip):
    names = list(idle_clip.skeleton.names)
    t = np.arange(idle_clip.frame_count) / idle_clip.fps
    waving = idle_clip.rotations.copy()
    arm = names.index("LeftArm")
    turned = quat.from_scaled_angle_axis(np.sin(12.0 * t)[:, None] * [0.0, 1.2, 0.0])
    waving[:, arm] = quat.mul(turned, waving[:, arm])
    low = idle_clip.positions.copy()
    low[:, names.index("Hips"), 2] *= 0.7
    clips = [
        idle_clip,
        replace(idle_clip, name="wave", rotations=waving.astype(np.float32)),
        replace(idle_clip, name="crouch", positions=low),
    ]
    database = build(
        [Source(clip=clip) for clip in [*demo.generate_clips(), *clips[1:]]], BuildSettings()
    )[0]
    idle = find_idle_frames(database)
    share = {}
    for r, origin in enumerate(database.ranges):
        share[origin.clip] = idle[database.starts[r] : database.stops[r]].mean()
    assert share["idle"] > 0.9
    assert share["wave"] < 0.2
    assert share["crouch"] == 0.0


def test_excluded_frames_are_no_idles(idle_clip):
    source = Source(clip=idle_clip, tags=[TagRange("no_use", 0, idle_clip.frame_count // 2)])
    database = build([source], BuildSettings())[0]
    assert (find_idle_frames(database) <= database.playable).all()
    assert find_idle_frames(database).any()


def test_settling_frames_lead_to_idles_within_their_clip(demo_database):
    settles, idle = find_settling_frames(demo_database), find_idle_frames(demo_database)
    assert (settles >= idle).all()
    lead = round(demo_database.fps)
    for start, stop in zip(demo_database.starts, demo_database.stops, strict=True):
        own = settles[start:stop]
        for frame in np.flatnonzero(own):
            assert idle[start + frame : min(start + frame + lead + 1, stop)].any()


@pytest.mark.slow
@pytest.mark.parametrize("size", [0.2, 1.0, 4.0])
def test_animals_of_any_size_have_idles(size):
    motions = animals.make_dog_motions(size)
    database = build([Source(clip=motion.clip) for motion in motions], BuildSettings())[0]
    motion, pace = database.root_motion, database.pace
    rests = np.hypot(motion[:, 0], motion[:, 1]) < 0.05 * pace
    assert rests.any() == bool(len(database.derive(find_idles).starts))
