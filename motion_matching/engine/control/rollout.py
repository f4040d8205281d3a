"""Solving a performance: the same ticks as live, one after the other, into a take."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .performance import Performance, changes_by_tick
from .performer import Performer
from .settings import PerformerSettings
from .take import Take
from .trajectory import SimulationObject

_EXPLAINED = 3  # candidates kept of every jump
Progress = Callable[[float], None]


def solve(performer: Performer, performance: Performance, progress: Progress | None = None) -> Take:
    """The take (T ticks) that a performance gives with this performer.

    The performer's settings are changed as the performance says; on one machine the result is the same to the byte.
    `progress` is told the part done, 0..1, about a hundred times, and may raise to cancel.
    """
    performance = performance.at_rate(performer.method.fps)
    performer.apply(performer.settings.changed(performance.settings))
    settings = performer.settings.to_dict()
    performer.reset(performance.position, performance.facing)
    changes = changes_by_tick(performance.changes)
    frames, decisions = [], []
    count = len(performance.intents)
    for tick, intent in enumerate(performance.intents):
        if tick in changes:
            performer.apply(performer.settings.changed(changes[tick]))
        frames.append(performer.step(intent))
        if frames[-1].jumped and (explanation := performer.method.explain(_EXPLAINED)):
            decisions.append((tick, explanation))
        if progress and tick % max(count // 100, 1) == 0:
            progress(tick / count)
    return Take(
        name=performance.name,
        skeleton=performer.method.skeleton,
        fps=performer.method.fps,
        poses=np.stack([f.pose for f in frames]),
        unlocked_poses=np.stack([f.unlocked_pose for f in frames]),
        locked=np.array([f.locked for f in frames]),
        frames=np.array([f.frame for f in frames], np.int32),
        jumped=np.array([f.jumped for f in frames]),
        cost=np.array([f.cost for f in frames], np.float32),
        character=np.array([f.character for f in frames]),
        simulation=np.array([f.simulation_object for f in frames]),
        apart=np.array([f.apart for f in frames]),
        desired_velocity=np.array([f.desired_velocity for f in frames]),
        desired_yaw=np.array([f.desired_yaw for f in frames]),
        blocked=np.array([f.blocked for f in frames]),
        contacts=np.stack([f.contacts for f in frames]),
        decisions=tuple(decisions),
        performance=performance,
        settings=settings,
    )


def simulate(performance: Performance, settings: PerformerSettings, fps: float) -> np.ndarray:
    """The way (T, 3) of the simulation object as x, y, yaw through a performance, where no character holds it back."""
    performance, dt = performance.at_rate(fps), 1.0 / fps
    settings = settings.changed(performance.settings)
    simulation = SimulationObject(settings, performance.ground)
    place = performance.ground.slide(
        performance.position, performance.position, settings.collision_radius
    )
    simulation.reset(*place, performance.facing)
    changes = changes_by_tick(performance.changes)
    way = []
    for tick, intent in enumerate(performance.intents):
        if tick in changes:
            settings = settings.changed(changes[tick])
            simulation.apply(settings)
        simulation.steer(intent, dt)
        simulation.step(dt)
        way.append((simulation.x, simulation.y, simulation.yaw))
    return np.array(way)
