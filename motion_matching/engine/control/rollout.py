"""Solve a performance: the same ticks as live, one after the other, into a take."""

from __future__ import annotations

import numpy as np

from ..maths.planar import rotate_xy
from ..progress import ReportShare
from .performance import Performance, group_changes_by_tick
from .performer import Frame, Performer
from .settings import PerformerSettings
from .take import Take
from .trajectory import SimulationObject
from .transition_cost import Transition, measure_prices

_CANDIDATE_COUNT = 3  # candidates recorded for each jump
_AS_IN_FRAMES = (  # arrays of a take that are named as in its frames
    *("locked", "jumped", "character", "apart"),
    *("desired_velocity", "desired_yaw", "blocked", "contacts"),
)


def solve(
    performer: Performer, performance: Performance, progress: ReportShare | None = None
) -> Take:
    """Return the take of a performance, on one machine always the same to the byte.

    The performer takes its settings. `progress` is called about a hundred times with the share
    done, and may raise to cancel.
    """
    performance = performance.resample(performer.method.fps)
    performer.apply(performer.settings.with_changes(performance.settings))
    settings = performer.settings.to_dict()
    performer.begin(performance)
    changes = group_changes_by_tick(performance.changes)
    frames, decisions = [], []
    transitions: dict[int, Transition] = {}
    count = len(performance.intents)
    for tick, intent in enumerate(performance.intents):
        if tick in changes:
            performer.apply(performer.settings.with_changes(changes[tick]))
        frames.append(performer.step(intent))
        if frames[-1].jumped and performer.last_transition:
            transitions[tick] = performer.last_transition
        if frames[-1].jumped and (explanation := performer.method.explain(_CANDIDATE_COUNT)):
            decisions.append((tick, explanation))
        if progress and tick % max(count // 100, 1) == 0:
            progress(tick / count)
    prices = np.full(count, np.nan, np.float32)
    parents = performer.method.skeleton.parents
    prices[list(transitions)] = measure_prices(list(transitions.values()), parents)
    columns = dict(zip(Frame._fields, zip(*frames, strict=True), strict=True))
    return Take(
        name=performance.name,
        skeleton=performer.method.skeleton,
        fps=performer.method.fps,
        poses=np.stack(columns["pose"]),
        unlocked_poses=np.stack(columns["unlocked_pose"]),
        frames=np.array(columns["frame"], np.int32),
        shares=np.array(columns["share"], np.float32),
        rates=np.array(columns["rate"], np.float32),
        cost=np.array(columns["cost"], np.float32),
        prices=prices,
        simulation=np.array(columns["simulation_object"]),
        decisions=tuple(decisions),
        performance=performance,
        settings=settings,
        **{name: np.array(columns[name]) for name in _AS_IN_FRAMES},
    )


def simulate(performance: Performance, settings: PerformerSettings, fps: float) -> np.ndarray:
    """Return the path (T, 3), x, y and yaw, of the simulation object without a character."""
    performance, dt = performance.resample(fps), 1.0 / fps
    settings, ground = settings.with_changes(performance.settings), performance.ground
    simulation, at = SimulationObject(settings, ground), performance.position
    simulation.reset(*ground.slide(at, at, settings.collision_radius), performance.facing)
    if start := performance.start:
        vx, vy, turn = start.root_velocity
        simulation.start(rotate_xy(vx, vy, performance.facing), turn)
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
