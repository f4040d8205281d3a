"""Solve a performance: the same ticks as live, one after the other, into a take."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .performance import Performance, group_changes_by_tick
from .performer import Performer
from .settings import PerformerSettings
from .take import Take
from .trajectory import SimulationObject

_CANDIDATE_COUNT = 3  # candidates recorded for each jump
Progress = Callable[[float], None]


def solve(performer: Performer, performance: Performance, progress: Progress | None = None) -> Take:
    """Return the take that a performance gives with this performer; on one machine always the same,
    to the byte.

    The settings of the performance are applied to the performer. `progress` is called with the
    share done, 0 to 1, about a hundred times, and may raise to cancel.
    """
    performance = performance.resample(performer.method.fps)
    performer.apply(performer.settings.with_changes(performance.settings))
    settings = performer.settings.to_dict()
    performer.reset(performance.position, performance.facing)
    changes = group_changes_by_tick(performance.changes)
    frames, decisions = [], []
    count = len(performance.intents)
    for tick, intent in enumerate(performance.intents):
        if tick in changes:
            performer.apply(performer.settings.with_changes(changes[tick]))
        frames.append(performer.step(intent))
        if frames[-1].jumped and (explanation := performer.method.explain(_CANDIDATE_COUNT)):
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
    """Return the path (T, 3), x, y and yaw, of the simulation object through a performance, without
    a character.
    """
    performance, dt = performance.resample(fps), 1.0 / fps
    settings = settings.with_changes(performance.settings)
    simulation = SimulationObject(settings, performance.ground)
    start = performance.ground.slide(
        performance.position, performance.position, settings.collision_radius
    )
    simulation.reset(*start, performance.facing)
    changes = group_changes_by_tick(performance.changes)
    path = []
    for tick, intent in enumerate(performance.intents):
        if tick in changes:
            settings = settings.with_changes(changes[tick])
            simulation.apply(settings)
        simulation.steer(intent, dt)
        simulation.step(dt)
        path.append((simulation.x, simulation.y, simulation.yaw))
    return np.array(path)
