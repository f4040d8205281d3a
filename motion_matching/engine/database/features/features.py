"""Define features to compare frames by: schemas, values, normalization and weights."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

import numpy as np

from ...errors import SettingsError
from ...files import presets
from ...settings import LARGEST, is_number
from ...units import measured
from ..numbers import NUMBERS
from .bone_motion import FeatureMotion
from .kinds import KINDS, fades, find_kind, paths
from .kinds.base import FeatureKind
from .motion_table import MotionTable

NORMALIZATIONS = ("feature", "dimension", "none")
DIFFERENCES = ("squared", "absolute")
BEYOND_RANGE = ("extrapolate", "hold")
_KEYS = {"kind", "bone", "times", "weight", "axes", "time"}
_FARTHEST_TIME = 60.0  # seconds
_MOST_DIMENSIONS = 1000  # one number for every frame
_LEG_ROLE = re.compile(r"(left|right)(\d*)_(thigh|shin|foot|toe)")


@measured(times="s", time="s")
@dataclass(frozen=True)
class Feature:
    """One entry of a schema.

    A bone kind names a role ('hips', 'head', 'left_foot', …) or a bone, a foot kind one of a leg. A
    trajectory kind lists `times` in seconds, negative ones in the past; bones may also have times,
    and are compared at the current time without. `axes` are the axes of the character that count:
    'x' to its side, 'y' ahead, and the height 'z'. `weight` scales the normalized values. `time` is
    the time in seconds of a jump's fade for a kind that depends on it, 0 for the time in play.
    """

    kind: str
    bone: str = ""
    times: tuple[float, ...] = ()
    weight: float = 1.0
    axes: str = "xyz"
    time: float = 0.0

    @property
    def definition(self) -> FeatureKind:
        """Its kind. SettingsError if there is none of this name."""
        return find_kind(self.kind)

    @property
    def size(self) -> int:
        """Its number of values at one time."""
        return 1 if self.definition.is_number else len(self.axes)

    @property
    def dimensions(self) -> int:
        return self.size * max(len(self.times), 1)

    @property
    def columns(self) -> list[int]:
        """The columns of its values among the three directions, or of a single number."""
        return [0] if self.definition.is_number else ["xyz".index(axis) for axis in self.axes]

    @property
    def group(self) -> str:
        """Its group: 'past' if all its times are past, else 'path' or 'pose'."""
        if self.times and max(self.times) < 0.0:
            return "past"
        return "path" if self.definition.is_path else "pose"

    @property
    def label(self) -> str:
        times = (f"{t:+.2f}s" for t in self.times)
        axes = [] if self.axes in ("xyz", "xy") else [self.axes]
        return " ".join([self.kind, *([self.bone] if self.bone else []), *axes, *times])


@measured()
@dataclass(frozen=True)
class Schema:
    """An ordered list of features, their normalization, and the sum of their differences.

    `normalization` 'feature' divides all dimensions of a feature by their mean deviation (Holden),
    'dimension' divides each by its own (notebook), and 'none' compares metres, metres a second and
    directions as they are (article 004). `beyond_range` continues a trajectory after the end of a
    clip: it goes on as the clip ended ('extrapolate'), or stays where the clip ended ('hold').

    `difference` 'squared' adds up the squares of weighted differences. 'absolute' adds up their
    lengths (article 004): one length for each vector, which is a feature at one time.
    """

    features: tuple[Feature, ...]
    normalization: str = "feature"
    beyond_range: str = "extrapolate"
    difference: str = "squared"

    @property
    def dimensions(self) -> int:
        return sum(feature.dimensions for feature in self.features)

    @property
    def slices(self) -> list[slice]:
        """Slices of each feature among the dimensions."""
        counts = [feature.dimensions for feature in self.features]
        ends = np.cumsum(counts).tolist()
        return [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]

    @property
    def vectors(self) -> list[slice]:
        """Slices of each vector among the dimensions: a feature at one of its times."""
        return [
            slice(start, start + feature.size)
            for feature, dimensions in zip(self.features, self.slices, strict=True)
            for start in range(dimensions.start, dimensions.stop, feature.size)
        ]

    @property
    def power(self) -> int:
        """The power of its weight with which the cost of a feature grows."""
        return 2 if self.difference == "squared" else 1

    @property
    def weights(self) -> np.ndarray:
        """Weight of each dimension (D,)."""
        counts = [feature.dimensions for feature in self.features]
        return np.repeat([f.weight for f in self.features], counts).astype(np.float32)

    @property
    def trajectory_times(self) -> tuple[float, ...]:
        """The times in seconds at which trajectories are compared, in order."""
        ahead = (f.times for f in self.features if f.definition.is_path)
        return tuple(sorted({time for times in ahead for time in times}))

    @property
    def future(self) -> float:
        """Seconds of future that a frame needs."""
        return max((t for f in self.features for t in f.times if t > 0), default=0.0)

    @property
    def past(self) -> float:
        """Seconds of past that a frame needs."""
        return -min((t for f in self.features for t in f.times if t < 0), default=0.0)

    def with_weights(self, weights: Sequence[float]) -> Schema:
        """Return the same schema with other weights, one for each feature; SettingsError if not."""
        count = len(self.features)
        if len(weights) != count:
            raise SettingsError(
                f"There are {count} features but {len(weights)} weights; give one for each."
            )
        pairs = zip(self.features, weights, strict=True)
        return replace(self, features=tuple(replace(f, weight=float(w)) for f, w in pairs))

    @property
    def legs(self) -> tuple[str, ...]:
        """The legs that features name by role, such as 'left' and 'left2'."""
        found = (_LEG_ROLE.fullmatch(feature.bone) for feature in self.features)
        return tuple(dict.fromkeys(match[1] + match[2] for match in found if match))

    def with_all_legs(self, legs: Sequence[str]) -> Schema:
        """Return the schema with its features of 'left' and 'right' also for further `legs`.

        All legs together weigh as much as the first two did. A schema that names further legs
        itself stays unchanged.
        """
        sides = {
            leg: [other for other in legs if other.rstrip("0123456789") == leg] for leg in legs
        }
        if not set(self.legs) <= {"left", "right"} or not any(len(s) > 1 for s in sides.values()):
            return self
        features: list[Feature] = []
        for feature in self.features:
            match = _LEG_ROLE.fullmatch(feature.bone)
            same = [feature.bone] if match is None else sides.get(match[1], [match[1]])
            # so that the costs of all together equal the cost of one
            weight = feature.weight / len(same) ** (1.0 / self.power)
            part = "" if match is None else f"_{match[3]}"
            features += [replace(feature, bone=leg + part, weight=weight) for leg in same]
        return replace(self, features=tuple(features))

    @property
    def has_heights(self) -> bool:
        """Whether it compares the rise of the ground."""
        return any(feature.kind == paths.HEIGHT.name for feature in self.features)

    def with_heights(self) -> Schema:
        """Return the schema with the rise of the ground ahead, at the times of its trajectory.

        A schema that compares such heights, or no trajectory, stays unchanged.
        """
        times = tuple(time for time in self.trajectory_times if time > 0.0)
        if not times or self.has_heights:
            return self
        heights = Feature(paths.HEIGHT.name, times=times, axes=paths.HEIGHT.axes[0])
        return replace(self, features=(*self.features, heights))

    def to_dict(self) -> dict[str, Any]:
        data = asdict(self)
        for feature in data["features"]:
            if not feature["time"]:  # earlier versions have none
                del feature["time"]
        if self.difference == "squared":  # and no other
            del data["difference"]
        return data

    def to_comparison_data(self) -> dict[str, Any]:
        """Return the compared features as JSON data, without weights and order."""
        features = sorted(
            [f.kind, f.bone, f.times, f.axes, *([f.time] if f.time else [])] for f in self.features
        )
        return self.to_dict() | {"features": features}


def schema_from_dict(data: Mapping[str, Any], where: str = "the feature preset") -> Schema:
    """Read a schema from JSON data. SettingsError says what is wrong and `where`."""
    entries = data.get("features")
    if not isinstance(entries, (list, tuple)) or not entries:
        raise SettingsError(f"{where} has no list 'features'; give at least one feature.")
    choices = {
        "normalization": NORMALIZATIONS,
        "beyond_range": BEYOND_RANGE,
        "difference": DIFFERENCES,
    }
    chosen = {name: data.get(name, known[0]) for name, known in choices.items()}
    for name, known in choices.items():
        if chosen[name] not in known:
            raise SettingsError(
                f"{where} asks for {name} '{chosen[name]}'; use one of {', '.join(known)}."
            )
    schema = Schema(tuple(_feature_from_dict(entry, where) for entry in entries), **chosen)
    if schema.dimensions > _MOST_DIMENSIONS:
        raise SettingsError(
            f"{where} has features of {schema.dimensions} dimensions; give fewer of them, or fewer "
            f"times, so that there are {_MOST_DIMENSIONS} at most."
        )
    return schema


def _feature_from_dict(entry: Any, where: str) -> Feature:
    if not isinstance(entry, Mapping):
        raise SettingsError(
            f"{where} has the feature {reprlib.repr(entry)}; give an object with at least a 'kind'."
        )
    if unknown := sorted(set(entry) - _KEYS):
        known = ", ".join(sorted(_KEYS))
        raise SettingsError(
            f"{where} has a feature with '{unknown[0]}'; known entries are {known}."
        )
    definition = find_kind(entry.get("kind"), where)
    kind = definition.name
    bone = entry.get("bone", "")
    times = entry.get("times", ())
    axes = entry.get("axes", definition.axes[0])
    weight = entry.get("weight", 1.0)
    time = entry.get("time", 0.0)
    longest = definition.longest_fade
    is_path = definition.is_path
    listed = isinstance(times, (list, tuple))
    near = listed and all(is_number(each) and abs(each) <= _FARTHEST_TIME for each in times)
    fading = " or ".join(each.name for each in KINDS if each.longest_fade)
    faults = {
        f"with axes {reprlib.repr(axes)}; use one of {', '.join(definition.axes)}.": (
            axes not in definition.axes
        ),
        f"with weight {reprlib.repr(weight)}; a weight is a number from 0 to {LARGEST:g}.": (
            not is_number(weight) or not 0 <= weight <= LARGEST
        ),
        "that needs a bone; name one, or a role such as 'left_foot'.": (
            not is_path and (not bone or not isinstance(bone, str))
        ),
        "with times; leave them out: it is of a jump now.": not definition.has_times and times,
        f"with times {reprlib.repr(times)}; list seconds, up to {_FARTHEST_TIME:g}, such as "
        "[-0.2, 0.0], or none for the present.": not is_path and not near,
        f"that needs times and no bone; list seconds, up to {_FARTHEST_TIME:g}, such as "
        "[0.33, 0.67, 1.0].": is_path and (bone or not near or not times),
        f"with time {reprlib.repr(time)}; give seconds from 0 to {fades.LONGEST_FADE:g}, and only "
        f"to {fading}.": not is_number(time) or not 0 <= time <= longest,
    }
    for fault, is_found in faults.items():
        if is_found:
            raise SettingsError(f"{where} has a {kind} {fault}")
    return Feature(kind, bone, tuple(map(float, times)), float(weight), axes, float(time))


def load_schema(name: str) -> Schema:
    """Load a shipped feature preset by name, or a JSON file by path."""
    return schema_from_dict(presets.load("features", name), f"The feature preset '{name}'")


def compute_features(schema: Schema, table: MotionTable) -> np.ndarray:
    """Return raw feature values (D, N), float32, in the frame of each frame's simulation bone.

    Each kind defines its values and their unit. Bones at other times are in the character's frame
    of that time.
    """
    values = np.empty((schema.dimensions, len(table.track)), np.float32)
    fill_features(values, schema, table, schema.features)
    return values


def fill_features(
    values: np.ndarray, schema: Schema, table: MotionTable, chosen: Collection[Feature]
) -> None:
    """Write the `chosen` features of a schema to `values` (D, N); see `compute_features`."""
    motion = FeatureMotion(table, schema.beyond_range)
    for feature, dimensions in zip(schema.features, schema.slices, strict=True):
        if feature in chosen:
            found = feature.definition.compute(motion, feature)[..., feature.columns]
            values[dimensions] = found.reshape(len(table.track), -1).T


@dataclass(frozen=True)
class Normalization:
    """Mean (D,) and deviation (D,) of raw features; `varies` (D,) is False for constant ones."""

    mean: Annotated[np.ndarray, np.float32, ("D",)]
    deviation: Annotated[np.ndarray, np.float32, ("D",)]
    varies: Annotated[np.ndarray, np.bool_, ("D",)]

    def apply(self, raw: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return normalized, weighted values (…, D) of raw ones; constant dimensions are zero."""
        return (raw - self.mean) * self.compute_scale(weights)

    def compute_scale(self, weights: np.ndarray) -> np.ndarray:
        """Return the factor (D,) from raw differences to weighted, normalized ones."""
        scale = np.where(self.varies, weights / np.where(self.varies, self.deviation, 1.0), 0.0)
        return scale.astype(np.float32)


def compute_normalization(schema: Schema, raw: np.ndarray) -> Normalization:
    """Return the statistics of raw features (D, N); constant dimensions do not count in means."""
    mean = raw.mean(axis=1, dtype=np.float64)
    deviation = raw.std(axis=1, dtype=np.float64)
    varies = deviation > NUMBERS.constant * np.maximum(1.0, np.abs(mean))
    if schema.normalization == "none":
        deviation[:] = 1.0
    pairs = zip(schema.features, schema.slices, strict=True)
    for feature, dimensions in pairs if schema.normalization == "feature" else ():
        moving = varies[dimensions]
        if moving.any():
            kind = feature.definition
            least = kind.measure_least_deviation(raw[dimensions], feature.times)
            deviation[dimensions] = max(deviation[dimensions][moving].mean(), least)
    return Normalization(mean.astype(np.float32), deviation.astype(np.float32), varies)
