"""A reel laid some ranges at a time has the arrays of one laid at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.building import laying
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.features.features import Feature, Schema
from motion_matching.engine.sources.sources import Source
from tests.demo import generate_clips

# one of each way in which values depend on frames: times, means over all frames, and steps
SCHEMA = Schema(
    (
        Feature("bone_velocity", "left_foot"),
        Feature("bone_direction", "head"),
        Feature("foot_next_contact", "right_foot"),
        Feature("bone_position", "hips", (-0.1, 0.3)),
        Feature("trajectory_position", times=(0.33, 1.0), axes="xy"),
    )
)


def build_with(monkeypatch: pytest.MonkeyPatch, frames_at_once: int) -> Database:
    numbers = replace(laying.NUMBERS, frames_at_once=frames_at_once)
    monkeypatch.setattr(laying, "NUMBERS", numbers)
    clips = [clip.crop(0, 120) for clip in generate_clips()[:5]]
    return build([Source(clip=c) for c in clips], BuildSettings(mirror=True, schema=SCHEMA))[0]


@pytest.mark.parametrize("frames_at_once", [1, 200])
def test_a_reel_laid_in_groups_is_that_laid_at_once(
    monkeypatch: pytest.MonkeyPatch, frames_at_once: int
):
    whole = build_with(monkeypatch, 1_000_000)
    grouped = build_with(monkeypatch, frames_at_once)
    assert len(whole.starts) > 5
    for name in ("poses", "velocities", "track", "contacts", "limits", "features"):
        assert np.array_equal(getattr(whole, name), getattr(grouped, name)), name
