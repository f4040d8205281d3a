"""Motion fields: train, open and save them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..engine.database.database import Database
from ..engine.errors import SettingsError
from ..engine.field.field_controller import METRICS, FieldController
from ..engine.field.states import value_function as value_functions
from ..engine.field.states.tasks import TASK_NAMES, make_tasks
from ..engine.field.training.quality import NOTEBOOK, TRAININGS
from ..engine.field.training.training import Training
from ..engine.performance.published import FIELD, find_published
from ..engine.progress import ReportProgress
from ..engine.settings import check_names
from ..engine.takes import takes
from .takes import as_names, to_plain_values


def train(
    database: Database,
    *,
    tasks: str | Iterable[str] | None = None,
    tags: str | Iterable[str] = (),
    quality: str | None = None,
    as_published: str | None = None,
    metric: str | None = None,
    settings: Mapping[str, Any] | None = None,
    directions: int | None = None,
    progress: ReportProgress | None = None,
) -> FieldController:
    """Train a motion field.

    Parameters
    ----------
    database : Database
    tasks : str or iterable of str
        What can be requested: ``("direction",)`` or, the default, ``("direction", "speed")``.
    tags : str or iterable of str
        Tags that can be requested too.
    quality : str
        ``"draft"``, ``"quick"``, ``"normal"``, ``"fine"``, ``"full"``; or ``"notebook"``, the
        notebook's field, whose tasks are ``("direction",)`` and whose metric is ``"notebook"``
        unless you give others. The default is ``"normal"``, or that of the article.
    as_published : str, optional
        The article whose field is trained, ``"motion_fields"``: for its tags that frames carry, at
        its quality, unless you give others.
    metric : str
        How states are compared, ``"default"`` or ``"notebook"``; the default is the former.
    settings : mapping, optional
        What to change of the quality: ``states``, ``neighbours``, ``drift``, ``discount``,
        ``sweeps``, ``residual``.
    directions : int, optional
        Number of headings all around, odd; by default that of the quality.
    progress : callable, optional
        Called with the name of a stage and the share done; it may raise to cancel.

    Returns
    -------
    FieldController
        Give it to `perform` or `save_field`. ``field.function.values`` has the shape (N, speeds,
        tags + 1, directions), ``field.function.residuals`` (sweeps, 3).

    Raises
    ------
    SettingsError
        If a name or a value is not known, or no trained state carries a tag.

    Examples
    --------
    >>> field = api.train(database, quality="draft", settings={"states": 60, "sweeps": 5})
    >>> len(field.function.residuals)
    5
    """
    training = make_training(
        database,
        tasks=as_names(tasks or ()),
        tags=as_names(tags),
        quality=quality,
        as_published=as_published,
        metric=metric,
        settings=to_plain_values(settings),
        directions=directions,
        progress=progress,
    )
    function = training.run(progress)
    return FieldController(function.find_metric(database), function)


def make_training(
    database: Database,
    *,
    tasks: Sequence[str] = (),
    tags: Sequence[str] = (),
    quality: str | None = None,
    as_published: str | None = None,
    metric: str | None = None,
    settings: Mapping[str, Any] | None = None,
    directions: int | None = None,
    progress: ReportProgress | None = None,
) -> Training:
    """Return the training that `train` runs; the options are its own."""
    published = find_published(as_published) if as_published else None
    if published and published.method != FIELD:
        raise SettingsError(f"'{as_published}' has no field to train; use motion_fields.")
    quality = quality or (published.quality if published else "normal")
    is_notebook = quality == NOTEBOOK
    metric = metric or ("notebook" if is_notebook else "default")
    for name, value, known in (("quality", quality, TRAININGS), ("metric", metric, METRICS)):
        if value not in known:
            raise SettingsError(f"There is no {name} '{value}'; use one of {', '.join(known)}.")
    default, count = TRAININGS[quality]
    check_names(settings or {}, default, "training setting")
    chosen = replace(default, **(settings or {}))
    if published and not tags:
        tags = [tag for tag in published.tags if tag in database.tag_names]
    requests = make_tasks(
        tasks or (TASK_NAMES[:1] if is_notebook else TASK_NAMES),
        takes.make_default_settings(database).steering.run.forward,
        directions=count if directions is None else directions,
        tags=tags,
        as_notebook=is_notebook,
    )
    return Training(database, METRICS[metric](database), requests, chosen, progress)


def open_field(path: str | Path, database: Database) -> FieldController:
    """Open a trained motion field.

    Parameters
    ----------
    path : path
        An .npz file made by `save_field`, or by ``motion_matching train``.
    database : Database
        The database that it was trained with.

    Returns
    -------
    FieldController

    Raises
    ------
    SettingsError
        If the file is no motion field.
    DatabaseError
        If it was trained with other data.

    Examples
    --------
    >>> field = api.open_field("field.npz", database)
    >>> take = api.perform(database, seconds=1, controller=field)
    """
    return FieldController.load(path, database)


def save_field(field: FieldController, path: str | Path) -> None:
    """Save a trained motion field as an .npz file.

    Parameters
    ----------
    field : FieldController
        What `train` returned.
    path : path

    Raises
    ------
    SettingsError
        If the file cannot be written, or the field is not trained.

    Examples
    --------
    >>> api.save_field(field, "field.npz")
    """
    if field.function is None:
        text = "The motion field is not trained, so there is nothing to save; train it first."
        raise SettingsError(text)
    value_functions.save(field.function, path)
