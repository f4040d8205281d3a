"""A compact database has half the size, hardly other joints, and the same features."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database import compact
from motion_matching.engine.database import database as databases
from motion_matching.engine.database.database import Database
from motion_matching.engine.errors import DatabaseError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.sources.sources import Source
from tests.demo import generate_clips


@lru_cache
def build_small(compact: bool) -> Database:
    clips = [clip.crop(0, 600) for clip in generate_clips()[:3]]
    settings = BuildSettings(mirror=True, compact=compact)
    return build([Source(clip=clip) for clip in clips], settings)[0]


def place_joints(database: Database) -> np.ndarray:
    """Return the places (N, B, 3) of all joints in the world."""
    return quat.compute_world(database.poses, database.skeleton.parents)[1]


def test_joints_stay_within_half_a_millimetre_and_features_stay_exact():
    whole, small = build_small(False), build_small(True)
    away = np.linalg.norm(place_joints(whole) - place_joints(small), axis=-1)
    assert 0.0 < away.max() < 0.0005
    for name in ("features", "track", "contacts", "limits", "tags"):
        assert np.array_equal(getattr(whole, name), getattr(small, name)), name
    rates = np.abs(whole.velocities - small.velocities)
    assert (rates <= 0.001 * np.abs(whole.velocities) + 1e-6).all()
    lengths = np.linalg.norm(small.poses[:, 3:], axis=1)
    assert np.abs(lengths - 1.0).max() < 1e-6


def test_a_compact_file_is_smaller_and_read_as_it_was_built(tmp_path: Path):
    files = {kind: tmp_path / f"{kind}.npz" for kind in (True, False)}
    for kind, file in files.items():
        databases.save(build_small(kind), file)
    assert files[True].stat().st_size <= 0.6 * files[False].stat().st_size
    loaded = databases.load(files[True])
    for name in ("poses", "velocities", "features"):
        assert np.array_equal(getattr(loaded, name), getattr(build_small(True), name)), name
    databases.save(loaded, tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == files[True].read_bytes()


def test_only_compact_files_have_another_version(tmp_path: Path):
    for kind, version in ((False, 1), (True, 2)):
        databases.save(build_small(kind), tmp_path / "file.npz")
        with np.load(tmp_path / "file.npz") as arrays:
            assert json.loads(arrays["header"].tobytes())["version"] == version
            assert ("poses" in arrays) is not kind


def test_a_compact_file_with_bones_that_are_none_is_refused(tmp_path: Path):
    file = tmp_path / "file.npz"
    databases.save(build_small(True), file)
    with np.load(file) as arrays:
        changed = {name: arrays[name] for name in arrays.files}
    changed["whole_bones"] = changed["whole_bones"] + np.int32(1000)
    np.savez(file, **changed)
    with pytest.raises(DatabaseError, match="whole_bones"):
        databases.load(file)


@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 7.0), st.floats(-100.0, 100.0))
def test_what_is_rounded_once_is_rounded_to_itself(seed: int, reach: float, place: float):
    rng = np.random.default_rng(seed)
    poses = np.empty((40, 7, 6), np.float32)
    poses[:, :3] = place + reach * rng.random((40, 3, 6))
    poses[:, 3:] = np.moveaxis(quat.normalize(rng.normal(size=(40, 6, 4))), 2, 1)
    velocities = rng.normal(size=(40, 6, 6)).astype(np.float32)
    once = compact.unpack(compact.pack(poses, velocities))
    twice = compact.unpack(compact.pack(*once))
    for a, b in zip(once, twice, strict=True):
        assert np.array_equal(a, b)
    assert np.abs(once[0] - poses).max() < 2e-4
    compact.round_in_place(poses, velocities)
    assert np.array_equal(poses, once[0])
    assert np.array_equal(velocities, once[1])
