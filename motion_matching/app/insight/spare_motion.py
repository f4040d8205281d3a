"""Motion that a character's database can do without, by source and by its frames."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import bpy

from ...engine.database.database import Database
from ...engine.errors import DatabaseError
from ...engine.progress import ReportProgress
from ...engine.takes import pruning
from ...engine.takes.pruning import Pruning
from ..character.characters import get_armature
from ..database.build import load_with_settings_steps
from ..database.content import Content
from ..database.stored_databases import content_to_find_steps
from ..property_access import settings_of
from ..sources.source_list import find_first_frame
from ..steps import Steps, run_in_background_steps


class SpareSourceRange(NamedTuple):
    """Frames `first` to `last` of a source of the list, as its tags count."""

    source: str
    first: int
    last: int


class SpareMotion(NamedTuple):
    """The ranges to exclude, and how that was found."""

    ranges: tuple[SpareSourceRange, ...]
    pruning: Pruning


def find_steps(obj: bpy.types.Object, keep: float) -> Steps[SpareMotion]:
    """Find what to exclude so that a share of the motion stays. Raises what building raises."""
    uid = obj.session_uid
    _, database, settings = yield from load_with_settings_steps(obj)

    def find(report: ReportProgress) -> Pruning:
        tried = pruning.prepare_performances(database, settings, pruning.SECONDS, 0)
        played = pruning.count_played(database, settings, tried, partial(report, "Performing"))
        return pruning.find_spare_frames(database, played, keep)

    result = yield from run_in_background_steps(find, "Performing")
    content = yield from content_to_find_steps(uid)
    return SpareMotion(_locate(get_armature(uid), content, database, result), result)


def _locate(
    obj: bpy.types.Object, content: Content, database: Database, result: Pruning
) -> tuple[SpareSourceRange, ...]:
    """Return the spare frames by source. Raises DatabaseError if the database has other sources."""
    sources = settings_of(obj).sources
    indices = content.find_indices(len(sources))
    ranges = []
    for one in pruning.list_ranges(database, result.spare):
        key = (database.range_sources or ())[one.range_index].key
        if key not in indices:
            raise DatabaseError("The sources have changed; build the database again.")
        source = sources[indices[key]]
        first = find_first_frame(obj, source)
        ranges.append(SpareSourceRange(source.name, first + one.first, first + one.last - 1))
    return tuple(ranges)
