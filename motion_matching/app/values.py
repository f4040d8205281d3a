"""Values of properties."""

from __future__ import annotations

from typing import Any


def to_plain_value(value: Any) -> Any:
    """Return a property's value without the noise of its 32 bits."""
    return round(value, 6) if isinstance(value, float) else value


def make_groups(group: Any) -> None:
    """Make the groups within a group of properties, by reading them.

    When an override is opened again, it keeps only the changes in groups that the linked file has.
    """
    for prop in group.bl_rna.properties:
        if prop.type == "POINTER" and prop.fixed_type.identifier.startswith("MotionMatching"):
            make_groups(getattr(group, prop.identifier))
