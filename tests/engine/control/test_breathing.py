"""A held stance breathes and shifts its weight: never alike twice, on feet that stay in place."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.facts.character import measure_character_legs
from motion_matching.engine.facts.idles import find_idles
from motion_matching.engine.field.field_controller import FieldController
from motion_matching.engine.field.states.neighbours import Metric
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.maths.along_time import find_runs
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import baking, takes
from tests import demo
from tests.engine import animals

STAND, WALK = Intent(), Intent(move=(0.5, -0.8))
HOLD, SETTLING = 13.0, 3.0  # seconds that are stood, and of which feet step into place


def build_restless(fps=None, scale=1.0):
    """Return a database of clips that never stand, of a body of another size."""
    clips = {clip.name: clip for clip in demo.generate_clips()}
    cut = [clips[f"{gait}_curves"] for gait in ("walk", "run")]
    cut = [clip.crop(60, clip.frame_count - 90) for clip in cut]
    sources = [Source(clip=resize(clip, scale)) for clip in cut]
    return build(sources, BuildSettings(mirror=True, fps=fps))[0]


def resize(clip, scale):
    body = replace(clip.skeleton, rest_positions=scale * clip.skeleton.rest_positions)
    return replace(clip, skeleton=body, positions=scale * clip.positions)


def perform(database, *, holds=4, seed=0, controller=MotionMatching, **changes):
    """Return a take that stands several times, and the ticks at which each hold has settled."""
    fps = round(database.fps)
    intents, ticks = [STAND] * round(HOLD * fps), [(0, round(HOLD * fps))]
    for number in range(holds - 1):
        intents += [Intent(move=(np.sin(2.0 * number), -np.cos(2.0 * number)))] * (2 * fps)
        ticks.append((len(intents), len(intents) + round(HOLD * fps)))
        intents += [STAND] * round(HOLD * fps)
    settings = takes.make_default_settings(database).with_changes(changes)
    performance = Performance("hold", fps, tuple(intents), seed=seed)
    take = takes.perform(database, settings, performance, controller=controller)
    return take, [slice(start + round(SETTLING * fps), stop) for start, stop in ticks]


def compute_joints(take):
    return quat.compute_world(take.poses.astype(np.float64), take.skeleton.parents)[1]


@pytest.fixture(scope="module")
def restless():
    return build_restless()


@pytest.fixture(scope="module")
def held(restless):
    return perform(restless)


def correlate(one, other):
    one, other = (each - each.mean(axis=0) for each in (one, other))
    return np.sum(one * other) / np.sqrt(np.sum(one**2) * np.sum(other**2))


@pytest.mark.parametrize("bakes", [False, True])
def test_it_is_alive_on_toes_that_stay_in_place(held, restless, bakes):
    take, holds = held
    joints = compute_joints(baking.bake_feet(take, restless) if bakes else take)
    toes = [leg.toe for leg in restless.roles.legs]
    for hold in holds:
        assert np.ptp(joints[hold][:, toes], axis=0).max() < 0.002
        moved = np.linalg.norm(np.diff(joints[hold], axis=0), axis=-1).max(axis=1)
        seconds = moved[: len(moved) // 30 * 30].reshape(-1, 30).sum(axis=1)
        assert seconds.min() > 0.001, "a second in which it is frozen"
        assert np.ptp(joints[hold][:, 1:], axis=0).max() < 0.03, "it wobbles"


def perform_stops(database, stops, seed):
    """Return a take that stops out of walks and runs of any direction and length, and its holds."""
    rng, fps = np.random.default_rng(seed), round(database.fps)
    intents, holds = [], []
    for _ in range(stops):
        angle, gait = rng.uniform(0.0, 2.0 * np.pi), float(rng.random() < 0.25)
        move = Intent(move=(float(np.sin(angle)), float(-np.cos(angle))), gait=gait)
        intents += [move] * round(rng.uniform(0.3, 3.0) * fps)
        holds.append(slice(len(intents), len(intents) + round(8.0 * fps)))
        intents += [STAND] * round(8.0 * fps)
    performance = Performance("stops", fps, tuple(intents), seed=seed)
    take = takes.perform(database, takes.make_default_settings(database), performance)
    return take, [settle(take, hold) for hold in holds]


def settle(take, hold):
    """Return a hold from when all has faded after the last step, until a bake begins the next."""
    stepping = np.flatnonzero(~take.contacts[hold].all(axis=1))
    start = hold.start + (stepping[-1] + 1 if len(stepping) else 0) + round(1.5 * take.fps)
    assert start < hold.stop - 2 * take.fps
    return slice(start, hold.stop - round(0.1 * take.fps))


def check_feet_stay_planted(database, stops, seed=0):
    """Stop in many ways; then toes stay in place on the floor, and are baked in place."""
    take, holds = perform_stops(database, stops, seed)
    legs = database.derive(measure_character_legs)
    toes, heights = [leg.chain[-1] for leg in legs], [leg.toe_height for leg in legs]
    for shown in (take, baking.bake_feet(take, database)):
        joints = compute_joints(shown)[:, toes]
        for hold in holds:
            moved = np.linalg.norm(joints[hold] - joints[hold].mean(axis=0), axis=-1)
            assert 2.0 * moved.max() < 0.002
            if shown is take:
                assert np.abs(joints[hold][..., 2] - heights).max() < 0.003, "a foot floats"


@pytest.mark.slow
@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_toes_stay_planted_out_of_any_stop(fps):
    check_feet_stay_planted(build_restless(fps), 4)


@pytest.mark.slow
@pytest.mark.parametrize("files", ["lafan1/*.bvh", "bandai-namco/dataset-2_*_00[1-4].bvh"])
def test_toes_of_actors_stay_planted_out_of_any_stop(files, mocap):
    sources = [Source(file=file) for file in sorted(mocap.glob(files))]
    check_feet_stay_planted(build(sources, BuildSettings(mirror=True, fps=60.0))[0], 6)


@pytest.mark.slow
def test_a_small_body_stays_planted_too():
    check_feet_stay_planted(build_restless(60.0, scale=0.6), 4)


@pytest.mark.slow
def test_no_two_holds_are_alike(restless):
    bodies = []
    for seed in (0, 1):
        take, holds = perform(restless, seed=seed)
        joints = compute_joints(take)
        bodies += [(joints[h] - joints[h][:1, :1])[:, 1:] for h in holds]
    for one, other in itertools.combinations(bodies, 2):
        assert correlate(one, other) < 0.9


def test_breaths_and_shifts_take_two_to_six_seconds(held, restless):
    take, holds = held
    hips = compute_joints(take)[:, restless.roles.hips]
    for hold in holds:
        for axis in (0, 1):
            own = hips[hold, axis] - hips[hold, axis].mean()
            turns = np.flatnonzero(np.diff(np.sign(np.diff(own))) != 0)
            halves = np.diff(turns) / take.fps
            assert 1.0 < np.median(halves) < 3.0


@pytest.mark.slow
def test_it_is_performed_again_to_the_byte_and_by_seed(restless):
    first, again, other = (perform(restless, holds=2, seed=seed)[0] for seed in (3, 3, 4))
    assert first.poses.tobytes() == again.poses.tobytes()
    assert first.poses.tobytes() != other.poses.tobytes()


def test_it_can_be_switched_off(restless):
    take, holds = perform(restless, holds=1, breathing=0.0)
    assert np.ptp(compute_joints(take)[holds[0]], axis=0).max() < 1e-4


@pytest.mark.slow
def test_motion_that_stands_itself_is_left_alone(demo_database, settings):
    intents = tuple([STAND] * 60 + [WALK] * 60 + [STAND] * 120)
    on, off = (
        takes.perform(
            demo_database,
            settings.with_changes({"breathing": amount}),
            Performance("x", 30, intents),
        )
        for amount in (1.0, 0.0)
    )
    assert on.poses.tobytes() == off.poses.tobytes()


@pytest.mark.parametrize("fps", [60.0, 120.0])
@pytest.mark.slow
def test_the_frame_rate_hardly_changes_it(held, restless, fps):
    database = build_restless(fps)
    take, holds = perform(database, holds=1)
    hips = compute_joints(take)[:, restless.roles.hips][:: round(fps / 30)]
    slow = compute_joints(held[0])[:, restless.roles.hips]
    count = round(HOLD * 30) - 90
    one, other = (each[60 : 60 + count] - each[60] for each in (hips, slow))
    assert np.abs(one - other).max() < 0.006
    toes = compute_joints(take)[:, [leg.toe for leg in database.roles.legs]]
    assert np.ptp(toes[holds[0]], axis=0).max() < 0.002


@pytest.mark.slow
def test_a_motion_field_breathes_too(restless):
    field = FieldController(Metric.from_database(restless))
    take, holds = perform(restless, holds=2, controller=field)
    joints = compute_joints(take)
    toes = [leg.toe for leg in restless.roles.legs]
    for hold in (settle(take, hold) for hold in holds):
        assert np.ptp(joints[hold][:, toes], axis=0).max() < 0.002
        assert np.ptp(joints[hold][:, restless.roles.hips], axis=0).max() > 0.003


@pytest.mark.slow
def test_a_dog_breathes_on_four_feet():
    clips = [motion.clip for motion in animals.make_dog_motions()]
    moving = build([Source(clip=clip) for clip in clips], BuildSettings())[0]
    sources = []
    for clip, start, stop in zip(clips, moving.starts, moving.stops, strict=True):
        rest = np.hypot(*moving.root_motion[start:stop, :2].T) < 0.5
        first, last = max(
            find_runs(~rest).tolist(), key=lambda run: run[1] - run[0], default=(0, 0)
        )
        if last - first > 100:
            sources.append(Source(clip=clip.crop(first, last)))
    database = build(sources, BuildSettings())[0]
    assert database.derive(find_idles).holds
    take, holds = perform(database, holds=1)
    joints = compute_joints(take)[holds[0]]
    assert np.ptp(joints[:, [leg.toe for leg in database.roles.legs]], axis=0).max() < 0.002
    assert np.ptp(joints[:, database.roles.hips], axis=0).max() > 0.001
