"""What a database is built from: clips, the part of each, and how to use it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import SettingsError
from ..motion import bvh
from ..motion.clip import Clip
from ..motion.simulation_bone import GroundTrack


@dataclass(frozen=True)
class TagRange:
    """A tag on source frames start <= f < stop; None reaches to that end of the clip."""

    name: str
    start: int | None = None
    stop: int | None = None


@dataclass(frozen=True)
class Source:
    """A clip, or the file that holds it, and how to use it.

    `start` and `stop` choose source frames; `speed` 1.1 plays a tenth faster; `mirror` None leaves it to the build;
    a `loop` is a cycle whose last frame repeats its first. A `track` for the chosen frames is taken as the simulation
    bone in place of one that is found.
    """

    file: Path | None = None
    clip: Clip | None = None
    start: int | None = None
    stop: int | None = None
    speed: float = 1.0
    mirror: bool | None = None
    loop: bool = False
    tags: tuple[TagRange, ...] = ()
    track: GroundTrack | None = None

    @property
    def name(self) -> str:
        return self.clip.name if self.clip is not None else Path(self.file or "").stem

    def load(self, axes: Mapping[str, Any]) -> Clip:
        """The chosen frames of the clip; SettingsError where the range is empty."""
        clip = self.clip if self.clip is not None else bvh.load(self.file or "", **axes)
        start, stop, _ = slice(self.start, self.stop).indices(clip.frame_count)
        if stop <= start:
            raise SettingsError(
                f"The source '{self.name}' has {clip.frame_count} frames, so its range {self.start} to {self.stop} is empty; "
                "choose another."
            )
        return clip if stop - start == clip.frame_count else clip.sliced(start, stop)


def find_sources(paths: Iterable[Path | str]) -> list[Source]:
    """Sources of BVH files, of folders (their BVH files, sorted), and of JSON lists. SettingsError where there is none."""
    sources: list[Source] = []
    for path in map(Path, paths):
        if path.is_dir():
            files = sorted(p for p in path.rglob("*") if p.suffix.lower() == ".bvh" and p.is_file())
            if not files:
                raise SettingsError(f"The folder {path} holds no .bvh files; give a folder with motion capture.")
            sources += [Source(file=file) for file in files]
        elif path.suffix.lower() == ".json":
            sources += read_source_list(path)
        elif path.is_file():
            sources.append(Source(file=path))
        else:
            raise SettingsError(f"{path} does not exist; give a .bvh file, a folder of them, or a .json list of sources.")
    return sources


_KEYS = {"file", "start", "stop", "speed", "mirror", "loop", "tags", "track"}


def read_source_list(path: Path) -> list[Source]:
    """Sources of a JSON list of objects with 'file' and, if wanted, start, stop, speed, mirror, loop, tags and track.

    Files are relative to the list. SettingsError names the entry that is wrong.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"The source list {path} does not exist; check its name.") from None
    except (OSError, ValueError) as cause:
        raise SettingsError(f"The source list {path} cannot be read as JSON: {cause}.") from cause
    if not isinstance(data, list) or not data:
        raise SettingsError(f"The source list {path} must be a JSON list with at least one source.")
    return [_source(entry, path, number) for number, entry in enumerate(data, 1)]


def _source(entry: Any, path: Path, number: int) -> Source:
    where = f"Source {number} of {path}"
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        raise SettingsError(f"{where} must be an object with a 'file'.")
    unknown = sorted(set(entry) - _KEYS)
    if unknown:
        raise SettingsError(f"{where} has the unknown entry '{unknown[0]}'; known ones are {', '.join(sorted(_KEYS))}.")
    file = path.parent / entry["file"]
    if not file.is_file():
        raise SettingsError(f"{where} names {file}, which does not exist; files are relative to the list.")
    speed = entry.get("speed", 1.0)
    if not isinstance(speed, (int, float)) or not 0.1 <= speed <= 10:
        raise SettingsError(f"{where} has speed {speed!r}; give a number from 0.1 to 10.")
    for key in ("start", "stop"):
        if not isinstance(entry.get(key), (int, type(None))):
            raise SettingsError(f"{where} has {key} {entry[key]!r}; give a frame number.")
    try:
        tags = tuple(TagRange(str(t["name"]), t.get("start"), t.get("stop")) for t in entry.get("tags", ()))
    except (TypeError, KeyError, AttributeError):
        raise SettingsError(f"{where} has tags that are not a list of objects with a 'name'.") from None
    return Source(
        file=file, start=entry.get("start"), stop=entry.get("stop"), speed=float(speed), mirror=entry.get("mirror"),
        loop=bool(entry.get("loop", False)), tags=tags, track=_track(entry.get("track"), where),
    )


def _track(rows: Any, where: str) -> GroundTrack | None:
    """A simulation track from rows of x, y and yaw."""
    if rows is None:
        return None
    try:
        values = np.array(rows, np.float64).reshape(-1, 3)
    except (TypeError, ValueError):
        values = np.empty((0, 3))
    if len(values) == 0 or not np.isfinite(values).all():
        raise SettingsError(f"{where} has a track that is not a list of [x, y, yaw], metres and radians, one for each frame.")
    return GroundTrack(values[:, :2], np.unwrap(values[:, 2]))
