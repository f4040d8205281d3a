"""What the manual's prose says of measurements is what a study has written."""

from __future__ import annotations

import pytest

from building.tables import DOCS
from tests import quoted_figures
from tests.quoted_figures import Figure, list_passages

PAGES = sorted(path.name for path in DOCS.glob("*.md"))
# figures beside measurements that are none: limits and settings, by page
ALLOWED = {"motion-fields.md": {"35 °": "a limit of the field: greedy beyond it"}}


def test_figures_in_prose_are_written_by_a_study():
    unwritten = {
        (page, f"{figure.number} {figure.unit}".strip()): passage.text
        for page in PAGES
        for passage in list_passages(page)
        for figure in passage.find_unwritten()
    }
    allowed = {(page, figure) for page, figures in ALLOWED.items() for figure in figures}
    assert set(unwritten) == allowed, unwritten


def test_the_manual_quotes_figures():
    passages = [passage for page in PAGES for passage in list_passages(page)]
    quoted = [figure for each in passages for figure in quoted_figures.find_figures(each.text)]
    assert len(quoted) > 40


TABLE = """\
Written by `python3 build.py study x`.
Measured on a machine with 99.5 s.

| set    | answer, s | ratio | found |
| ------ | --------: | ----: | ----: |
| demo   |      0.62 |  0.41 |  92 % |
| LAFAN1 |  **1.07** |       | 5 of 7 |
"""


@pytest.mark.parametrize(
    ("text", "unwritten"),
    [
        ("answers in 0.62 and 1.07 s, 0.41 times as much", []),
        ("answers in about 1.1 s", []),
        ("the best in 92 %, in 5 of 7 rows", []),
        ("answers in 0.61 s instead of 1.07 s", [Figure("0.61", "s")]),
        ("0.62 m away", [Figure("0.62", "m")]),
        ("answers in 0.620 s", [Figure("0.620", "s")]),
        ("in 4 of 7 rows, 99.5 s", [Figure("4 of 7"), Figure("99.5", "s")]),
        ("from 0.41 to 0.43", [Figure("0.43")]),
        ("feet of 8 clips, as in version 2", []),
    ],
)
def test_a_figure_is_that_of_a_table_in_its_unit_or_rounded(text, unwritten):
    written = frozenset(quoted_figures.read_written(TABLE))
    assert quoted_figures.Passage("", text, written).find_unwritten() == unwritten


def test_what_names_a_set_or_links_to_a_study_tells_of_a_measurement():
    """Limits beside no study are left alone."""
    places = {passage.page for page in PAGES for passage in list_passages(page)}
    assert {"articles.md", "controller.md", "motion-fields.md", "insight.md"} <= places
    assert "quality.md" not in places  # a study writes all of it
