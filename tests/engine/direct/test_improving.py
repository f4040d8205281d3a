"""A shot is solved in passes: whoever ends it early has the take of the pass before."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.direct.director import PREVIEW_STATES
from motion_matching.engine.direct.improving import improve
from motion_matching.engine.direct.shot.shot import Mark, Shot

SHOT = Shot(6.0, marks=(Mark(4.0, (0.6, -2.4), 0.3),))


class Stop(Exception):  # noqa: N818
    """Ends the work."""


@pytest.mark.slow
def test_a_preview_comes_before_the_take_of_the_whole_search(director):
    shares: list[float] = []
    preview, best = improve(director, SHOT, progress=shares.append)
    for found, states in ((preview, PREVIEW_STATES), (best, 320)):
        same = director.make(SHOT, states=states)
        np.testing.assert_array_equal(found.take.poses, same.take.poses)
        assert found.report == same.report
    assert shares == sorted(shares)
    assert shares[0] > 0.0
    assert 0.9 < shares[-1] <= 1.0


def test_a_preview_that_is_asked_for_is_the_only_pass(director):
    [only] = improve(director, SHOT, states=PREVIEW_STATES)
    assert only.report["reached"] == 1


def test_ended_between_there_is_a_whole_take(director):
    found = []

    def end_once_something_is_found(_share: float) -> None:
        if found:
            raise Stop

    coming = improve(director, SHOT, progress=end_once_something_is_found)
    found.append(preview := next(coming))
    with pytest.raises(Stop):
        next(coming)
    assert preview.take.frame_count == round(SHOT.seconds * preview.take.fps) + 1
    assert preview.report["reached"] == 1
