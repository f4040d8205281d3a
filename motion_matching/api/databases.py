"""Databases: build, open and save them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..engine.building import build as building
from ..engine.building import retagging
from ..engine.building.build import BuildReport, BuildSettings
from ..engine.building.demo_clips import load_standing
from ..engine.building.published_build import build_as
from ..engine.building.reading import Reading
from ..engine.bvh.clip_cache import ClipCache
from ..engine.database import database as databases
from ..engine.database.database import Database
from ..engine.database.tags.tags import TagRange
from ..engine.errors import DatabaseError, SettingsError
from ..engine.facts import postures
from ..engine.facts.avoided_postures import find_odd_frames
from ..engine.facts.postures import OddPosture
from ..engine.performance.published import find_published
from ..engine.progress import ReportProgress
from ..engine.sources.sources import Source
from ..engine.takes import takes
from .motion import Motion, list_sources


class Built(NamedTuple):
    """A database, what its build reports, and the odd postures that are never played."""

    database: Database
    report: BuildReport
    left_out: Sequence[OddPosture]


def build(
    sources: Motion | Iterable[Motion],
    settings: BuildSettings | None = None,
    *,
    as_published: str | None = None,
    add_standing: bool = False,
    armature: str | None = None,
    actions: Sequence[str] = (),
    bones: str | None = None,
    character: str | None = None,
    leave_out: str | None = None,
    skip_broken: bool = False,
    workers: int = 1,
    cache: str | Path | None = None,
    progress: ReportProgress | None = None,
) -> Database:
    """Build a database.

    Parameters
    ----------
    sources : path, Clip, Source, or iterable of them
        Paths as for `load`; a `Source` says which part of a clip or file is used, and how.
    settings : BuildSettings, optional
    as_published : str, optional
        The article whose features, simulation bone and contacts are used in place of those of the
        settings: ``"motion_matching"``, ``"transition_cost"``, ``"displacement"``,
        ``"motion_fields"`` or ``"next_gen"``.
    add_standing : bool
        Whether to add built-in standing, for sources in which nobody stands still.
    armature, actions, bones, character : str, sequence of str, str, str, optional
        As for `load`.
    leave_out : str, optional
        ``"odd"`` tags odd postures ``"no_use"`` where their gait has others: they are never played.
    skip_broken : bool
        Whether to leave out sources that cannot be read or have another skeleton than most.
    workers : int
        The number of processes that read the files. Scripts that give more than one need the usual
        ``if __name__ == "__main__":``.
    cache : path, optional
        A folder that keeps the clips of BVH files, up to 4 GiB: a later build reads only what has
        changed.
    progress : callable, optional
        Called with the name of a stage and the share done; it may raise to cancel.

    Returns
    -------
    Database
        N frames: ``poses`` (N, 7, B) hold positions and quaternions local to the parent, bone 0 is
        the simulation bone in the world; ``track`` (N, 3) is its x, y and yaw; ``features`` (D, N)
        are raw.

    Raises
    ------
    MotionDataError, RigError, SettingsError, DatabaseError
        If a source cannot be used, skeletons differ, or nothing is left to build from.

    Warns
    -----
    UserWarning
        For each source that was left out, and for all that may make the database worse.

    Examples
    --------
    >>> database = api.build("clips", api.BuildSettings(mirror=True))
    >>> database.poses.shape[1:]
    (7, 23)
    """
    settings = settings or BuildSettings()
    if as_published:
        settings = build_as(settings, find_published(as_published))
    listed, _ = list_sources(
        sources,
        armature=armature,
        actions=actions,
        bones=bones,
        character=character,
        progress=progress,
    )
    database, report, _ = build_with_report(
        listed,
        settings,
        add_standing=add_standing,
        leave_out=leave_out,
        skip_broken=skip_broken,
        workers=workers,
        cache=cache,
        progress=progress,
    )
    skipped = [f"Left out {note.source}: {note.text}." for note in report.skipped]
    for sentence in (*skipped, *(note.text for note in report.warnings)):
        warnings.warn(sentence, stacklevel=2)
    return database


def build_with_report(
    sources: Sequence[Source],
    settings: BuildSettings,
    *,
    add_standing: bool = False,
    leave_out: str | None = None,
    skip_broken: bool = False,
    workers: int = 1,
    cache: str | Path | None = None,
    progress: ReportProgress | None = None,
) -> Built:
    """Build a database from sources that are read; the options are those of `build`."""
    if leave_out not in (None, "odd"):
        raise SettingsError(f"There is nothing '{leave_out}' to leave out; use odd.")
    if add_standing:
        clip = load_standing()
        idle = (TagRange("idle"),)
        standing = Source(clip=clip, tags=idle, built_in=True, mirror=True, tempo=False)
        sources = [*sources, standing]
    if workers < 1:
        raise SettingsError(f"{workers} processes cannot read anything; give at least 1.")
    reading = Reading(workers, ClipCache(Path(cache)) if cache else None)
    database, report = building.build(
        sources, settings, progress, skip_broken=skip_broken, reading=reading
    )
    if leave_out is None:
        return Built(database, report, ())
    odd = database.derive(find_odd_frames)
    found = postures.find_odd_postures(database)
    left_out = [each for each in found if odd[each.start : each.stop].any()]
    return Built(retagging.exclude(database, odd), report, left_out)


def open(path: str | Path) -> Database:
    """Open a saved database. Its arrays are mapped into memory, read-only.

    Parameters
    ----------
    path : path
        An .npz file made by `save`, or by ``motion_matching build``.

    Returns
    -------
    Database

    Raises
    ------
    DatabaseError
        If the file is no database.

    Examples
    --------
    >>> database = api.open("walk.npz")
    >>> f"{database.fps:g} frames per second"
    '30 frames per second'
    """
    if Path(path).is_dir() or Path(path).suffix.lower() == ".bvh":
        text = f"{path} is not a database; make one with api.build('{path}') and api.save."
        raise DatabaseError(text)
    return databases.load(path)


def save(database: Database, path: str | Path) -> None:
    """Save a database as an .npz file.

    Parameters
    ----------
    database : Database
    path : path

    Raises
    ------
    DatabaseError
        If the file cannot be written; nothing is left of it then.

    Examples
    --------
    >>> api.save(database, "walk.npz")
    """
    takes.save_database(database, path)
