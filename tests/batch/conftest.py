"""Fixtures of batches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.batch.batches import TAKE, Write


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return `write(*rows, folder="", products=()) -> Path`, which writes a batch of takes."""

    def make(*rows: dict[str, Any], folder: str = "", products: Any = ()) -> Path:
        path = tmp_path / folder / "jobs.json"
        path.parent.mkdir(exist_ok=True)
        data = {"defaults": TAKE, "rows": rows, "products": list(products)}
        path.write_text(json.dumps(data))
        return path

    return make
