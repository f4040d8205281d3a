"""Features of position and velocity against integrals of the article's curves."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from motion_matching.engine.building.build import BuildSettings
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.features.features import (
    Feature,
    Schema,
    compute_features,
    load_schema,
    schema_from_dict,
)
from motion_matching.engine.database.features.kinds import fades, find_kind
from motion_matching.engine.errors import SettingsError

RNG = np.random.default_rng(20)
TIME = {"bone_spring": 0.15, "bone_cubic": 0.4}


def get_spring_offset(t: float, x: float, v: float, halflife: float) -> float:
    """Return the article's spring."""
    y = 2.0 * np.log(2.0) / (halflife + 1e-5)
    return np.exp(-y * t) * (x + (v + x * y) * t)


def get_cubic_offset(t: float, x: float, v: float, blend_time: float) -> float:
    """Return the article's cubic."""
    t = np.clip(t / blend_time, 0.0, 1.0)
    c = v * blend_time
    return (2 * x + c) * t**3 + (-3 * x - 2 * c) * t**2 + c * t + x


FADE_KINDS = tuple(kind.name for kind in fades.KINDS)
OFFSETS = {"bone_spring": get_spring_offset, "bone_cubic": get_cubic_offset}


def integrate(kind: str, x: float, v: float, absolute: bool) -> float:
    """Return the integral of an offset, or of its size, numerically."""
    time, offset = TIME[kind], OFFSETS[kind]
    last = time if kind == "bone_cubic" else 40.0 * time

    def value(t: float) -> float:
        result = offset(t, x, v, time)
        return abs(result) if absolute else result

    edges = np.linspace(0.0, last, 41)
    return sum(quad(value, a, b, epsabs=1e-12, limit=200)[0] for a, b in pairwise(edges))


@pytest.mark.parametrize("kind", FADE_KINDS)
def test_the_difference_of_two_frames_is_the_integral_of_the_offset_between_them(kind: str):
    for _ in range(20):
        (source, target), (left, entered) = RNG.normal(0.0, (0.3, 2.0), (2, 2)).T
        values = find_kind(kind).combine(
            np.array([source, target]), np.array([left, entered]), TIME[kind]
        )  # fmt: skip
        x, v = source - target, left - entered
        assert values[0] - values[1] == pytest.approx(integrate(kind, x, v, False), abs=1e-6)
        exact = integrate(kind, x, v, True)
        assert abs(values[0] - values[1]) <= exact + 1e-6
        if x * v >= 0.0:  # it never crosses zero
            assert abs(values[0] - values[1]) == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("kind", FADE_KINDS)
def test_columns_are_made_of_position_and_velocity(demo_database: Database, kind: str):
    bones = ("left_foot", "hips")
    kinds = ("bone_position", "bone_velocity", kind)
    features = [Feature(each, bone, axes="xy") for bone in bones for each in kinds]
    features[2] = replace(features[2], time=0.25)
    schema, table = Schema(tuple(features)), demo_database.to_motion_table()
    values = compute_features(schema, table)
    for first, time in ((0, 0.25), (6, find_kind(kind).usual_time)):
        position, velocity, found = values[first : first + 6].reshape(3, 2, -1).astype(float)
        y = 2.0 * np.log(2.0) / (time + 1e-5)
        expected = (
            2.0 * position / y + velocity / y**2
            if kind == "bone_spring"
            else time * position / 2.0 + time**2 * velocity / 12.0
        )
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_presets_have_21_numbers_instead_of_27():
    for name in ("spring", "cubic"):
        schema, plain = load_schema(name), load_schema("holden")
        assert (schema.dimensions, plain.dimensions) == (21, 27)
        assert [f.kind for f in schema.features[:2]] == [f"bone_{name}"] * 2
        assert schema.features[2:] == plain.features[4:]
        assert schema.beyond_range == plain.beyond_range


def test_only_what_fades_has_a_time():
    def read(**entry: object) -> Feature:
        return schema_from_dict({"features": [{"bone": "hips", **entry}]}).features[0]

    assert read(kind="bone_cubic").time == 0.0
    assert read(kind="bone_cubic", time=0.25).time == 0.25
    for entry in (
        {"kind": "bone_position", "time": 0.2},
        {"kind": "bone_spring", "time": -0.1},
        {"kind": "bone_spring", "time": 11.0},
        {"kind": "bone_spring", "time": "soon"},
    ):
        with pytest.raises(SettingsError, match="with time"):
            read(**entry)


def test_a_time_of_its_own_is_part_of_the_content_and_of_files():
    plain = Schema((Feature("bone_spring", "hips"),))
    own = Schema((Feature("bone_spring", "hips", time=0.2),))
    assert "time" not in plain.to_dict()["features"][0]
    for schema in (plain, own):
        assert schema_from_dict(schema.to_dict()) == schema
    contents = [BuildSettings(schema=schema).get_content() for schema in (plain, own)]
    assert contents[0] != contents[1]


@pytest.mark.parametrize("kind", FADE_KINDS)
def test_jumps_that_do_not_fade_are_compared_by_positions(kind: str):
    fade, position = find_kind(kind), RNG.normal(size=50)
    value, soon = fade.combine(position, np.zeros(50), 0.0), Feature(kind, "hips", time=1e-9)
    np.testing.assert_allclose(fade.find_place(value, soon), position, rtol=1e-9)
    assert value.std() > 1e-4
    assert fade.usual_time == (0.1 if kind == "bone_spring" else 0.3)
