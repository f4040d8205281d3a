"""What the manual says of measurements by hand is what a study has written."""

from __future__ import annotations

import pytest

from building.tables import DOCS
from tests.quoted_figures import list_passages

PAGES = sorted(path.name for path in DOCS.glob("*.md"))
ALLOWED: dict[str, dict[str, str]] = {}


@pytest.mark.parametrize("page", PAGES)
def test_figures_in_prose_are_written_by_a_study(page):
    allowed = ALLOWED.get(page, {})
    unwritten = {
        f"{figure.number} {figure.unit}".strip(): passage.text
        for passage in list_passages(page)
        for figure in passage.find_unwritten()
    }
    assert set(unwritten) == set(allowed), unwritten
