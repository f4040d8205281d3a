"""Read the sources of a build: one after another, or in several processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ..bvh.clip_cache import ClipCache
from ..errors import DatabaseError, MotionMatchingError
from ..mending.source_doctor import Finding, examine
from ..motion.clip import Clip
from ..progress import ReportProgress
from ..sources.reel import BuildNote
from ..sources.sources import Source
from .numbers import NUMBERS


@dataclass(frozen=True)
class Reading:
    """How sources are read: in how many processes, and the cache of clips, if there is one."""

    workers: int = 1
    cache: ClipCache | None = None


class ReadSources(NamedTuple):
    """Sources, their clips, what was found in these, and notes on sources that cannot be read."""

    sources: list[Source]
    clips: list[Clip]
    findings: list[list[Finding]]
    broken: list[BuildNote]


_Read = tuple[Clip, list[Finding]] | MotionMatchingError


def read_sources(
    sources: Sequence[Source],
    axes: dict[str, Any],
    reading: Reading,
    notify: ReportProgress,
    skip_broken: bool = False,
) -> ReadSources:
    """Read and examine sources, in their order: the result is the same in any number of processes.

    Raises DatabaseError if there are none, and the first error of one unless `skip_broken`.
    """
    if not sources:
        raise DatabaseError("There are no sources to build from; give at least one clip.")
    found = ReadSources([], [], [], [])
    errors: list[MotionMatchingError] = []
    with _read_all(sources, partial(_read, axes, reading.cache), reading.workers) as results:
        for number, source in enumerate(sources):
            notify("Reading", number / len(sources))
            result = next(results)
            if isinstance(result, MotionMatchingError):
                errors.append(result)
                found.broken.append(BuildNote(source.name, str(result), "unreadable"))
                if not skip_broken:
                    raise result
                continue
            found.sources.append(source)
            found.clips.append(result[0])
            found.findings.append(result[1])
    if reading.cache:
        reading.cache.make_room()
    if not found.clips:
        raise errors[0]
    return found


@contextmanager
def _read_all(
    sources: Sequence[Source], read: partial[_Read], workers: int
) -> Iterator[Iterator[_Read]]:
    """Yield the results of reading sources, in their order."""
    workers = min(workers, len(sources))
    if workers < 2:
        yield map(read, sources)
        return
    at_once = min(-(-len(sources) // (4 * workers)), NUMBERS.files_at_once)
    # a new interpreter each: a copy of one that has threads, such as Blender, may hang
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        try:
            yield pool.map(read, sources, chunksize=at_once)
        finally:
            pool.shutdown(cancel_futures=True)


def _read(axes: dict[str, Any], cache: ClipCache | None, source: Source) -> _Read:
    try:
        clip = source.load(axes, cache)
    except MotionMatchingError as error:
        return error
    return clip, examine(clip)
