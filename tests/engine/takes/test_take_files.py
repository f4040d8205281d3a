"""Takes as arrays: what is written is what the take has, and other files are refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.errors import MotionDataError
from motion_matching.engine.ground.ground import Box
from motion_matching.engine.takes import take_files, takes
from tests.demo import load_few


@pytest.fixture(scope="module")
def database() -> Database:
    return load_few()


@pytest.fixture(scope="module")
def take(database: Database) -> Take:
    settings = takes.make_default_settings(database)
    script = takes.prepare_performance(database, settings, "pushes", gait="run", seconds=6, seed=3)
    return takes.perform(database, settings, replace(script, obstacles=(Box((0, -6), (2, 2)),)))


@pytest.fixture(scope="module")
def stored(take: Take, database: Database, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of the take, and of a part of it."""
    path = tmp_path_factory.mktemp("npz") / "takes.npz"
    take_files.save(take_files.store_takes([take, take.crop(10, 40)], database), path)
    return path


def test_numpy_alone_reads_what_the_take_has(stored, take, database):
    data = np.load(stored)  # as the manual shows it: no pickles
    header = json.loads(bytes(data["header"]))
    assert header["fps"] == take.fps
    assert header["bones"] == list(take.skeleton.names)
    assert [entry["seed"] for entry in header["takes"]] == [3, 3]
    assert data["take_stops"].tolist() == [180, 210]
    poses = take.poses.transpose(0, 2, 1)
    np.testing.assert_array_equal(data["local_positions"][:180], poses[..., :3])
    np.testing.assert_array_equal(data["local_rotations"][180:], poses[10:40, :, 3:])
    toes = take.skeleton.compute_bone_positions(data["foot_bones"], take.poses)
    np.testing.assert_allclose(data["joint_positions"][:180, data["foot_bones"]], toes, atol=1e-5)
    steps = (data["joint_positions"][2:180] - data["joint_positions"][:178]) * take.fps / 2
    np.testing.assert_allclose(data["joint_velocities"][1:179], steps, atol=1e-3)
    sources = zip(data["clips"], data["clip_frames"], data["mirrored"], strict=True)
    played = [database.get_frame_source(frame) for frame in take.frames]
    assert [(header["clips"][clip], frame, side) for clip, frame, side in sources][:180] == [
        (source.clip, source.frame, source.mirrored) for source in played
    ]
    assert (np.linalg.norm(data["pushes"][:180], axis=1) > 0).sum() == 1
    assert data["wished_gait"][90] == 1.0


def test_each_array_is_as_the_table_says(stored):
    data = take_files.load(stored)
    assert data.count == 2
    sizes = {"K": 2, "F": 210, "B": 23, "L": 2}
    for name, kind in {**take_files.ARRAYS, **take_files.GROUND_ARRAYS}.items():
        assert data.arrays[name].dtype == kind.dtype
        assert data.arrays[name].shape == tuple(sizes.get(n, n) for n in kind.shape), name
        assert data.header["arrays"][name]["meaning"] == kind.meaning
    assert len(data.get_take(1)["frames"]) == 30
    assert (data.get_take(1)["frames"] == data.get_take(0)["frames"][10:40]).all()


def test_what_is_read_is_written_as_it_was(stored, tmp_path):
    take_files.save(take_files.load(stored), tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == stored.read_bytes()


def test_level_ground_is_not_written(take, database):
    level = replace(take, performance=replace(take.performance, obstacles=()))
    assert "ground" not in take_files.store_takes([level], database).arrays


def test_other_files_are_refused_in_a_sentence(stored, tmp_path):
    data = take_files.load(stored)

    def spoil(arrays: dict[str, np.ndarray] | None = None, **header: object) -> Path:
        wrong = replace(data, arrays=data.arrays | (arrays or {}), header=data.header | header)
        take_files.save(wrong, tmp_path / "wrong.npz")
        return tmp_path / "wrong.npz"

    cases = {
        "holds no takes": {"format": "motion-matching database"},
        "has format version 7": {"version": 7},
        "expected bool": {"arrays": {"contacts": data.arrays["frames"]}},
        "int32 \\(23,\\), expected int32 \\(1,\\)": {"bones": ["Hips"]},
        "do not follow one another": {"arrays": {"take_starts": np.array([0, 200])}},
        "'bones' is 3": {"bones": 3},
    }
    for words, change in cases.items():
        with pytest.raises(MotionDataError, match=words):
            take_files.load(spoil(**change))
    with pytest.raises(MotionDataError, match="does not exist"):
        take_files.load(tmp_path / "none.npz")
