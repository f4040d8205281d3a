"""Takes as arrays: files for programs that learn from motion, or draw it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..engine.control.rollout import Take
from ..engine.database.database import Database
from ..engine.takes import take_files
from ..engine.takes.take_files import StoredTakes


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
