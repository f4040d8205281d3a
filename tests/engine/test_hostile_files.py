"""Files of every kind with seeded damage: each is read, or refused in one sentence.

Nothing else may happen: no other exception, no number that is not finite in what is accepted, and
no more memory or time than such a file needs.
"""

from __future__ import annotations

import copy
import json
import re
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from motion_matching.engine.body import rig
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.bvh import bvh
from motion_matching.engine.database import database as databases
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.features import features
from motion_matching.engine.database.tags import tags
from motion_matching.engine.errors import MotionMatchingError
from motion_matching.engine.feet import contact_ranges
from motion_matching.engine.field.states import value_function
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.performance import performance
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.sources import sources
from motion_matching.engine.takes import takes
from tests.conftest import CHECKOUT

BEFORE = CHECKOUT / "tests" / "data" / "before"
MEMORY = 1_500_000_000  # bytes beside what this process has already
SECONDS = 5.0  # for one file
COUNT = 120  # files of each kind
HOSTILE_WORDS = (
    *("nan", "inf", "-inf", "1e308", "-1e308", "1e400", "1e-308", "0", "-1", "1e9", "2147483648"),
    *("1" + "0" * 400, "9" * 5000, "0x10", "1_000", "\u0663", "-", ".", "", "}", "MOTION", "\x00"),
)
HOSTILE_VALUES: tuple[Any, ...] = (
    *(None, True, False, "", "x" * 10_000, "\ud800", "../../x", [], {}, [[]], {"": None}, [None]),
    *(0, -1, 1, 0.5, 1e-308, 1e308, -1e308, float("nan"), float("inf"), 10**400, 2**31, 2**63),
    [1.0] * 5000,
    json.loads("[" * 200 + "]" * 200),
)


@dataclass(frozen=True)
class Kind:
    """A kind of file: an example's text or arrays, and what reads it and uses what it holds."""

    ending: str
    example: Callable[[], bytes | dict[str, np.ndarray]]
    read: Callable[[Path], Any]


def read_database(path: Path) -> None:
    """Load a database, and perform with it for a moment."""
    database = databases.load(path)
    for field in fields(Database):
        check_finite(getattr(database, field.name))
    settings = takes.make_default_settings(database)
    script = takes.prepare_performance(
        database, settings, "random", gait="walk", seconds=0.5, seed=0
    )
    take = takes.perform(database, settings, script)
    check_finite(take.poses)
    database.get_frame_source(database.frame_count - 1)


def read_field(path: Path) -> None:
    function = value_function.load(path)
    for field in fields(function):
        check_finite(getattr(function, field.name))
    assert 0 <= function.discount < 1
    states = function.build_states(load_database())
    assert len(states) == len(function.frames)


def read_sources(path: Path) -> None:
    found = sources.read_source_list(path)
    database, _ = build(found, BuildSettings())
    check_finite(database.poses)
    check_finite(database.features)


def read_roles(path: Path) -> None:
    clip = load_clip()
    rig.find_roles(clip.skeleton, [clip], rig.read_roles(path))


def read_features(path: Path) -> None:
    schema = features.load_schema(str(path))
    database = load_database().with_schema(schema)
    check_finite(database.features)
    check_finite(database.normalization.compute_scale(schema.weights))


def read_contacts(path: Path) -> None:
    legs = load_database().roles.leg_names
    contact_ranges.load(path, legs, 30.0)


def read_performance(path: Path) -> Performance:
    result = performance.load(path)
    performance.to_json(result).encode("utf-8")
    return result


def read_clip(path: Path) -> None:
    clip = bvh.load(path)
    check_finite(clip.positions)
    check_finite(clip.rotations)
    assert clip.fps >= 1


@cache
def load_clip() -> Clip:
    return bvh.load(BEFORE / "curves.bvh")


@cache
def load_database() -> Database:
    return databases.load(BEFORE / "curves.npz")


def check_finite(value: Any) -> None:
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        assert np.isfinite(value).all()


def read_bytes(name: str) -> Callable[[], bytes]:
    return lambda: (BEFORE / name).read_bytes()


def read_arrays(name: str) -> Callable[[], dict[str, np.ndarray]]:
    def read() -> dict[str, np.ndarray]:
        with np.load(BEFORE / name, allow_pickle=False) as arrays:
            return dict(arrays)

    return read


def write_sources() -> bytes:
    source = {
        "file": "clip.bvh",
        "start": 2,
        "stop": 60,
        "speed": 1.1,
        "mirror": True,
        "tags": [{"name": "turn", "start": 5, "stop": 20}, {"name": "prefer", "bias": -0.5}],
        "track": [[0.0, 0.01 * frame, 0.0] for frame in range(58)],
    }
    return json.dumps([source]).encode()


def shorten_clip() -> bytes:
    return b"\n".join((BEFORE / "curves.bvh").read_bytes().split(b"\n")[:400])


def write_roles() -> bytes:
    return json.dumps(load_database().role_names).encode()


BOXES = [{"center": [0, -4.5], "size": [8, 1]}, {"center": [3, 2], "size": [1, 4], "yaw": 0.3}]
PRESET = CHECKOUT / "presets" / "motion_matching" / "features" / "default.json"
KINDS = {
    "bvh": Kind(".bvh", shorten_clip, read_clip),
    "database": Kind(".npz", read_arrays("curves.npz"), read_database),
    "field": Kind(".npz", read_arrays("curves_field.npz"), read_field),
    "sources": Kind(".json", write_sources, read_sources),
    "tags": Kind(".json", read_bytes("saved_tags.json"), tags.load_tags),
    "rig": Kind(".json", write_roles, read_roles),
    "features": Kind(".json", PRESET.read_bytes, read_features),
    "contacts": Kind(".json", read_bytes("contacts.json"), read_contacts),
    "obstacles": Kind(".json", lambda: json.dumps(BOXES).encode(), performance.load_obstacles),
    "performance": Kind(".json", read_bytes("performance.json"), read_performance),
}


# ---------------------------------------------------------------- damage


def damage_bytes(data: bytes, random: Random) -> bytes:
    """Flip bits, and cut out, repeat or insert parts."""
    damaged = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 5))):
        place, size = random.randrange(len(damaged) or 1), random.choice((1, 4, 40, 400))
        kind = random.randrange(5)
        if kind == 0 and damaged:
            damaged[place] ^= 1 << random.randrange(8)
        elif kind == 1:
            del damaged[place : place + size]
        elif kind == 2:
            damaged[place:place] = damaged[place : place + size]
        elif kind == 3:
            damaged[place:place] = random.randbytes(size)
        else:
            del damaged[place:]
    return bytes(damaged)


def damage_words(data: bytes, random: Random) -> bytes:
    """Replace numbers and words of a text."""
    words = list(re.finditer(rb"[-\w.]+", data))
    for word in sorted(random.sample(words, min(len(words), random.choice((1, 1, 3)))), key=id):
        new = random.choice(HOSTILE_WORDS).encode("utf-8")
        # words before may have moved it, which is as good
        data = data[: word.start()] + new + data[word.end() :]
    return data


def damage_json(data: Any, random: Random) -> Any:
    """Replace, remove or add entries anywhere in JSON data."""
    data = copy.deepcopy(data)
    for _ in range(random.choice((1, 1, 2))):
        holder, key = None, None
        inside = data
        while (
            isinstance(inside, (dict, list))
            and inside
            and (holder is None or random.random() < 0.8)
        ):
            holder = inside
            key = (
                random.choice(list(inside))
                if isinstance(inside, dict)
                else random.randrange(len(inside))
            )
            inside = holder[key]
        if holder is None or random.random() < 0.05:
            data = copy.deepcopy(random.choice(HOSTILE_VALUES))
        elif random.random() < 0.15:
            del holder[key]
        elif random.random() < 0.1 and isinstance(holder, dict):
            holder["unknown"] = copy.deepcopy(random.choice(HOSTILE_VALUES))
        elif random.random() < 0.1 and isinstance(holder, list):
            holder.extend(holder)
        else:
            holder[key] = copy.deepcopy(random.choice(HOSTILE_VALUES))
    return data


def damage_arrays(arrays: dict[str, np.ndarray], random: Random) -> dict[str, np.ndarray]:
    """Change the header, values, types and shapes of arrays; their checksums are right."""
    arrays = dict(arrays)
    if random.random() < 0.5:
        header = damage_json(json.loads(arrays["header"].tobytes()), random)
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
        return arrays
    name = random.choice([name for name in arrays if name != "header"])
    array = arrays[name].copy()
    kind = random.randrange(5)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays[name] = array.astype(random.choice((np.float64, np.int32, np.uint8, np.float16)))
    elif kind == 2:
        arrays[name] = array[: random.randrange(len(array) + 1)] if array.ndim else array
    else:
        limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
        values = (
            [np.nan, np.inf, -1e30, 1e30, 1e12, 0.0]
            if limits is None
            else [limits.min, limits.max, 0, 1]
        )
        if array.size:
            flat = array.reshape(-1)
            flat[random.randrange(array.size) :: random.choice((1, 7, array.size))] = random.choice(
                values
            )
        arrays[name] = array
    return arrays


def write_damaged(
    kind: Kind, example: bytes | dict[str, np.ndarray], path: Path, random: Random
) -> None:
    """Write an example of a kind with damage."""
    if isinstance(example, dict):
        whole = random.random() < 0.3
        with np.errstate(all="ignore"):
            np.savez(path, **(example if whole else damage_arrays(example, random)))
        if whole:
            path.write_bytes(damage_bytes(path.read_bytes(), random))
    elif kind.ending == ".json" and random.random() < 0.6:
        path.write_text(json.dumps(damage_json(json.loads(example), random)))
    else:
        damage = random.choice((damage_bytes, damage_words, damage_words))
        path.write_bytes(damage(example, random))


# ---------------------------------------------------------------- tests


@contextmanager
def limited_memory() -> Iterator[None]:
    """Let this process take only so much more memory."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def read_damaged_files(name: str, seeds: range, folder: Path) -> tuple[int, int]:
    """Read files with damage; return how many of them were accepted, and how many refused."""
    kind, accepted, refused = KINDS[name], 0, 0
    example = kind.example()
    (folder / "clip.bvh").write_bytes(shorten_clip())
    for seed in seeds:
        path = folder / f"{name}{seed}{kind.ending}"
        write_damaged(kind, example, path, Random(f"{name} {seed}"))
        start = time.process_time()
        try:
            with np.errstate(all="ignore"):
                kind.read(path)
            accepted += 1
        except MotionMatchingError as error:
            refused += 1
            text = str(error)
            assert len(text) <= 1300, (seed, text)
            text.encode("utf-8")
        except Exception as error:
            error.add_note(f"{name}, seed {seed}")
            raise
        assert time.process_time() - start < SECONDS, (name, seed)
        path.unlink()
    return accepted, refused


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux says how much memory")
@pytest.mark.parametrize("name", KINDS)
def test_damaged_files_are_read_or_refused_in_a_sentence(name: str, tmp_path: Path):
    with limited_memory():
        accepted, refused = read_damaged_files(name, range(COUNT), tmp_path)
    assert accepted + refused == COUNT
    assert refused > COUNT / 5


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux says how much memory")
@pytest.mark.parametrize("name", KINDS)
def test_many_damaged_files_are_read_or_refused_in_a_sentence(name: str, tmp_path: Path):
    with limited_memory():
        read_damaged_files(name, range(COUNT, 6 * COUNT), tmp_path)
