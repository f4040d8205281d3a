"""Nobody crouches through a shot because some of the data does, unless that is asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database.tags.tags import TagRange
from motion_matching.engine.direct.director import Director
from motion_matching.engine.direct.footage.footage import compute_places, make_footage
from motion_matching.engine.direct.footage.jump_table import build_table
from motion_matching.engine.direct.shot.shot import Mark, Shot, TimedPath
from motion_matching.engine.sources.sources import Source
from tests.demo import generate_clips

WALKS = ("walk_speeds", "walk_curves", "walk_bends")
LOW = 0.6  # of the usual height of the hips
SHOT = Shot(
    20.0,
    marks=(
        Mark(0.0, (0.0, 0.0), 0.0, hold=1.0),
        Mark(5.0, (1.0, -4.0), 0.6),
        Mark(10.0, (4.0, -7.0), 1.2),
        Mark(16.0, (9.0, -8.0), 1.6),
    ),
)


@pytest.fixture(scope="module")
def crouching():
    """A director of clips that walk, and of those again, and of a stand, with low hips and a tag."""
    clips = {clip.name: clip for clip in generate_clips()}
    sources = [Source(clip=clips[name]) for name in WALKS]
    tags = (TagRange("crouch", 0, 10**6),)
    sources += [Source(clip=make_low(clips[name]), tags=tags) for name in ("idle", *WALKS[1:])]
    footage = make_footage(build(sources, BuildSettings())[0])
    return Director(footage, build_table(footage))


def make_low(clip):
    positions = clip.positions.copy()
    hips = clip.skeleton.names.index("Hips")
    positions[:, hips, 2] *= LOW
    return replace(clip, name=f"{clip.name}_low", positions=positions)


def measure_share_low(director, shot):
    """Return how much of a shot plays frames with the tag, and check that its marks are met."""
    directed = director.direct(shot)
    assert directed.report["reached"] == len(SHOT.marks)
    return director.footage.database.make_tag_mask({"crouch"})[directed.take.frames].mean()


@pytest.mark.slow
def test_a_shot_that_begins_low_rises_to_the_usual_height(crouching):
    for seed in range(3):
        assert measure_share_low(crouching, SHOT.with_seed(seed)) < 0.1


@pytest.mark.slow
def test_a_mark_may_ask_for_a_crouch(crouching):
    marks = (Mark(0.0, tags=("crouch",)), *SHOT.marks)
    directed = crouching.direct(replace(SHOT, marks=marks))
    mask = crouching.footage.database.make_tag_mask({"crouch"})
    assert mask[directed.take.frames].mean() > 0.98


def test_motion_capture_that_crouches_in_part_is_directed_upright(lafan1):
    """The one take of LAFAN1 turns best while it crouches, in a quarter of its frames."""
    footage = make_footage(lafan1)
    director = Director(footage, build_table(footage))
    directed = director.direct(
        Shot(30.0, paths=(make_winding_path(33, director.settings.steering.walk.forward),))
    )
    assert directed.report["paths"][0]["place_error"] < 0.01
    heights = compute_places(lafan1, [lafan1.roles.hips])[:, 0, 2]
    low = heights < 0.75 * np.median(heights)
    assert low.mean() > 0.2
    assert low[directed.take.frames].mean() < 0.05


def make_winding_path(seed, speed):
    random, t = np.random.default_rng([11, seed]), np.linspace(0.0, 30.0, 301)
    knots = np.arange(0.0, 33.0, 2.0)
    speeds = speed * np.interp(t, knots, random.uniform(0.75, 1.05, len(knots)))
    turns = np.interp(t, knots, random.uniform(-0.7, 0.7, len(knots)))
    yaws = np.cumsum(turns) * 0.1
    steps = 0.1 * speeds[:, None] * np.column_stack([np.sin(yaws), -np.cos(yaws)])
    places = np.cumsum(steps, axis=0)
    points = map(tuple, (places - places[0]).tolist())
    return TimedPath(tuple(t.tolist()), tuple(points), tuple((yaws - yaws[0]).tolist()))
