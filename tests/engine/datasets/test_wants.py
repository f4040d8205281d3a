"""What a data set is asked to hold: kinds of motion are told apart, and wrong requests refused."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.database.database import Database
from motion_matching.engine.datasets.wants import MeasuredMotion, parse_wants
from motion_matching.engine.errors import SettingsError
from tests.demo import load_few


@pytest.fixture(scope="module")
def database() -> Database:
    return load_few()


def test_kinds_of_motion_are_told_apart(database):
    texts = ["standing=10", "walking=60", "running=30", "turning=5", "speed:1-2=9", "turn:90-=2"]
    wants = parse_wants(texts, database)
    assert [want.share for want in wants] == pytest.approx([0.1, 0.6, 0.3, 0.05, 0.09, 0.02])
    speed = np.array([0.0, 1.0, 1.5, 4.0])
    turn = np.radians([0.0, 30.0, 100.0, 10.0])
    motion = MeasuredMotion(speed, turn, np.zeros(4, np.uint32))
    found = {want.name: want.find(motion, database).astype(int).tolist() for want in wants}
    assert found == {
        "standing": [1, 0, 0, 0],
        "walking": [0, 1, 1, 0],
        "running": [0, 0, 0, 1],
        "turning": [0, 1, 1, 0],
        "speed:1-2": [0, 1, 1, 0],
        "turn:90-": [0, 0, 1, 0],
    }


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["running"], "gives no share"),
        (["running=101"], "from 0 to 100"),
        (["running=nan"], "from 0 to 100"),
        (["limp=10"], "names no kind of motion"),
        (["speed:3-x=10"], "names no kind of motion"),
        (["running=20", "running=30"], "twice"),
        (["running=60", "standing=60"], "120 % of standing, walking and running together"),
        (["running=30", "standing=30", "walking=30"], "give 100 %"),
        (["speed:20-30=10"], "no frame of the database is such motion"),
    ],
)
def test_wrong_requests_are_refused_in_a_sentence(database, texts, words):
    with pytest.raises(SettingsError, match=words):
        parse_wants(texts, database)
