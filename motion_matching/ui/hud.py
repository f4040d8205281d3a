"""What a live session draws into the 3D views: paths, the simulation object, contacts and figures.

Drawing sees a frozen snapshot of numbers and texts, and never Blender's data. Each tick makes one.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy

from . import drawing, ghosts, status

if TYPE_CHECKING:
    from ..engine.control.performer import Frame, Placement
    from .performing import Live

Point = tuple[float, float, float]

_AHEAD = 1.0  # seconds that paths show
_STEPS = 8
_ABOVE = 0.01  # metres over the ground, so that the grid does not cut lines
_RING, _TOE = 0.25, 0.07  # metres
_CIRCLE = [(math.cos(a), math.sin(a)) for a in (2.0 * math.pi * k / 24 for k in range(25))]
_LINE = 17  # from a line of text to the next
_RED, _AMBER = (1.0, 0.25, 0.2, 1.0), (1.0, 0.7, 0.15, 1.0)


class Line(NamedTuple):
    """A line on the ground: its points, its width, and the theme's colour in the 3D view that it has."""

    points: tuple[Point, ...]
    width: float
    color: str


class Snapshot(NamedTuple):
    """What is drawn until the next tick."""

    lines: tuple[Line, ...]
    texts: tuple[str, ...]
    warnings: tuple[str, ...]
    recorded: float | None  # seconds
    around: ghosts.Ghosts | None = None


class Pace:
    """Ticks in a second, the seconds that one takes, and those of the slowest; all of the last second."""

    def __init__(self) -> None:
        self.rate, self.seconds, self.slowest = 0.0, 0.0, 0.0
        self._since: float | None = None
        self._ticks, self._spent, self._slowest = 0, 0.0, 0.0

    def note(self, now: float, ticks: int, seconds: float) -> None:
        """So many ticks were made for a picture, in so many seconds."""
        if self._since is None:
            self._since = now
        self._ticks, self._spent = self._ticks + ticks, self._spent + seconds
        if ticks:
            self._slowest = max(self._slowest, seconds / ticks)
        if now - self._since >= 1.0:
            self.rate, self.seconds = (
                self._ticks / (now - self._since),
                self._spent / max(self._ticks, 1),
            )
            self.slowest, self._since = self._slowest, now
            self._ticks, self._spent, self._slowest = 0, 0.0, 0.0


_shown: Snapshot | None = None
spent: deque[float] = deque(maxlen=200)  # seconds that drawings of a view took


# ---------------------------------------------------------------- making a snapshot


def snapshot(live: Live, obj: bpy.types.Object, frame: Frame) -> Snapshot:
    """What the layers that are switched on show of a tick, whose places are those that are seen."""
    session, play = live.session, obj.motion_matching.play
    lines: list[Line] = []
    height = float(frame.pose[2, 0])
    if play.show_paths:
        times = [_AHEAD * (k + 1) / _STEPS for k in range(_STEPS)]
        s = frame.simulation_object
        wanted = [
            (s.x, s.y),
            *(live.standpoint.point(p.x, p.y) for p in session.performer.wanted_path(times)),
        ]
        lines.append(Line(_on_ground(wanted, height), 6.0, "object_active"))
        if live.database:
            lines.append(
                Line(_on_ground(_matched(live.database, frame), height), 2.5, "bone_pose_active")
            )
    if play.show_ground:
        lines += [
            Line(_on_ground(points, height), 1.5, "bone_solid") for points in live.moving_ground()
        ]
    if play.show_object:
        lines += _object(frame.simulation_object, height)
    if play.show_contacts:
        lines += _contacts(live, obj, frame)
    texts = _texts(live, frame) if play.show_text else ()
    recorded = session.recorded_seconds if session.is_recording and play.show_recording else None
    method: Any = session.performer.method
    around = ghosts.of(method, frame) if play.show_ghosts and live.field else None
    return Snapshot(
        tuple(lines), texts, live.warnings if play.show_warnings else (), recorded, around
    )


def _on_ground(points: Sequence[Sequence[float]], height: float) -> tuple[Point, ...]:
    return tuple((x, y, height + _ABOVE) for x, y in points)


def _matched(database: Any, frame: Frame) -> list[tuple[float, float]]:
    """Where the frames after the one that is played lead from where the character is."""
    place, first = frame.character, frame.frame
    stop = int(database.stops[database.range_of_frame[first]])
    last = min(first + round(_AHEAD * database.fps), stop - 1)
    track = database.track[
        [first + (last - first) * k // _STEPS for k in range(_STEPS + 1)]
    ].tolist()
    x0, y0, yaw = track[0]
    c, s = math.cos(place.yaw - yaw), math.sin(place.yaw - yaw)
    return [
        (place.x + c * (x - x0) - s * (y - y0), place.y + s * (x - x0) + c * (y - y0))
        for x, y, _ in track
    ]


def _object(place: Placement, height: float) -> list[Line]:
    ring = [(place.x + _RING * x, place.y + _RING * y) for x, y in _CIRCLE]
    ahead = math.sin(place.yaw), -math.cos(place.yaw)
    arrow = [(place.x + r * ahead[0], place.y + r * ahead[1]) for r in (_RING, 1.8 * _RING)]
    return [Line(_on_ground(points, height), 2.0, "object_active") for points in (ring, arrow)]


def _contacts(live: Live, obj: bpy.types.Object, frame: Frame) -> list[Line]:
    method, world, bones = live.session.performer.method, obj.matrix_world, obj.pose.bones
    names, result = _bone_names(method.skeleton.names), []
    for leg, contact, held in zip(method.legs, frame.contacts.tolist(), frame.locked, strict=True):
        bone: Any = bones.get(names[leg.chain[-1]])
        if (contact or held) and bone:
            x, y, z = world @ bone.head
            ring = tuple((x + _TOE * cx, y + _TOE * cy, z) for cx, cy in _CIRCLE)
            result.append(Line(ring, 4.0 if held else 1.5, "vertex_select"))
    return result


@lru_cache(maxsize=2)
def _bone_names(names: tuple[str, ...]) -> tuple[str, ...]:
    from ..scene.armature import blender_names

    return blender_names(names)


def _texts(live: Live, frame: Frame) -> tuple[str, ...]:
    database, pace = live.database, live.pace
    if database is None:
        (vx, vy), (wx, wy) = live.session.velocity, frame.desired_velocity
        return (
            f"Speed  {math.hypot(vx, vy):.2f} m/s    wanted  {math.hypot(wx, wy):.2f} m/s    {pace.rate:.0f} ticks/s",
        )
    source = database.source_of(frame.frame)
    bits = int(database.tags[frame.frame])
    tags = ", ".join(name for k, name in enumerate(database.tag_names) if bits >> k & 1) or "none"
    asked = ", ".join(sorted(live.session.asked))
    return (
        f"{source.clip}{' (mirrored)' if source.mirrored else ''}  frame {source.frame}",
        f"Tags  {tags}{f'    asked  {asked}' if asked else ''}",
        *_chosen(live, frame),
        f"Tick  {1000.0 * pace.seconds:.1f} ms    {pace.rate:.0f} ticks/s",
    )


def _chosen(live: Live, frame: Frame) -> tuple[str, ...]:
    """What the method says of its choice."""
    performer: Any = live.session.performer
    if live.field is None:
        return (
            f"Cost  {frame.cost:.2f}    Search  {1000.0 * performer.method.last_search_seconds:.2f} ms",
        )
    plans, decision = "planning ahead" if live.field.function else "greedy", live.decision
    if performer.settings.favour and decision:
        plans = f"number {decision.chosen + 1} forced"
    nearest = (
        f"Nearest  {frame.cost:.2f} m    {performer.settings.neighbours} neighbours    {plans}"
    )
    if decision is None:
        return (nearest,)
    scores = decision.scores
    return (
        nearest,
        f"Value  {scores[decision.chosen]:.3f}    all  {scores.min():.3f} to {scores.max():.3f}",
    )


# ---------------------------------------------------------------- drawing


def start() -> None:
    """Draw from now on; nothing is there to be drawn before the first tick."""
    global _shown
    _shown = None
    spent.clear()
    overlay.start()
    redraw()


def stop() -> None:
    """Draw no more; twice does no harm."""
    global _shown
    _shown = None
    overlay.stop()
    redraw()


def show(found: Snapshot) -> None:
    """Have this drawn in all 3D views."""
    global _shown
    _shown = found
    redraw()


def redraw() -> None:
    """Have all 3D views drawn again."""
    status.redraw("WINDOW")


def _draw_lines() -> None:
    if _shown is None:
        return
    began = time.perf_counter()
    if _shown.lines:
        _draw(_shown.lines)
    if _shown.around:
        ghosts.draw(_shown.around)
    spent.append(time.perf_counter() - began)


def _draw(lines: Sequence[Line]) -> None:
    """All lines of a width at once; the character stands in front of its path."""
    import numpy as np

    batches = []
    for width in {line.width for line in lines}:
        points = [drawing.pairs_of(line.points) for line in lines if line.width == width]
        colours = [drawing.theme_color(line.color) for line in lines if line.width == width]
        counts = [len(pairs) for pairs in points]
        batches.append(
            (
                drawing.lines(np.concatenate(points), np.repeat(np.array(colours), counts, axis=0)),
                width,
            )
        )
    drawing.draw_lines(batches, stand_behind=True)


def _draw_texts() -> None:
    """Comes after the lines of the same view."""
    if _shown is None or not (_shown.texts or _shown.warnings or _shown.recorded is not None):
        return
    began = time.perf_counter()
    import blf

    context = bpy.context
    scale = context.preferences.system.ui_scale
    x, y = drawing.covered()[0] + drawing.EDGE * scale, drawing.EDGE * scale
    blf.size(0, 12.0 * scale)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 3, 0.0, 0.0, 0.0, 0.8)
    color = drawing.text_color()
    try:
        for text in reversed(_shown.texts):
            drawing.write(text, x, y, color)
            y += _LINE * scale
        for text in _shown.warnings:
            drawing.write(text, x, y, _AMBER)
            y += _LINE * scale
        if _shown.recorded is not None:
            blf.size(0, 16.0 * scale)
            drawing.write(
                f"\N{BLACK CIRCLE} REC  {_shown.recorded:.1f} s", x, y + 4.0 * scale, _RED
            )
    finally:
        blf.disable(0, blf.SHADOW)
    if spent:
        spent[-1] += time.perf_counter() - began


overlay = drawing.Overlay((_draw_lines, "POST_VIEW"), (_draw_texts, "POST_PIXEL"))
