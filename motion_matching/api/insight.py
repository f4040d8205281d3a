"""Insight: what a database holds, and a frame as the search sees it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..engine.database import frame_names
from ..engine.database.database import Database
from ..engine.errors import SettingsError
from ..engine.facts import postures
from ..engine.facts.postures import OddPosture
from ..engine.insight.coverage import inspection
from ..engine.insight.coverage.inspection import Inspection
from ..engine.insight.frames import frame_inspector
from ..engine.insight.frames.frame_inspector import FrameInspection
from ..engine.matching.cost_terms import CostTerm
from ..engine.matching.method import MotionMatching
from ..engine.performance.performance import Performance
from ..engine.takes import takes
from .performing import find_performance
from .takes import as_names, to_plain_values


def inspect(
    database: Database,
    *,
    settings: Mapping[str, Any] | None = None,
    performance: str | Path | Performance | None = None,
) -> Inspection:
    """Inspect what a database holds, and how it covers what its controller asks for.

    Parameters
    ----------
    database : Database
    settings : mapping, optional
        Settings of the controller to change, as for `perform`.
    performance : str, path or Performance, optional
        What leads the controller; by default all scripts.

    Returns
    -------
    Inspection
        ``text`` for people, ``data`` as JSON data: among it the ``slopes`` that are climbed, and
        what ``to_capture``.

    Raises
    ------
    SettingsError
        If settings or performance cannot be used.

    Examples
    --------
    >>> inspection = api.inspect(database)
    >>> sorted(inspection.data["coverage"])[:2]
    ['averaged_over', 'frames']
    """
    default = takes.make_default_settings(database)
    led = None if performance is None else find_performance(database, default, performance)
    return inspection.inspect(database, default, to_plain_values(settings), led)


def find_odd_postures(database: Database) -> tuple[OddPosture, ...]:
    """Find moments whose posture is an outlier within its gait, such as stumbles within a run.

    Parameters
    ----------
    database : Database

    Returns
    -------
    tuple of OddPosture
        Each with its ``clip``, the ``gait`` that it is odd in, ``what`` is odd, and its frames
        ``first`` <= frame < ``last`` as tags count them: ``TagRange("no_use", first, last)`` on
        the source excludes it. Those that are excluded or avoided by tags are left out.

    Examples
    --------
    >>> api.find_odd_postures(database)
    ()
    """
    return postures.find_odd_postures(database)


def inspect_frame(
    database: Database,
    frame: int | str,
    *,
    velocity: tuple[float, float] | None = None,
    tags: str | Iterable[str] = (),
    settings: Mapping[str, Any] | None = None,
    terms: Sequence[CostTerm] = (),
    count: int = 8,
) -> FrameInspection:
    """Inspect a frame as the search sees it: its features, its costs and the best other frames.

    Parameters
    ----------
    database : Database
    frame : int or str
        A frame of the database, or ``"CLIP:FRAME"`` or ``"CLIP:FRAME:mirrored"``.
    velocity : tuple of float, optional
        Desired velocity in m/s forward and to the left, seen from the character; by default the
        clip goes on.
    tags : str or iterable of str
        Search only frames that carry all of these tags.
    settings : mapping, optional
        Settings of the controller to change, as for `perform`.
    terms : sequence of CostTerm, optional
        What adds to the costs of frames, as for `perform`; each is listed by its name.
    count : int
        How many other frames to return.

    Returns
    -------
    FrameInspection
        ``features`` with ``values`` (times, axes), the cost of ``continuing`` and of the
        ``candidates`` by feature, and the frame that is ``chosen``. `describe_frame` makes a text
        of it.

    Raises
    ------
    SettingsError
        If there is no such frame or setting, or a cost term returns what is no cost.
    DatabaseError
        If no frame carries a tag.

    Examples
    --------
    >>> seen = api.inspect_frame(database, 100, velocity=(2.0, 0.0))
    >>> len(seen.candidates)
    8
    """
    chosen = takes.make_default_settings(database).with_changes(to_plain_values(settings))
    index = frame_names.find_frame(database, frame) if isinstance(frame, str) else int(frame)
    if not 0 <= index < database.frame_count:
        last = database.frame_count - 1
        raise SettingsError(f"The database has no frame {index}; give one from 0 to {last}.")
    ahead = None
    if velocity is not None:
        ahead = frame_inspector.predict_trajectory(database, chosen, index, velocity)
    method = MotionMatching(database, chosen, terms)
    return frame_inspector.inspect_frame(
        database, chosen, index, ahead, tags=frozenset(as_names(tags)), count=count, method=method
    )


def describe_frame(inspection: FrameInspection, database: Database) -> str:
    """Describe an inspected frame for people.

    Parameters
    ----------
    inspection : FrameInspection
        What `inspect_frame` returned.
    database : Database

    Returns
    -------
    str

    Examples
    --------
    >>> print(api.describe_frame(seen, database).splitlines()[1])
    tags: none
    """
    return frame_inspector.describe(inspection, database)
