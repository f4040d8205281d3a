"""The package ships the clips that `building` generates today, and reads them bit for bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from building.locomotion import __main__ as writer
from building.locomotion.climbs import generate_climbs
from building.locomotion.humanoid import build_humanoid_skeleton
from building.locomotion.locomotion import generate, generate_standing
from motion_matching.engine.building import demo_clips
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.motion.clip import Clip


def list_arrays(clip: Clip) -> list[np.ndarray]:
    skeleton = clip.skeleton
    rest = [skeleton.parents, skeleton.rest_positions, skeleton.rest_rotations]
    return [clip.positions, clip.rotations, *rest]


def assert_alike(shipped: Sequence[Clip], generated: Sequence[Clip]) -> None:
    assert [(clip.name, clip.fps) for clip in shipped] == [(c.name, c.fps) for c in generated]
    for clip, made in zip(shipped, generated, strict=True):
        assert clip.skeleton.names == made.skeleton.names
        assert clip.skeleton.end_sites == made.skeleton.end_sites
        for array, expected in zip(list_arrays(clip), list_arrays(made), strict=True):
            assert array.dtype == expected.dtype
            # other builds of numpy may round the last digit differently
            np.testing.assert_allclose(array, expected, rtol=0.0, atol=1e-6, err_msg=clip.name)


@pytest.mark.slow
def test_the_shipped_clips_are_those_that_are_generated_today() -> None:
    assert_alike(demo_clips.load_demo_clips(), generate())
    assert_alike(demo_clips.load_demo_clips(climbs=True)[28:], generate_climbs())
    assert_alike([demo_clips.load_standing()], [generate_standing()])


@pytest.mark.slow
def test_the_file_is_small_and_reproducible(
    tmp_path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr(writer, "FILE", tmp_path / "demo_clips.npz")
    written = []
    for _ in range(2):
        assert writer.main() == 0
        written.append(writer.FILE.read_bytes())
    assert written[0] == written[1]
    assert len(written[0]) < 3_200_000


def test_poses_are_read_bit_for_bit() -> None:
    rng = np.random.default_rng(3)
    hips = rng.normal(size=(50, 3)).astype(np.float32)
    hips[:3] = [[0.0, -0.0, 1e-40], [-1e-40, 1e9, -1e9], [1.0, np.nextafter(1.0, 2.0), -1.0]]
    rotations = rng.normal(size=(50, 4, 4)).astype(np.float32)  # also far from unit length
    rotations[:2] = [[[1.0, 0.0, -0.0, 0.0]] * 4, [[-0.0, 1.0, 0.0, 0.0]] * 4]
    read = demo_clips.decode_poses(writer.encode_poses(hips, rotations))
    assert [array.tobytes() for array in read] == [hips.tobytes(), rotations.tobytes()]


def test_the_skeleton_is_that_of_the_generator() -> None:
    skeleton = build_humanoid_skeleton()
    assert demo_clips.load_demo_skeleton().names == skeleton.names


def test_a_seed_that_is_not_shipped_is_refused() -> None:
    with pytest.raises(SettingsError, match="those of seed 0, not of 5"):
        demo_clips.load_demo_clips(seed=5)
