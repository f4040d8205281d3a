"""The package ships the mannequin that the sculptor builds today."""

from __future__ import annotations

import numpy as np

from building.mannequin import __main__ as mannequin


def test_the_file_equals_the_sculpted_mannequin():
    sculpted = mannequin.build_arrays()
    with np.load(mannequin.FILE) as shipped:
        assert set(shipped.files) == set(sculpted)
        for name, array in sculpted.items():
            assert shipped[name].dtype == array.dtype
            # other builds of numpy and scipy may round the last digit differently
            np.testing.assert_allclose(shipped[name], array, rtol=0.0, atol=1e-6, err_msg=name)


def test_the_file_is_small_and_reproducible(tmp_path, monkeypatch):
    monkeypatch.setattr(mannequin, "FILE", tmp_path / "mannequin.npz")
    written = []
    for _ in range(2):
        assert mannequin.main() == 0
        written.append(mannequin.FILE.read_bytes())
    assert written[0] == written[1]
    assert len(written[0]) < 80_000
