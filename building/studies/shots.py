"""Seeded shots that ask for speeds and turns that the data has: marks, stands, and timed paths."""

from __future__ import annotations

import numpy as np

from motion_matching.engine.direct.footage.footage import Footage
from motion_matching.engine.direct.shot.shot import Mark, Shot, TimedPath
from motion_matching.engine.facts.idles import find_idle_runs
from motion_matching.engine.maths import planar
from motion_matching.engine.performance.settings import PerformerSettings

_LEG = (1.5, 4.0)  # seconds
_STAND = (1.0, 3.0)
_STANDS, _WINDOWS = 0.2, 0.5  # shares of legs that end in a stand, and that are pieces of clips
_LONG = (600.0, 180.0, 120.0)  # seconds of the first shots of a set
_SHORT = (20.0, 60.0)
_RATE = 10.0  # samples per second of a timed path


def make_marks_shot(footage: Footage, settings: PerformerSettings, number: int) -> Shot:
    """Return a shot of legs, one after the other, that end in marks; the first are long ones."""
    random = np.random.default_rng([7, number])
    seconds = _LONG[number] if number < len(_LONG) else float(random.uniform(*_SHORT))
    can_stand = len(footage.database.derive(find_idle_runs)) > 0
    place, yaw, time, marks = np.zeros(2), 0.0, 0.0, []
    while True:
        duration = round(float(random.uniform(*_LEG)), 2)
        hold = 0.0
        if can_stand and random.random() < _STANDS:
            hold = round(float(random.uniform(*_STAND)), 2)
        if time + duration + hold > seconds - 0.5:
            break
        moved = _choose_leg(footage, settings, random, duration)
        place = place + planar.rotate(moved[:2], yaw)
        yaw, time = yaw + float(moved[2]), time + duration
        marks.append(Mark(round(time, 3), (float(place[0]), float(place[1])), yaw, hold))
        time += hold
    return Shot(round(time + 0.5, 3), marks=tuple(marks), name=f"marks {number}")


def make_path_shot(settings: PerformerSettings, number: int, seconds: float = 30.0) -> Shot:
    """Return a shot that follows one winding path at about the walking speed of the data."""
    random = np.random.default_rng([11, number])
    times = np.arange(round(seconds * _RATE) + 1) / _RATE
    knots = np.arange(0.0, seconds + 3.0, 2.0)
    speed = np.interp(times, knots, random.uniform(0.75, 1.05, len(knots)))
    speed *= settings.steering.walk.forward
    turn = np.interp(times, knots, random.uniform(-0.7, 0.7, len(knots)))
    yaw = np.concatenate([[0.0], np.cumsum(0.5 * (turn[1:] + turn[:-1]))]) / _RATE
    steps = planar.yaw_to_forward(yaw) * speed[:, None] / _RATE
    places = np.concatenate([np.zeros((1, 2)), np.cumsum(0.5 * (steps[1:] + steps[:-1]), axis=0)])
    path = TimedPath(tuple(times.tolist()), tuple(map(tuple, places.tolist())), tuple(yaw.tolist()))
    return Shot(seconds, paths=(path,), name=f"path {number}")


def _choose_leg(
    footage: Footage, settings: PerformerSettings, random: np.random.Generator, seconds: float
) -> np.ndarray:
    """Return how far (3,) a leg leads, seen from its start: a piece of a clip, or an arc."""
    frames = round(footage.scale.to_body(seconds, "s") * footage.fps)
    whole = np.flatnonzero(footage.candidates & (footage.left >= frames))
    if random.random() < _WINDOWS and len(whole):
        moved = footage.compute_ahead(frames)[random.choice(whole)].astype(float)
        return moved * [footage.scale.length, footage.scale.length, 1.0]
    speed = settings.steering.walk.forward * random.uniform(0.8, 1.1)
    if settings.steering.can_run and random.random() < 0.4:
        speed = settings.steering.run.forward * random.uniform(0.55, 0.9)
    turn = float(random.uniform(-1.0, 1.0)) * min(1.5, 0.6 * seconds)
    length = speed * seconds * np.sinc(0.5 * turn / np.pi)  # the chord of an arc
    return np.append(length * planar.yaw_to_forward(np.array(0.5 * turn)), turn)
