"""Clips on ramps and stairs are kept as on level ground, with their own ground beside them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from building.locomotion.climbs import find_climb
from motion_matching.engine.body.rig import Roles
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.building.demo_clips import load_demo_clips
from motion_matching.engine.database import database
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.statistics import measure_speeds
from motion_matching.engine.facts.character import measure_climb_speeds
from motion_matching.engine.motion.simulation_bone import GroundTrack, attach
from motion_matching.engine.sources import climbs
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes.pruning import leave_out
from tests.demo import CLIMBERS, generate_clips, load_climbing


@pytest.fixture(scope="module")
def climbing() -> Database:
    return load_climbing()


def find_frames(data: Database, clip: str, mirrored: bool = False) -> slice:
    names = [(each.clip, each.mirrored) for each in data.ranges]
    number = names.index((clip, mirrored))
    return slice(data.starts[number], data.stops[number])


@pytest.mark.parametrize("name", ["ramp_up_10", "ramp_down_20", "ramp_up_30"])
def test_the_ground_of_a_ramp_is_found(climbing, name):
    frames = find_frames(climbing, name)
    true = find_climb(name).compute_height(climbing.track[frames, :2])
    off = climbing.ground[frames] - true
    assert np.ptp(true) > 0.7
    assert np.abs(off).mean() < 0.01
    assert np.abs(off).max() < 0.06  # at the bends, which are rounded over a step


@pytest.mark.parametrize("name", ["stairs_up_15", "stairs_down_20"])
def test_the_ground_of_stairs_is_a_slope_through_their_treads(climbing, name):
    frames = find_frames(climbing, name)
    true = find_climb(name).compute_height(climbing.track[frames, :2])
    off = climbing.ground[frames] - true
    riser = int(name[-2:]) / 100.0
    assert abs(off.mean()) < 0.02
    assert np.abs(off).max() < riser
    rate = np.diff(climbing.ground[frames]) * climbing.fps
    assert np.abs(np.diff(rate)).max() < 0.1  # treads are no steps to the body


def test_feet_stand_as_on_level_ground(climbing):
    level = climbing.toes[~climbing.climbs][climbing.contacts[~climbing.climbs]][:, 2]
    heights = climbing.toes[climbing.climbs][climbing.contacts[climbing.climbs]][:, 2]
    low, high = np.percentile(heights, (1, 95))
    assert abs(low - np.median(level)) < 0.003
    assert abs(high - np.median(level)) < 0.005


def test_feet_that_lie_on_a_slope_are_flat_as_on_the_level(climbing):
    """Their heels are lower or higher than their toes by 10 cm per metre and more on a ramp."""
    legs, data = climbing.roles.legs, climbing
    ankles = data.skeleton.compute_bone_positions([leg.foot for leg in legs], data.poses, root=0)
    rises = (ankles - data.toes)[..., 2]

    def measure(frames: slice) -> float:
        return float(np.percentile(rises[frames][data.contacts[frames]], 20))

    level = measure(find_frames(data, "walk_speeds"))
    for name in ("ramp_up_20", "ramp_down_20", "ramp_up_30"):
        assert abs(measure(find_frames(data, name)) - level) < 0.01


def test_legs_get_back_to_the_clip_on_its_own_ground(climbing):
    """What is laid flat and raised again is the clip itself."""
    clip = next(clip for clip in load_demo_clips(climbs=True) if clip.name == "stairs_up_17")
    frames = find_frames(climbing, clip.name)
    track = GroundTrack.from_rows(climbing.track[frames])
    reel = attach(clip, track, climbing.roles.hips - 1)
    roles = Roles.from_names(reel.skeleton, climbing.roles.to_names(climbing.skeleton))
    footing, none = climbing.footing[frames], np.zeros((frames.stop - frames.start, 2))
    flat = climbs.lower_feet(reel, roles, footing, none)
    again = climbs.lower_feet(flat, roles, -footing, none)
    before, after = (each.compute_world()[1] for each in (reel, again))
    assert np.abs(before - after).max() < 0.01


def test_the_height_feature_is_how_far_the_ground_rises(climbing):
    feature = climbing.schema.features[-1]
    assert feature.kind == "trajectory_height"
    frames = find_frames(climbing, "ramp_up_20")
    ahead = round(feature.times[-1] * climbing.fps)
    found = climbing.features[climbing.schema.slices[-1]][-1, frames]
    true = climbing.ground[frames][ahead:] - climbing.ground[frames][:-ahead]
    np.testing.assert_allclose(found[:-ahead], true, atol=1e-5)
    level = climbing.features[climbing.schema.slices[-1]][:, ~climbing.climbs]
    assert not level.any()


def test_clips_on_level_ground_bring_no_heights():
    clips = [clip for clip in generate_clips() if clip.name in CLIMBERS]
    found, report = build([Source(clip=clip) for clip in clips], BuildSettings())
    assert found.ground is None
    assert not found.schema.has_heights
    assert not [note for note in report.warnings if note.kind == "slope"]


@pytest.mark.slow
def test_a_floor_that_is_kept_is_no_slope():
    clips = [clip for clip in load_demo_clips(climbs=True) if clip.name == "ramp_up_20"]
    found, report = build([Source(clip=clip, keep_floor=True) for clip in clips], BuildSettings())
    assert found.ground is None
    assert "kept as it is" in report.warnings[0].text


@pytest.mark.slow
def test_a_mirrored_climb_has_the_ground_of_the_other_feet():
    clips = [clip for clip in load_demo_clips(climbs=True) if clip.name == "stairs_up_17"]
    found, _ = build([Source(clip=clip) for clip in clips], BuildSettings(mirror=True))
    own, image = (find_frames(found, clips[0].name, mirrored) for mirrored in (False, True))
    np.testing.assert_array_equal(found.ground[own], found.ground[image])
    np.testing.assert_array_equal(found.footing[own], found.footing[image][:, ::-1])
    assert np.abs(found.footing[own] - found.footing[image]).max() > 0.1


def test_ground_is_saved_and_loaded_and_pruned(climbing, tmp_path):
    database.save(climbing, tmp_path / "climbs.npz")
    again = database.load(tmp_path / "climbs.npz")
    np.testing.assert_array_equal(again.ground, climbing.ground)
    np.testing.assert_array_equal(again.footing, climbing.footing)
    spare = np.arange(climbing.frame_count) < climbing.frame_count // 2
    np.testing.assert_array_equal(leave_out(climbing, spare).ground, climbing.ground[~spare])


def test_full_speeds_are_those_on_level_ground(climbing):
    frames = np.flatnonzero(~climbing.climbs)
    level = leave_out(climbing, climbing.climbs)
    assert len(frames) == level.frame_count
    assert measure_speeds(climbing)[0].forward == pytest.approx(
        measure_speeds(level)[0].forward, abs=0.05
    )


def test_climbs_tell_how_fast_they_go(climbing):
    speeds = climbing.derive(measure_climb_speeds)
    assert speeds.find_most(0.0, 1.0) == np.inf
    assert 0.9 < speeds.find_most(0.176, 1.0) < 1.4  # 10 degrees
    assert 0.3 < speeds.find_most(0.6, 1.0) < 0.7  # stairs


def test_a_squat_and_a_hop_are_no_climb():
    clip = next(clip for clip in generate_clips() if clip.name == "walk_speeds")
    positions = clip.positions.copy()
    rise = 0.4 * np.sin(np.linspace(0.0, np.pi, 20))
    positions[100:120, 0, 2] += rise  # in the air, with feet that do not stand
    found, _ = build([Source(clip=replace(clip, positions=positions))], BuildSettings())
    assert found.ground is None
