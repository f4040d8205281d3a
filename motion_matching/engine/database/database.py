"""Store poses and features in a database, from which motion matching plays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..body.rig import Roles
from ..body.toe_ends import list_toe_ends, measure_size
from ..errors import DatabaseError, MotionMatchingError, SettingsError
from ..files import array_files, json_files
from ..files.json_files import EntryError, expect_list, expect_number, expect_text
from ..maths import planar
from ..motion.rest import AT_REST
from ..motion.simulation_bone import SimulationBoneSettings
from ..scale import Scale
from ..skeleton.skeleton import Skeleton
from ..units import PLACE, POSE, VELOCITY, Columns, measured
from . import compact, gaits, stored_facts
from .features.features import (
    Normalization,
    Schema,
    compute_features,
    compute_normalization,
    schema_from_dict,
)
from .features.motion_table import MotionTable, differentiate
from .limits import measure_peaks
from .numbers import NUMBERS
from .tags.tags import MOST_FRAMES, NO_ENTRY, NO_USE, RESERVED_TAGS, find_source_frame

Derived = TypeVar("Derived")

FORMAT = "motion-matching database"
VERSION = 1
FACTS_VERSION = 1  # rises when a stored fact is measured in another way
# frames per second
LOWEST_RATE = 1
HIGHEST_RATE = 1000
_MOST_TAGS = 32  # bits


@dataclass(frozen=True)
class Range:
    """Provenance of one range: its clip, where in it, and at which `tempo` if it is a copy."""

    clip: str
    mirrored: bool
    first_source_frame: float
    source_frames_per_frame: float
    loop: bool = False
    tempo: float = 1.0

    @property
    def is_copy(self) -> bool:
        """Whether it shows the motion of another range at another speed."""
        return self.tempo != 1.0

    @property
    def label(self) -> str:
        """The clip's name, and the tempo of a copy."""
        return f"{self.clip} at {self.tempo:g}x" if self.is_copy else self.clip

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data, without a tempo where earlier versions had none."""
        return {k: value for k, value in vars(self).items() if k != "tempo" or self.is_copy}

    def find_source_frame(self, offset: int) -> int:
        """Return the source frame from which on a tag covers a frame of the range."""
        return find_source_frame(self.first_source_frame, self.source_frames_per_frame, offset)


# the types of its values, in their order
_RANGE_TYPES = frozenset((str, bool, a, b, bool, float) for a in (int, float) for b in (int, float))


@dataclass(frozen=True)
class RangeSource:
    """Data to tag a range again: the key of its source, and the frames of that clip.

    A `cycle` is a range of the source tagged as a loop. `closing` is the x, y and yaw of the frame
    after a loop's last one.
    """

    key: str
    frames: int
    cycle: bool
    closing: tuple[float, float, float] | None


@dataclass(frozen=True)
class FrameSource:
    """Where a frame comes from, for people."""

    clip: str
    frame: int
    mirrored: bool

    @property
    def clip_label(self) -> str:
        """The clip's name, and whether it is mirrored."""
        return f"{self.clip} (mirrored)" if self.mirrored else self.clip


@measured(
    fps="1/s",
    poses=POSE,
    velocities=VELOCITY,
    track=PLACE,
    limits=Columns(("m/s²", "rad/s²"), -2),
    ground="m",
    footing="m",
)
@dataclass(frozen=True)
class Database:
    """Frames of all ranges one after the other; bone 0 is the simulation bone in the world.

    poses (N, 7, B): local positions and rotations, component first; velocities (N, 6, B): linear
    and angular, per second; track (N, 3): x, y, yaw of the simulation bone, float64; starts and
    stops (R,); contacts (N, L) of the legs' toes; limits (2, B): the largest linear and angular
    acceleration of each bone; tags (N,): bits named by `tag_names`; bias (N,): added to a frame's
    cost; features (D, N): raw; `range_sources` (R): data to tag all again, None in files of earlier
    versions. `ground` (N,) and `footing` (N, L) are those of `climbs.OwnGround`, None where all
    clips are on level ground.
    """

    skeleton: Skeleton
    roles: Roles
    hips_forward: tuple[float, float, float]
    fps: float
    schema: Schema
    ranges: tuple[Range, ...]
    starts: np.ndarray
    stops: np.ndarray
    poses: np.ndarray
    velocities: np.ndarray
    track: np.ndarray
    contacts: np.ndarray
    limits: np.ndarray
    tags: np.ndarray
    bias: np.ndarray
    features: np.ndarray
    tag_names: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    range_sources: tuple[RangeSource, ...] | None = None
    ground: np.ndarray | None = None
    footing: np.ndarray | None = None

    @cached_property
    def _derived(self) -> dict[Callable[[Database], Any], Any]:
        return {}

    @cached_property
    def scale(self) -> Scale:
        """The scale of the creature: that of people for all of them."""
        # lengths that were divided are rounded
        size = round(measure_size(self.skeleton, self.roles), NUMBERS.size_digits)
        return Scale() if abs(size - 1.0) < NUMBERS.same_size else Scale.from_size(size)

    @property
    def in_body_units(self) -> Database:
        """The same database in body units; itself for people."""
        return self if self.scale.is_of_people else self._in_body_units

    @cached_property
    def _in_body_units(self) -> Database:
        scaled = self.scale.to_body(self)
        result = scaled.with_schema(scaled.schema)
        vars(result)["stored_facts"] = self.stored_facts
        return result

    @cached_property
    def stored_facts(self) -> Mapping[str, Any]:
        """What its file says of it, by name; nothing unless it was loaded."""
        return {}

    def get_fact(self, name: str, count: int | None = None) -> np.ndarray | None:
        """Return the numbers (count,) of a stored fact, or None if it has to be measured.

        Facts of players are in body units, and those of reports in world units.
        """
        values = self.stored_facts.get(name)
        if not isinstance(values, list) or count not in (None, len(values)):
            return None
        if not {*map(type, values)} <= {int, float}:
            return None
        try:
            numbers = np.array(values, np.float64)
        except OverflowError:
            return None
        return numbers if np.all(np.abs(numbers) <= array_files.LARGEST_VALUE) else None

    def derive(self, make: Callable[[Database], Derived]) -> Derived:
        """Return a fact of the database in body units, such as its idles, computed once."""
        database = self.in_body_units
        if make not in database._derived:
            known = database.recall(make)
            database._derived[make] = known[0] if known else make(database)
        return database._derived[make]

    def recall(self, make: Callable[[Database], Derived]) -> tuple[Derived] | None:
        """Return what its file has of a fact in a tuple, or None."""
        dimensions = self.schema.dimensions
        sizes = {"N": self.frame_count, "L": len(self.roles.legs), "D": dimensions}
        return stored_facts.recall(make, self.stored_facts, sizes)

    def store_derived(self, made: Iterable[Callable[[Database], Any]]) -> dict[str, Any]:
        """Return results of these functions as facts to save; `derive` returns them once loaded."""
        return stored_facts.store({make: self.derive(make) for make in made})

    def keep(self, other: Database, made: Iterable[Callable[[Database], Any]]) -> None:
        """Take over results of these functions for another database, which have to be the same."""
        source = other.in_body_units
        for make in made:
            if make in source._derived or source.recall(make):
                self.in_body_units._derived[make] = source.derive(make)

    @property
    def frame_count(self) -> int:
        return len(self.poses)

    @property
    def seconds(self) -> float:
        return self.frame_count / self.fps

    @cached_property
    def normalization(self) -> Normalization:
        """Statistics that make features comparable; frames tagged 'no_use' do not count."""
        used = self.playable
        features = self.features
        if used.any() and not used.all():
            features = features[:, used]
        return compute_normalization(self.schema, features)

    @property
    def role_names(self) -> dict[str, str]:
        """Bone names by role, as in the source's skeleton: without bones added by the build."""
        above = {name: self.skeleton.names[b] for name, (b, _) in self.toe_ends.items()}
        return {role: above.get(bone, bone) for role, bone in _get_roles(self).items()}

    @cached_property
    def pace(self) -> float:
        """Speed of a creature of this size relative to people."""
        return gaits.measure_pace(self.skeleton, self.roles)

    @cached_property
    def walk_to_run(self) -> float:
        """The speed in m/s that separates walking from running."""
        if not self.scale.is_of_people:
            return self.scale.to_world(self.in_body_units.walk_to_run, "m/s")
        speed = np.hypot(self.root_motion[:, 0], self.root_motion[:, 1])
        moving = self.playable & (speed > AT_REST.moving * self.pace)
        return gaits.find_walk_to_run(self.pace, speed[moving], self.contacts[moving], self.fps)

    @cached_property
    def toe_ends(self) -> dict[str, tuple[int, int]]:
        """The bones that the build has added at the ends of legs; see `list_toe_ends`."""
        return list_toe_ends(self.skeleton)

    @property
    def source_bones(self) -> tuple[str, ...]:
        """Names of the source's bones: all except the simulation bone and the ends of legs."""
        return self.skeleton.names[1 : self.skeleton.bone_count - len(self.toe_ends)]

    @cached_property
    def range_of_frame(self) -> np.ndarray:
        """Index (N,) of the range of each frame."""
        return np.repeat(np.arange(len(self.starts), dtype=np.int32), self.stops - self.starts)

    @cached_property
    def root_motion(self) -> np.ndarray:
        """Motion (N, 3) to the next frame in its own axes: x, y and turn per second.

        The last frame of a range repeats the one before.
        """
        step = np.zeros_like(self.track)
        step[:-1] = self.track[1:] - self.track[:-1]
        last = self.stops - 1
        step[last] = step[last - 1]
        yaw = self.track[:, 2].copy()
        yaw[last] = yaw[last - 1]
        step[:, :2] = planar.rotate(step[:, :2], -yaw)
        return step * self.fps

    @cached_property
    def peaks(self) -> np.ndarray:
        """The largest squared changes of velocities (K, 2, B), as `measure_limits` takes them."""
        return measure_peaks(np.asarray(self.velocities), self.stops)

    @cached_property
    def toes(self) -> np.ndarray:
        """Toes (N, L, 3) of all legs in the simulation bone's frame, in metres."""
        toes = [leg.toe for leg in self.roles.legs]
        poses = np.asarray(self.poses)
        return self.skeleton.compute_bone_positions(toes, poses, root=0).astype(np.float32)

    @cached_property
    def playable(self) -> np.ndarray:
        """Frames (N,) that may be played."""
        return ~self.find_reserved(NO_USE)

    @cached_property
    def followers(self) -> np.ndarray:
        """The frame after each (N,), whatever their tags: the next, or a loop's first; else -1."""
        followers = np.arange(1, self.frame_count + 1)
        followers[self.stops - 1] = [
            start if r.loop else -1 for start, r in zip(self.starts, self.ranges, strict=True)
        ]
        return followers

    @cached_property
    def predecessors(self) -> np.ndarray:
        """The frame before each (N,); -1 at the beginning of a range."""
        predecessors = np.full(self.frame_count, -1)
        before = np.flatnonzero(self.followers >= 0)
        predecessors[self.followers[before]] = before
        return predecessors

    @cached_property
    def successors(self) -> np.ndarray:
        """The frame played after each (N,): its follower; -1 at a dead end."""
        successors = self.followers.copy()
        successors[~self.playable[successors]] = -1
        return successors

    def make_tag_mask(self, tags: frozenset[str] | set[str]) -> np.ndarray:
        """Return which frames (N,) carry all of these tags. DatabaseError for an unknown tag."""
        if unknown := sorted(tags.difference(self.tag_names)):
            raise DatabaseError(
                f"No frame of the database is tagged '{unknown[0]}'; its tags are: "
                f"{', '.join(self.tag_names) or 'none'}."
            )
        bits = np.uint32(sum(1 << self.tag_names.index(tag) for tag in tags))
        return (self.tags & bits) == bits

    def find_reserved(self, tag: str) -> np.ndarray:
        """Return which frames (N,) carry a reserved tag; none if no source used it."""
        if tag not in self.tag_names:
            return np.zeros(self.frame_count, bool)
        return self.make_tag_mask({tag})

    @property
    def requestable_tags(self) -> tuple[str, ...]:
        """The tags that a performance may request."""
        return tuple(name for name in self.tag_names if name not in RESERVED_TAGS)

    def explain_missing_tags(self, tags: frozenset[str], end_guard: float) -> str:
        """Say why no frame can be entered with all of these tags, or return an empty string."""
        try:
            carried = self.make_tag_mask(tags)
        except DatabaseError as error:
            return str(error)
        if tags and not (carried & self.find_candidates(end_guard)).any():
            names = " and ".join(f"'{tag}'" for tag in sorted(tags))
            return (
                f"No frame that may be entered is tagged {names}; request fewer tags, or tag "
                "longer ranges."
            )
        return ""

    def find_candidates(self, end_guard: float) -> np.ndarray:
        """Return the frames (N,) that a search may choose.

        Left out are frames excluded by a tag, frames within `end_guard` seconds of a dead end, and
        frames at the start of a range that lack the past.
        """
        start, end = self.find_guarded_frames(end_guard)
        return self.playable & ~start & ~end & ~self.find_reserved(NO_ENTRY)

    def find_guarded_frames(self, end_guard: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the frames (N,) that lack the past, and the frames near a dead end.

        Near is within `end_guard` seconds; the past is as long as the features look back.
        """
        at_end: np.ndarray = np.zeros(self.frame_count, bool)
        guard = round(end_guard * self.fps)
        past = round(self.schema.past * self.fps)
        loops = np.array([origin.loop for origin in self.ranges])
        if guard > 0:
            # any other range ends in a dead end
            at_end = _count_frames_to_dead_end(self.successors, loop=False) < guard
            for start, stop in zip(self.starts[loops], self.stops[loops], strict=True):
                left = _count_frames_to_dead_end(self.successors[start:stop], loop=True)
                at_end[start:stop] = left < guard
        first = np.where(loops, self.frame_count, self.starts)[self.range_of_frame]
        frames = np.arange(self.frame_count)
        at_start = (frames >= first) & (frames < first + past)
        return at_start, at_end

    def get_frame_source(self, frame: int) -> FrameSource:
        """Return clip, source frame and mirroring of a frame."""
        r = int(self.range_of_frame[frame])
        origin = self.ranges[r]
        offset = (frame - int(self.starts[r])) * origin.source_frames_per_frame
        return FrameSource(origin.label, round(origin.first_source_frame + offset), origin.mirrored)

    def with_tags(
        self,
        bits: np.ndarray,
        names: tuple[str, ...],
        bias: np.ndarray,
        limits: np.ndarray,
        settings: dict[str, Any],
    ) -> Database:
        """Return the same motion with other tags, without computing its results again."""
        result = replace(
            self, tags=bits, tag_names=names, bias=bias, limits=limits, settings=settings
        )
        kept = {"root_motion", "range_of_frame", "peaks", "followers", "predecessors", "toes"}
        if np.array_equal(result.playable, self.playable):
            kept |= {"normalization", "successors"}
        vars(result).update({name: vars(self)[name] for name in kept & vars(self).keys()})
        return result

    @cached_property
    def climbs(self) -> np.ndarray:
        """Frames (N,) of clips whose ground rises or falls."""
        if self.ground is None:
            return np.zeros(self.frame_count, bool)
        rises = np.maximum.reduceat(self.ground, self.starts)
        falls = np.minimum.reduceat(self.ground, self.starts)
        return (rises > falls)[self.range_of_frame]

    @cached_property
    def level(self) -> np.ndarray:
        """Frames (N,) of clips on level ground, or all if there are no such clips."""
        return np.ones(self.frame_count, bool) if self.climbs.all() else ~self.climbs

    @cached_property
    def climb_rates(self) -> np.ndarray:
        """Rate (N,) at which the ground rises below the simulation bone, in m/s."""
        if self.ground is None:
            return np.zeros(self.frame_count)
        ground = np.asarray(self.ground, np.float64)
        return differentiate(ground, self.to_motion_table(), cyclic=False)

    @property
    def is_compact(self) -> bool:
        """Whether its file has 16 bits for rotations and velocities."""
        return bool(self.settings.get("compact"))

    def rounded(self) -> Database:
        """Round poses and velocities in place to those of a compact file, and return that database.

        Nothing may be computed from them yet, except what stays exact: the features.
        """
        compact.round_in_place(self.poses, self.velocities)
        return replace(self, settings=self.settings | {"compact": True})

    def with_schema(self, schema: Schema) -> Database:
        """Return the same poses with other features."""
        features = compute_features(schema, self.to_motion_table())
        return replace(self, schema=schema, features=features)

    def to_motion_table(self) -> MotionTable:
        """Return the poses as features are computed from them."""
        local = self.poses.transpose(0, 2, 1)
        pose = (local[..., :3], local[..., 3:], self.track)
        ranges = (self.starts, self.stops)
        loops = np.array([r.loop for r in self.ranges])
        return MotionTable(
            self.skeleton, self.roles, self.fps, *pose, *ranges, loops, self.contacts, self.ground
        )


def _count_frames_to_dead_end(successors: np.ndarray, loop: bool) -> np.ndarray:
    """Count the frames (F,) that can be played from each frame of a range on."""
    count = len(successors)
    ends = np.flatnonzero(successors < 0)
    if loop:
        ends = np.concatenate([ends, ends + count])
    ends = np.append(ends, np.iinfo(np.int32).max)
    frames = np.arange(count)
    return ends[np.searchsorted(ends, frames)] - frames


def save(
    database: Database,
    path: Path | str,
    key: str = "",
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Write the database as one uncompressed `.npz`. If that fails, DatabaseError and no file.

    A database of a library stores its `key` there, so that copies elsewhere count as a user's. The
    `facts` are what `get_fact` returns after loading, and those of `stored_facts.store`.
    """
    skeleton = database.skeleton
    header = {
        "format": FORMAT,
        "key": key,
        "version": compact.VERSION if database.is_compact else VERSION,
        "fps": database.fps,
        "bones": skeleton.names,
        "end_sites": skeleton.end_sites,
        "roles": _get_roles(database),
        "hips_forward": database.hips_forward,
        "schema": database.schema.to_dict(),
        "ranges": [r.to_dict() for r in database.ranges],
        "tags": database.tag_names,
        "settings": database.settings,
    }
    if database.range_sources is not None:
        header["sources"] = [vars(source) for source in database.range_sources]
    text = json.dumps(header, separators=(",", ":")).encode()
    arrays: dict[str, np.ndarray] = {"header": np.frombuffer(text, np.uint8)}
    for name, (dtype, _) in _SKELETON_ARRAYS.items():
        arrays[name] = getattr(skeleton, name).astype(dtype)
    for name in _ARRAYS:
        if name not in _MOTION or not database.is_compact:
            arrays[name] = getattr(database, name)
        elif name == _MOTION[0]:
            arrays |= compact.pack(database.poses, database.velocities)
    if database.ground is not None:
        arrays |= {name: getattr(database, name) for name in _GROUND_ARRAYS}
    if facts is not None:
        large = {name: fact for name, fact in facts.items() if isinstance(fact, np.ndarray)}
        small = {name: fact for name, fact in facts.items() if name not in large}
        text = json.dumps({"version": FACTS_VERSION, **small}, separators=(",", ":")).encode()
        arrays |= {"facts": np.frombuffer(text, np.uint8), **large}
    array_files.save_arrays(path, arrays, DatabaseError)


# name: (type, shape), where N frames, R ranges, B bones, L legs, D dimensions
_SKELETON_ARRAYS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "parents": (np.int32, ("B",)),
    "rest_positions": (np.float32, ("B", 3)),
    "rest_rotations": (np.float32, ("B", 4)),
}
_ARRAYS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "starts": (np.int32, ("R",)),
    "stops": (np.int32, ("R",)),
    "poses": (np.float32, ("N", 7, "B")),
    "velocities": (np.float32, ("N", 6, "B")),
    "track": (np.float64, ("N", 3)),
    "contacts": (np.bool_, ("N", "L")),
    "limits": (np.float32, (2, "B")),
    "tags": (np.uint32, ("N",)),
    "bias": (np.float32, ("N",)),
    "features": (np.float32, ("D", "N")),
}
_MOTION = ("poses", "velocities")  # in other arrays of a compact file
# of a database with clips that climb
_GROUND_ARRAYS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "ground": (np.float32, ("N",)),
    "footing": (np.float32, ("N", "L")),
}


def load(path: Path | str) -> Database:
    """Map a saved database. DatabaseError says what is wrong with the file."""
    arrays = array_files.map_arrays(path, DatabaseError)
    header = _read_header(arrays, path)
    try:
        names = _parse_names(header["bones"], "'bones'")
        tag_names = _parse_names(header["tags"], "'tags'")
        if len(tag_names) > _MOST_TAGS:
            raise EntryError(f"there are {len(tag_names)} tags")
        x, y, z = _parse_vector(header["hips_forward"], "'hips_forward'")
        fps = expect_number(header["fps"], "'fps'", LOWEST_RATE, HIGHEST_RATE)
        schema = schema_from_dict(json_files.expect_object(header["schema"], "'schema'"), str(path))
        ranges = _parse_ranges(header["ranges"])
        sizes = {"R": len(ranges), "B": len(names), "D": schema.dimensions}
        rest = array_files.expect_arrays(arrays, _SKELETON_ARRAYS, sizes, path, DatabaseError)
        parents, positions, rotations = map(np.array, rest.values())
        _check_skeleton(parents, rotations)
        sites = expect_list(header["end_sites"], "'end_sites'")
        ends = tuple(_parse_end_site(site, len(names)) for site in sites)
        skeleton = Skeleton(names, parents, positions, rotations, ends)
        roles = Roles.from_names(skeleton, json_files.expect_object(header["roles"], "'roles'"))
        _check_legs(skeleton, roles)
        tags = array_files.expect_array(arrays, "tags", np.uint32, (None,), path, DatabaseError)
        sizes |= {"L": len(roles.legs), "N": len(tags)}
        kinds = _ARRAYS | (_GROUND_ARRAYS if "ground" in arrays else {})
        if header["version"] == compact.VERSION:
            kinds = {name: kind for name, kind in kinds.items() if name not in _MOTION}
        data = array_files.expect_arrays(arrays, kinds, sizes, path, DatabaseError)
        if header["version"] == compact.VERSION:
            data |= _read_compact(arrays, sizes, path)
        _check_ranges(data["starts"], data["stops"], len(tags))
        if tags.max() >> len(tag_names):
            raise EntryError("frames carry tags without a name")
        if data["contacts"].view(np.uint8).max(initial=0) > 1:
            raise EntryError("contacts are neither true nor false")
        loaded = Database(
            skeleton=skeleton,
            roles=roles,
            hips_forward=(x, y, z),
            fps=fps,
            schema=schema,
            ranges=ranges,
            tag_names=tag_names,
            settings=_parse_settings(header["settings"]),
            range_sources=_read_range_sources(header, len(ranges)),
            **data,
        )
        # no field: a database with other tags or features has other facts
        vars(loaded)["stored_facts"] = _read_facts(arrays, path)
        return loaded
    except DatabaseError:
        raise
    except (MotionMatchingError, ArithmeticError, LookupError, TypeError, ValueError) as cause:
        raise DatabaseError(
            f"{path} has a header that cannot be understood ({cause!r}); build it again."
        ) from cause


def _read_compact(
    arrays: Mapping[str, np.ndarray], sizes: Mapping[str, int | None], path: Path | str
) -> dict[str, np.ndarray]:
    """Return the poses and velocities of a compact file."""
    whole = array_files.expect_array(arrays, "whole_bones", np.int32, (None,), path, DatabaseError)
    sizes = {**sizes, "W": len(whole), "C": (sizes["B"] or 0) - len(whole)}
    packed = array_files.expect_arrays(arrays, compact.KINDS, sizes, path, DatabaseError)
    return dict(zip(_MOTION, compact.unpack(packed), strict=True))


def _get_roles(database: Database) -> dict[str, str]:
    """Return bone names by role without the simulation bone."""
    names = database.roles.to_names(database.skeleton)
    return {role: bone for role, bone in names.items() if bone != database.skeleton.names[0]}


def _read_range_sources(header: Mapping[str, Any], count: int) -> tuple[RangeSource, ...] | None:
    if "sources" not in header:
        return None
    sources = tuple(
        RangeSource(**source | {"closing": source["closing"] and tuple(source["closing"])})
        for source in header["sources"]
    )
    if len(sources) != count:
        raise EntryError(f"there are {len(sources)} sources of {count} ranges")
    kinds = {(type(s.key), type(s.frames), type(s.cycle)) for s in sources}
    if not kinds <= {(str, int, bool)} or min((s.frames for s in sources), default=1) < 1:
        raise EntryError("'sources' have entries of the wrong kind")
    for source in sources:
        if source.closing is not None:
            _parse_vector(source.closing, "'closing'")
    return sources


def _parse_settings(value: Any) -> dict[str, Any]:
    """Return the settings of the build; those of the simulation bone are used again."""
    SimulationBoneSettings(**json_files.expect_object(value, "'settings'")["simulation_bone"])
    return dict(value)


def _parse_names(value: Any, where: str) -> tuple[str, ...]:
    """Return different names."""
    names = tuple(expect_text(name, f"a name of {where}") for name in expect_list(value, where))
    if len(set(names)) != len(names):
        raise EntryError(f"{where} are not different")
    return names


def _parse_vector(value: Any, where: str) -> tuple[float, float, float]:
    limit = array_files.LARGEST_VALUE
    x, y, z = (expect_number(v, where, -limit, limit) for v in expect_list(value, where, 3))
    return x, y, z


def _parse_ranges(entries: Any) -> tuple[Range, ...]:
    """Read the ranges, of which there may be thousands."""
    ranges = tuple(Range(**entry) for entry in expect_list(entries, "'ranges'"))
    kinds = {tuple(map(type, vars(r).values())) for r in ranges}
    firsts = np.array([r.first_source_frame for r in ranges], np.float64)
    rates = np.array([r.source_frames_per_frame for r in ranges], np.float64)
    if not kinds <= _RANGE_TYPES or not all(r.clip for r in ranges):
        raise EntryError("'ranges' have entries of the wrong kind")
    if not all(0.1 <= r.tempo <= 10.0 for r in ranges):
        raise EntryError("'ranges' have a tempo that no copy has")
    if not ((firsts >= 0) & (firsts <= MOST_FRAMES) & (rates > 0) & (rates <= MOST_FRAMES)).all():
        raise EntryError("'ranges' have frames that no clip has")
    return ranges


def _parse_end_site(site: Any, bones: int) -> tuple[int, tuple[float, float, float]]:
    bone, offset = expect_list(site, "an end site", 2)
    if json_files.expect_whole_number(bone, "the bone of an end site", 0) >= bones:
        raise EntryError(f"an end site is at bone {bone} of {bones}")
    return bone, _parse_vector(offset, "an end site")


def _check_skeleton(parents: np.ndarray, rotations: np.ndarray) -> None:
    """Raise EntryError unless all bones are below bone 0, with unit rotations at rest."""
    if len(parents) < 2 or parents[0] != -1 or parents[1:].min() < 0:
        raise EntryError("bones are not below the simulation bone")
    if np.abs(np.linalg.norm(rotations, axis=-1) - 1.0).max() > NUMBERS.unit_tolerance:
        raise EntryError("bones have no rotation at rest")


def _check_legs(skeleton: Skeleton, roles: Roles) -> None:
    """Raise EntryError unless each leg is a chain below the simulation bone, and has a length."""
    for leg in roles.legs:
        chain = skeleton.get_chain_to_root(leg.toe)
        parts = [leg.foot, leg.shin, leg.thigh, 0]
        places = [chain.index(bone) for bone in parts if bone in chain]
        if len(places) != len(parts) or places != sorted(set(places)):
            raise EntryError(f"the leg of '{skeleton.names[leg.toe]}' is no chain of bones")
    if measure_size(skeleton, roles) <= 0.0:
        raise EntryError("the legs have no length")


def _check_ranges(starts: np.ndarray, stops: np.ndarray, frames: int) -> None:
    """Raise EntryError unless ranges follow one another over all frames, none too short."""
    edges = np.append(starts, frames).astype(np.int64)
    if starts[0] != 0 or not np.array_equal(edges[1:], stops) or np.diff(edges).min() < 3:
        raise EntryError("ranges do not follow one another")


def _read_facts(arrays: Mapping[str, np.ndarray], path: Path | str) -> Mapping[str, Any]:
    """Return the facts in a file; none if it is from a version that measured them otherwise."""
    if "facts" not in arrays:
        return {}
    raw = array_files.expect_array(arrays, "facts", np.uint8, (None,), path, DatabaseError)
    facts = json_files.expect_object(json_files.parse(raw.tobytes(), "facts"), "'facts'")
    if facts.get("version") != FACTS_VERSION:
        return {}
    large = {name: a for name, a in arrays.items() if name.startswith(stored_facts.PREFIX)}
    return {**facts, **large}


def _read_header(arrays: dict[str, np.ndarray], path: Path | str) -> dict[str, Any]:
    raw = array_files.expect_array(arrays, "header", np.uint8, (None,), path, DatabaseError)
    try:
        header = json_files.parse(raw.tobytes(), "header")
    except SettingsError as cause:
        raise DatabaseError(f"{path} has a damaged header; build it again.") from cause
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise DatabaseError(
            f"{path} is not a motion-matching database; give a file made by 'build'."
        )
    if (version := header.get("version")) not in (VERSION, compact.VERSION):
        raise DatabaseError(
            f"{path} has format version {version}, and this program reads {VERSION} and "
            f"{compact.VERSION}; build it again."
        )
    return header
