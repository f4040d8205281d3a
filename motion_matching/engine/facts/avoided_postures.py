"""Price the frames that a search avoids: odd postures, and frames that lead to one.

A frame tagged as preferred keeps the cost of its tag, so that an odd posture can be played like any
other. A gait with hardly anything else keeps its odd postures.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from ..database.database import Database
from ..database.tags.tags import PREFER
from .postures import GAITS, LEAD, LEAST_SECONDS, find_all_odd_postures, measure_gaits

Array = np.ndarray
Marks = Annotated[Array, np.bool_, ("N",)]


def find_odd_frames(database: Database) -> Marks:
    """Return the frames (N,) of odd postures that other frames of their gait can replace.

    Frames of mirror images, copies and cycles count, too.
    """
    return _mark(database, 0.0)


def find_avoided_frames(database: Database) -> Marks:
    """Return the same frames (N,), with frames before them that can still lead elsewhere."""
    return _mark(database, LEAD)


def price_frames(database: Database, weight: float) -> Array:
    """Return the extra cost of frames (N,): their bias, and odd postures by weight."""
    bias = np.asarray(database.bias)
    if weight <= 0.0 or not database.derive(find_avoided_frames).any():
        return bias
    return bias + np.float32(weight) * database.derive(find_avoided_frames).astype(np.float32)


def _mark(database: Database, lead: float) -> Array:
    result = np.zeros(database.frame_count, bool)
    if not database.derive(find_all_odd_postures):
        return result
    gaits = _list_gaits_with_others(database)
    for posture in database.derive(find_all_odd_postures):
        if posture.gait in gaits:
            _mark_moment(database, result, posture.range_index, posture.first, posture.last, lead)
    return result & database.playable & ~database.find_reserved(PREFER)


def _mark_moment(
    database: Database, marks: Array, range_index: int, first: int, last: int, lead: float
) -> None:
    """Mark frames first <= f < last of a clip in all ranges of its source, `lead` seconds early."""
    sources = database.range_sources

    def name_source(index: int) -> tuple[str, str]:
        return database.ranges[index].clip, sources[index].key if sources else ""

    for index, origin in enumerate(database.ranges):
        if name_source(index) != name_source(range_index):
            continue
        step = origin.source_frames_per_frame
        before = origin.first_source_frame
        start, stop = int(database.starts[index]), int(database.stops[index])
        begin = start + math.ceil((first - before) / step - lead * database.fps)
        end = start + math.ceil((last - before) / step)
        marks[max(begin, start) : max(min(end, stop), start)] = True


def _list_gaits_with_others(database: Database) -> set[str]:
    """Return the gaits that have seconds of ordinary frames that may be played."""
    frames, gaits, rate = measure_gaits(database)
    usual = database.playable[frames].copy()
    for posture in database.derive(find_all_odd_postures):
        usual &= (frames < posture.start) | (frames >= posture.stop)
    counts = np.bincount(gaits[usual], minlength=len(GAITS))
    return {name for name, count in zip(GAITS, counts, strict=True) if count > LEAST_SECONDS * rate}
