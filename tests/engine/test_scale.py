"""Scale of creatures: units of values, and motion that is alike at any size."""

from __future__ import annotations

from dataclasses import astuple, replace

import numpy as np
import pytest

from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.field.field_controller import FieldController
from motion_matching.engine.ground.ground import FLAT, Boxes, to_body_units
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance import scripts
from motion_matching.engine.performance.intent import FuturePath, Intent
from motion_matching.engine.performance.labels import DisplacementLabel
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.engine.performance.steering_settings import Coupling, Steering
from motion_matching.engine.scale import Scale
from motion_matching.engine.takes import baking, joining, takes
from motion_matching.engine.units import POSE, VELOCITY
from tests.engine.sizes import make_sizes

GIANT = Scale.from_size(4.0)


def test_times_are_the_roots_of_lengths():
    assert Scale(4.0, 2.0) == GIANT
    factors = [GIANT.get_factor(unit) for unit in ("m", "s", "m/s", "m/s²", "rad/s", "m·s", "rad")]
    assert factors == [4.0, 2.0, 2.0, 1.0, 0.5, 8.0, 1.0]


def test_values_of_people_stay_the_same_objects():
    intent = Intent(velocity=(1.0, 2.0))
    assert Scale().to_body(intent) is intent
    assert Scale().to_world(intent) is intent


def test_an_intent_is_converted_with_all_of_its_parts():
    path = FuturePath((1.0, 2.0), ((4.0, 8.0), (0.0, 4.0)), (0.1, 0.2))
    intent = Intent(
        (0.5, 0.5), (2.0, 4.0), 0.3, 1.0, path, push=(2.0, 0.0), look_at=(4.0, 8.0, 1.0)
    )
    small = GIANT.to_body(intent)
    assert small == Intent(
        *((0.5, 0.5), (1.0, 2.0), 0.3, 1.0),
        FuturePath((0.5, 1.0), ((1.0, 2.0), (0.0, 1.0)), (0.1, 0.2)),
        push=(1.0, 0.0),
        look_at=(1.0, 2.0, 0.25),
    )
    assert GIANT.to_world(small) == intent


def test_rows_of_arrays_have_units_of_their_own():
    rng = np.random.default_rng(0)
    poses, speeds = (rng.normal(size=(3, count, 5)).astype(np.float32) for count in (7, 6))
    for values, unit, factors in ((poses, POSE, (4, 1)), (speeds, VELOCITY, (2, 0.5))):
        large = GIANT.to_world(values, unit)
        assert large.dtype == np.float32
        np.testing.assert_allclose(large[:, :3], factors[0] * values[:, :3])
        np.testing.assert_allclose(large[:, 3:], factors[1] * values[:, 3:])
        np.testing.assert_array_equal(GIANT.to_body(large, unit), values)


def test_settings_are_converted_by_their_units():
    label = DisplacementLabel(("start",), {"clamp_distance": 0.4, "clamp": True})
    settings = PerformerSettings(
        Steering(velocity_halflife=0.3), coupling=Coupling(clamp_distance=0.2, labels=(label,))
    )
    small = GIANT.to_body(settings)
    assert small.steering.walk.forward == settings.steering.walk.forward / 2.0
    assert small.steering.turn_limit == 2.0 * settings.steering.turn_limit
    assert (small.coupling.clamp_distance, small.steering.velocity_halflife) == (0.05, 0.15)
    assert small.coupling.labels[0].settings == {"clamp_distance": 0.1, "clamp": True}
    assert small.motion_field.neighbours == settings.motion_field.neighbours
    assert small.life.look_limit == settings.life.look_limit


def test_feet_of_any_size_have_the_same_settings():
    settings = PerformerSettings()
    small = GIANT.to_body(settings)
    assert small.feet == settings.feet
    assert small.blending.root_halflife == settings.blending.root_halflife
    assert small.blending.inertialization_halflife < settings.blending.inertialization_halflife


def test_ground_is_met_as_by_people():
    assert to_body_units(FLAT, GIANT) is FLAT
    wall = Boxes((), walls=(((4.0, -8.0), (4.0, 8.0)),))
    small = to_body_units(wall, GIANT)
    x, y = small.slide((0.0, 0.0), (3.0, 0.5), 0.2)
    assert (x, y) == pytest.approx((0.8, 0.5), abs=1e-4)
    assert small.slide((0.0, 0.0), (0.1, 0.2), 0.2) == (0.1, 0.2)


# ---------------------------------------------------------------- motion that is alike


@pytest.fixture(scope="session", params=[4.0, 0.25], ids=["giant", "mouse"])
def sizes(request, demo_database: Database) -> tuple[Database, Database]:
    return make_sizes(demo_database, request.param)


def perform_both(sizes: tuple[Database, Database], controller=MotionMatching) -> tuple[Take, Take]:
    """Perform the same with both, in their own units, and return the takes in body units."""
    people, other = sizes
    scale = Scale.from_size(other.scale.length)
    settings = takes.make_default_settings(people)
    steering = settings.steering
    script = scripts.build_script(
        "random", 6.0, people.fps, steering.walk, steering.run, gait="walk", seed=3
    )
    own = takes.perform(people, settings, script, controller=controller)
    script = replace(
        script, fps=other.fps, intents=tuple(scale.to_world(script.intents)), settings={}
    )
    take = takes.perform(other, scale.to_world(settings), script, controller=controller)
    assert take.fps == other.fps
    return own, take


def test_speeds_of_any_size_are_parted_alike(sizes):
    people, other = sizes
    scale = other.scale
    assert scale.to_body(other.pace, "m/s") == pytest.approx(people.pace)
    assert scale.to_body(other.walk_to_run, "m/s") == pytest.approx(people.walk_to_run)
    small, own = (
        [*astuple(each.walk), *astuple(each.run), each.turn_limit]
        for each in (
            scale.to_body(takes.make_default_settings(other)).steering,
            takes.make_default_settings(people).steering,
        )
    )
    np.testing.assert_allclose(small, own, rtol=1e-6)


@pytest.fixture(scope="session")
def performed(sizes) -> tuple[Take, Take]:
    return perform_both(sizes)


def check_alike(own: Take, take: Take, scale: Scale) -> None:
    np.testing.assert_array_equal(take.frames, own.frames)
    np.testing.assert_array_equal(take.jumped, own.jumped)
    assert own.jumped.any()
    small = scale.to_body(take)
    np.testing.assert_allclose(small.poses, own.poses, atol=1e-3)
    np.testing.assert_allclose(small.simulation, own.simulation, atol=1e-3)
    np.testing.assert_allclose(small.prices, own.prices, atol=1e-4)


def test_creatures_of_any_size_play_alike(sizes, performed):
    check_alike(*performed, sizes[1].scale)


def test_creatures_of_any_size_have_alike_fields(sizes):
    check_alike(*perform_both(sizes, FieldController()), sizes[1].scale)


def test_feet_of_any_size_are_planted_alike(sizes, performed):
    people, other = sizes
    own, take = (baking.bake_feet(*each) for each in zip(performed, sizes, strict=True))
    np.testing.assert_array_equal(take.locked, own.locked)
    small = other.scale.to_body(take.poses, POSE)
    np.testing.assert_allclose(small, own.poses, atol=2e-3)
    for one, its in zip(
        baking.find_contact_ranges(performed[1], other),
        baking.find_contact_ranges(performed[0], people),
        strict=True,
    ):
        assert (one.leg, one.start, one.stop) == (its.leg, its.start, its.stop)
    assert len(baking.find_contact_ranges(performed[0], people)) > 4
    assert take.performance is performed[1].performance


def test_takes_of_any_size_are_joined_alike(sizes, performed):
    joined = [
        joining.splice(take, 60, take.crop(100, 160), database, lead_back=scale.time)
        for take, database, scale in zip(performed, sizes, (Scale(), sizes[1].scale), strict=True)
    ]
    small = sizes[1].scale.to_body(joined[1].poses, POSE)
    np.testing.assert_allclose(small, joined[0].poses, atol=2e-3)
