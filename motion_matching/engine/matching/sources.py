"""What a database is built from: clips, the part of each, and how to use it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import MotionDataError, SettingsError
from ..motion import bvh
from ..motion.clip import Clip
from ..motion.simulation_bone import GroundTrack
from .tags import TagRange, frames_of, tag_from_dict

BLEND = ".blend"


@dataclass(frozen=True)
class Source:
    """A clip, or the file that holds it, and how to use it.

    `start` and `stop` choose source frames; `speed` 1.1 plays a tenth faster; `mirror` None leaves it to the build;
    a `loop` is a cycle whose last frame repeats its first. A `track` for the chosen frames is taken as the simulation
    bone in place of one that is found. A Blender file has to be read before (`scene.blend_sources`), and `armature` and
    `action` say what of it is meant.
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
    armature: str | None = None
    action: str | None = None

    def __post_init__(self) -> None:
        if not 0 < self.speed < np.inf:
            raise SettingsError(
                f"The speed of the source '{self.name}' is {self.speed}; give a number above zero."
            )
        if min(self.start or 0, self.stop or 0) < 0:
            raise SettingsError(
                f"The range of the source '{self.name}' has a negative frame; count from 0."
            )
        for tag in self.tags:
            tag.check(f"the source '{self.name}'")

    @property
    def in_blender(self) -> bool:
        """Whether Blender has to read this source."""
        return self.clip is None and self.file is not None and self.file.suffix.lower() == BLEND

    @property
    def name(self) -> str:
        return self.clip.name if self.clip is not None else Path(self.file or "").stem

    def load(self, axes: Mapping[str, Any]) -> Clip:
        """The chosen frames of the clip.

        SettingsError where the range is empty or the track does not fit, MotionDataError where a file cannot be used
        or a clip holds numbers that are not finite.
        """
        if self.in_blender:
            raise MotionDataError(
                f"{self.file} has not been read by Blender; build from it with the command line."
            )
        clip = _finite(self.clip) if self.clip is not None else bvh.load(self.file or "", **axes)
        start, stop, _ = slice(self.start, self.stop).indices(clip.frame_count)
        if stop <= start:
            raise SettingsError(
                f"The source '{self.name}' has {clip.frame_count} frames, so its range {self.start or 0} to "
                f"{self.stop if self.stop is not None else 'the end'} is empty; choose another."
            )
        if self.track is not None and self.track.frame_count != stop - start:
            raise SettingsError(
                f"The track of the source '{self.name}' has {self.track.frame_count} frames for {stop - start} frames "
                "of motion; give one position and yaw for each."
            )
        return clip if stop - start == clip.frame_count else clip.sliced(start, stop)


def _finite(clip: Clip) -> Clip:
    """The clip; MotionDataError names the first bone and frame that has no finite place or rotation."""
    usable = np.isfinite(clip.positions).all(axis=-1) & np.isfinite(clip.rotations).all(axis=-1)
    if not usable.all():
        frame, bone = np.argwhere(~usable)[0]
        raise MotionDataError(
            f"The bone '{clip.skeleton.names[bone]}' of clip '{clip.name}' has a number that is not finite in frame "
            f"{frame}; correct the clip."
        )
    return clip


def find_sources(paths: Iterable[Path | str]) -> list[Source]:
    """Sources of BVH and Blender files, of folders (their BVH files, sorted), and of JSON lists.

    SettingsError where there is none.
    """
    sources: list[Source] = []
    for path in map(Path, paths):
        if path.is_dir():
            # hidden files such as '._walk.bvh' are what other systems keep beside the real ones
            files = sorted(
                p
                for p in path.rglob("*")
                if p.suffix.lower() == ".bvh" and not p.name.startswith(".") and p.is_file()
            )
            if not files:
                raise SettingsError(
                    f"The folder {path} holds no .bvh files; give a folder with motion capture."
                )
            sources += [Source(file=file) for file in files]
        elif path.suffix.lower() == ".json":
            sources += read_source_list(path)
        elif path.is_file():
            sources.append(Source(file=path))
        else:
            raise SettingsError(
                f"{path} does not exist; give a .bvh file, a .blend file, a folder, or a .json list."
            )
    return sources


_KEYS = {"file", "start", "stop", "speed", "mirror", "loop", "tags", "track", "armature", "action"}


def read_source_list(path: Path) -> list[Source]:
    """Sources of a JSON list of objects with 'file' and, if wanted, start, stop, speed, mirror, loop, tags and track.

    For Blender files also armature and action. Files are relative to the list. SettingsError names the entry that is
    wrong.
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
        raise SettingsError(
            f"{where} has the unknown entry '{unknown[0]}'; known ones are {', '.join(sorted(_KEYS))}."
        )
    file = path.parent / entry["file"]
    if not file.is_file():
        raise SettingsError(
            f"{where} names {file}, which is not there; files are relative to the list."
        )
    speed = entry.get("speed", 1.0)
    if not isinstance(speed, (int, float)) or not 0.1 <= speed <= 10:
        raise SettingsError(f"{where} has speed {speed!r}; give a number from 0.1 to 10.")
    mirror, loop = entry.get("mirror"), entry.get("loop", False)
    if not isinstance(mirror, (bool, type(None))) or not isinstance(loop, bool):
        raise SettingsError(
            f"{where} has mirror {mirror!r} and loop {loop!r}; both are true or false."
        )
    for key in ("armature", "action"):
        if key in entry and (not isinstance(entry[key], str) or file.suffix.lower() != BLEND):
            raise SettingsError(
                f"{where} has {key} {entry[key]!r}; give the name of one in a {BLEND} file."
            )
    start, stop = frames_of(entry, where)
    tags = entry.get("tags", [])
    if not isinstance(tags, list):
        raise SettingsError(f"{where} has tags {tags!r}; give a list of objects with a 'name'.")
    return Source(
        file=file,
        start=start,
        stop=stop,
        speed=float(speed),
        mirror=mirror,
        loop=loop,
        tags=tuple(tag_from_dict(tag, where) for tag in tags),
        track=_track(entry.get("track"), where),
        armature=entry.get("armature"),
        action=entry.get("action"),
    )


def _track(rows: Any, where: str) -> GroundTrack | None:
    """A simulation track from rows of x, y and yaw."""
    if rows is None:
        return None
    try:
        values = np.array(rows, np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 2 or values.shape[1] != 3 or not np.isfinite(values).all():
        raise SettingsError(
            f"{where} has a track that is no list of [x, y, yaw]; give metres and radians for each frame."
        )
    return GroundTrack(values[:, :2], np.unwrap(values[:, 2]))
