"""Marks that a first search misses, because one turns otherwise on the way than the guide guesses."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.direct.shot import Mark, Shot


@pytest.mark.slow
@pytest.mark.parametrize(("degrees", "metres"), [(-75, 5.5), (60, 6.0), (75, 6.0)])
def test_a_run_aside_from_a_stand_and_back_to_its_heading_arrives(director, degrees, metres):
    """Both marks face ahead, so the guide strafes, which nobody does at a run."""
    aside = np.radians(degrees)
    place = (metres * float(np.sin(aside)), -metres * float(np.cos(aside)))
    shot = Shot(7.0, marks=(Mark(1.0, (0.0, 0.0), 0.0, hold=0.5), Mark(4.5, place, 0.0)))
    report = director.direct(shot).report
    assert report["reached"] == 2, report["marks"]
    assert report["lead_max"] <= 0.1
