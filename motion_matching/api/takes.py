"""Takes: make performances, perform them, and measure the results."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.control import scripts
from ..engine.control.ground import Box
from ..engine.control.performance import Performance
from ..engine.control.settings import PerformerSettings
from ..engine.control.take import Take
from ..engine.database.database import Database
from ..engine.database.published_build import list_missing
from ..engine.errors import SettingsError
from ..engine.field.field_controller import FieldController
from ..engine.matching.cost_terms import CostTerm, describe_missing_terms
from ..engine.matching.method import MotionMatching
from ..engine.progress import ReportProgress
from ..engine.published import FIELD, MATCHING, PublishedSet, find_published
from ..engine.takes import baking, takes


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
    obstacles: Sequence[Box] | None = None,
    controller: str | FieldController | None = None,
    as_published: str | None = None,
    terms: Sequence[CostTerm] = (),
    feet: str | None = None,
    progress: ReportProgress | None = None,
) -> Take:
    """Perform a take, byte for byte the one that ``motion_matching take`` makes.

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
    obstacles : sequence of Box, optional
        What stands in the way, in place of what the performance has.
    controller : str or FieldController, optional
        ``"matching"``, the default; ``"field"`` for a motion field without training; or one made by
        `train` or `open_field`.
    as_published : str, optional
        The article whose method and controller are used: ``"motion_matching"``,
        ``"transition_cost"``, ``"displacement"``, ``"motion_fields"`` or ``"next_gen"``. The
        arguments `controller` and `settings` come before it.
    terms : sequence of CostTerm, optional
        What adds to the costs of frames in the search of motion matching.
    feet : str, optional
        ``"baked"`` plants them knowing the contacts ahead, ``"live"`` leaves them as a live session
        locks them, and ``"off"`` leaves them as the motion has them. By default baked, and off with
        the setting ``foot_lock`` off.
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
        If a recorded performance was made with cost terms that are not given, or the database is
        not built as published.

    Examples
    --------
    >>> take = api.perform(database, "square", seconds=5, settings={"velocity_halflife": 0.2})
    >>> take.poses.shape
    (150, 7, 23)
    """
    published = _find_published(as_published, database) if as_published else None
    field = _find_field(controller or (published.method if published else MATCHING))
    if field and terms:
        raise SettingsError("A motion field has no search for cost terms; leave out one of both.")
    trained = field.settings if field else {}
    default = takes.make_default_settings(database).with_changes(trained)
    changes = published.controller_settings if published else {}
    changes |= to_plain_values(settings)
    chosen = default.with_changes(changes)
    performance = find_performance(database, chosen, script, gait, seconds, seed)
    performance = replace(performance, settings={**performance.settings, **trained, **changes})
    performance = takes.request_tags(performance, frozenset(as_names(tags)), database, chosen)
    if obstacles is not None:
        performance = replace(performance, obstacles=tuple(obstacles))
    if field:
        field.check(performance)
        performance = field.adapt_performance(performance)
    if missing := describe_missing_terms(performance, [term.name for term in terms]):
        warnings.warn(f"{missing}.", stacklevel=2)
    report = (lambda part: progress("Performing", part)) if progress else None
    matching = partial(MotionMatching, terms=terms)
    live = takes.perform(database, chosen, performance, report, controller=field or matching)
    return baking.place_feet(live, database, feet)[0]


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


def find_performance(
    database: Database,
    settings: PerformerSettings,
    script: str | Path | Performance,
    gait: str = "walk",
    seconds: float = 0.0,
    seed: int = 0,
) -> Performance:
    """Return the performance of a script, a file, or itself."""
    if isinstance(script, Performance):
        return script
    return takes.prepare_performance(
        database, settings, str(script), gait=gait, seconds=seconds, seed=seed
    )


def _find_published(name: str, database: Database) -> PublishedSet:
    """Return the set of an article; warn if the database is not built so."""
    published = find_published(name)
    if missing := list_missing(database, published):
        text = f"The database is not built as published '{name}': {', '.join(missing)}."
        warnings.warn(text, stacklevel=3)
    return published


def _find_field(controller: str | FieldController) -> FieldController | None:
    """Return the motion field of a controller; None for motion matching."""
    if isinstance(controller, FieldController):
        return controller
    if controller not in (MATCHING, FIELD):
        text = f"There is no controller '{controller}'"
        raise SettingsError(f"{text}; use matching, field, or what api.train returns.")
    return FieldController() if controller == FIELD else None
