"""Any frame as the search sees it: its features, what playing on costs there, and why other frames win, lose or are barred.

All frames are weighed, in place of those that a search has to look at, so that what is barred is told as well.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..control.intent import Intent
from ..control.settings import PerformerSettings
from ..control.trajectory import SimulationObject, TrajectoryPoint
from ..errors import SettingsError
from .database import Database
from .features import track_at
from .method import MotionMatching
from .tags import NO_ENTRY, NO_USE

Array = np.ndarray
_APART = 1.0 / 3.0  # seconds: of frames nearer to each other the cheapest is told
_MIRRORED = "mirrored"


@dataclass(frozen=True)
class FeatureValue:
    """A feature of a frame: `values` (T, axes), a row for each time, in metres, metres per second, or a direction."""

    label: str
    values: Array


@dataclass(frozen=True)
class Weighed:
    """What a frame costs for a wish, as a whole and by feature, and what becomes of it."""

    frame: int
    cost: float
    by_feature: tuple[float, ...]
    verdict: str


@dataclass(frozen=True)
class FrameInspection:
    """A frame, what going on from there costs, the best others from the best on, and which frame is `chosen`.

    `barred` says why it may not be entered itself, if so.
    """

    frame: int
    tags: tuple[str, ...]
    bias: float
    barred: str
    features: tuple[FeatureValue, ...]
    continuing: Weighed
    candidates: tuple[Weighed, ...]
    chosen: int


def find_frame(database: Database, text: str, which: int | None = None) -> int:
    """The frame of a database that shows CLIP:FRAME, or CLIP:FRAME:mirrored; SettingsError where there is none.

    Of several clips of that name the first that has the frame is taken, or only that at place `which` among them.
    """
    words = text.rsplit(":", 2)
    mirrored = len(words) == 3 and words[-1] == _MIRRORED
    clip, _, number = (text.removesuffix(f":{_MIRRORED}") if mirrored else text).rpartition(":")
    if not number.isdecimal() or not clip:
        raise SettingsError(
            f"'{text}' names no frame of a clip; write CLIP:FRAME, such as walk_01:120, or "
            f"CLIP:FRAME:{_MIRRORED}."
        )
    of_clip = [
        k for k, r in enumerate(database.ranges) if r.clip == clip and r.mirrored == mirrored
    ]
    if not of_clip:
        clips = sorted({r.clip for r in database.ranges})
        near = difflib.get_close_matches(clip, clips, 3, 0.5) or clips[:3]
        raise SettingsError(
            f"The database has no{' mirrored' if mirrored else ''} clip '{clip}'; there are "
            f"{', '.join(near)}{' and others' if len(clips) > len(near) else ''}."
        )
    if which is not None:
        of_clip = of_clip[which : which + 1]
    for k in of_clip:
        origin, count = database.ranges[k], int(database.stops[k] - database.starts[k])
        offset = round((int(number) - origin.first_source_frame) / origin.source_frames_per_frame)
        if 0 <= offset < count:
            return int(database.starts[k]) + offset
    spans = [
        f"{database.source_of(int(database.starts[k])).frame} to {database.source_of(int(database.stops[k]) - 1).frame}"
        for k in of_clip
    ]
    raise SettingsError(
        f"The clip '{clip}' has no frame {number} in the database; it has {' and '.join(spans) or 'none'}."
    )


# ---------------------------------------------------------------- what is wished


def wish_at(
    database: Database, settings: PerformerSettings, frame: int, wish: tuple[float, float]
) -> list[TrajectoryPoint]:
    """The trajectory at a frame of who moves as it does and wishes a velocity: forward and to the left, in m/s.

    It faces where it wishes to go, as when it is steered. What lies in the past is the clip's own.
    """
    simulation = SimulationObject(settings)
    vx, vy, rate = database.root_motion[frame].tolist()
    simulation.vx, simulation.vy, simulation.yaw_rate = vx, vy, rate
    simulation.steer(Intent(velocity=(wish[1], -wish[0])), 1.0 / database.fps)
    times = _times(database)
    later = dict(
        zip(
            (t for t in times if t > 0),
            simulation.predict([t for t in times if t > 0]),
            strict=True,
        )
    )
    return [
        later.get(time, point)
        for time, point in zip(times, own_trajectory(database, frame), strict=True)
    ]


def own_trajectory(database: Database, frame: int) -> list[TrajectoryPoint]:
    """The trajectory that the clip itself takes around a frame, seen from there."""
    table, beyond, step = database.motion_table(), database.schema.beyond_range, 1.0 / database.fps
    x, y, yaw = database.track[frame].tolist()
    c, s = np.cos(yaw), np.sin(yaw)
    points = []
    for time in _times(database):
        before, there, after = (
            track_at(table, t, beyond)[frame] for t in (time - step, time, time + step)
        )
        (ax, ay), (vx, vy) = there[:2] - (x, y), (after[:2] - before[:2]) / (2 * step)
        points.append(
            TrajectoryPoint(
                c * ax + s * ay, c * ay - s * ax, there[2] - yaw, c * vx + s * vy, c * vy - s * vx
            )
        )
    return points


def _times(database: Database) -> list[float]:
    return sorted({time for feature in database.schema.features for time in feature.times})


# ---------------------------------------------------------------- inspecting


def inspect_frame(
    database: Database,
    settings: PerformerSettings,
    frame: int,
    wish: Sequence[TrajectoryPoint] | None = None,
    *,
    tags: frozenset[str] = frozenset(),
    count: int = 8,
    method: MotionMatching | None = None,
) -> FrameInspection:
    """What a search at a frame finds for a trajectory, the clip's own unless given, among frames with these tags.

    The `count` best others are told, one of those that lie within a third of a second of each other. Who inspects one
    frame after the other gives the `method` that plays the database.
    """
    if method is None:
        method = MotionMatching(database, settings)
    else:
        method.apply(settings)
    by_feature = method.weigh(own_trajectory(database, frame) if wish is None else wish, frame)
    costs = by_feature.sum(axis=1) + database.bias
    bars = _bars(database, settings)
    searched = [*bars, *_bars_of_search(database, settings, frame, tags)]
    chosen = _chosen(database, settings, frame, costs, searched, tags)
    labels = [feature.label for feature in database.schema.features]

    def weighed(k: int) -> Weighed:
        verdict = _verdict(k, frame, chosen, costs, by_feature, labels, searched)
        return Weighed(k, float(costs[k]), tuple(by_feature[k].tolist()), verdict)

    values = [database.features[where, frame] for where in database.schema.slices]
    return FrameInspection(
        frame=frame,
        tags=tuple(tag for tag in database.tag_names if database.tag_mask({tag})[frame]),
        bias=float(database.bias[frame]),
        barred=_reason(bars, frame),
        features=tuple(
            FeatureValue(f.label, np.reshape(v, (-1, len(f.axes))))
            for f, v in zip(database.schema.features, values, strict=True)
        ),
        continuing=weighed(frame),
        candidates=tuple(weighed(k) for k in _told(costs, frame, chosen, count, database.fps)),
        chosen=chosen,
    )


def _bars(database: Database, settings: PerformerSettings) -> list[tuple[str, Array]]:
    """What keeps frames from being entered, the reason and the frames (N,)."""
    bars = [(NO_USE, ~database.used)]
    if NO_ENTRY in database.tag_names:
        bars.append((NO_ENTRY, database.tag_mask({NO_ENTRY})))
    start, end = database.guarded(settings.end_guard)
    return [
        *bars,
        (f"a dead end within {settings.end_guard:.2g} s", end),
        (f"less than {database.schema.past:.2g} s of past", start),
    ]


def _bars_of_search(
    database: Database, settings: PerformerSettings, frame: int, tags: frozenset[str]
) -> list[tuple[str, Array]]:
    """What keeps frames from being entered from a frame, with tags that are asked for."""
    near = np.abs(np.arange(database.frame_count) - frame) < round(
        settings.surroundings * database.fps
    )
    bars = [("too near the frame itself", near)]
    return (
        [*bars, (f"not tagged {' and '.join(sorted(tags))}", ~database.tag_mask(tags))]
        if tags
        else bars
    )


def _reason(bars: Sequence[tuple[str, Array]], frame: int) -> str:
    return next((reason for reason, frames in bars if frames[frame]), "")


def _chosen(
    database: Database,
    settings: PerformerSettings,
    frame: int,
    costs: Array,
    bars: Sequence[tuple[str, Array]],
    tags: frozenset[str],
) -> int:
    """The frame that a search enters, or the frame itself where nothing is better than playing on."""
    barred = np.any([frames for _, frames in bars], axis=0)
    leave = database.successors[frame] < 0 or bool(tags and not database.tag_mask(tags)[frame])
    if leave and barred.all():
        barred = ~database.candidates(settings.end_guard)
    best = int(np.where(barred, np.inf, costs).argmin())
    better = leave or costs[best] < costs[frame] - settings.continuing_bias
    return best if better and not barred[best] else frame


def _told(costs: Array, frame: int, chosen: int, count: int, fps: float) -> list[int]:
    """The cheapest frames but the frame itself, none near another one, and the chosen one, from the cheapest on."""
    left, apart = costs.copy(), round(_APART * fps)
    left[frame] = np.inf
    told: list[int] = []
    k = chosen if chosen != frame else int(left.argmin())
    while len(told) < count and np.isfinite(left[k]):
        told.append(k)
        left[max(k - apart + 1, 0) : k + apart] = np.inf
        k = int(left.argmin())
    return sorted(told, key=lambda k: costs[k])


def _verdict(
    k: int,
    frame: int,
    chosen: int,
    costs: Array,
    by_feature: Array,
    labels: Sequence[str],
    bars: Sequence[tuple[str, Array]],
) -> str:
    if k == chosen:
        return "played on" if k == frame else "entered"
    if k == frame:
        return (
            "left: it ends here"
            if not costs[chosen] < costs[k]
            else f"left: {costs[k] - costs[chosen]:.3g} more"
        )
    if reason := _reason(bars, k):
        return f"barred: {reason}"
    if costs[k] < costs[chosen]:
        return f"lost: better by {costs[chosen] - costs[k]:.3g}, which is less than the continuing bias"
    more = by_feature[k] - by_feature[chosen]
    worst = int(more.argmax())
    return (
        f"lost: {costs[k] - costs[chosen]:.3g} more, most by {labels[worst]} ({more[worst]:+.3g})"
    )


# ---------------------------------------------------------------- for people


def describe(found: FrameInspection, database: Database) -> str:
    """An inspection as text."""
    speed, turn = motion_at(database, found.frame)
    entered = f"barred: {found.barred}" if found.barred else "may be entered"
    lines = [
        f"{named(database, found.frame)}: frame {found.frame} of the database, {speed:.2f} m/s, turning at {turn:+.0f}°/s; "
        f"{entered}",
        f"tags: {', '.join(found.tags) or 'none'}"
        + (f"; bias {found.bias:+g}" if found.bias else ""),
        f"  {'feature':42s} {'playing on':>10s}  value",
    ]
    for feature, cost in zip(found.features, found.continuing.by_feature, strict=True):
        values = " | ".join(" ".join(f"{value:+.2f}" for value in row) for row in feature.values)
        lines.append(f"  {feature.label:42s} {cost:10.3f}  {values}")
    width = max([len(named(database, c.frame)) for c in found.candidates], default=0)
    lines.append(
        f"  {'playing on':{width}s} {found.continuing.cost:10.3f}  {found.continuing.verdict}"
    )
    lines += [
        f"  {named(database, c.frame):{width}s} {c.cost:10.3f}  {c.verdict}"
        for c in found.candidates
    ]
    return "\n".join(lines)


def to_dict(found: FrameInspection, database: Database) -> dict[str, Any]:
    """An inspection as JSON data."""
    labels = [feature.label for feature in found.features]

    def told(weighed: Weighed) -> dict[str, Any]:
        costs = {
            label: round(cost, 5) for label, cost in zip(labels, weighed.by_feature, strict=True)
        }
        return vars(database.source_of(weighed.frame)) | {
            "cost": round(weighed.cost, 5),
            "by_feature": costs,
            "verdict": weighed.verdict,
        }

    return vars(database.source_of(found.frame)) | {
        "tags": list(found.tags),
        "bias": found.bias,
        "barred": found.barred,
        "features": {feature.label: feature.values.round(5).tolist() for feature in found.features},
        "playing_on": told(found.continuing),
        "candidates": [told(candidate) for candidate in found.candidates],
    }


def named(database: Database, frame: int) -> str:
    """A frame as `find_frame` takes it."""
    source = database.source_of(frame)
    return f"{source.clip}:{source.frame}{f':{_MIRRORED}' if source.mirrored else ''}"


def motion_at(database: Database, frame: int) -> tuple[float, float]:
    """Speed in m/s and turn rate in degrees per second."""
    vx, vy, rate = database.root_motion[frame]
    return float(np.hypot(vx, vy)), float(np.degrees(rate))
