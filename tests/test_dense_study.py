"""The study of dense data varies clips by seed, and writes a ratio for each script."""

from __future__ import annotations

import numpy as np
import pytest

from building.studies import dense, manual_parts
from tests.demo import generate_clips, load_demo


def test_copies_differ_a_little_and_are_always_the_same():
    clip = generate_clips()[0]
    assert dense.vary(clip, 0).clip is clip
    first, again, other = (dense.vary(clip, copy) for copy in (1, 1, 2))
    assert first.speed == again.speed != other.speed
    np.testing.assert_array_equal(first.clip.rotations, again.clip.rotations)
    cosine = np.abs(np.sum(first.clip.rotations * clip.rotations, axis=-1))
    angles = 2.0 * np.arccos(np.clip(cosine, 0.0, 1.0))
    assert 0.0 < np.degrees(angles.max()) < 10.0


@pytest.mark.slow
def test_the_manual_tells_jumps_as_a_ratio_to_the_fewest_frames():
    rows = dense.measure(load_demo(), 6.0)
    denser = [(2 * frames, script, 1.5 * jumps, *rest) for frames, script, jumps, *rest in rows]
    lines = dense.format_part([*rows, *denser], "clips", 0.1).splitlines()
    assert sum("| 1.50 |" in " ".join(line.split()) for line in lines) >= len(rows) - 1


def test_a_part_is_replaced_where_a_page_has_it(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- study: x -->\nold\n<!-- end of study -->\nb\n", encoding="utf-8")
    for part in ("one", "two"):
        manual_parts.replace_part(page, "x", part)
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line] == [
        *("a", "<!-- study: x -->", "two", "<!-- end of study -->", "b")
    ]
    with pytest.raises(ValueError, match="'<!-- study: y -->'"):
        manual_parts.replace_part(page, "y", "one")
