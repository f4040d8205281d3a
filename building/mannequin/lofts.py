"""Closed surfaces lofted through rings of points: what the mannequin's parts are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator

from motion_matching.engine.maths.easing import smoothstep

Array = np.ndarray
BACK = 0.045  # radians between the columns at the back of a part with a panel


@dataclass(frozen=True)
class Ring:
    """A cross-section in metres: its position along the axis, half width, and depths.

    `front` and `back` are the depths; `ahead` shifts it forward; `square` is the exponent of its
    superellipse (2: an ellipse); `slant` is how much less far along it lies at its back than at its
    front. `accent` is the material between the ring before and this one, and `share` the part of
    the next bone of the chain in its weights.
    """

    along: float
    wide: float
    front: float
    back: float
    ahead: float = 0.0
    square: float = 2.0
    slant: float = 0.0
    accent: bool = False
    share: float = 0.0


@dataclass(frozen=True)
class Surface:
    """A mesh: points (V, 3), quads (Q, 4), triangles (T, 3), accents (Q + T,), weights (V, B)."""

    points: Array
    quads: Array
    triangles: Array
    accent: Array
    weights: Array

    def mirrored(self, swapped: Array) -> Surface:
        """Return the other side: X negated, and the weights of bone `swapped[b]` for bone b."""
        return replace(
            self,
            points=self.points * [-1.0, 1.0, 1.0],
            quads=self.quads[:, ::-1],
            triangles=self.triangles[:, ::-1],
            weights=self.weights[:, swapped],
        )


def join(surfaces: Sequence[Surface]) -> Surface:
    """Return all surfaces as one."""
    starts = np.cumsum([0, *(len(surface.points) for surface in surfaces)])[:-1]
    of_quads = [s.accent[: len(s.quads)] for s in surfaces]
    of_triangles = [s.accent[len(s.quads) :] for s in surfaces]
    return Surface(
        np.concatenate([s.points for s in surfaces]),
        np.concatenate([s.quads + start for s, start in zip(surfaces, starts, strict=True)]),
        np.concatenate([s.triangles + start for s, start in zip(surfaces, starts, strict=True)]),
        np.concatenate(of_quads + of_triangles),
        np.concatenate([s.weights for s in surfaces]),
    )


def compute_angles(rings: int, columns: int) -> Array:
    """Return the angles (R, C) of rings' points from the front, all around."""
    return np.tile(2.0 * np.pi * np.arange(columns) / columns, (rings, 1))


def compute_panel_angles(
    along: Array, columns: int, edge: int, borders: Sequence[tuple[float, float]], gap: float
) -> Array:
    """Return angles (R, C) of rings at positions `along` (R,), with a panel between two columns.

    `borders` are half angles of the panel by position; column `edge` lies just inside, the next one
    a `gap` (radians) farther, on both sides alike. The columns at the back lie close together, for
    a groove.
    """
    column = (np.arange(columns) + columns // 2) % columns - columns // 2
    natural = (edge + 0.5) * 2.0 * np.pi / columns
    at, halves = np.array(borders).T
    beyond = np.maximum(at[0] - along, along - at[-1]) / (0.6 * (at[-1] - at[0]))
    eased = smoothstep(beyond)
    within = PchipInterpolator(at, halves)(np.clip(along, at[0], at[-1]))
    halves = (1.0 - eased) * within + eased * natural
    inside, outside = halves - 0.5 * gap, halves + 0.5 * gap
    half = columns // 2
    fixed = edge + 6  # columns from there on stay where they are, or creases would run all around
    knots, far = [0, edge, edge + 1, fixed, half - 1, half], fixed * np.pi / half
    sizes = [
        np.interp(np.abs(column), knots, [0.0, low, high, far, np.pi - BACK, np.pi])
        for low, high in zip(inside, outside, strict=True)
    ]
    return np.sign(column) * np.stack(sizes)


def build_cross_sections(
    rings: Sequence[Ring], path: Array, forward: Array, around: Array
) -> Array:
    """Return points (R, C, 3) of rings along a path of joints (J, 3), at angles (R, C).

    Rings lie across the whole path, whose ends go straight on.
    """
    table = {
        name: np.array([getattr(ring, name) for ring in rings])[:, None]
        for name in ("along", "wide", "front", "back", "ahead", "square", "slant")
    }
    axis = path[-1] - path[0]
    axis = axis / np.linalg.norm(axis)
    forward = forward - axis * (forward @ axis)
    forward = forward / np.linalg.norm(forward)
    across = np.cross(axis, forward)
    cosine, sine = np.cos(around), np.sin(around)
    power = 2.0 / table["square"]
    depth = np.where(cosine >= 0.0, table["front"], table["back"])
    depth = depth * np.sign(cosine) * np.abs(cosine) ** power
    width = table["wide"] * np.sign(sine) * np.abs(sine) ** power
    along = table["along"] - table["slant"] * 0.5 * (1.0 - cosine)
    centres = _sample_path(path, along)
    return centres + (depth + table["ahead"])[..., None] * forward + width[..., None] * across


def _sample_path(path: Array, distance: Array) -> Array:
    """Return points (..., 3) at distances (...) along a path (J, 3), straight on at its ends."""
    lengths = np.linalg.norm(np.diff(path, axis=0), axis=-1)
    walked = np.concatenate([[0.0], np.cumsum(lengths)])
    segment = np.clip(np.searchsorted(walked, distance, side="right") - 1, 0, len(lengths) - 1)
    part = (distance - walked[segment]) / lengths[segment]
    return path[segment] + part[..., None] * (path[segment + 1] - path[segment])


def build_skin(points: Array, accent: Array, weights: Array) -> Surface:
    """Return a closed surface over rings (R, C, 3), with fans at its ends and outward faces.

    `accent` (R + 1, C) is the material of the faces before, between and after the rings;
    `weights` are (R, B) or (R, C, B).
    """
    count, columns = points.shape[:2]
    if weights.ndim == 2:
        weights = np.repeat(weights[:, None], columns, axis=1)
    poles = np.mean(points[[0, -1]], axis=1)
    ends = np.mean(weights[[0, -1]], axis=1)
    ring = np.arange(count * columns).reshape(count, columns)
    on = np.roll(ring, -1, axis=1)
    quads = np.stack([ring[:-1], ring[1:], on[1:], on[:-1]], axis=-1).reshape(-1, 4)
    first, last = np.full(columns, ring.size), np.full(columns, ring.size + 1)
    fans = np.concatenate(
        [np.stack([on[0], first, ring[0]], -1), np.stack([ring[-1], last, on[-1]], -1)]
    )
    surface = Surface(
        np.concatenate([points.reshape(-1, 3), poles]),
        quads,
        fans,
        np.concatenate([accent[1:-1].ravel(), accent[0], accent[-1]]),
        np.concatenate([weights.reshape(-1, weights.shape[-1]), ends]),
    )
    if measure_volume(surface) < 0.0:
        surface = replace(surface, quads=quads[:, ::-1], triangles=fans[:, ::-1])
    return surface


def measure_volume(surface: Surface) -> float:
    """Return the volume of a closed surface; negative if its faces point inward."""
    quads = surface.quads
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]], surface.triangles])
    a, b, c = (surface.points[triangles[:, corner]] for corner in range(3))
    return float(np.sum(a * np.cross(b, c)) / 6.0)


def build_shell(
    stations: Sequence[Sequence[float]],
    at: Array,
    rim: tuple[float, float] = (0.0, 0.0),
    *,
    slant: tuple[float, float] = (0.0, 0.0),
    share: float = 0.0,
    accent: bool = False,
) -> list[Ring]:
    """Return rings of a smooth hard piece at positions `at`, between stations.

    A station is (along, wide, front, back[, ahead[, square]]). A `rim`, the radius of the edge at
    start and end, is turned inward there; `slant` is that of the two ends.
    """
    full = np.array([[*station, *(0.0, 2.0)[len(station) - 4 :]] for station in stations])
    curve = CubicSpline(full[:, 0], full[:, 1:], bc_type="natural")
    low, high = full[0, 0], full[-1, 0]
    positions = [(position, 0.0) for position in at if low + rim[0] < position < high - rim[1]]
    turn = np.radians([0.0, 45.0, 90.0])
    rounding = list(zip(1.0 - np.sin(turn), 1.0 - np.cos(turn), strict=True))
    if rim[0]:
        start = [(low + rim[0] * inner, rim[0] * inset) for inner, inset in rounding[::-1]]
        positions = start + positions
    if rim[1]:
        positions += [(high - rim[1] * inner, rim[1] * inset) for inner, inset in rounding]
    rings = []
    for position, inset in positions:
        *sizes, ahead, square = curve(position)
        wide, front, back = (size - inset for size in sizes)
        part, leans = (position - low) / (high - low), [slant[0], 0.0, 0.0, slant[1]]
        lean = float(np.interp(part, [0.0, 0.3, 0.7, 1.0], leans))
        rings.append(Ring(float(position), wide, front, back, ahead, square, lean, accent, share))
    return rings


def build_ball(
    centre: float,
    radius: float,
    start: float,
    stop: float,
    count: int,
    *,
    accent: bool = True,
    slant: tuple[float, float] = (0.0, 0.0),
    share: tuple[float, float] = (0.0, 0.0),
) -> list[Ring]:
    """Return rings of a ball from `start` to `stop`, offsets from its centre.

    Its weights go over from one bone to the next.
    """
    rings = []
    turns = np.linspace(np.arcsin(start / radius), np.arcsin(stop / radius), count)
    for part, turn in zip(np.linspace(0.0, 1.0, count), turns, strict=True):
        width = radius * max(np.cos(turn), 0.08)
        lean = slant[0] + part * (slant[1] - slant[0])
        along = centre + radius * np.sin(turn)
        mix = share[0] + float(smoothstep(part)) * (share[1] - share[0])
        rings.append(Ring(along, width, width, width, slant=lean, accent=accent, share=mix))
    return rings
