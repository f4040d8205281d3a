"""Batches of quick takes, and what became of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import run
from tests.conftest import CHECKOUT

Write = Callable[..., Path]
DATABASE = CHECKOUT / "tests" / "data" / "before" / "curves.npz"  # of one clip: takes are quick
TAKE = {"command": "take", "database": str(DATABASE), "script": "turns", "seconds": 1}


def make_takes(count: int) -> list[dict[str, Any]]:
    """Return rows that differ by their seeds alone."""
    return [{"seed": seed, "bvh": f"out/{seed}.bvh"} for seed in range(count)]


def list_states(path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return how the rows of a batch stand."""
    capsys.readouterr()
    assert run("batch", path, "--list", "--json") == 0
    return [json.loads(line)["state"] for line in capsys.readouterr().out.splitlines()]


def read_outputs(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((path.parent / "out").glob("*.bvh"))}


def list_others(folder: Path) -> set[str]:
    """Return the files below a folder that a batch should not leave."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.suffix != ".bvh")
    return {file.name for file in files if ".bvh.row." not in file.name}
