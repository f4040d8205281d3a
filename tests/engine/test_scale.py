"""Scale of creatures: units of values, and motion that is alike at any size."""

from __future__ import annotations

from dataclasses import astuple, fields, replace

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
from motion_matching.engine.performance.settings import OF_PEOPLE, PerformerSettings
from motion_matching.engine.scale import POSE, VELOCITY, Scale
from motion_matching.engine.takes import baking, joining, takes
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
    settings = PerformerSettings(clamp_distance=0.2, velocity_halflife=0.3, labels=(label,))
    small = GIANT.to_body(settings)
    assert small.walk.forward == settings.walk.forward / 2.0
    assert small.turn_limit == 2.0 * settings.turn_limit
    assert (small.clamp_distance, small.velocity_halflife) == (0.05, 0.15)
    assert small.labels[0].settings == {"clamp_distance": 0.1, "clamp": True}
    assert small.neighbours == settings.neighbours
    assert small.look_limit == settings.look_limit


def test_feet_of_any_size_have_the_same_settings():
    settings = PerformerSettings()
    assert set(OF_PEOPLE) <= {f.name for f in fields(settings)}
    small = GIANT.to_body(settings)
    assert all(getattr(small, name) == getattr(settings, name) for name in OF_PEOPLE)


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
    script = scripts.build_script(
        "random", 6.0, people.fps, settings.walk, settings.run, gait="walk", seed=3
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
        [*astuple(settings.walk), *astuple(settings.run), settings.turn_limit]
        for settings in (
            scale.to_body(takes.make_default_settings(other)),
            takes.make_default_settings(people),
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
