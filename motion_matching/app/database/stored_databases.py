"""Find the database of a character in the library: as it was built, or with other tags."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import bpy

from ...engine.building import retagging
from ...engine.building.unmended import find_unmended
from ...engine.database.database import Database
from ...engine.database.tags.tags import TagRange
from ...engine.errors import DatabaseError
from ...engine.facts.bearing import WalkBearing
from ...engine.facts.idles import find_idles
from ...engine.facts.postures import find_all_odd_postures
from ...engine.sources.reel import BuildNote
from ..property_access import settings_of
from ..settings import get_thresholds
from ..sources.source_list import build_tag_ranges, find_first_frame
from ..steps import Steps, run_in_background_steps
from .content import Content, content_steps
from .library import get_library


def content_to_find_steps(uid: int, reads_all: bool = True) -> Steps[Content]:
    """Return the content of an armature, once the database that is stored for it has been read.

    A database is read in a thread: its checksums are compared, which takes a second for 2 GB.
    """
    content = yield from content_steps(uid, reads_all)
    library = get_library()
    key = content.key if library.has(content.key) else library.find_base(content.motion)
    if not key or library.is_loaded(key):
        return content
    with suppress(DatabaseError):  # which `find_database` raises again
        yield from run_in_background_steps(lambda _: find_told(library.load(key)), "Loading")
    return (yield from content_steps(uid, reads_all))  # it may have changed meanwhile


def find_told(database: Database) -> None:
    """Find the facts about a database for panels: slow, so they are stored with the database."""
    for find in (find_all_odd_postures, find_idles, WalkBearing, find_unmended):
        database.derive(find)


def find_database(obj: bpy.types.Object, content: Content) -> Database | None:
    """Return the database of an armature's content if it is stored, or one of other tags.

    Tags are put on it without reading its sources. Raises SettingsError or DatabaseError for tags
    that cannot be built.
    """
    library = get_library()
    if library.has(content.key):
        return library.load(content.key)
    base = library.find_base(content.motion)
    if not base:
        return None
    try:
        motion = library.load(base)
    except DatabaseError:  # damaged: it is built again
        return None
    settings = settings_of(obj)
    auto_tags = get_thresholds(settings.thresholds) if settings.auto_tags else None
    tagged = retagging.retag(motion, _collect_tags(obj, content), auto_tags)
    library.add_tagged(content.key, base, tagged)
    return tagged


def find_idle_tags(
    obj: bpy.types.Object, content: Content, database: Database
) -> tuple[BuildNote, ...]:
    """Return notes on tags of the sources that cover no frame of their database."""
    is_gone = max(content.source_keys, default=-1) >= len(settings_of(obj).sources)
    if is_gone or not retagging.can_retag(database):  # a source was removed during the build
        return ()
    return retagging.find_idle_tags(database, _collect_tags(obj, content))


def _collect_tags(obj: bpy.types.Object, content: Content) -> Mapping[str, tuple[TagRange, ...]]:
    """Return the tags of sources by their keys in the database."""
    sources = settings_of(obj).sources
    tags = {}
    for index, key in content.source_keys.items():
        source = sources[index]
        first = find_first_frame(obj, source) if source.tag_ranges else 0
        tags[key] = build_tag_ranges(source, first)
    return tags
