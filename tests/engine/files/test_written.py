"""Numbers that files hold are rounded to what they state, and no zero is negative."""

from __future__ import annotations

import json
import math
import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from motion_matching.engine.files import json_files, written
from motion_matching.engine.insight.pictures import make_label
from motion_matching.engine.takes import takes

NEGATIVE_ZERO = re.compile(r"-0(\.0*)?(?![.\de])")
NUMBERS = st.floats(-1e6, 1e6) | st.floats(-1e-5, 1e-5) | st.just(-0.0)
CONTENT = st.recursive(
    NUMBERS | st.integers() | st.booleans() | st.none() | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(NUMBERS, min_size=1, max_size=8), st.integers(0, 6))
def test_rounded_numbers_are_near_and_have_no_negative_zero(numbers, decimals):
    values = np.array(numbers)
    rounded = written.round_numbers(values, decimals)
    np.testing.assert_allclose(rounded, values, rtol=0, atol=0.5001 * 10.0**-decimals)
    assert not np.any(np.signbit(rounded) & (rounded == 0.0))
    texts = [f"{value:.{decimals}f}" for value in rounded.tolist()]
    assert not any(map(NEGATIVE_ZERO.fullmatch, texts))
    assert texts == [written.format_fixed(value, decimals) for value in rounded.tolist()]


@given(CONTENT)
def test_json_has_no_negative_zero_and_every_other_bit(content):
    text = json_files.to_text(content)
    assert not NEGATIVE_ZERO.search(text)
    assert json.loads(text) == content


@given(CONTENT)
def test_reports_state_six_digits(content):
    found = json.dumps(written.round_measures(content))
    assert not NEGATIVE_ZERO.search(found)
    for number in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", found):
        assert math.isclose(float(f"{float(number):.6g}"), float(number), rel_tol=1e-12)


def test_a_report_of_a_last_bit_is_the_same_file(tmp_path):
    for name, noise in (("a", 1.0), ("b", -1.0)):
        data = {"slide": 0.1 + noise * 1e-16, "turn": noise * 1e-12, "jumps": [3, noise * 1e-13]}
        takes.write_report(data, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert json.loads((tmp_path / "a").read_text()) == {"slide": 0.1, "turn": 0, "jumps": [3, 0]}


def test_a_label_beside_the_edge_has_no_negative_zero():
    assert 'x="0" y="0"' in make_label(-0.01, -0.04, "")
