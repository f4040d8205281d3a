"""The study of batches, on few short takes: all ways to run one write the same bytes."""

from __future__ import annotations

import pytest

from building.studies.__main__ import main


@pytest.mark.slow
def test_all_ways_to_run_a_batch_write_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ("--takes", "24", "--scenes", "2", "--longest", "3", "--repeats", "10", "--kills", "3")
    ways = ("chunks of 7", "workers", "killed workers")  # tests of each farm are beside this one
    code = main(["batch", *sizes, "--ways", *ways])
    assert code == 0, capsys.readouterr().out
