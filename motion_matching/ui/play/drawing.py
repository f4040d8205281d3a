"""Draw a live session into the 3D views: paths, the simulation object, contacts and figures.

Drawing sees a frozen snapshot of numbers and texts, and never Blender's data. Each tick makes one.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import blf
import bpy

from ... import app, engine, scene
from ...app.property_access import settings_of
from ...app.runtime import runtime
from ..base import drawing
from . import ghosts

if TYPE_CHECKING:
    from ...app.live.host import LiveSession
    from ...engine.blending.transition_cost import Transition
    from ...engine.control.performer import Frame, Placement

_AHEAD = 1.0  # seconds that paths show
_STEPS = 8
# metres
_RING = 0.25
_SAMPLE = 0.05
_TOE = 0.07
_SOON = 0.1  # seconds before which a sample of the future is the simulation object itself
_CIRCLE = [(math.cos(a), math.sin(a)) for a in (2.0 * math.pi * k / 24 for k in range(25))]
_LINE = 17  # from a line of text to the next
_RECORDED_TEXT = 16.0  # size
_RED = (1.0, 0.25, 0.2, 1.0)
_AMBER = (1.0, 0.7, 0.15, 1.0)


class Line(NamedTuple):
    """A line on the ground: its points, its width, and the role of its colour."""

    points: tuple[tuple[float, float, float], ...]
    width: float
    color: str


class Snapshot(NamedTuple):
    """Numbers and texts to draw until the next tick."""

    lines: tuple[Line, ...]
    texts: tuple[str, ...]
    warnings: tuple[str, ...]
    recorded: float | None  # seconds
    neighbour_ghosts: ghosts.Ghosts | None = None


class HudCache:
    """Batches to draw until the next tick, and the seconds that drawing each view took."""

    def __init__(self) -> None:
        self.snapshot: Snapshot | None = None
        self.draw_seconds: deque[float] = deque(maxlen=200)
        # the last jump, and what it costs the eye in metre-seconds
        self.price: tuple[Transition, float] | None = None
        # the body's height in metres, measured once in a session
        self.height: float | None = None


# Making a snapshot


def build_snapshot(live: LiveSession, obj: bpy.types.Object, frame: Frame) -> Snapshot:
    """Return the numbers and texts of a tick for the shown layers, at the positions as seen."""
    session = live.session
    play = settings_of(obj).play
    lines: list[Line] = []
    height = float(frame.pose[2, 0]) + drawing.ABOVE_GROUND

    def add_line(points: Iterable[Sequence[float]], width: float, color: str) -> None:
        lines.append(Line(tuple((x, y, height) for x, y in points), width, color))

    if play.show_paths:
        times = [_AHEAD * (k + 1) / _STEPS for k in range(_STEPS)]
        path = session.performer.predict_path(times)
        predicted = [live.display.transform.transform_point(p.x, p.y) for p in path]
        add_line([frame.simulation_object[:2], *predicted], 6.0, "desired")
        if live.database:
            matched = _find_matched_placements(live.database, frame, [0.0, *times])
            add_line([placement[:2] for placement in matched], 2.5, "chosen")
    if play.show_ground:
        for points in live.display.build_moving_ground():
            add_line(points, 1.5, "guide")
    if play.show_object:
        for points in _build_facing_ring(frame.simulation_object, _RING):
            add_line(points, 2.0, "desired")
        if goal := live.display.goal:
            add_line(_build_ring(*goal, _RING), 4.0, "desired")
    if play.show_contacts:
        lines += _build_contact_lines(live, live.shown.find(), frame)
    if play.show_paths:
        for points, color in _build_marks(live, frame):
            add_line(points, 2.0, color)
    texts = _build_texts(live, frame) if play.show_text else ()
    warnings = tuple(item.text for item in live.warnings) if play.show_warnings else ()
    recorded = session.recorded_seconds if session.is_recording and play.show_recording else None
    method: Any = session.performer.method
    around = None
    if play.show_ghosts and live.field:
        around = ghosts.build_ghosts(method, frame, _get_height(method, play.show_ghost_row))
    return Snapshot(tuple(lines), texts, warnings, recorded, around)


def _get_height(method: Any, is_needed: bool) -> float | None:
    """Return the height of the body of a field, None where it is not needed."""
    cache = runtime.get_cache(HudCache)
    if is_needed and cache.height is None:
        cache.height = ghosts.measure_height(method)
    return cache.height if is_needed else None


def _find_matched_placements(
    database: Any, frame: Frame, times: Sequence[float]
) -> list[Placement]:
    """Return where the clip of the played frame leads the character within times in seconds."""
    (x, y, yaw) = frame.character
    first = frame.frame
    last = int(database.stops[database.range_of_frame[first]]) - 1
    frames = [min(first + round(t * database.fps), last) for t in times]
    (x0, y0, yaw0), *track = database.track[[first, *frames]].tolist()
    turn = yaw - yaw0
    offsets = [engine.maths.planar.rotate_xy(a - x0, b - y0, turn) for a, b, _ in track]
    return [
        engine.control.performer.Placement(x + dx, y + dy, facing + turn)
        for (dx, dy), (*_, facing) in zip(offsets, track, strict=True)
    ]


def _build_marks(
    live: LiveSession, frame: Frame
) -> Iterator[tuple[list[tuple[float, float]], str]]:
    """Return small rings that face, and their colours, at the times that the features compare."""
    performer = live.session.performer
    times = [t for t in performer.method.trajectory_times if t >= _SOON]
    placements = [
        live.display.transform.transform_placement(
            engine.control.performer.Placement(p.x, p.y, p.yaw)
        )
        for p in performer.predict_path(times)
    ]
    matched = _find_matched_placements(live.database, frame, times) if live.database else []
    for color, seen in (("desired", placements), ("chosen", matched)):
        for placement in seen:
            for points in _build_facing_ring(placement, _SAMPLE):
                yield points, color


def _build_facing_ring(seen: Placement, radius: float) -> list[list[tuple[float, float]]]:
    """Return a ring around a position, and a stroke from it to where it faces."""
    x, y, yaw = seen
    stroke = [(x + r * math.sin(yaw), y - r * math.cos(yaw)) for r in (radius, 1.8 * radius)]
    return [_build_ring(x, y, radius), stroke]


def _build_ring(x: float, y: float, radius: float) -> list[tuple[float, float]]:
    return [(x + radius * a, y + radius * b) for a, b in _CIRCLE]


def _build_contact_lines(live: LiveSession, obj: bpy.types.Object, frame: Frame) -> list[Line]:
    method = live.session.performer.method
    world = obj.matrix_world
    bones = obj.pose.bones
    names = _get_bone_names(method.skeleton.names)
    result = []
    for leg, contact, held in zip(method.legs, frame.contacts.tolist(), frame.locked, strict=True):
        bone: Any = bones.get(names[leg.chain[-1]])
        above: Any = bones.get(names[leg.chain[-2]])
        if (contact or held) and (bone or above):
            # an armature has no bone at the end of a leg that stands on the tail of its last one
            x, y, z = world @ (bone.head if bone else above.tail)
            ring = tuple((x + _TOE * cx, y + _TOE * cy, z) for cx, cy in _CIRCLE)
            result.append(Line(ring, 4.0 if held else 1.5, "contact"))
    return result


@lru_cache(maxsize=2)
def _get_bone_names(names: tuple[str, ...]) -> tuple[str, ...]:
    return scene.rig.armature.to_blender_names(names)


def _build_texts(live: LiveSession, frame: Frame) -> tuple[str, ...]:
    database = live.database
    rate = f"{app.strip.state.describe_rate(live)} ticks/s"
    if database is None:
        (vx, vy) = live.session.velocity
        (wx, wy) = frame.desired_velocity
        speeds = f"Speed  {math.hypot(vx, vy):.2f} m/s    desired  {math.hypot(wx, wy):.2f} m/s"
        return (f"{speeds}    {rate}",)
    source = app.database.frame_numbers.get_numbered_source(
        database, live.first_frames, frame.frame
    )
    bits = int(database.tags[frame.frame])
    tags = ", ".join(name for k, name in enumerate(database.tag_names) if bits >> k & 1) or "none"
    requested = ", ".join(sorted(live.session.requested_tags))
    return (
        f"{source.clip_label}  frame {source.frame}",
        f"Tags  {tags}{f'    requested  {requested}' if requested else ''}",
        *_describe_choice(live, frame),
        *_describe_price(live),
        f"Tick  {1000.0 * live.pace.seconds:.1f} ms    {rate}",
    )


def _describe_price(live: LiveSession) -> tuple[str, ...]:
    """Describe what the last jump costs the eye; measured once for each jump."""
    cache = runtime.get_cache(HudCache)
    performer = live.session.performer
    last = performer.last_transition
    costs = engine.blending.transition_cost
    if last is None:
        return ()
    if cache.price is None or cache.price[0] is not last:
        parents = performer.skeleton.parents
        [price] = costs.measure_prices([last], parents).tolist()
        cache.price = last, price
    return (f"Last jump  {costs.format_price(cache.price[1])}",)


def _describe_choice(live: LiveSession, frame: Frame) -> tuple[str, ...]:
    performer: Any = live.session.performer
    if live.field is None:
        milliseconds = 1000.0 * performer.method.last_search_seconds
        return (f"Cost  {frame.cost:.2f}    Search  {milliseconds:.2f} ms",)
    settings = performer.settings.motion_field
    decision = live.decision
    plans = "planning ahead" if live.field.function else "greedy"
    if settings.favour and decision:
        plans = f"number {decision.chosen + 1} forced"
    nearest = f"Nearest  {frame.cost:.2f} m    {settings.neighbours} neighbours    {plans}"
    if decision is None:
        return (nearest,)
    scores = decision.scores
    return (
        nearest,
        f"Value  {scores[decision.chosen]:.3f}    all  {scores.min():.3f} to {scores.max():.3f}",
    )


# Drawing


def follow_session() -> None:
    """Draw while a live session runs, from its first tick on."""
    cache = runtime.get_cache(HudCache)
    cache.snapshot = cache.price = cache.height = None
    if runtime.live:
        cache.draw_seconds.clear()
        overlay.start()
    else:
        overlay.stop()
    app.callbacks.redraw("WINDOW")


def show_tick(live: LiveSession, frame: Frame) -> None:
    """Draw a tick of a live session into all 3D views."""
    runtime.get_cache(HudCache).snapshot = build_snapshot(live, live.armature.find(), frame)
    app.callbacks.redraw("WINDOW")


def _draw_lines() -> None:
    cache = runtime.get_cache(HudCache)
    if cache.snapshot is None:
        return
    began = time.perf_counter()
    drawing.draw_lines(drawing.build_path_batches(cache.snapshot.lines), stand_behind=True)
    if cache.snapshot.neighbour_ghosts:
        ghosts.draw(cache.snapshot.neighbour_ghosts)
    cache.draw_seconds.append(time.perf_counter() - began)


def _draw_texts() -> None:
    """Draw the texts, after the lines of the same view."""
    cache = runtime.get_cache(HudCache)
    scale = bpy.context.preferences.system.ui_scale
    snapshot = cache.snapshot
    color = drawing.get_text_color()
    if snapshot is None:
        return
    began = time.perf_counter()
    x, y = drawing.measure_overlap()[0] + drawing.MARGIN * scale, drawing.MARGIN * scale
    rows = [(text, color) for text in reversed(snapshot.texts)]
    rows += [(text, _AMBER) for text in snapshot.warnings]
    blf.size(0, drawing.TEXT * scale)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 3, 0.0, 0.0, 0.0, 0.8)
    try:
        for text, shade in rows:
            drawing.draw_text(text, x, y, shade)
            y += _LINE * scale
        if snapshot.recorded is not None:
            blf.size(0, _RECORDED_TEXT * scale)
            text = f"\N{BLACK CIRCLE} REC  {snapshot.recorded:.1f} s"
            drawing.draw_text(text, x, y + 4.0 * scale, _RED)
    finally:
        blf.disable(0, blf.SHADOW)
    if cache.draw_seconds:
        cache.draw_seconds[-1] += time.perf_counter() - began


overlay = drawing.Overlay((_draw_lines, "POST_VIEW"), (_draw_texts, "POST_PIXEL"))
