"""The study of batches, on few short takes: all ways to run one write the same bytes."""

from __future__ import annotations

import pytest

from building.studies.__main__ import main


@pytest.mark.slow
def test_all_ways_to_run_a_batch_write_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ("--takes", "24", "--scenes", "1", "--longest", "2", "--repeats", "10", "--kills", "3")
    ways = ("chunks of 7", "killed workers")  # tests of the farms are beside this one
    code = main(["batch", *sizes, "--ways", *ways])
    assert code == 0, capsys.readouterr().out
