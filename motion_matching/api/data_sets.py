"""Takes as arrays, and sets of many: files for programs that learn from motion, or draw it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..engine.control.rollout import Take
from ..engine.database.database import Database
from ..engine.datasets import card
from ..engine.datasets.data_set import DataSet, Order, choose_shards
from ..engine.datasets.wants import parse_wants
from ..engine.errors import SettingsError
from ..engine.progress import ReportProgress, name_stage
from ..engine.takes import take_files
from ..engine.takes.take_files import StoredTakes
from .directing import open_director
from .takes import to_plain_values


def write_npz(take: Take | Sequence[Take], database: Database, path: str | Path) -> None:
    """Write a take, or several one after the other, as arrays in an `.npz`.

    Parameters
    ----------
    take : Take or sequence of Take
    database : Database
        The database that they play.
    path : path

    Raises
    ------
    MotionDataError
        If the file cannot be written; nothing is left of it then.

    Examples
    --------
    >>> api.write_npz(take, database, "take.npz")
    >>> np.load("take.npz")["joint_positions"].shape
    (150, 23, 3)
    """
    takes = [take] if isinstance(take, Take) else list(take)
    take_files.save(take_files.store_takes(takes, database), path)


def read_npz(path: str | Path) -> StoredTakes:
    """Read takes that `write_npz`, ``take --npz`` or ``generate`` wrote.

    Parameters
    ----------
    path : path

    Returns
    -------
    StoredTakes
        ``header`` has ``fps``, the names of ``bones``, ``feet``, ``clips`` and ``tags``, and a list
        of ``takes``; ``arrays`` are those of the manual's page *Data sets*, by name, and
        ``get_take`` returns those of one take.

    Raises
    ------
    MotionDataError
        If there is no such file, or it is of another kind or version.

    Examples
    --------
    >>> stored = api.read_npz("take.npz")
    >>> stored.header["takes"][0]["name"], stored.get_take(0)["contacts"].shape
    ('square walk', (150, 2))
    """
    return take_files.load(path)


def generate(
    database: Database,
    folder: str | Path,
    *,
    takes: int = 100,
    scenes: int = 0,
    seconds: float = 20.0,
    seed: int = 0,
    wants: Mapping[str, float] | None = None,
    shard: int = 50,
    only: Iterable[int] = (),
    settings: Mapping[str, Any] | None = None,
    feet: str | None = None,
    name: str = "",
    table: str | Path | None = None,
    progress: ReportProgress | None = None,
) -> dict[str, Any]:
    """Make a data set of takes and scenes in a folder, as ``motion_matching generate`` does.

    Files that are there already, made with the same arguments, stay as they are.

    Parameters
    ----------
    database : Database
        What the character plays.
    folder : path
        Where files and card are written; it is made if needed.
    takes, scenes : int
        How many takes along random performances, and how many directed scenes of marks.
    seconds : float
        Length of each.
    seed : int
        The same seed makes the same bytes.
    wants : mapping, optional
        Shares of the takes' frames in per cent, by motion: ``"standing"``, ``"walking"``,
        ``"running"``, ``"turning"``, ``"speed:2-3"`` in m/s, ``"turn:90-180"`` in degrees a second,
        or a tag of the database.
    shard : int
        Largest number of takes in a file.
    only : iterable of int, optional
        Numbers of the files to make, from 1; each is the same as if all were made.
    settings : mapping, optional
        Settings of the controller to change, by name.
    feet : str, optional
        As in `perform`.
    name : str
        The name of the database on the card.
    table : str or path, optional
        A file that caches the table of jumps for scenes, as in `open_director`.
    progress : callable, optional
        Called with the name of a stage and the share done; it may raise to cancel.

    Returns
    -------
    dict
        The card, JSON data: ``"takes"`` and ``"scenes"`` have ``"count"``, ``"minutes"``,
        ``"contents"`` as shares of frames, and how many were ``"refused"``; ``"coverage"`` says of
        each wanted share what is ``"reached"``.

    Raises
    ------
    SettingsError
        If wants contradict each other or are not in the data, or the folder has files that were
        made otherwise.
    MotionDataError
        If a file cannot be written.

    Examples
    --------
    >>> card = api.generate(database, "set", takes=2, seconds=5.0, wants={"walking": 70})
    >>> card["takes"]["count"], card["files"][0]["file"]
    (2, 'takes_0001.npz')
    """
    texts = [f"{motion}={share:g}" for motion, share in (wants or {}).items()]
    data_set = DataSet(
        database,
        name,
        to_plain_values(settings),
        parse_wants(texts, database),
        Order(takes, scenes, seconds, seed, shard, feet),
    )
    return write_data_set(data_set, Path(folder), only, table, progress)


def write_data_set(
    data_set: DataSet,
    folder: Path,
    only: Iterable[int] = (),
    table: str | Path | None = None,
    progress: ReportProgress | None = None,
) -> dict[str, Any]:
    """Write the files of a data set that are not there yet, and the card; see `generate`."""
    card.check_folder(folder)
    plans = choose_shards(data_set, only, folder)
    director = None
    if any(plan.kind == "scenes" for plan in plans):
        changes = data_set.changes
        director = open_director(data_set.database, table, settings=changes, progress=progress)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise SettingsError(
            f"The folder {folder} cannot be made ({cause.strerror}); choose another."
        ) from cause
    try:
        for number, plan in enumerate(plans, 1):
            report = name_stage(progress, f"Making {plan.name}, {number} of {len(plans)}")
            take_files.save(data_set.make(plan, director, report), folder / plan.name)
    finally:
        told = card.write_card(data_set, folder)
    return told
