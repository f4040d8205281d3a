"""What frames are compared by: schemas of features, their values for every frame, their normalisation and weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from .. import presets
from ..errors import SettingsError
from ..maths import quat
from ..motion.rig import Roles
from ..motion.skeleton import Skeleton

BONE_KINDS = ("bone_position", "bone_velocity")
TRAJECTORY_KINDS = ("trajectory_position", "trajectory_direction", "trajectory_velocity")
NORMALIZATIONS = ("feature", "dimension")
BEYOND_RANGE = ("extrapolate", "hold")
_KEYS = {"kind", "bone", "times", "weight", "axes"}
_CONSTANT = 1e-5


@dataclass(frozen=True)
class Feature:
    """One entry of a schema.

    A bone kind names a role ('hips', 'head', 'left_foot', …) or a bone; a trajectory kind lists `times` in seconds,
    negative ones in the past. `axes` 'xy' looks at the ground plane only. The weight scales the normalised values.
    """

    kind: str
    bone: str = ""
    times: tuple[float, ...] = ()
    weight: float = 1.0
    axes: str = "xyz"

    @property
    def dimensions(self) -> int:
        return len(self.axes) * max(len(self.times), 1)

    @property
    def label(self) -> str:
        where = self.bone or " ".join(f"{t:+.2f}s" for t in self.times)
        return f"{self.kind} {where}"


@dataclass(frozen=True)
class Schema:
    """An ordered list of features and how they are normalised.

    `normalization` 'feature' divides all dimensions of a feature by their averaged deviation (Holden), 'dimension'
    each by its own (notebook). `beyond_range` says what the trajectory does after a clip's end: go on as the clip
    ended ('extrapolate'), or stay where it ended ('hold').
    """

    features: tuple[Feature, ...]
    normalization: str = "feature"
    beyond_range: str = "extrapolate"

    @property
    def dimensions(self) -> int:
        return sum(feature.dimensions for feature in self.features)

    @property
    def slices(self) -> list[slice]:
        """Where each feature's values lie among the dimensions."""
        ends = np.cumsum([feature.dimensions for feature in self.features])
        return [
            slice(int(end) - f.dimensions, int(end))
            for end, f in zip(ends, self.features, strict=True)
        ]

    @property
    def weights(self) -> np.ndarray:
        """Weight of every dimension (D,)."""
        return np.repeat(
            [f.weight for f in self.features], [f.dimensions for f in self.features]
        ).astype(np.float32)

    @property
    def future(self) -> float:
        """Seconds of future that a frame needs."""
        return max((t for f in self.features for t in f.times if t > 0), default=0.0)

    @property
    def past(self) -> float:
        """Seconds of past that a frame needs."""
        return -min((t for f in self.features for t in f.times if t < 0), default=0.0)

    def with_weights(self, weights: Sequence[float]) -> Schema:
        """The same schema with one weight a feature."""
        if len(weights) != len(self.features):
            raise SettingsError(
                f"There are {len(self.features)} features but {len(weights)} weights; give one for each."
            )
        pairs = zip(self.features, weights, strict=True)
        return replace(self, features=tuple(replace(f, weight=float(w)) for f, w in pairs))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def schema_from_dict(data: Mapping[str, Any], where: str = "the feature preset") -> Schema:
    """A schema from JSON data; SettingsError names what is wrong and `where`."""
    entries = data.get("features")
    if not isinstance(entries, (list, tuple)) or not entries:
        raise SettingsError(f"{where} has no list 'features'; give at least one feature.")
    normalization = data.get("normalization", "feature")
    if normalization not in NORMALIZATIONS:
        raise SettingsError(
            f"{where} asks for normalization '{normalization}'; use one of {', '.join(NORMALIZATIONS)}."
        )
    beyond = data.get("beyond_range", "extrapolate")
    if beyond not in BEYOND_RANGE:
        raise SettingsError(
            f"{where} asks for beyond_range '{beyond}'; use one of {', '.join(BEYOND_RANGE)}."
        )
    return Schema(
        tuple(_feature_from_dict(entry, where) for entry in entries), normalization, beyond
    )


def _feature_from_dict(entry: Any, where: str) -> Feature:
    if not isinstance(entry, Mapping):
        raise SettingsError(
            f"{where} has the feature {entry!r}; give an object with at least a 'kind'."
        )
    unknown = sorted(set(entry) - _KEYS)
    if unknown:
        raise SettingsError(
            f"{where} has a feature with '{unknown[0]}'; known entries are {', '.join(sorted(_KEYS))}."
        )
    kind = entry.get("kind")
    if kind not in BONE_KINDS + TRAJECTORY_KINDS:
        kinds = ", ".join(BONE_KINDS + TRAJECTORY_KINDS)
        raise SettingsError(f"{where} has a feature of kind '{kind}'; use one of {kinds}.")
    axes = entry.get("axes", "xyz" if kind in BONE_KINDS else "xy")
    if axes not in ("xy", "xyz"):
        raise SettingsError(f"{where} has a {kind} with axes '{axes}'; use 'xy' or 'xyz'.")
    weight = entry.get("weight", 1.0)
    if not _is_number(weight) or weight < 0:
        raise SettingsError(
            f"{where} has a {kind} with weight {weight!r}; a weight is a number of zero or more."
        )
    bone, times = entry.get("bone", ""), entry.get("times", ())
    if kind in BONE_KINDS and (not bone or not isinstance(bone, str) or times):
        raise SettingsError(
            f"{where} has a {kind} that needs a bone and no times; name a bone, or a role as 'left_foot'."
        )
    listed = isinstance(times, (list, tuple)) and bool(times) and all(map(_is_number, times))
    if kind in TRAJECTORY_KINDS and (bone or not listed):
        raise SettingsError(
            f"{where} has a {kind} that needs times and no bone; list seconds, such as [0.33, 0.67, 1.0]."
        )
    return Feature(kind, bone, tuple(float(t) for t in times), float(weight), axes)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def load_schema(name: str) -> Schema:
    """A shipped feature preset by name, or a JSON file by path."""
    return schema_from_dict(presets.load("features", name), f"The feature preset '{name}'")


@dataclass(frozen=True)
class MotionTable:
    """What features are computed from, for all ranges one after the other.

    `positions` (N, B, 3) and `rotations` (N, B, 4) are local with bone 0 the simulation bone, `track` (N, 3) is its
    x, y and yaw in the world, `starts` and `stops` (R,) delimit ranges, `loops` (R,) tells which ones repeat.
    """

    skeleton: Skeleton
    roles: Roles
    fps: float
    positions: np.ndarray
    rotations: np.ndarray
    track: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    loops: np.ndarray


def compute(schema: Schema, table: MotionTable) -> np.ndarray:
    """Raw feature values (D, N), float32, in the frame of each frame's simulation bone (metres, metres per second).

    Velocities are those of the world, seen from the character; directions are unit vectors on the ground.
    """
    values = np.empty((schema.dimensions, len(table.track)), np.float32)
    bones: dict[int, np.ndarray] = {}
    for feature, where in zip(schema.features, schema.slices, strict=True):
        if feature.kind in BONE_KINDS:
            bone = role_bone(feature.bone, table.roles, table.skeleton)
            if bone not in bones:
                bones[bone] = _bone_in_character(table, bone)
            local = bones[bone]
            value = (
                local if feature.kind == "bone_position" else _velocity_in_character(table, local)
            )
            values[where] = value[:, : len(feature.axes)].T
        else:
            values[where] = (
                _trajectory(table, feature, schema.beyond_range).reshape(len(table.track), -1).T
            )
    return values


def role_bone(name: str, roles: Roles, skeleton: Skeleton) -> int:
    """Index of the bone that a role or a bone's own name stands for; SettingsError where there is none."""
    name_of_bone = roles.to_names(skeleton).get(name, name)
    if name_of_bone in skeleton.names:
        return skeleton.index(name_of_bone)
    raise SettingsError(
        f"The features name '{name}', which is no role and no bone of this skeleton; choose another."
    )


def _bone_in_character(table: MotionTable, bone: int) -> np.ndarray:
    """Positions (N, 3) of a bone in the simulation bone's frame, walking its chain only."""
    if bone == 0:
        return np.zeros((len(table.track), 3))
    position = table.positions[:, bone].astype(np.float64)
    for parent in table.skeleton.ancestors(bone):
        if parent == 0:
            break
        position = quat.mul_vec(table.rotations[:, parent], position) + table.positions[:, parent]
    return position


def _velocity_in_character(table: MotionTable, local: np.ndarray) -> np.ndarray:
    """World velocity (N, 3) of a point given in the character's frame, seen from there."""
    velocity = differentiate(_in_world(table.track, local), table, cyclic=False)
    velocity[:, :2] = _rotate(-table.track[:, 2], velocity[:, :2])
    for start, stop in zip(table.starts[table.loops], table.stops[table.loops], strict=True):
        # where a loop meets its beginning again it is a lap further on
        seam = np.array([stop - 2, stop - 1, start, start + 1])
        track = table.track[seam]
        track[2:] = _laps_on(track[2:], table.track[start:stop], np.ones(2))
        world = _in_world(track, local[seam])
        around = (world[2:] - world[:-2]) * (0.5 * table.fps)
        around[:, :2] = _rotate(-track[1:3, 2], around[:, :2])
        velocity[[stop - 1, start]] = around
    return velocity


def _in_world(track: np.ndarray, local: np.ndarray) -> np.ndarray:
    """World positions (N, 3) of points given in the character's frame."""
    return np.concatenate([_rotate(track[:, 2], local[:, :2]) + track[:, :2], local[:, 2:]], axis=1)


def _rotate(angle: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Rotate ground vectors (N, 2) by angles (N,)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * v[:, 0] - s * v[:, 1], s * v[:, 0] + c * v[:, 1]], axis=1)


def differentiate(x: np.ndarray, table: MotionTable, cyclic: bool = True) -> np.ndarray:
    """Central differences (N, …) per second of values (N, …), inside each range.

    The ends continue the change of their neighbours; those of a loop follow each other if the values are `cyclic`.
    """
    half = 0.5 * table.fps
    v = np.empty_like(x)
    v[1:-1] = (x[2:] - x[:-2]) * half
    _extrapolate_ends(v, table)
    if cyclic:
        first, last = table.starts[table.loops], table.stops[table.loops] - 1
        v[first] = (x[first + 1] - x[last]) * half
        v[last] = (x[first] - x[last - 1]) * half
    return v


def angular_velocity(q: np.ndarray, table: MotionTable, cyclic: bool = True) -> np.ndarray:
    """Angular velocities (N, …, 3) of rotations (N, …, 4) in the parent's frame, like `differentiate`."""
    half = 0.5 * table.fps
    step = _turn(q[:-1], q[1:])
    v = np.empty((*q.shape[:-1], 3), q.dtype)
    v[1:-1] = (step[1:] + step[:-1]) * half
    _extrapolate_ends(v, table)
    if cyclic:
        first, last = table.starts[table.loops], table.stops[table.loops] - 1
        around = _turn(q[last], q[first])
        v[first] = (around + step[first]) * half
        v[last] = (step[last - 1] + around) * half
    return v


def _turn(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Shortest rotation (…, 3) from `a` to `b`, scaled angle-axis in the parent's frame."""
    return quat.to_scaled_angle_axis(quat.positive(quat.mul_inv(b, a)))


def _extrapolate_ends(v: np.ndarray, table: MotionTable) -> None:
    """Fill the first and last frame of every range (three frames or more) from the two beside them."""
    starts, stops = table.starts, table.stops
    v[starts] = 2 * v[starts + 1] - v[starts + 2]
    v[stops - 1] = 2 * v[stops - 2] - v[stops - 3]


def _trajectory(table: MotionTable, feature: Feature, beyond: str) -> np.ndarray:
    """Values (N, T, 2 or 3) of a trajectory feature; the third axis is the ground's own and zero."""
    out = np.zeros((len(table.track), len(feature.times), len(feature.axes)))
    yaw = table.track[:, 2]
    for k, time in enumerate(feature.times):
        if feature.kind == "trajectory_velocity":
            step = 1.0 / table.fps
            difference = track_at(table, time + step, beyond) - track_at(table, time - step, beyond)
            out[:, k, :2] = _rotate(-yaw, difference[:, :2] / (2 * step))
            continue
        there = track_at(table, time, beyond)
        if feature.kind == "trajectory_position":
            out[:, k, :2] = _rotate(-yaw, there[:, :2] - table.track[:, :2])
        else:
            turn = there[:, 2] - yaw
            out[:, k, 0], out[:, k, 1] = np.sin(turn), -np.cos(turn)
    return out


def track_at(table: MotionTable, time: float, beyond: str = "extrapolate") -> np.ndarray:
    """The simulation bone (N, 3) as x, y, yaw at `time` seconds from every frame, linear between frames.

    Loops go round with their displacement; elsewhere the track goes on beyond a range as `beyond` says.
    """
    count = len(table.track)
    lengths = table.stops - table.starts
    of_frame = np.repeat(np.arange(len(lengths)), lengths)
    start, last = table.starts[of_frame], table.stops[of_frame] - 1
    wanted = np.arange(count) + time * table.fps
    inside = np.clip(wanted, start, last)
    below = np.minimum(np.floor(inside + 1e-6).astype(np.int64), last)
    above = np.minimum(below + 1, last)
    mix = np.clip(inside - below, 0.0, 1.0)[:, None]
    there = table.track[below] * (1 - mix) + table.track[above] * mix
    if beyond == "extrapolate":
        over = (wanted - inside) / table.fps
        outside = np.abs(over) > 1e-6
        at_end = over > 0
        rate = np.where(
            at_end[:, None], _end_rates(table, -1)[of_frame], _end_rates(table, 1)[of_frame]
        )
        there[outside] = _go_on(there[outside], rate[outside], over[outside])
    for r in np.flatnonzero(table.loops):
        frames = slice(table.starts[r], table.stops[r])
        there[frames] = _looped(table.track[frames], wanted[frames] - table.starts[r])
    return there


def _end_rates(table: MotionTable, side: int) -> np.ndarray:
    """Mean velocity and turn rate (R, 3), in the end frame's own axes, of the first (1) or last (-1) fifth of a second."""
    span = np.minimum(max(round(0.2 * table.fps), 1), table.stops - table.starts - 1)
    end = table.starts if side > 0 else table.stops - 1
    other = end + side * span
    rate = (table.track[other] - table.track[end]) * (side * table.fps / span)[:, None]
    # an arc's chord points half the turn away from its end, and is shorter than the way along it
    rate[:, :2] = _rotate(-0.5 * (table.track[end, 2] + table.track[other, 2]), rate[:, :2])
    turned = np.clip(table.track[other, 2] - table.track[end, 2], -np.pi, np.pi)
    rate[:, :2] /= np.sinc(turned / (2 * np.pi))[:, None]
    return rate


def _go_on(track: np.ndarray, rate: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Follow a constant velocity in the character's frame and a constant turn rate: an arc."""
    turn = rate[:, 2] * seconds
    chord = np.sinc(turn / (2 * np.pi))[:, None] * seconds[:, None]
    moved = _rotate(track[:, 2] + 0.5 * turn, rate[:, :2]) * chord
    return np.column_stack([track[:, :2] + moved, track[:, 2] + turn])


def _looped(track: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The track (W, 3) of a loop of F frames at any frames (W,), before its first and after its last too."""
    count = len(track)
    laps, place = np.divmod(wanted, count)
    closed = np.concatenate([track, _laps_on(track[:1], track, np.ones(1))])
    below = np.minimum(place.astype(np.int64), count - 1)
    mix = (place - below)[:, None]
    return _laps_on(closed[below] * (1 - mix) + closed[below + 1] * mix, track, laps)


def _laps_on(points: np.ndarray, loop: np.ndarray, laps: np.ndarray) -> np.ndarray:
    """Points (W, 3) of a loop's track (F, 3), as they lie after so many more laps (W,).

    The step from the last frame to the first is taken to be like the one before it, seen from the character. With the
    ground as the complex plane a lap is z -> turn * (z - start) + end, so that the starts of laps are a geometric
    series; it is summed in a form that holds where a lap hardly turns.
    """
    step = loop[-1] - loop[-2]
    move = loop[-1, :2] + _rotate(step[2:], step[None, :2])[0] - loop[0, :2]
    angle = loop[-1, 2] + step[2] - loop[0, 2]
    turn = angle - 2 * np.pi * np.round(angle / (2 * np.pi))
    start = complex(loop[0, 0], loop[0, 1])
    sums = (
        laps
        * np.sinc(laps * turn / (2 * np.pi))
        / np.sinc(turn / (2 * np.pi))
        * np.exp(0.5j * turn * (laps - 1))
    )
    moved = (
        start
        + sums * complex(*move)
        + np.exp(1j * turn * laps) * (points[:, 0] + 1j * points[:, 1] - start)
    )
    return np.column_stack([moved.real, moved.imag, points[:, 2] + laps * angle])


@dataclass(frozen=True)
class Normalization:
    """Mean (D,) and deviation (D,) of raw features; `varies` (D,) is False where a dimension is constant."""

    mean: np.ndarray
    deviation: np.ndarray
    varies: np.ndarray

    def apply(self, raw: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Normalised and weighted values (…, D) of raw ones; a constant dimension becomes zero."""
        return (raw - self.mean) * self.scale(weights)

    def scale(self, weights: np.ndarray) -> np.ndarray:
        """Factor (D,) from raw deviations to weighted, normalised ones."""
        return np.where(
            self.varies, weights / np.where(self.varies, self.deviation, 1.0), 0.0
        ).astype(np.float32)


def normalization_of(schema: Schema, raw: np.ndarray) -> Normalization:
    """Statistics of raw features (D, N) as the schema asks; constant dimensions do not count in a feature's average."""
    mean = raw.mean(axis=1, dtype=np.float64)
    deviation = raw.std(axis=1, dtype=np.float64)
    varies = deviation > _CONSTANT * np.maximum(1.0, np.abs(mean))
    if schema.normalization == "feature":
        for where in schema.slices:
            moving = varies[where]
            if moving.any():
                deviation[where] = deviation[where][moving].mean()
    return Normalization(mean.astype(np.float32), deviation.astype(np.float32), varies)
