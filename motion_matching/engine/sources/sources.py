"""Describe the sources of a database: clips, the range used of each, and how to use it."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..bvh import bvh, bvh_text
from ..bvh.clip_cache import ClipCache
from ..database.tags.tags import TagRange, parse_frame_range, tag_from_dict
from ..errors import MotionDataError, SettingsError
from ..files import json_files
from ..files.file_paths import describe_no_file
from ..files.json_files import EntryError
from ..ground.ground import FLAT, Ground
from ..motion.clip import Clip
from ..motion.simulation_bone import GroundTrack
from ..names import to_readable
from .numbers import NUMBERS

BLEND = ".blend"
BVH = ".bvh"
IMPORTED = (".fbx", ".glb", ".gltf", ".vrma")  # by Blender's importers
_FARTHEST = 1e5  # metres or radians
TEMPOS = NUMBERS.tempos


# grounds in source lists, beside objects
LEVEL = "level"
FOUND = "found"


class GroundObject(NamedTuple):
    """An object of a Blender file that a clip was captured on, together with its children."""

    file: Path
    name: str


@dataclass(frozen=True)
class Source:
    """A clip, or the file that holds it, and how to use it.

    `start` and `stop` choose source frames; `speed` 1.1 plays a tenth faster; `mirror` None leaves
    it to the build, as does `tempo`, which adds copies at `TEMPOS` of the speed; a `loop` is a
    cycle whose last frame repeats its first. A `track` of the chosen frames replaces the simulation
    bone that would be computed. A Blender file has to be read first
    (`scene.reading.blend_sources`); `armature` and `action` name what to read from it, and
    `character` the root or armature to read from another file with several. A `key` names the
    source in the database, so that it can be tagged again. A clip that is `built_in` is retargeted
    to the skeleton of the others. With `keep_frames`, frames that no body can have moved through
    stay, and with `keep_floor` the height of its floor; None leaves these to the build. Frame 0 of
    the clip is called `shown_first` in messages. The `ground` is the floor of the capture, in the
    clip's place: `control.ground.FLAT` if it climbs nothing, an object that Blender has to read
    first, or None to find it from standing feet.
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
    character: str | None = None
    key: str = ""
    built_in: bool = False
    keep_frames: bool | None = None
    keep_floor: bool | None = None
    shown_first: int = 0
    tempo: bool | None = None
    ground: Ground | GroundObject | None = None

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
    def needs_blender(self) -> bool:
        """Whether Blender has to read this source."""
        return self.clip is None and get_ending(self.file) in (BLEND, *IMPORTED)

    @property
    def is_of_armature(self) -> bool:
        """Whether its clip moves the bones of an armature, rather than those in a BVH file."""
        from_blender = get_ending(self.file) in ("", BLEND, *IMPORTED)
        return self.clip is not None and from_blender and not self.built_in

    @property
    def name(self) -> str:
        if self.clip is not None:
            return self.clip.name
        return name_of_file(Path(self.file or ""), self.character)

    def get_floor(self) -> Ground | None:
        """Return the ground that is given. MotionDataError if Blender has not read its object."""
        if isinstance(self.ground, GroundObject):
            raise MotionDataError(
                f"The ground '{self.ground.name}' of the source '{self.name}' in "
                f"{self.ground.file} has not been read by Blender; build from it on the command "
                "line."
            )
        return self.ground

    def load(self, axes: Mapping[str, Any], cache: ClipCache | None = None) -> Clip:
        """Return the chosen frames of the clip, whose file may have been kept in a cache.

        Raises SettingsError if the range is empty or the track does not fit, MotionDataError if a
        file cannot be used or a clip holds numbers that are not finite.
        """
        if self.needs_blender:
            raise MotionDataError(
                f"{self.file} has not been read by Blender; build from it on the command line."
            )
        clip = _check_finite(self.clip) if self.clip else self._load_file(axes, cache)
        start, stop, _ = slice(self.start, self.stop).indices(clip.frame_count)
        if stop <= start:
            end = "the end" if self.stop is None else self.stop
            raise SettingsError(
                f"The source '{self.name}' has {clip.frame_count} frames, so its range "
                f"{self.start or 0} to {end} is empty; choose another."
            )
        if self.track is not None and self.track.frame_count != stop - start:
            raise SettingsError(
                f"The track of the source '{self.name}' has {self.track.frame_count} frames for "
                f"{stop - start} frames of motion; give one position and yaw for each."
            )
        return clip if stop - start == clip.frame_count else clip.crop(start, stop)

    def _load_file(self, axes: Mapping[str, Any], cache: ClipCache | None) -> Clip:
        file = self.file or Path()
        read = cache.read if cache else bvh.load
        clip = read(file, root=self.character, **axes)
        return replace(clip, name=self.name) if self.character else clip


def choose_character(sources: Iterable[Source], name: str) -> list[Source]:
    """Return the sources with the character to read of BVH files that hold several.

    Files that Blender imports are checked when they are read. Raises SettingsError if no file holds
    several, or only that one, and MotionDataError if one cannot be read.
    """
    chosen = []
    is_there = False
    for one in sources:
        names = _list_characters(one)
        several = names is None or len(names) > 1
        is_there = is_there or several or bool(one.character) or name in (names or ())
        chosen.append(replace(one, character=one.character or name) if several else one)
    if not is_there:
        raise SettingsError(
            f"None of the files holds several characters, or one named '{name}'; leave it out."
        )
    return chosen


def _list_characters(source: Source) -> list[str] | None:
    """List the characters to choose from in a source; None if only Blender knows them."""
    if source.clip is not None or source.file is None or get_ending(source.file) == BLEND:
        return []
    return None if source.needs_blender else bvh_text.list_performers(source.file)


def get_ending(file: Path | None) -> str:
    """Return the ending of a file in lower case, '' without a file."""
    return file.suffix.lower() if file else ""


def name_of_file(file: Path, character: str | None = None) -> str:
    """Return the name of a source that is read from a file, and of its clip."""
    return to_readable(f"{file.stem} {character}" if character else file.stem)


def _check_finite(clip: Clip) -> Clip:
    """Return the clip. MotionDataError names the first bone and frame without finite numbers."""
    usable = np.isfinite(clip.positions).all(axis=-1) & np.isfinite(clip.rotations).all(axis=-1)
    if not usable.all():
        frame, bone = np.argwhere(~usable)[0]
        raise MotionDataError(
            f"The bone '{clip.skeleton.names[bone]}' of clip '{clip.name}' has a number that is "
            f"not finite at frame {frame}; correct the clip."
        )
    return clip


def find_sources(paths: Iterable[Path | str]) -> list[Source]:
    """Return the sources of files with motion, folders (their BVH files) and JSON lists.

    Raises SettingsError if a path or folder has none.
    """
    sources: list[Source] = []
    for given in paths:
        if not os.fspath(given):
            raise SettingsError("No file or folder is named to build from; give one.")
        path = Path(given)
        if os.path.isdir(path):
            sources += [Source(file=file) for file in _find_bvh_files(path)]
        elif path.suffix.lower() == ".json":
            sources += read_source_list(path)
        elif os.path.isfile(path):
            sources.append(Source(file=path))
        else:
            raise SettingsError(
                f"{describe_no_file(path)}; give a .bvh file, a .blend file, a folder, or a "
                ".json list."
            )
    return sources


def _find_bvh_files(folder: Path) -> list[Path]:
    """Return the BVH files below a folder, sorted. Raises SettingsError if there is none."""
    # macOS writes hidden files such as '._walk.bvh' beside the real ones on foreign disks
    visible = (path for path in folder.rglob("*") if not path.name.startswith("."))
    files = sorted(path for path in visible if path.suffix.lower() == ".bvh" and path.is_file())
    if not files:
        raise SettingsError(
            f"The folder {folder} holds no .bvh files; give a folder with motion capture."
        )
    return files


# names of the data to read, by the kinds of files that hold them
_NAMES = {"armature": (BLEND,), "action": (BLEND,), "character": (BVH, *IMPORTED)}
_KEYS = {"file", "start", "stop", "speed", "mirror", "loop", "tags", "track", *_NAMES}
_KEYS |= {"tempo", "keep_frames", "keep_floor", "ground"}


def read_source_list(path: Path) -> list[Source]:
    """Read a JSON list of objects with 'file', relative to the list, and other fields of a source.

    Raises SettingsError, which names the wrong entry.
    """
    data = json_files.read(path, "source list")
    with json_files.name_file(f"source list {path}"):
        entries = json_files.expect_list(data, "the list")
        if not entries:
            raise EntryError("there is no source; give at least one")
        return [_parse_source(entry, path, number) for number, entry in enumerate(entries, 1)]


def _parse_source(entry: Any, path: Path, number: int) -> Source:
    """Read one entry of a source list. Raises EntryError, or SettingsError for range and tags."""
    where = f"source {number}"
    whole = f"Source {number} of {path}"
    entry = json_files.expect_object(entry, where, _KEYS)
    file = path.parent / json_files.expect_text(entry.get("file"), f"'file' of {where}")
    if not os.path.isfile(file):
        problem = describe_no_file(file).removeprefix(f"{file} ")
        raise EntryError(f"{where} names {file}, which {problem}; files are relative to the list")
    for key, endings in _NAMES.items():
        if key in entry and not (isinstance(entry[key], str) and get_ending(file) in endings):
            raise EntryError(
                f"'{key}' of {where} is {reprlib.repr(entry[key])}; give the name of one in a "
                f"{' or '.join(endings)} file"
            )
    start, stop = parse_frame_range(entry, whole)
    tags = json_files.expect_list(entry.get("tags", []), f"'tags' of {where}")
    return Source(
        file=file,
        start=start,
        stop=stop,
        speed=json_files.expect_number(entry.get("speed", 1.0), f"'speed' of {where}", 0.1, 10.0),
        loop=json_files.expect_flag(entry.get("loop", False), f"'loop' of {where}"),
        tags=tuple(tag_from_dict(tag, whole) for tag in tags),
        track=_parse_track(entry.get("track"), where),
        armature=entry.get("armature"),
        action=entry.get("action"),
        character=entry.get("character"),
        mirror=_parse_flag(entry, "mirror", where),
        tempo=_parse_flag(entry, "tempo", where),
        keep_frames=_parse_flag(entry, "keep_frames", where),
        keep_floor=_parse_flag(entry, "keep_floor", where),
        ground=_parse_ground(entry.get("ground", FOUND), file, path.parent, where),
    )


def _parse_flag(entry: Mapping[str, Any], name: str, where: str) -> bool | None:
    """Read a flag that the build decides if it is missing."""
    value = entry.get(name)
    return None if value is None else json_files.expect_flag(value, f"'{name}' of {where}")


def _parse_ground(
    value: Any, source: Path, folder: Path, where: str
) -> Ground | GroundObject | None:
    """Read the ground of a source: an object of its own file, unless another is named."""
    if value in (FOUND, LEVEL):
        return FLAT if value == LEVEL else None
    what = f"'ground' of {where}"
    if not isinstance(value, dict):
        raise EntryError(
            f"{what} is {reprlib.repr(value)}; give '{LEVEL}', '{FOUND}', or an 'object' and its "
            f"'file'"
        )
    entry = json_files.expect_object(value, what, {"file", "object"})
    name = json_files.expect_text(entry.get("object"), f"'object' of {what}")
    file = source
    if "file" in entry:
        file = folder / json_files.expect_text(entry["file"], f"'file' of {what}")
    if get_ending(file) != BLEND or not os.path.isfile(file):
        raise EntryError(f"{what} is in {file}, which is no {BLEND} file that is there; name one")
    return GroundObject(file, name)


def _parse_track(rows: Any, where: str) -> GroundTrack | None:
    """Read a simulation track from rows of x, y and yaw."""
    if rows is None:
        return None
    try:
        values = np.array(rows, np.float64)
    except (TypeError, ValueError, OverflowError):
        values = np.empty(0)
    # comparisons are False for NaN
    if values.ndim != 2 or values.shape[1] != 3 or not (np.abs(values) <= _FARTHEST).all():
        raise EntryError(
            f"'track' of {where} is not a list of [x, y, yaw]; give metres and radians up to "
            f"{_FARTHEST:g} for each frame"
        )
    return GroundTrack(values[:, :2], np.unwrap(values[:, 2]))


def assign_tags(sources: Sequence[Source], tags: Mapping[str, Sequence[TagRange]]) -> list[Source]:
    """Replace tags of sources by the tags by clip that cover frames in use.

    Raises SettingsError for tags of a clip that is not a source.
    """
    names = list(dict.fromkeys(source.name for source in sources))
    if unknown := [clip for clip in tags if clip not in names]:
        known = ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")
        raise SettingsError(
            f"There are tags for the clip '{unknown[0]}', which is not a source; the clips are "
            f"{known}."
        )
    return [
        replace(source, tags=tuple(tag for tag in tags[source.name] if _overlaps(tag, source)))
        if source.name in tags
        else source
        for source in sources
    ]


def collect_tags(sources: Sequence[Source]) -> dict[str, tuple[TagRange, ...]]:
    """Return the tags of sources by clip in frames in use; SettingsError for equal names."""
    files_of = {source.name: source.file for source in sources}
    tags: dict[str, tuple[TagRange, ...]] = {}
    for source in sources:
        name = source.name
        if source.file != files_of[name]:
            raise SettingsError(
                f"{source.file} and {files_of[name]} have the same name, so their tags cannot be "
                "told apart; rename one."
            )
        own = (_limit_to_source(tag, source) for tag in source.tags if _overlaps(tag, source))
        tags[name] = tags.get(name, ()) + tuple(own)
    return tags


def _limit_to_source(tag: TagRange, source: Source) -> TagRange:
    """Limit a tag to the frames of a source."""
    start = max(tag.start or 0, source.start or 0)
    stops = [stop for stop in (tag.stop, source.stop) if stop is not None]
    return replace(tag, start=start or None, stop=min(stops, default=None))


def _overlaps(tag: TagRange, source: Source) -> bool:
    """Return whether a tag may cover frames of a source; its clip need not be read yet."""
    ends_before = tag.stop is not None and tag.stop <= (source.start or 0)
    return not ends_before and (source.stop is None or (tag.start or 0) < source.stop)
