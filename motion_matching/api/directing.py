"""Direct scenes: marks that are hit on time, from a search that knows all of the scene."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..engine.control.rollout import Take
from ..engine.database.database import Database
from ..engine.direct import director as directors
from ..engine.direct import variations
from ..engine.direct.director import Directed, Director
from ..engine.direct.footage import jump_table
from ..engine.direct.footage.footage import make_footage
from ..engine.direct.improving import improve
from ..engine.direct.shot import shot_file
from ..engine.direct.shot.from_performance import build_shot
from ..engine.direct.shot.shot import Shot
from ..engine.errors import DatabaseError
from ..engine.files import json_files
from ..engine.performance import performance as performances
from ..engine.performance.performance import Performance
from ..engine.progress import ReportProgress, name_stage
from ..engine.takes import takes
from .performing import FloorAndWalls
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
        A file that caches the table of jumps, which takes seconds to build: it is read if it
        belongs to this database, and written otherwise.
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
    report = name_stage(progress, "Finding jumps")
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
    ground: FloorAndWalls | None = None,
    feet: str | None = None,
    preview: bool = False,
    progress: ReportProgress | None = None,
) -> DirectedTake:
    """Direct a scene, as ``motion_matching direct`` does.

    Parameters
    ----------
    director : Director
        What `open_director` returns.
    scene : str, path, Shot or Performance
        A .json file, see the manual's page *Scenes*, or the same in Python; or a performance, or
        the file of one, whose way is followed.
    seed : int, optional
        Another solution that is about as good, in place of the scene's.
    ground : tuple, optional
        The floor and walls that `read_ground` returns: a floor in place of the scene's, and further
        walls.
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
    shot = read_shot(director, scene, seed, ground)
    return next(find_takes(director, shot, feet=feet, preview=preview, progress=progress))


def direct_variations(
    director: Director,
    scene: str | Path | Shot | Performance,
    count: int = 3,
    *,
    seed: int | None = None,
    ground: FloorAndWalls | None = None,
    feet: str | None = None,
    preview: bool = False,
    progress: ReportProgress | None = None,
) -> list[DirectedTake]:
    """Direct a scene in clearly different ways, as ``direct --variations`` does.

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
    ground, feet, preview, progress : tuple, str, bool, callable, optional
        As in `direct`.

    Returns
    -------
    list of DirectedTake
        Fewer than `count` if no more differ. Each report has ``"variation"``: the ``"seed"`` with
        which `direct` repeats the take, and its difference from the most similar one before:
        ``"frames"``, the share of time with other frames, and ``"apart"``, the mean distance
        between both ways in metres.

    Raises
    ------
    SettingsError
        If `count` is out of its limits, and as `direct`.
    DatabaseError
        If no frame carries a tag.

    Examples
    --------
    >>> shot = api.Shot(4.0, marks=(api.Mark(3.0, position=(0.5, -2.0)),))
    >>> len(api.direct_variations(director, shot, 2, preview=True))
    2
    """
    shot = read_shot(director, scene, seed, ground)
    return list(find_takes(director, shot, count, feet=feet, preview=preview, progress=progress))


def find_takes(
    director: Director,
    shot: Shot,
    count: int | None = None,
    *,
    feet: str | None = None,
    preview: bool = False,
    in_passes: bool = False,
    progress: ReportProgress | None = None,
) -> Iterator[DirectedTake]:
    """Yield the take of a shot, or its `count` variations, as soon as each is found.

    Where the one take is made in passes, one of a preview comes before it.
    """
    states = directors.PREVIEW_STATES if preview else directors.TAKE_STATES
    report = name_stage(progress, "Directing")
    solved: Iterator[Directed]
    if count is not None:
        solved = variations.find_variations(director, shot, count, feet, states, report)
    elif in_passes:
        solved = improve(director, shot, feet, states, report)
    else:
        solved = iter([director.make(shot, feet, states, report)])
    return (DirectedTake(each.take, each.report, each) for each in solved)


def read_shot(
    director: Director,
    scene: str | Path | Shot | Performance,
    seed: int | None = None,
    ground: FloorAndWalls | None = None,
) -> Shot:
    """Return the shot of a scene, with another seed and on another ground if they are given."""
    if isinstance(scene, str | Path):
        scene = read_scene(scene)
    shot = scene if isinstance(scene, Shot) else build_shot(scene, director.settings)
    shot = shot if seed is None else shot.with_seed(seed)
    if ground is None:
        return shot
    floor, walls = ground
    return replace(shot, floor=floor, walls=(*shot.walls, *walls))


def read_scene(path: str | Path) -> Shot | Performance:
    """Read a scene, or a recorded performance that is to be directed."""
    data = json_files.read(path, "scene")
    if isinstance(data, dict) and data.get("format") == performances.FORMAT:
        return performances.load(path)
    return shot_file.load(path)
