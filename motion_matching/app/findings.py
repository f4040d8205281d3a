"""Find the repairs and problems of a source's motion for the list."""

from __future__ import annotations

from typing import Any

import bpy

from . import status
from .typed import settings_of
from .warnings import SourceProblem, find_notes


def find_finding(source: Any) -> SourceProblem | None:
    """Return the first problem of a source, or the first note of the last build on it."""
    obj: bpy.types.Object = source.id_data
    found = status.get_status(obj)
    problem = next((one for one in found.problems if one.source == source.name), None)
    if problem or found.kind != "fresh":
        return problem
    return find_notes(settings_of(obj).built_notes).get(source.name)
