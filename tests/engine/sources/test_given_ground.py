"""Clips whose ground is not found from where feet stand, but given: a floor, or level ground."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from building.locomotion.climbs import find_climb
from motion_matching.engine.building.build import BuildReport, BuildSettings, build
from motion_matching.engine.building.demo_clips import load_demo_clips
from motion_matching.engine.database.database import Database
from motion_matching.engine.errors import MotionDataError, SettingsError
from motion_matching.engine.ground.ground import FLAT
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.sources.skeletons import Character, measure_travel
from motion_matching.engine.sources.sources import GroundObject, Source, find_sources
from tests.demo import generate_clips
from tests.engine.characters import make_child


class TrueGround:
    """The ground that a generated clip climbs on, moved by an offset (3,)."""

    def __init__(self, name: str, offset: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        self.climb, self.offset = find_climb(name), np.array(offset)

    def height(self, x: float, y: float) -> float:
        points = np.array([[x, y]]) - self.offset[:2]
        return float(self.climb.compute_height(points)[0] + self.offset[2])

    def slide(self, start, stop, radius):
        return stop


def get_climb(name: str) -> Clip:
    return next(clip for clip in load_demo_clips(climbs=True) if clip.name == name)


def build_with(clip: Clip, **use) -> tuple[Database, BuildReport]:
    walk = next(each for each in generate_clips() if each.name == "walk_speeds")
    return build([Source(clip=walk), Source(clip=clip, **use)], BuildSettings())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stairs_up_17", "ramp_down_20"])
def test_the_true_ground_is_what_is_found(name):
    clip = get_climb(name)
    found, told = build_with(clip)
    given, told_of_given = build_with(clip, ground=TrueGround(name))
    assert np.abs(found.ground - given.ground).max() < 0.01
    assert np.abs(found.footing - given.footing).max() < 0.01
    assert np.abs(found.poses[:, :3] - given.poses[:, :3]).max() < 0.02
    kinds = [[(note.source, note.kind) for note in each.warnings] for each in (told, told_of_given)]
    assert kinds[0] == kinds[1] == [(name, "slope")]


@pytest.mark.slow
def test_a_clip_that_lies_elsewhere_is_on_ground_that_lies_there():
    clip = get_climb("stairs_up_17")
    moved = clip.positions.copy()
    moved[:, 0] += (2.0, 1.0, 3.0)
    high = replace(clip, positions=moved)
    found, _ = build_with(clip, ground=TrueGround(clip.name))
    given, _ = build_with(high, ground=TrueGround(clip.name, (2.0, 1.0, 3.0)))
    assert np.abs(found.poses[:, 2, 1:] - given.poses[:, 2, 1:]).max() < 1e-3
    climbs = found.climbs
    np.testing.assert_allclose(found.ground[climbs] + 3.0, given.ground[climbs], atol=1e-3)


@pytest.mark.slow
def test_a_single_low_step_counts_if_it_is_given():
    """By itself it is taken for feet that hover by turns."""
    clip = get_climb("stairs_up_15")
    ground = TrueGround(clip.name)
    toes = [clip.skeleton.index(f"{side}Toe") for side in ("Left", "Right")]
    world = clip.compute_world()[1][:, toes]
    below = np.array([[ground.height(x, y) for x, y, _ in row] for row in world.tolist()])
    low = clip.crop(0, int(np.argmax(below.max(axis=1) > 0.2)) - 3)
    assert build_with(low)[0].ground is None
    given, _ = build_with(low, ground=ground)
    assert (given.ground[:, None] + given.footing).max() == pytest.approx(0.15, abs=1e-3)


@pytest.mark.slow
def test_on_level_ground_nothing_climbs():
    clip = get_climb("ramp_up_20")
    given, report = build_with(clip, ground=FLAT)
    assert given.ground is None
    assert not given.schema.has_heights
    assert not [note for note in report.warnings if note.kind in ("slope", "ground")]


@pytest.mark.slow
def test_ground_away_from_the_feet_is_told():
    clip = get_climb("ramp_up_20")
    _, report = build_with(clip, ground=TrueGround(clip.name, (0.0, 3.0, 0.0)))
    [note] = [note for note in report.warnings if note.kind == "ground"]
    assert note.text.startswith("The feet of 'ramp_up_20' stand at heights that differ by ")
    assert note.text.endswith("move that ground below its feet, or have it found.")


@pytest.mark.slow
def test_ground_goes_along_with_motion_that_is_retargeted():
    """A child climbs a ground as much smaller as its steps are."""
    clip = get_climb("stairs_up_17")
    child = make_child()
    walk = next(each for each in generate_clips() if each.name == "walk_speeds")
    settings = BuildSettings(character=Character(child.skeleton))
    sources = [Source(clip=walk), Source(clip=clip, ground=TrueGround(clip.name))]
    given, report = build(sources, settings)
    found, _ = build([sources[0], replace(sources[1], ground=None)], settings)
    size = measure_travel(clip, settings.character)[2]
    assert 0.3 < size < 0.8
    hips = clip.compute_world()[1][:, 0]
    whole = np.ptp([TrueGround(clip.name).height(x, y) for x, y, _ in hips.tolist()])
    assert np.ptp(given.ground) == pytest.approx(size * whole, rel=0.05)
    assert np.abs(found.ground - given.ground).max() < 0.03
    assert not [note for note in report.warnings if note.kind == "ground"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("ramp_up_20", "'ramp_up_20' climbs a slope of 20°, 1.0 m up"),
        ("ramp_down_30", "'ramp_down_30' climbs a slope of 30°, 1.1 m down"),
        ("stairs_up_15", "'stairs_up_15' climbs stairs: 15 cm a step, 1.1 m up"),
        ("stairs_down_20", "'stairs_down_20' climbs stairs: 20 cm a step, 1.6 m down"),
    ],
)
def test_what_is_climbed_is_told_in_a_line(name, told):
    _, report = build_with(get_climb(name))
    [note] = [note for note in report.warnings if note.kind == "slope"]
    assert note.text.startswith(f"{told}; if ")


def test_a_source_list_names_grounds(tmp_path):
    def write(ground):
        entry = {"file": "walk.bvh", "ground": ground}
        (tmp_path / "list.json").write_text(json.dumps([entry]))
        return find_sources([tmp_path / "list.json"])[0]

    (tmp_path / "walk.bvh").touch()
    (tmp_path / "set.blend").touch()
    assert write("found").ground is None
    assert write("level").ground is FLAT
    source = write({"file": "set.blend", "object": "Stairs"})
    assert source.ground == GroundObject(tmp_path / "set.blend", "Stairs")
    with pytest.raises(MotionDataError, match="'Stairs' of the source 'walk'"):
        source.get_floor()
    for wrong in ("uphill", 3, {"object": "Stairs"}, {"file": "set.blend"}, {"file": "a.blend"}):
        with pytest.raises(SettingsError, match="'ground' of source 1"):
            write(wrong)
