"""Inspect a frame as the search sees it: features, costs, and why other frames win or lose.

All frames are measured, not only those that a search may choose, so that excluded ones are
explained too.
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
from ..database.database import Database
from ..database.features import sample_track
from ..database.tags import NO_ENTRY, NO_USE
from ..errors import SettingsError
from ..matching.method import MotionMatching
from ..maths import planar

Array = np.ndarray
_MIN_SEPARATION = 1.0 / 3.0  # seconds: of frames nearer to each other the cheapest is listed
_MIRRORED = "mirrored"


@dataclass(frozen=True)
class FeatureValue:
    """A feature of a frame: `values` (T, axes), a row for each time, in m, m/s, or a direction."""

    label: str
    values: Array


@dataclass(frozen=True)
class FrameCost:
    """The cost of a frame for a goal, in total and by feature, and its verdict."""

    frame: int
    cost: float
    by_feature: tuple[float, ...]
    verdict: str


@dataclass(frozen=True)
class FrameInspection:
    """A frame, the cost of playing on, the best other frames, and the `chosen` frame.

    `exclusion` is the reason why the frame itself may not be entered, or an empty string.
    """

    frame: int
    tags: tuple[str, ...]
    bias: float
    exclusion: str
    features: tuple[FeatureValue, ...]
    continuing: FrameCost
    candidates: tuple[FrameCost, ...]
    chosen: int


def find_frame(database: Database, text: str, which: int | None = None) -> int:
    """Return the frame of a database that shows CLIP:FRAME, or CLIP:FRAME:mirrored.

    Of several ranges of that clip the first with the frame counts, or only the range with index
    `which` among them. Raises SettingsError if there is none.
    """
    words = text.rsplit(":", 2)
    mirrored = len(words) == 3 and words[-1] == _MIRRORED
    clip, _, number = (text.removesuffix(f":{_MIRRORED}") if mirrored else text).rpartition(":")
    if not number.isdecimal() or not clip:
        raise SettingsError(
            f"'{text}' is not a frame of a clip; write CLIP:FRAME, such as walk_01:120, or "
            f"CLIP:FRAME:{_MIRRORED}."
        )
    of_clip = [
        k for k, r in enumerate(database.ranges) if r.clip == clip and r.mirrored == mirrored
    ]
    if not of_clip:
        clips = sorted({r.clip for r in database.ranges})
        near = difflib.get_close_matches(clip, clips, 3, 0.5) or clips[:3]
        raise SettingsError(
            f"The database has no{' mirrored' if mirrored else ''} clip '{clip}'; it has "
            f"{', '.join(near)}{' and others' if len(clips) > len(near) else ''}."
        )
    if which is not None:
        of_clip = of_clip[which : which + 1]
    for k in of_clip:
        origin, count = database.ranges[k], int(database.stops[k] - database.starts[k])
        offset = round((int(number) - origin.first_source_frame) / origin.source_frames_per_frame)
        if 0 <= offset < count:
            return int(database.starts[k]) + offset
    ends = [(int(database.starts[k]), int(database.stops[k]) - 1) for k in of_clip]
    spans = [
        " to ".join(str(database.get_frame_source(end).frame) for end in pair) for pair in ends
    ]
    raise SettingsError(
        f"The clip '{clip}' has no frame {number} in the database; it has "
        f"{' and '.join(spans) or 'none'}."
    )


# ---------------------------------------------------------------- the desired trajectory


def predict_trajectory(
    database: Database, settings: PerformerSettings, frame: int, velocity: tuple[float, float]
) -> list[TrajectoryPoint]:
    """Predict the trajectory from a frame at a desired velocity: forward and to the left, in m/s.

    The character faces its desired direction, as when it is steered. Past points are the clip's
    own.
    """
    simulation = SimulationObject(settings)
    vx, vy, rate = database.root_motion[frame].tolist()
    simulation.vx, simulation.vy, simulation.yaw_rate = vx, vy, rate
    simulation.steer(Intent(velocity=(velocity[1], -velocity[0])), 1.0 / database.fps)
    times = _list_times(database)
    later = dict(
        zip(
            (t for t in times if t > 0),
            simulation.predict([t for t in times if t > 0]),
            strict=True,
        )
    )
    return [
        later.get(time, point)
        for time, point in zip(times, compute_clip_trajectory(database, frame), strict=True)
    ]


def compute_clip_trajectory(database: Database, frame: int) -> list[TrajectoryPoint]:
    """Return the trajectory of the clip itself around a frame, seen from there."""
    table, beyond, step = (
        database.to_motion_table(),
        database.schema.beyond_range,
        1.0 / database.fps,
    )
    x, y, yaw = database.track[frame].tolist()
    points = []
    for time in _list_times(database):
        before, there, after = (
            sample_track(table, t, beyond)[frame] for t in (time - step, time, time + step)
        )
        vx, vy, _ = ((after - before) / (2 * step)).tolist()
        position = planar.rotate_xy(float(there[0]) - x, float(there[1]) - y, -yaw)
        points.append(
            TrajectoryPoint(*position, float(there[2]) - yaw, *planar.rotate_xy(vx, vy, -yaw))
        )
    return points


def _list_times(database: Database) -> list[float]:
    return sorted({time for feature in database.schema.features for time in feature.times})


# ---------------------------------------------------------------- inspecting


def inspect_frame(
    database: Database,
    settings: PerformerSettings,
    frame: int,
    trajectory: Sequence[TrajectoryPoint] | None = None,
    *,
    tags: frozenset[str] = frozenset(),
    count: int = 8,
    method: MotionMatching | None = None,
) -> FrameInspection:
    """Inspect a search at a frame for a trajectory, the clip's own by default, and with tags.

    Lists the `count` best other frames, one of those within a third of a second of each other. To
    inspect many frames, give the `method` that plays the database.
    """
    if method is None:
        method = MotionMatching(database, settings)
    else:
        method.apply(settings)
    by_feature = method.compute_costs(
        compute_clip_trajectory(database, frame) if trajectory is None else trajectory, frame
    )
    costs = by_feature.sum(axis=1) + database.bias
    exclusions = _find_exclusions(database, settings)
    searched = [*exclusions, *_find_search_exclusions(database, settings, frame, tags)]
    chosen = _choose_frame(database, settings, frame, costs, searched, tags)
    labels = [feature.label for feature in database.schema.features]

    def measure_cost(k: int) -> FrameCost:
        verdict = _describe_verdict(k, frame, chosen, costs, by_feature, labels, searched)
        return FrameCost(k, float(costs[k]), tuple(by_feature[k].tolist()), verdict)

    values = [database.features[dimensions, frame] for dimensions in database.schema.slices]
    return FrameInspection(
        frame=frame,
        tags=tuple(tag for tag in database.tag_names if database.make_tag_mask({tag})[frame]),
        bias=float(database.bias[frame]),
        exclusion=_find_reason(exclusions, frame),
        features=tuple(
            FeatureValue(f.label, np.reshape(v, (-1, len(f.axes))))
            for f, v in zip(database.schema.features, values, strict=True)
        ),
        continuing=measure_cost(frame),
        candidates=tuple(
            measure_cost(k) for k in _select_cheapest(costs, frame, chosen, count, database.fps)
        ),
        chosen=chosen,
    )


def _find_exclusions(database: Database, settings: PerformerSettings) -> list[tuple[str, Array]]:
    """Return why frames may not be entered: each reason with its frames (N,)."""
    start, end = database.find_guarded_frames(settings.end_guard)
    return [
        (NO_USE, ~database.playable),
        (NO_ENTRY, database.find_reserved(NO_ENTRY)),
        (f"a dead end within {settings.end_guard:.2g} s", end),
        (f"less than {database.schema.past:.2g} s of past", start),
    ]


def _find_search_exclusions(
    database: Database, settings: PerformerSettings, frame: int, tags: frozenset[str]
) -> list[tuple[str, Array]]:
    """Return why frames may not be entered from a frame, with requested tags."""
    near = np.abs(np.arange(database.frame_count) - frame) < round(
        settings.surroundings * database.fps
    )
    exclusions = [("too near the frame itself", near)]
    if tags:
        exclusions.append(
            (f"not tagged {' and '.join(sorted(tags))}", ~database.make_tag_mask(tags))
        )
    return exclusions


def _find_reason(exclusions: Sequence[tuple[str, Array]], frame: int) -> str:
    return next((reason for reason, frames in exclusions if frames[frame]), "")


def _choose_frame(
    database: Database,
    settings: PerformerSettings,
    frame: int,
    costs: Array,
    exclusions: Sequence[tuple[str, Array]],
    tags: frozenset[str],
) -> int:
    """Return the frame that a search enters, or the frame itself if playing on is best."""
    excluded = np.any([frames for _, frames in exclusions], axis=0)
    leave = database.successors[frame] < 0 or bool(tags and not database.make_tag_mask(tags)[frame])
    if leave and excluded.all():
        excluded = ~database.find_candidates(settings.end_guard)
    best = int(np.where(excluded, np.inf, costs).argmin())
    better = leave or costs[best] < costs[frame] - settings.continuing_bias
    return best if better and not excluded[best] else frame


def _select_cheapest(costs: Array, frame: int, chosen: int, count: int, fps: float) -> list[int]:
    """Return the cheapest frames, spread out, and the chosen one, without the frame itself.

    They are sorted by cost.
    """
    left, apart = costs.copy(), round(_MIN_SEPARATION * fps)
    left[frame] = np.inf
    selected: list[int] = []
    k = chosen if chosen != frame else int(left.argmin())
    while len(selected) < count and np.isfinite(left[k]):
        selected.append(k)
        left[max(k - apart + 1, 0) : k + apart] = np.inf
        k = int(left.argmin())
    return sorted(selected, key=lambda k: costs[k])


def _describe_verdict(
    k: int,
    frame: int,
    chosen: int,
    costs: Array,
    by_feature: Array,
    labels: Sequence[str],
    exclusions: Sequence[tuple[str, Array]],
) -> str:
    if k == chosen:
        return "played on" if k == frame else "entered"
    if k == frame:
        return (
            "left: it ends here"
            if not costs[chosen] < costs[k]
            else f"left: {costs[k] - costs[chosen]:.3g} more"
        )
    if reason := _find_reason(exclusions, k):
        return f"excluded: {reason}"
    if costs[k] < costs[chosen]:
        return f"lost: better by {costs[chosen] - costs[k]:.3g}, less than the continuing bias"
    more = by_feature[k] - by_feature[chosen]
    worst = int(more.argmax())
    return (
        f"lost: {costs[k] - costs[chosen]:.3g} more, most by {labels[worst]} ({more[worst]:+.3g})"
    )


# ---------------------------------------------------------------- for people


def describe(inspection: FrameInspection, database: Database) -> str:
    """Return an inspection as text."""
    speed, turn = measure_motion(database, inspection.frame)
    entered = f"excluded: {inspection.exclusion}" if inspection.exclusion else "may be entered"
    lines = [
        f"{format_frame(database, inspection.frame)}: frame {inspection.frame} of the database, "
        f"{speed:.2f} m/s, turning at {turn:+.0f}°/s; {entered}",
        f"tags: {', '.join(inspection.tags) or 'none'}"
        + (f"; bias {inspection.bias:+g}" if inspection.bias else ""),
        f"  {'feature':42s} {'playing on':>10s}  value",
    ]
    for feature, cost in zip(inspection.features, inspection.continuing.by_feature, strict=True):
        values = " | ".join(" ".join(f"{value:+.2f}" for value in row) for row in feature.values)
        lines.append(f"  {feature.label:42s} {cost:10.3f}  {values}")
    width = max([len(format_frame(database, c.frame)) for c in inspection.candidates], default=0)
    lines.append(
        f"  {'playing on':{width}s} {inspection.continuing.cost:10.3f}  "
        f"{inspection.continuing.verdict}"
    )
    lines += [
        f"  {format_frame(database, c.frame):{width}s} {c.cost:10.3f}  {c.verdict}"
        for c in inspection.candidates
    ]
    return "\n".join(lines)


def to_dict(inspection: FrameInspection, database: Database) -> dict[str, Any]:
    """Return an inspection as JSON data."""
    labels = [feature.label for feature in inspection.features]

    def cost_to_dict(cost: FrameCost) -> dict[str, Any]:
        costs = {
            label: round(value, 5) for label, value in zip(labels, cost.by_feature, strict=True)
        }
        return vars(database.get_frame_source(cost.frame)) | {
            "cost": round(cost.cost, 5),
            "by_feature": costs,
            "verdict": cost.verdict,
        }

    return vars(database.get_frame_source(inspection.frame)) | {
        "tags": list(inspection.tags),
        "bias": inspection.bias,
        "barred": inspection.exclusion,
        "features": {
            feature.label: feature.values.round(5).tolist() for feature in inspection.features
        },
        "playing_on": cost_to_dict(inspection.continuing),
        "candidates": [cost_to_dict(candidate) for candidate in inspection.candidates],
    }


def format_frame(database: Database, frame: int) -> str:
    """Return a frame as `find_frame` takes it."""
    source = database.get_frame_source(frame)
    return f"{source.clip}:{source.frame}{f':{_MIRRORED}' if source.mirrored else ''}"


def measure_motion(database: Database, frame: int) -> tuple[float, float]:
    """Return speed in m/s and turn rate in degrees per second at a frame."""
    vx, vy, rate = database.root_motion[frame]
    return float(np.hypot(vx, vy)), float(np.degrees(rate))
