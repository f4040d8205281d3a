"""Operators on databases: build one, and clear them all away with what was trained on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy

from ..engine.errors import ChangedError, MotionMatchingError, SettingsError
from . import polls, request, source_files, status
from .preferences import library
from .work import Steps, Working, in_background, one_of

if TYPE_CHECKING:
    from ..engine.matching.database import Database
    from ..engine.matching.sources import Source
    from ..scene.sampling import Sampled
    from .contents import Content

_MOST_NOTES = 4


def built(obj: bpy.types.Object, again: bool = False) -> Steps[Database]:
    """Work that gives the database of an armature's settings: the one that is there, or unless that is right a new one.

    Errors are those of sampling, building and saving, and where files change meanwhile; until it is done nothing is changed.
    """
    from ..scene.library import file_digest

    uid, databases = obj.session_uid, library()
    content = yield from request.content_steps(uid)
    obj, key = request.held(uid), content.key
    if databases.has(key) and not again:
        database = databases.load(key)
        _note(obj, content)
        status.note_built(obj, key, database)
        return database
    settings = request.build_settings(obj)
    lost = [
        (source.name, request.problem_of(source))
        for source in obj.motion_matching.sources
        if source.enabled
    ]
    broken = [(name, problem) for name, problem in lost if problem]
    sources = [source for source, _ in (yield from read_sources(uid, broken))]
    files = {source.file: file_digest(source.file) for source in sources if source.file}
    if (yield from request.content_steps(uid)).key != key:
        raise SettingsError(
            "The sources or the settings changed while the sources were read; build again."
        )

    def build(tell: Any) -> tuple[Database, Any]:
        from ..engine.matching import build as builder

        result = builder.build(sources, settings, tell, skip_broken=True)
        for file, digest in files.items():  # which were loaded only now
            if file_digest(file) != digest:
                raise SettingsError(
                    f"{file} changed while the database was built from it; build again."
                )
        return result

    made, report = yield from in_background(build, "Building")

    def save(tell: Any) -> Database:
        stored = databases.store(key, made)
        status.describe(key, stored)
        return stored

    database = yield from in_background(save, "Saving")
    obj = request.held(uid)
    _note(obj, content)
    obj.motion_matching.built_notes = _notes([*broken, *report.skipped], report.warnings)
    yield from status.look(
        uid
    )  # it may be stale already: what changed after the reading is not in it
    return database


def _note(obj: bpy.types.Object, content: Content) -> None:
    """Keep of what the database of an armature is made."""
    obj.motion_matching.built_key, obj.motion_matching.built_of = content.key, content.to_text()


def read_sources(
    uid: int, broken: list[tuple[str, str]] | None = None
) -> Steps[list[tuple[Source, int]]]:
    """Work that reads the actions among the sources of an armature as clips, one between two yields.

    With each goes the frame that Blender counts where its clip counts zero. What cannot be read is added to the list of
    `broken` ones by name, with the reason; without a list, where nothing else is left, and where it is the armature that
    changed meanwhile, its error is raised; ChangedError also where something that it follows was moved.
    """
    from ..scene.evaluation import places_followed

    places, stood = request.enabled_places(request.held(uid)), places_followed(request.held(uid))
    result: list[tuple[Source, int]] = []
    for number, place in enumerate(places):
        name = request.source_at(uid, place)[1].name
        yield f"Reading {name}", number / len(places)
        try:
            sampled = yield from one_of(
                _sampled(uid, place, f"Reading {name}"), number, len(places)
            )
        except MotionMatchingError as error:
            if (
                broken is None
                or isinstance(error, ChangedError)
                or (place == places[-1] and not result)
            ):
                raise
            broken.append((name, str(error)))
        else:
            result.append(read_source(*request.source_at(uid, place), sampled=sampled))
    obj = request.held(uid)
    stands = places_followed(obj)
    moved = [name for name in stood | stands if stood.get(name) != stands.get(name)]
    if moved:
        raise ChangedError(
            f"'{moved[0]}', which armature '{obj.name}' follows, was moved while the sources were read; "
            "start again."
        )
    return result


def _sampled(uid: int, place: int, stage: str) -> Steps[Sampled | None]:
    """Work that reads the action of a source, in pieces; None for a file."""
    from ..scene.sampling import reading

    obj, source = request.source_at(uid, place)
    if source.kind != "ACTION":
        return None
    limits = (source.frame_start, source.frame_end) if source.use_range else None
    work = reading(obj, source.action, bones=_bones(obj), frames=limits)
    rest = None
    while rest is None:
        try:
            next(work)
            yield stage, 0.0
        except StopIteration as done:
            rest = done.value
    return (yield from in_background(lambda tell: rest(), stage))


def _bones(obj: bpy.types.Object) -> str | None:
    """Which bones make up the skeleton, as sampling asks for it."""
    chosen = obj.motion_matching.bones
    return None if chosen == "AUTO" else chosen.lower()


def read_source(
    obj: bpy.types.Object, source: Any, by_hand: bool = True, sampled: Sampled | None = None
) -> tuple[Source, int]:
    """A source of an armature as the engine takes it, and the frame that Blender counts where its clip counts zero.

    The path that was edited by hand goes with it, unless that is not wanted. An action may have been `sampled` already.
    """
    from ..engine.matching.sources import Source
    from ..scene.sampling import sample

    use = Source(
        file=source_files.file_of(source),
        speed=round(source.speed, 6),
        mirror=source.mirror,
        loop=source.loop,
    )
    first = 0
    limits = (source.frame_start, source.frame_end) if source.use_range else None
    if source.kind == "ACTION":
        sampled = sampled or sample(obj, [source.action], bones=_bones(obj), frames=limits)[0]
        use, first = (
            replace(use, clip=sampled.clip, loop=source.loop or sampled.cyclic),
            sampled.first,
        )
    elif limits:
        use = replace(use, start=limits[0], stop=limits[1] + 1)
    if by_hand and source.use_path:
        use = _with_path(use, obj, source, first)
    return replace(use, tags=request.tags_of(source, first)), first


def _with_path(use: Source, obj: bpy.types.Object, source: Any, first: int) -> Source:
    """A source with the path that was edited by hand: a file is read for it, to know how many frames it has."""
    from ..engine.motion import bvh
    from ..scene.hand_path import read_path

    axes = request.build_settings(obj).axes()
    if use.clip is None:
        use = replace(use, file=None, clip=bvh.load(use.file or "", **axes))
    start = use.start or 0
    return replace(
        use, track=read_path(source.path, obj, first + start, use.load(axes).frame_count)
    )


def _notes(skipped: Sequence[tuple[str, str]], warnings: Sequence[str]) -> str:
    """What a user should hear about a build, a sentence on each line."""
    notes = [f"Left out '{name}': {reason.rstrip('.')}." for name, reason in skipped]
    notes += [f"{warning.rstrip('.')}." for warning in warnings]
    more = (
        [f"There are {len(notes) - _MOST_NOTES} more notes like these."]
        if len(notes) > _MOST_NOTES
        else []
    )
    return "\n".join(notes[:_MOST_NOTES] + more)


class MOTION_MATCHING_OT_build(Working, bpy.types.Operator):
    """Build the database from the sources that are switched on: their poses, and what frames are compared by"""

    bl_idname = "motion_matching.build"
    bl_label = "Build"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_sources(cls, context)

    def steps(self, context: bpy.types.Context) -> Steps[str]:
        obj = request.armature_of(context)
        uid = obj.session_uid
        database = yield from built(obj, again=True)
        for note in request.held(uid).motion_matching.built_notes.splitlines():
            self.report({"WARNING"}, note)
        return f"Built {status.summary(database)}"


class MOTION_MATCHING_OT_clear_cache(bpy.types.Operator):
    """Delete all databases and trained motion fields from the disk; they can be made again from their sources at any time"""

    bl_idname = "motion_matching.clear_cache"
    bl_label = "Clear Cache"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.is_idle(
            cls
        )  # panels ask at every redraw, which is no time to look at the disk

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        return context.window_manager.invoke_confirm(self, event)

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            freed, kept = library().clear()
        except MotionMatchingError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        status.forget()
        if kept:
            self.report(
                {"WARNING"}, f"{kept} files are in use and stay; clear again after a restart"
            )
        self.report(
            {"INFO"}, f"Cleared {freed / 1e6:.0f} MB" if freed else "There was nothing to clear"
        )
        return {"FINISHED"}


CLASSES = (MOTION_MATCHING_OT_build, MOTION_MATCHING_OT_clear_cache)
