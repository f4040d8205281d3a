"""Tuned numbers: fields of one dataclass for each room, with their units and reasons."""

from __future__ import annotations

from dataclasses import field
from typing import Any


def number(value: float, unit: str, why: str) -> Any:
    """Return a field of a tuned number with its unit and the reason for its value."""
    return field(default=value, metadata={"unit": unit, "why": why})
