"""Direct scenes: marks that are hit on time, from a search that knows all of the scene."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..engine.control.performance import Performance
from ..engine.control.take import Take
from ..engine.database.database import Database
from ..engine.direct import director as directors
from ..engine.direct import from_performance, jump_table, shot_file, variations
from ..engine.direct.director import Directed, Director
from ..engine.direct.footage import make_footage
from ..engine.direct.shot import Shot
from ..engine.errors import DatabaseError
from ..engine.progress import ReportProgress
from ..engine.takes import takes
from .takes import to_plain_values


class DirectedTake(NamedTuple):
    """A take with planted feet, what became of its marks and paths, and its solution."""

    take: Take
    report: dict[str, Any]
    solution: Directed


def open_director(
    database: Database,
    table: str | Path | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    progress: ReportProgress | None = None,
) -> Director:
    """Prepare a database to direct scenes with it.

    Parameters
    ----------
    database : Database
        What the character plays.
    table : str or path, optional
        A file that keeps the table of jumps, which takes seconds to build: it is read if it is of
        this database, and written otherwise.
    settings : mapping, optional
        Settings of the controller to change, by name.
    progress : callable, optional
        Called with the name of a stage and the share done; it may raise to cancel.

    Returns
    -------
    Director

    Raises
    ------
    DatabaseError
        If no frame of the database may be entered, or `table` is a file of another kind.
    SettingsError
        If there is no such setting, or a value is out of its limits.

    Examples
    --------
    >>> director = api.open_director(database, "walk.jumps.npz")
    """
    chosen = takes.make_default_settings(database).with_changes(to_plain_values(settings))
    footage = make_footage(database)
    report = (lambda share: progress("Finding jumps", share)) if progress else None
    if table is None:
        jumps = jump_table.build_table(footage, report)
    elif not jump_table.can_keep_table(Path(table)):
        raise DatabaseError(
            f"{table} is no table of jumps, and would be replaced; choose another name."
        )
    else:
        jumps = jump_table.load_or_build_table(footage, Path(table), report)
    return Director(footage, jumps, chosen)


def direct(
    director: Director,
    scene: str | Path | Shot | Performance,
    *,
    seed: int | None = None,
    feet: str | None = None,
    preview: bool = False,
    progress: ReportProgress | None = None,
) -> DirectedTake:
    """Direct a scene, byte for byte as ``motion_matching direct`` does.

    Parameters
    ----------
    director : Director
        What `open_director` returns.
    scene : str, path, Shot or Performance
        A .json file, see the manual's page *Scenes*, or the same in Python; or a performance, whose
        way is followed.
    seed : int, optional
        Another solution that is about as good, in place of the scene's.
    feet : str, optional
        As in `perform`.
    preview : bool
        Search a quarter as far.
    progress : callable, optional
        Called with the name of a stage and the share done; it may raise to cancel.

    Returns
    -------
    DirectedTake
        Its ``report`` has ``"marks"`` and ``"paths"``, each with ``"reached"``, ``"place_error"``
        in metres, ``"facing_error"`` in radians, ``"time_error"`` in seconds, and a ``"reason"``
        where it is not reached. ``"inside"`` and ``"crouched"`` have the
        ``"frames"`` on which the body is inside an obstacle, or lower than anything asks for.

    Raises
    ------
    SettingsError
        If marks contradict each other or are inside obstacles, or there is no such frame or limb.
    DatabaseError
        If no frame carries a tag.

    Examples
    --------
    >>> shot = api.Shot(6.0, marks=(api.Mark(4.0, position=(1.0, -3.0), facing=0.5),))
    >>> api.direct(director, shot).report["reached"]
    1
    """
    shot = _read_shot(director, scene, seed)
    states = directors.PREVIEW_STATES if preview else directors.TAKE_STATES
    report = (lambda share: progress("Directing", share)) if progress else None
    solution = director.make(shot, feet, states, report)
    return DirectedTake(solution.take, solution.report, solution)


def direct_variations(
    director: Director,
    scene: str | Path | Shot | Performance,
    count: int = 3,
    *,
    seed: int | None = None,
    feet: str | None = None,
    preview: bool = False,
    progress: ReportProgress | None = None,
) -> list[DirectedTake]:
    """Direct a scene in several clearly different ways, as ``direct --variations`` does.

    Parameters
    ----------
    director : Director
        What `open_director` returns.
    scene : str, path, Shot or Performance
        As in `direct`.
    count : int
        How many takes to find, 1 to 20.
    seed : int, optional
        The first seed to try, in place of the scene's.
    feet : str, optional
        As in `perform`.
    preview : bool
        Search a quarter as far.
    progress : callable, optional
        Called with the name of a stage and the share done; it may raise to cancel.

    Returns
    -------
    list of DirectedTake
        Fewer than `count` if there are not more that differ. Each report has ``"variation"``: the
        ``"seed"`` that `direct` makes the take again with, and how much it differs from the most
        alike of those before: ``"frames"``, the share of the time in which others are shown, and
        ``"apart"``, the metres between the ways.

    Raises
    ------
    SettingsError
        For a count that cannot be, and as `direct`.
    DatabaseError
        If no frame carries a tag.

    Examples
    --------
    >>> shot = api.Shot(4.0, marks=(api.Mark(3.0, position=(0.5, -2.0)),))
    >>> len(api.direct_variations(director, shot, 2, preview=True))
    2
    """
    shot = _read_shot(director, scene, seed)
    states = directors.PREVIEW_STATES if preview else directors.TAKE_STATES
    report = (lambda share: progress("Directing", share)) if progress else None
    solved = list(variations.find_variations(director, shot, count, feet, states, report))
    return [DirectedTake(each.take, each.report, each) for each in solved]


def _read_shot(
    director: Director, scene: str | Path | Shot | Performance, seed: int | None
) -> Shot:
    """Return the shot of a scene, with another seed if one is given."""
    if isinstance(scene, Performance):
        shot = from_performance.build_shot(scene, director.settings)
    else:
        shot = scene if isinstance(scene, Shot) else shot_file.load(scene)
    return shot if seed is None else shot.with_seed(seed)
