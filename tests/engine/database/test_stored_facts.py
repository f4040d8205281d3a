"""Results of functions come back from a file as they were, or not at all."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any

import numpy as np
import pytest

from motion_matching.engine.database.stored_facts import recall, store
from motion_matching.engine.facts.postures import OddPosture
from motion_matching.engine.ground.ground_ahead import ClimbSpeeds
from motion_matching.engine.legs.legs import Beside, LegGeometry

ODD = OddPosture("walk", 3, 9, "walk", "bent", 1.0 / 3.0, 1e-300, 2, 13, 19)
CLIMBS = ClimbSpeeds((-0.1, 0.2), (1.5, math.inf))
ARMS = (1.0, 0.0, -0.0)
LEG = LegGeometry((1, 2, 3), 0, 1, 2, ARMS, None, *[0.1] * 4, beside=(Beside(1, 0.1, 0.2, -0.1),))


def find_odd() -> tuple[OddPosture, ...]:
    return (ODD, ODD)


def find_climbs() -> ClimbSpeeds | None:
    return CLIMBS


def find_none() -> ClimbSpeeds | None:
    return None


def find_legs() -> tuple[LegGeometry, ...]:
    return (LEG,)


def find_marks() -> Annotated[np.ndarray, np.bool_, ("N", 2)]:
    return np.eye(2, dtype=bool)


@pytest.mark.parametrize("make", [find_odd, find_climbs, find_none, find_legs])
def test_results_come_back_as_they_were(make):
    stored = json.loads(json.dumps(store({make: make()})))
    known = recall(make, stored, {})
    assert known is not None
    assert repr(known[0]) == repr(make())


@pytest.mark.parametrize(
    ("make", "damage"),
    [
        (find_odd, [["walk"]]),
        (find_odd, {"clip": "walk"}),
        (find_odd, [["walk", 3.5, 9, "walk", "bent", 1.0, 1.0, 2, 13, 19]]),
        (find_odd, [["walk", True, 9, "walk", "bent", 1.0, 1.0, 2, 13, 19]]),
        (find_climbs, [[0.0], ["nan"]]),
        (find_climbs, [[0.0], [math.nan]]),
        (find_climbs, [[0.0], [10**400]]),
        (find_climbs, np.zeros((2, 1))),
        (find_legs, None),
        (find_marks, np.zeros((3, 2), bool)),
        (find_marks, np.zeros((2, 2), np.uint8)),
        (find_marks, [[True, False], [False, True]]),
        (find_marks, "marks"),
    ],
)
def test_what_is_not_of_the_declared_type_is_missing(make, damage):
    stored: dict[str, Any] = {f"facts/{make.__name__}": damage}
    assert recall(make, stored, {"N": 2}) is None


def test_numbers_that_would_come_back_as_others_are_refused():
    with pytest.raises(TypeError, match="cannot be stored"):
        store({find_climbs: ClimbSpeeds((np.float32(0.1),), (1.0,))})  # type: ignore[arg-type]
