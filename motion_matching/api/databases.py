"""Databases: build, open and save them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path

from ..engine.database import build as building
from ..engine.database import database as databases
from ..engine.database import retagging
from ..engine.database.build import BuildSettings
from ..engine.database.database import Database
from ..engine.database.published_build import build_as
from ..engine.errors import DatabaseError, SettingsError
from ..engine.progress import ReportProgress
from ..engine.published import find_published
from .motion import Motion, list_sources


def build(
    sources: Motion | Iterable[Motion],
    settings: BuildSettings | None = None,
    *,
    as_published: str | None = None,
    leave_out: str | None = None,
    skip_broken: bool = False,
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
    leave_out : str, optional
        ``"odd"`` tags odd postures ``"no_use"`` where their gait has others: they are never played.
    skip_broken : bool
        Whether to leave out sources that cannot be read or have another skeleton than most.
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
    listed, settings = list_sources(sources), settings or BuildSettings()
    if as_published:
        settings = build_as(settings, find_published(as_published))
    if leave_out not in (None, "odd"):
        raise SettingsError(f"There is nothing '{leave_out}' to leave out; use odd.")
    database, report = building.build(listed, settings, progress, skip_broken=skip_broken)
    skipped = [f"Left out {note.source}: {note.text}." for note in report.skipped]
    for sentence in (*skipped, *(note.text for note in report.warnings)):
        warnings.warn(sentence, stacklevel=2)
    return retagging.exclude(database, database.odd_frames) if leave_out else database


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
    databases.save(database, path)
