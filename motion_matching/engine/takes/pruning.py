"""Find motion that a database can spare: rarely played, and similar to motion that stays.

Pieces of the sources stay in the order of how often performances play them. The room left goes to
the pieces that are least like the kept ones, so that motion not requested so far remains, too.

Source: the Nucl.ai talk (article 004), in which a game uses a fifth of its poses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..database.database import Database
from ..database.tags.auto_tags import NAMES as AUTO_TAGS
from ..database.tags.tags import LOOP, NO_USE, RESERVED_TAGS, TagRange
from ..errors import DatabaseError, SettingsError
from ..maths.along_time import find_runs
from ..performance.performance import Performance
from ..performance.settings import PerformerSettings
from ..progress import ReportShare
from . import baking, takes
from .comparison import MEASURES
from .numbers import NUMBERS

SCRIPTS = ("random", "turns", "stop_and_go", "strafe_circle")
SECONDS = NUMBERS.script_seconds
_BY_FRAME = ("poses", "velocities", "track", "contacts", "tags", "bias")


@dataclass(frozen=True)
class Pruning:
    """Frames that a database can spare, and their figures.

    - `spare` (N,): frames that may go
    - `kept`, `used`: shares of the playable frames that stay, and that performances played
    - `covered`: the share of the ticks of those performances whose frame stays
    - `farthest`: the largest distance of a spare frame from the nearest one that stays, as the
      square root of a search's cost
    """

    spare: np.ndarray
    kept: float
    used: float
    covered: float
    farthest: float


class SpareRange(NamedTuple):
    """Frames first <= f < last of a clip, which is a range of the database."""

    range_index: int
    clip: str
    first: int
    last: int


def prepare_performances(
    database: Database, settings: PerformerSettings, seconds: float, seed: int
) -> list[Performance]:
    """Return performances to test a database: scripts of some seconds, walking and running."""
    gaits = ("walk", "run") if settings.steering.can_run else ("walk",)
    return [
        takes.prepare_performance(database, settings, name, gait=gait, seconds=seconds, seed=seed)
        for name in SCRIPTS
        for gait in gaits
    ]


def count_played(
    database: Database,
    settings: PerformerSettings,
    performances: Sequence[Performance],
    progress: ReportShare | None = None,
) -> np.ndarray:
    """Return how many ticks of performances by motion matching play each frame (N,)."""
    played = np.zeros(database.frame_count, np.intp)
    for number, performance in enumerate(performances):
        if progress:
            progress(number / len(performances))
        frames = takes.perform(database, settings, performance).frames
        played += np.bincount(frames, minlength=database.frame_count)
    return played


def find_spare_frames(database: Database, played: np.ndarray, keep: float) -> Pruning:
    """Find the frames to leave out so that about a share `keep` of the playable ones stays.

    `played` (N,) counts how often each is played. A source and its mirror image stay or go
    together. Loops stay, and so do frames with a tag that was set by hand. Raises SettingsError
    for a share that is not between 0 and 1, and DatabaseError for a database of an earlier version.
    """
    if not 0.0 < keep < 1.0:
        raise SettingsError(f"A share of {keep:g} cannot be kept; give one above 0 and below 1.")
    pieces = _find_pieces(database)
    playable = database.playable
    rows = _get_rows(database)
    room = math.ceil(keep * int(playable.sum()))
    stays = _find_protected(database)
    chosen = np.array([bool(stays[piece].all()) for piece in pieces])
    uses = np.array([played[piece].sum() for piece in pieces])
    for index in np.argsort(-uses, kind="stable").tolist():
        if uses[index] == 0 or (stays & playable).sum() >= NUMBERS.played_share * room:
            break
        stays[pieces[index]] = chosen[index] = True
    # at least one piece, from which others can be far
    distances = np.full(database.frame_count, np.inf)
    if stays.any():
        distances = _measure_distances(rows, rows[stays])
    while (stays & playable).sum() < room and not chosen.all():
        means = np.array([distances[piece].mean() for piece in pieces])
        missing = (room - (stays & playable).sum()) / np.mean([len(piece) for piece in pieces])
        count = max(int(missing / NUMBERS.rounds), 1)
        farthest = np.argsort(np.where(chosen, -1.0, means))[-count:]
        added = np.concatenate([pieces[index] for index in farthest.tolist()])
        stays[added] = True
        chosen[farthest] = True
        np.minimum(distances, _measure_distances(rows, rows[added]), out=distances)
    spare = playable & ~stays
    return Pruning(
        spare,
        kept=float(stays[playable].mean()),
        used=float((played > 0)[playable].mean()),
        covered=float(played[stays].sum() / max(played.sum(), 1)),
        farthest=float(distances[spare].max(initial=0.0)),
    )


def leave_out(database: Database, spare: np.ndarray) -> Database:
    """Return a database without the frames `spare` (N,), and without those tagged 'no_use'.

    Its features still know where the whole clips led. Its sources cannot be tagged anew: that takes
    a build. Raises DatabaseError if nothing is left.
    """
    left = database.playable & ~spare
    if not left.any():
        raise DatabaseError("Nothing of the database would be left; keep a larger share.")
    ranges = []
    starts = []
    stops = []
    count = 0
    for start, stop, origin in zip(database.starts, database.stops, database.ranges, strict=True):
        for a, b in find_runs(left[start:stop]).tolist():
            first = origin.first_source_frame + a * origin.source_frames_per_frame
            is_whole = b - a == int(stop - start)  # a plain flag, which a file can hold
            ranges.append(replace(origin, first_source_frame=first, loop=origin.loop and is_whole))
            starts.append(count)
            count += b - a
            stops.append(count)
    names = [*_BY_FRAME, *(("ground", "footing") if database.ground is not None else ())]
    by_frame: Any = {name: np.asarray(getattr(database, name))[left] for name in names}
    return replace(
        database,
        ranges=tuple(ranges),
        starts=np.array(starts, np.int32),
        stops=np.array(stops, np.int32),
        range_sources=None,
        features=np.ascontiguousarray(database.features[:, left]),
        **by_frame,
    )


def measure_loss(
    database: Database,
    smaller: Database,
    settings: PerformerSettings,
    performances: Sequence[Performance],
    progress: ReportShare | None = None,
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the mean measures of takes of performances, with each of two databases."""
    measured: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for number, performance in enumerate(performances):
        if progress:
            progress(number / len(performances))
        for reports, each in zip(measured, (database, smaller), strict=True):
            live = takes.perform(each, settings, performance)
            take = baking.bake_feet(live, each)
            reports.append(takes.report(take, each, live=live)["take"])
    whole, pruned = (_average(reports) for reports in measured)
    return whole, pruned


def _average(reports: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return the means of the measures that are compared, of those takes that know them."""
    result = {}
    for measure in MEASURES:
        known = (report.get(measure.name) for report in reports)
        if values := [value for value in known if value is not None]:
            result[measure.name] = float(np.mean(values))
    return result


def list_ranges(database: Database, spare: np.ndarray) -> list[SpareRange]:
    """Locate frames `spare` (N,) in the clips, which mirror images and copies share."""
    result = []
    for index, (start, stop, origin) in enumerate(
        zip(database.starts, database.stops, database.ranges, strict=True)
    ):
        if not origin.mirrored and not origin.is_copy:
            for run in find_runs(spare[start:stop]).tolist():
                result.append(SpareRange(index, origin.clip, *map(origin.find_source_frame, run)))
    return result


def list_tags(database: Database, spare: np.ndarray) -> dict[str, list[TagRange]]:
    """Return tags that exclude frames `spare` (N,), by clip, at the frames of the clips."""
    result: dict[str, list[TagRange]] = {}
    for one in list_ranges(database, spare):
        result.setdefault(one.clip, []).append(TagRange(NO_USE, one.first, one.last))
    return result


def _find_pieces(database: Database) -> list[np.ndarray]:
    """Return the frames of each piece of the sources, with those of mirror images and copies."""
    if database.range_sources is None:
        raise DatabaseError(
            "The database does not know which of its clips are mirror images; build it again."
        )
    alike: dict[tuple[object, ...], list[int]] = {}
    for index, (origin, source) in enumerate(
        zip(database.ranges, database.range_sources, strict=True)
    ):
        place = source.key, origin.clip, origin.first_source_frame, source.frames, source.cycle
        alike.setdefault(place, []).append(index)
    counts = database.stops - database.starts
    pieces = []
    tempos = np.array([origin.tempo for origin in database.ranges])
    for indices in alike.values():
        # frames of the first range that pass in one of each
        rates = tempos[indices] / tempos[indices[0]]
        length = int(counts[indices][rates == 1.0].min())
        number = max(int(length / (NUMBERS.piece * database.fps)), 1)
        edges = np.linspace(0, length, number + 1).astype(int)
        edges[-1] = math.ceil((counts[indices] * rates).max())
        own = np.ceil(edges / rates[:, None]).astype(int)
        own = np.minimum(own, counts[indices][:, None])
        for number in range(len(edges) - 1):
            ends = zip(indices, own[:, number], own[:, number + 1], strict=True)
            frames = [np.arange(a, b) + database.starts[i] for i, a, b in ends]
            pieces.append(np.concatenate(frames))
    return pieces


def _find_protected(database: Database) -> np.ndarray:
    """Return the frames (N,) that always stay: loops, and frames with tags set by hand."""
    stays = np.zeros(database.frame_count, bool)
    for start, stop, origin in zip(database.starts, database.stops, database.ranges, strict=True):
        stays[start:stop] = origin.loop
    by_hand = [
        number
        for number, name in enumerate(database.tag_names)
        if name not in AUTO_TAGS and (name not in RESERVED_TAGS or name == LOOP)
    ]
    bits = np.uint32(sum(1 << number for number in by_hand))
    return stays | (np.asarray(database.tags) & bits > 0)


def _get_rows(database: Database) -> np.ndarray:
    """Return the features (N, D) in the form that a search compares."""
    return database.normalization.apply(database.features.T, database.schema.weights)


def _measure_distances(rows: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Return how far each row (N, D) is from the nearest of others (K, D)."""
    from scipy.spatial import cKDTree  # late: it takes 0.1 s to load, and panels do not need it

    return np.asarray(cKDTree(among).query(rows)[0])
