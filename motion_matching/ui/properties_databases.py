"""Settings of the databases of a character that have names."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import StringProperty

from .property_options import OVERRIDE


def _hidden(name: str, description: str) -> Any:
    return StringProperty(name=name, options={"HIDDEN"}, description=description, **OVERRIDE)


class MotionMatchingDatabase(bpy.types.PropertyGroup):
    """A list of sources that are built from together"""

    label: StringProperty(name="Name", description="What this database is called", **OVERRIDE)
    sources: _hidden(
        "Sources",
        "Names of the sources that it is built from, kept while another database is shown",
    )
    built_key: _hidden("Built Key", "Content that it was built from last")
    built_of: _hidden("Built Of", "What it was built from last, to tell what changed since")
    built_notes: _hidden("Build Notes", "What there was to say about its last build")
    trained_key: _hidden("Trained Key", "The motion field that was trained from it last")


CLASSES = (MotionMatchingDatabase,)
