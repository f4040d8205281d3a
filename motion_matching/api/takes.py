"""Takes: make performances, perform them, and measure the results."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.building.published_build import list_missing
from ..engine.control.rollout import Take
from ..engine.database.database import Database
from ..engine.field.field_controller import FieldController
from ..engine.ground.ground import Box
from ..engine.matching.cost_terms import CostTerm, describe_missing_terms
from ..engine.performance import scripts
from ..engine.performance.performance import Performance
from ..engine.performance.published import find_published
from ..engine.progress import ReportProgress
from ..engine.takes import takes
from .performing import Contacts, FloorAndWalls, Setup, find_performance, replace_obstacles


def make_performance(
    velocities: np.ndarray,
    *,
    facings: np.ndarray | None = None,
    gaits: np.ndarray | float = 0.0,
    fps: float = 30.0,
    position: tuple[float, float] = (0.0, 0.0),
    facing: float = 0.0,
    name: str = "performance",
) -> Performance:
    """Make a performance from arrays, to be given to `perform`.

    Parameters
    ----------
    velocities : array_like (T, 2)
        Desired velocity on the ground in the world at each tick, m/s.
    facings : array_like (T,), optional
        Desired headings in radians; NaN, or no array, faces the movement.
    gaits : array_like (T,) or float
        From 0 (walk) to 1 (run).
    fps : float
        Ticks per second. A database with another rate resamples them.
    position, facing : tuple of float, float
        Where the character starts, in metres, and its heading there.
    name : str
        The name of the take.

    Returns
    -------
    Performance

    Raises
    ------
    SettingsError
        If an array has another shape, or numbers that are not finite.

    Examples
    --------
    >>> angle = np.linspace(0.0, 2.0 * np.pi, 300)
    >>> circle = api.make_performance(1.5 * np.column_stack([np.sin(angle), -np.cos(angle)]))
    >>> circle.seconds
    10.0
    """
    made = scripts.build_from_arrays(name, fps, velocities, facings, gaits)
    return replace(made, position=position, facing=facing)


def perform(
    database: Database,
    script: str | Path | Performance = "figure_eight",
    *,
    seconds: float = 0.0,
    gait: str = "walk",
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    tags: str | Iterable[str] = (),
    obstacles: str | Path | Sequence[Box] | None = None,
    ground: FloorAndWalls | None = None,
    controller: str | FieldController | None = None,
    as_published: str | None = None,
    preset: str | Path | None = None,
    terms: Sequence[CostTerm] = (),
    feet: str | None = None,
    contacts: Contacts | None = None,
    progress: ReportProgress | None = None,
) -> Take:
    """Perform a take, as ``motion_matching take`` does.

    Parameters
    ----------
    database : Database
        What the character plays.
    script : str, path or Performance
        ``"figure_eight"``, ``"square"``, ``"stop_and_go"``, ``"flips"``, ``"strafe_circle"``,
        ``"random"``, ``"turns"``, ``"pushes"``, a .json file with a recorded performance, or what
        `make_performance` returns.
    seconds, gait, seed : float, str, int
        Length of a script, ``"walk"`` or ``"run"``, and the seed of ``"random"``, ``"turns"`` and
        ``"pushes"``.
    settings : mapping, optional
        Settings of the controller to change, by name, such as ``{"velocity_halflife": 0.2}``.
        `weights` has a number for each feature of the database.
    tags : str or iterable of str
        Play only frames that carry all of these tags.
    obstacles : str, path or sequence of Box, optional
        Boxes that stand in the way, or a .json file with a list of them, in place of those of the
        performance.
    ground : tuple, optional
        The floor and walls that `read_ground` returns, in place of those of the performance.
    controller : str or FieldController, optional
        ``"matching"``, the default; ``"field"`` for a motion field without training; or one made by
        `train` or `open_field`.
    as_published : str, optional
        The article whose method and controller are used: ``"motion_matching"``,
        ``"transition_cost"``, ``"displacement"``, ``"motion_fields"`` or ``"next_gen"``. The
        arguments `controller` and `settings` come before it.
    preset : str or path, optional
        A preset of the controller, such as ``"notebook"``, or a .json file of one. `settings`
        override it.
    terms : sequence of CostTerm, optional
        What adds to the costs of frames in the search of motion matching.
    feet : str, optional
        ``"baked"`` plants them knowing the contacts ahead, ``"live"`` leaves them as a live session
        locks them, and ``"off"`` leaves them as the motion has them. By default baked, and off with
        the setting ``foot_lock`` off.
    contacts : str, path or sequence of ContactRange, optional
        When and where feet stand, in place of what is found: a file that ``take --save-contacts``
        wrote, or a Blender file with edited markers.
    progress : callable, optional
        Called with the name of a stage and the share done; it may raise to cancel.

    Returns
    -------
    Take
        T ticks: ``poses`` (T, 7, B), ``character`` and ``simulation`` (T, 3) as x, y, yaw,
        ``frames`` (T,) of the database, ``jumped`` (T,), ``contacts`` (T, L); see `Take` for all of
        them.

    Raises
    ------
    SettingsError
        If there is no such script or setting, a value is out of its limits, or a cost term returns
        what is no cost.
    DatabaseError
        If no frame carries the tags.

    Warns
    -----
    UserWarning
        If a recorded performance was made with cost terms that are not given, the database is not
        built as published, or no frame carries a tag of a label.

    Examples
    --------
    >>> take = api.perform(database, "square", seconds=5, settings={"velocity_halflife": 0.2})
    >>> take.poses.shape
    (150, 7, 23)
    """
    setup = Setup.create(
        database, controller, as_published=as_published, preset=preset, terms=terms
    )
    setup = setup.with_changes(to_plain_values(settings))
    performance = find_performance(database, setup.settings, script, gait, seconds, seed)
    performance = replace_obstacles(performance, obstacles, ground)
    performance = setup.prepare(performance, as_names(tags))
    if as_published and (missing := list_missing(database, find_published(as_published))):
        text = f"The database is not built as published '{as_published}': {', '.join(missing)}."
        warnings.warn(text, stacklevel=2)
    if lacking := describe_missing_terms(performance, [term.name for term in terms]):
        warnings.warn(f"{lacking}.", stacklevel=2)
    made = setup.perform(performance, feet, contacts, progress)
    if unknown := made.describe_unknown_labels("auto_tags"):
        warnings.warn(f"{unknown[0].upper()}{unknown[1:]}.", stacklevel=2)
    return made.take


def measure(take: Take, database: Database, *, live: Take | None = None) -> dict[str, Any]:
    """Measure a take beside the frames that it plays and its sources.

    Parameters
    ----------
    take : Take
    database : Database
        The database that it plays.
    live : Take, optional
        The same take with ``feet="live"``, to compare what its feet do.

    Returns
    -------
    dict
        JSON data. ``"take"``, ``"live"``, ``"played"`` (the frames played, as they move in the
        data) and ``"sources"`` hold the measures, such as ``foot_slide_mann`` in m/s; speeds like
        ``achieved_speed`` are None if no goal is steady. Others are ``"clips"``, ``"jumps"`` and
        ``"settings"``. `summarize` makes a text of it.

    Examples
    --------
    >>> report = api.measure(take, database)
    >>> 0.0 <= report["take"]["foot_slide_mann"] < 0.1
    True
    >>> print(api.summarize(report).splitlines()[0])
    square walk: 5.0 s at 30 fps, ...
    """
    return takes.report(take, database, live=live)


def as_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return names, given as one or several."""
    return (names,) if isinstance(names, str) else tuple(names)


def to_plain_values(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return settings by name, if any, with numbers and arrays of numpy as Python's own."""
    return {
        name: value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
        for name, value in (settings or {}).items()
    }
