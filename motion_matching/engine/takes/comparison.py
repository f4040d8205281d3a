"""Compare takes by measures: rows of a table, each with its unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Measure(NamedTuple):
    """A row: its label with the unit, its name in a report, and its format."""

    label: str
    name: str
    decimals: int
    factor: float = 1.0
    is_per_frame: bool = False  # whether it is known only if the take still goes the same way

    def format_in(self, measures: dict[str, Any]) -> str:
        """Return its value among measures as text; empty if it is not known."""
        value = measures.get(self.name)
        return "" if value is None else f"{self.factor * value:.{self.decimals}f}"


MEASURES = (
    Measure("Length  s", "seconds", 1),
    Measure("Foot Slide  cm/s", "foot_slide_mann", 1, 100),
    Measure("In Contact  cm/s", "foot_slide_contacts", 1, 100, is_per_frame=True),
    Measure("Desired  m/s", "desired_speed", 2),
    Measure("Reached  m/s", "achieved_along_wish", 2),
    Measure("Turned After  s", "response_time_median", 2),
    Measure("Strays  m", "simulation_distance_mean", 2, is_per_frame=True),
    Measure("Jumps  /s", "jumps_per_second", 1, is_per_frame=True),
    Measure("Jump Price  cm·s", "jump_price_mean", 2, 100, is_per_frame=True),
    Measure("Price in 95 %  cm·s", "jump_price_p95", 2, 100, is_per_frame=True),
)


def write_table(names: Sequence[str], takes: Sequence[dict[str, Any]]) -> str:
    """Return a table of the measures of takes, a column each, without rows that are all unknown."""
    rows = [["", *names]]
    rows += [[each.label, *map(each.format_in, takes)] for each in MEASURES]
    rows = [row for row in rows if any(row[1:])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in rows)
    return "\n".join("  ".join(row).rstrip() for row in padded)
