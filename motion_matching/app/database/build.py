"""Load or build the database of a character, and read the motion of its sources for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import bpy

from ...engine.building import build as engine_build
from ...engine.building.reading import Reading
from ...engine.bvh import bvh
from ...engine.bvh.clip_cache import ClipCache
from ...engine.database.database import Database
from ...engine.errors import MotionMatchingError, RigChangedError, SettingsError
from ...engine.performance.settings import PerformerSettings
from ...engine.progress import ReportProgress, run_to_end
from ...engine.sources.sources import Source
from ...scene.blender.evaluation import evaluation
from ...scene.library.library import FileDigests
from ...scene.reading import hand_path, sampling
from ...scene.reading.sampling import SampledClip
from ..character.characters import get_armature, get_axes, get_bone_choice
from ..property_access import settings_of
from ..runtime import runtime
from ..settings import get_build_settings, get_performer_settings
from ..sources import source_grounds
from ..sources.source_check import match_notes
from ..sources.source_files import find_file, get_reading
from ..sources.source_list import (
    build_tag_ranges,
    diagnose,
    get_enabled_indices,
    get_label,
    get_source,
)
from ..sources.source_motion import sample_steps
from ..steps import Steps, run_in_background_steps, scale_progress_steps
from ..strip.warnings import SourceProblem, notes_to_text
from . import status
from .content import Content, content_steps
from .library import get_library
from .stored_databases import content_to_find_steps, find_database, find_idle_tags


def load_or_build_steps(
    obj: bpy.types.Object, again: bool = False, trusts_status: bool = False
) -> Steps[Database]:
    """Return the database of an armature's settings, built if it is not stored or if `again`.

    If it `trusts_status`, a database shown as fresh is not compared with its sources again: only
    scripts change keys without a report. Raises errors of sampling, building and saving, and of
    files that change meanwhile. Nothing is changed before the end.
    """
    uid = obj.session_uid
    databases = get_library()
    if trusts_status and status.is_current(obj):
        content = run_to_end(content_steps(uid, reads_all=False))
        if databases.is_loaded(content.key):
            return databases.load(content.key)
    content = yield from (content_steps(uid) if again else content_to_find_steps(uid))
    obj = get_armature(uid)
    if not again and (known := find_database(obj, content)) is not None:
        _store_content(obj, content)
        status.set_built(obj, content, known)
        return known
    enabled = (source for source in settings_of(obj).sources if source.enabled)
    found = ((source, diagnose(source)[0]) for source in enabled)
    notes = [SourceProblem(source.name, get_label(source), kind) for source, kind in found if kind]
    built, build_report = yield from _build_steps(uid, content, notes)

    def save(report: ReportProgress) -> Database:
        status.forget_tagged(databases.find_tagged(content.motion))
        stored = databases.store(content.key, built, content.motion)
        status.cache_database(content.key, stored)
        return stored

    database = yield from run_in_background_steps(save, "Saving")
    obj = get_armature(uid)
    _store_content(obj, content)
    idle = find_idle_tags(obj, content, database)  # the status has these, as tags change
    told = (note for note in build_report.warnings if note not in idle)
    notes += match_notes(obj, (*build_report.skipped, *told))
    settings_of(obj).built_notes = notes_to_text(notes)
    # it may be stale already: what changed after the reading is not in it
    yield from status.refresh_steps(uid)
    return database


def load_with_settings_steps(
    obj: bpy.types.Object,
) -> Steps[tuple[bpy.types.Object, Database, PerformerSettings]]:
    """Return an armature with its database as above, and how it responds."""
    uid = obj.session_uid
    database = yield from load_or_build_steps(obj)
    obj = get_armature(uid)
    return obj, database, get_performer_settings(obj, database)


def _build_steps(
    uid: int, content: Content, notes: list[SourceProblem]
) -> Steps[tuple[Database, engine_build.BuildReport]]:
    """Read the sources and build from them; what cannot be read is added to `notes`."""
    settings = get_build_settings(get_armature(uid))
    read = yield from read_sources_steps(uid, notes, content.source_keys)
    sources = [source for source, _ in read]
    digests = runtime.get_cache(FileDigests)
    files = {source.file: digests.compute(source.file) for source in sources if source.file}
    if (yield from content_steps(uid)).key != content.key:
        raise SettingsError("Sources or settings changed during the build; build again.")

    library = get_library()
    reading = Reading(cache=ClipCache(library.folder, library.limit // 4))  # room for databases

    def build(report: ReportProgress) -> tuple[Database, engine_build.BuildReport]:
        result = engine_build.build(sources, settings, report, skip_broken=True, reading=reading)
        for file, digest in files.items():  # which were loaded only now
            if digests.compute(file) != digest:
                raise SettingsError(
                    f"{file} changed while the database was built from it; build again."
                )
        return result

    return (yield from run_in_background_steps(build, "Building"))


def _store_content(obj: bpy.types.Object, content: Content) -> None:
    settings_of(obj).built_key, settings_of(obj).built_of = content.key, content.to_text()


def read_sources_steps(
    uid: int,
    notes: list[SourceProblem] | None = None,
    keys: Mapping[int, str] | None = None,
) -> Steps[list[tuple[Source, int]]]:
    """Read the actions among the sources of an armature as clips, one between two yields.

    Returns each source with the frame of the timeline where its clip counts zero; sources have
    their `keys` by index. What cannot be read is added to `notes`, with the reason; without that
    list, or if nothing else is left, its error is raised. Raises RigChangedError if the armature,
    or what it follows, changed.
    """
    obj = get_armature(uid)
    indices = get_enabled_indices(obj)
    before = evaluation.read_followed_transforms(obj)
    result: list[tuple[Source, int]] = []
    for number, index in enumerate(indices):
        name = get_source(uid, index)[1].name
        yield f"Reading {name}", number / len(indices)
        steps = _sample_steps(uid, index, f"Reading {name}")
        try:
            sampled = yield from scale_progress_steps(steps, number, len(indices))
        except MotionMatchingError as error:
            is_only_one = index == indices[-1] and not result
            if notes is None or is_only_one or isinstance(error, RigChangedError):
                raise
            label = get_label(get_source(uid, index)[1])
            notes.append(SourceProblem(name, label, "unreadable", str(error).rstrip(".")))
        else:
            source, first = read_source(*get_source(uid, index), sampled=sampled)
            result.append((replace(source, key=(keys or {}).get(index, "")), first))
    obj = get_armature(uid)
    after = evaluation.read_followed_transforms(obj)
    moved = [name for name in before | after if before.get(name) != after.get(name)]
    if moved:
        text = f"'{moved[0]}', which armature '{obj.name}' follows, was moved while the sources"
        raise RigChangedError(f"{text} were read; start again.")
    return result


def _sample_steps(uid: int, index: int, stage: str) -> Steps[SampledClip | None]:
    """Sample the action of a source, in pieces; None for a file."""
    obj, source = get_source(uid, index)
    if source.kind != "ACTION":
        return None
    owner = source.performer or obj
    limits = _get_limits(source)
    return (yield from sample_steps(owner, source.action, stage, limits))


def _get_limits(source: Any) -> tuple[int, int] | None:
    """Return the first and the last frame that a source is limited to, or None for all."""
    return (source.frame_start, source.frame_end) if source.use_range else None


def read_source(
    obj: bpy.types.Object, source: Any, by_hand: bool = True, sampled: SampledClip | None = None
) -> tuple[Source, int]:
    """Return a source for the engine, and the frame of the timeline where its clip counts zero.

    It has the path that was edited by hand, unless `by_hand` is False. An action may have been
    `sampled` before.
    """
    speed = round(source.speed, 6)
    loop = source.loop
    result = Source(
        file=find_file(source),
        character=(source.character or None) if source.kind == "FILE" else None,
        speed=speed,
        mirror=source.mirror,
        tempo=source.tempo,
        loop=loop,
        keep_frames=source.keep_frames,
        keep_floor=source.keep_floor,
        ground=source_grounds.read_floor(source),
    )
    first = 0
    limits = _get_limits(source)
    if source.kind == "ACTION":
        if sampled is None:
            owner = source.performer or obj
            bones = get_bone_choice(owner)
            sampled = sampling.sample(owner, [source.action], bones=bones, frames=limits)[0]
        first = sampled.first
        cyclic = loop or sampled.cyclic
        result = replace(result, clip=sampled.clip, loop=cyclic, shown_first=first)
    elif limits:
        result = replace(result, start=limits[0], stop=limits[1] + 1)
    if by_hand and source.use_path:
        result = _add_hand_path(result, obj, source, first)
    return replace(result, tags=build_tag_ranges(source, first)), first


def _add_hand_path(result: Source, obj: bpy.types.Object, source: Any, first: int) -> Source:
    """Return a source with the path that was edited by hand; a file is read for its length."""
    axes = get_axes(settings_of(obj))
    if result.clip is None:
        result = replace(result, clip=bvh.load(result.file or "", **get_reading(source)))
    start = result.start or 0
    count = result.load(axes).frame_count
    return replace(result, track=hand_path.read_path(source.path, obj, first + start, count))
