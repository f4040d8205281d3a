"""A walk that begins from standing is carried as walks are: no lunge, and no arms flung out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from building.locomotion import locomotion
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.facts.idles import find_idles
from motion_matching.engine.facts.postures import find_arms, measure_leg
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import takes
from tests import demo

# legs by which the first second may be lower, and hands farther out, than the walk that follows
LOWER, FARTHER = 0.04, 0.08
# legs by which it may be lower than where it stands, and hands from the hips, as in brisk walks
LOWEST, WIDEST = 0.1, 0.68


def measure_carriage(take, database):
    """Return the hips' heights (T,) and the farther hand's distance from them (T,), in legs."""
    lengths = np.linalg.norm(np.asarray(database.poses[0, :3]), axis=0)
    leg = np.mean([measure_leg(database.skeleton, one, lengths) for one in database.roles.legs])
    hands = [hand for _, hand in find_arms(database.skeleton, database.roles, lengths, leg)]
    joints = database.skeleton.compute_bone_positions(
        [database.roles.hips, *hands], take.poses, root=0
    )
    away = np.linalg.norm((joints - joints[:, :1])[..., :2], axis=-1).max(axis=1)
    return joints[:, 0, 2] / leg, away / leg


def measure_starts(database):
    """Return how much lower, and with hands how much farther out, starts (S,) are than walks."""
    fps, lower, farther = round(database.fps), [], []
    settings = takes.make_default_settings(database)
    for turn in np.linspace(0.0, 2.0 * np.pi, 6, endpoint=False):
        walk = Intent(move=(float(np.sin(turn)), float(-np.cos(turn))))
        intents = [Intent()] * fps + [walk] * (3 * fps)
        take = takes.perform(database, settings, Performance("start", fps, tuple(intents)))
        hips, hands = measure_carriage(take, database)
        first, after = slice(fps, 2 * fps), slice(2 * fps, None)
        lower.append(hips[after].min() - hips[first].min())
        farther.append(hands[first].max() - hands[after].max())
    return np.array(lower), np.array(farther)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bandai_namco", "demo_database"])
def test_the_first_second_is_carried_as_the_walk(name, request):
    lower, farther = measure_starts(request.getfixturevalue(name))
    assert lower.max() < LOWER
    assert farther.mean() < FARTHER


@pytest.mark.slow
@pytest.mark.parametrize("files", ["lafan1/*.bvh", "bandai-namco/dataset-*_00[1-4].bvh"])
@pytest.mark.parametrize("stands", [False, True])
def test_a_walk_out_of_any_standing_is_upright(files, stands, mocap):
    """Whether a stance is held or an idle played, no walk begins with a crawl or a dash."""
    sources = [Source(file=file) for file in sorted(mocap.glob(files))]
    sources += [Source(clip=locomotion.generate_standing(), built_in=True)] * stands
    database = build(sources, BuildSettings(mirror=True))[0]
    assert database.derive(find_idles).holds == (not stands)
    fps, settings = round(database.fps), takes.make_default_settings(database)
    for seed in range(3):
        intents = []
        for turn in np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, 4):
            walk = Intent(move=(float(np.sin(turn)), float(-np.cos(turn))))
            intents += [Intent()] * (4 * fps) + [walk] * (2 * fps)
        take = takes.perform(database, settings, Performance("starts", fps, tuple(intents)))
        hips, hands = (part.reshape(4, -1) for part in measure_carriage(take, database))
        stood, first = slice(3 * fps, 4 * fps), slice(4 * fps, 5 * fps)
        assert np.min(hips[:, first].min(axis=1) - hips[:, stood].mean(axis=1)) > -LOWEST
        assert hands[:, first].max() < WIDEST


def test_data_that_sets_off_after_standing_shows_how_to_begin(demo_database):
    """So nothing is priced there; of motion that stands, and of walks alone, nothing is known."""
    assert demo_database.derive(find_idles).leads_on
    clips = {clip.name: clip for clip in demo.generate_clips()}
    walk = clips["walk_curves"].crop(60, 240)
    sources = [Source(clip=locomotion.generate_standing(fps=30)), Source(clip=walk)]
    database = build(sources, BuildSettings())[0]
    assert not database.derive(find_idles).holds
    assert not database.derive(find_idles).leads_on


def test_a_run_begins_as_before(demo_database, settings):
    """What is asked to run may lean into it: nothing of its motion costs more."""
    intents = [Intent()] * 30 + [Intent(move=(0.0, -1.0), gait=1.0)] * 60
    take = takes.perform(demo_database, settings, Performance("run", 30, tuple(intents)))
    speed = np.linalg.norm(np.gradient(take.character[:, :2], 1 / 30, axis=0), axis=1)
    assert speed[60:].max() > 0.8 * settings.steering.run.forward


@pytest.mark.slow
def test_built_in_standing_lets_a_body_without_idles_stand(mocap):
    walks = [
        Source(file=mocap / "bandai-namco" / f"dataset-2_walk_normal_00{n}.bvh") for n in (3, 4)
    ]
    standing = Source(clip=locomotion.generate_standing(), built_in=True)
    without, with_it = (build(s, BuildSettings())[0] for s in (walks, [*walks, standing]))
    assert without.derive(find_idles).holds
    assert not with_it.derive(find_idles).holds
    assert with_it.skeleton.names == without.skeleton.names
    assert (
        with_it.derive(find_idles).stops - with_it.derive(find_idles).starts
    ).sum() > 20 * with_it.fps


def test_built_in_standing_becomes_motion_of_the_others():
    clip = next(clip for clip in demo.generate_clips() if clip.name == "walk_curves")
    names = tuple(f"b_{name}" for name in clip.skeleton.names)
    own = Source(clip=replace(clip, skeleton=clip.skeleton.with_names(names)))
    standing = Source(clip=locomotion.generate_standing(), built_in=True)
    database = build([standing, own], BuildSettings())[0]
    assert set(names) <= set(database.skeleton.names)
