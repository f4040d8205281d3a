"""Solve a performance: the same ticks as live, one after the other, into a take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..blending.transition_cost import Transition, measure_prices
from ..body.toe_ends import remove_toe_ends
from ..maths.planar import rotate_xy
from ..maths.rotations import quat
from ..motion.clip import Clip
from ..performance.performance import Performance, group_changes_by_tick
from ..performance.settings import PerformerSettings
from ..progress import ReportShare
from ..skeleton.skeleton import Skeleton
from ..units import PLACE, POSE, measured
from .method import Explanation
from .numbers import NUMBERS
from .performer import Frame, Performer
from .trajectory import SimulationObject

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
    performance = performance.resample(performer.fps)
    performer.apply(performer.settings.with_changes(performance.settings))
    settings = performer.settings.to_dict()
    performer.begin(performance)
    changes = group_changes_by_tick(performance.changes)
    frames = []
    decisions = []
    transitions: dict[int, Transition] = {}
    count = len(performance.intents)
    for tick, intent in enumerate(performance.intents):
        if tick in changes:
            performer.apply(performer.settings.with_changes(changes[tick]))
        frames.append(performer.step(intent))
        if frames[-1].jumped and performer.last_transition:
            transitions[tick] = performer.last_transition
        if frames[-1].jumped and (explanation := performer.method.explain(NUMBERS.candidates)):
            decisions.append((tick, explanation))
        if progress and tick % max(count // 100, 1) == 0:
            progress(tick / count)
    prices = np.full(count, np.nan, np.float32)
    parents = performer.skeleton.parents
    prices[list(transitions)] = measure_prices(list(transitions.values()), parents)
    columns = dict(zip(Frame._fields, zip(*frames, strict=True), strict=True))
    return Take(
        name=performance.name,
        skeleton=performer.skeleton,
        fps=performer.fps,
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
    performance = performance.resample(fps)
    dt = 1.0 / fps
    settings = settings.with_changes(performance.settings)
    ground = performance.ground
    simulation = SimulationObject(settings.steering, ground)
    at = performance.position
    simulation.reset(*ground.slide(at, at, settings.steering.collision_radius), performance.facing)
    if start := performance.start:
        vx, vy, turn = start.root_velocity
        simulation.start(rotate_xy(vx, vy, performance.facing), turn)
    changes = group_changes_by_tick(performance.changes)
    path = []
    for tick, intent in enumerate(performance.intents):
        if tick in changes:
            settings = settings.with_changes(changes[tick])
            simulation.apply(settings.steering)
        simulation.steer(intent, dt)
        simulation.step(dt)
        path.append((simulation.x, simulation.y, simulation.yaw))
    return np.array(path)


@measured(
    fps="1/s",
    poses=POSE,
    unlocked_poses=POSE,
    prices="m·s",
    character=PLACE,
    simulation=PLACE,
    apart=PLACE,
    desired_velocity="m/s",
)
@dataclass(frozen=True)
class Take:
    """T ticks: poses (T, 7, B), whose bone 0 is the character in the world, and what explains them.

    - `unlocked_poses` (T, 7, B): before the feet were locked; `locked` (T, L): the toes locked
    - `frames` (T,) of the database, `jumped` (T,), `cost` (T,); shown `shares` (T,) of a frame
      later, from -0.5 to 0.5, and played at `rates` (T,)
    - `prices` (T,) of the jumps in metre-seconds, not a number where there is none
    - `character` and `simulation` (T, 3): x, y and yaw
    - `apart` (T, 3): the step of the simulation object less that of the data, before reconciling
    - `desired_velocity` (T, 2) and `desired_yaw` (T,); `blocked` (T,) where obstacles prevent it
    - `contacts` (T, L) of the source frames
    - `decisions`: the tick of each jump and the search behind it
    """

    name: str
    skeleton: Skeleton
    fps: float
    poses: np.ndarray
    unlocked_poses: np.ndarray
    locked: np.ndarray
    frames: np.ndarray
    shares: np.ndarray
    rates: np.ndarray
    jumped: np.ndarray
    cost: np.ndarray
    prices: np.ndarray
    character: np.ndarray
    simulation: np.ndarray
    apart: np.ndarray
    desired_velocity: np.ndarray
    desired_yaw: np.ndarray
    blocked: np.ndarray
    contacts: np.ndarray
    decisions: tuple[tuple[int, Explanation], ...]
    performance: Performance
    settings: dict[str, Any]

    @property
    def frame_count(self) -> int:
        return len(self.poses)

    @property
    def performer_settings(self) -> PerformerSettings:
        """The settings that the take started with."""
        return PerformerSettings().with_changes(self.settings)

    def crop(self, start: int, stop: int | None = None) -> Take:
        """Return the ticks start <= t < stop; the performance stays whole."""
        stop = self.frame_count if stop is None else stop
        decisions = tuple((at - start, why) for at, why in self.decisions if start <= at < stop)
        arrays = {name: values[start:stop] for name, values in _get_tick_arrays(self).items()}
        return replace(self, decisions=decisions, **arrays)

    def to_clip(self) -> Clip:
        """Return the poses as a clip of the source's bones, bone 0 being the simulation bone."""
        poses = self.poses.transpose(0, 2, 1)
        positions = np.ascontiguousarray(poses[..., :3])
        rotations = quat.unroll(quat.normalize(poses[..., 3:]))
        clip = Clip(self.name, self.skeleton, positions, rotations, self.fps)
        return remove_toe_ends(clip)


def join(parts: Sequence[tuple[int, Take]]) -> Take:
    """Join takes, each given with its first tick; where two overlap, the later in the list counts.

    Gaps hold the last pose. All else is that of the first take.
    """
    order = np.full(max(tick + take.frame_count for tick, take in parts), -1)
    decisions: dict[int, Explanation] = {}
    before = 0
    for tick, take in parts:
        covered = range(tick, tick + take.frame_count)
        order[tick : covered.stop] = before + np.arange(take.frame_count)
        before += take.frame_count
        decisions = {at: why for at, why in decisions.items() if at not in covered}
        decisions |= {tick + at: why for at, why in take.decisions}
    order = order[np.maximum.accumulate(np.where(order < 0, 0, np.arange(len(order))))]
    columns = [_get_tick_arrays(take) for _, take in parts]
    arrays = {name: np.concatenate([c[name] for c in columns])[order] for name in columns[0]}
    return replace(parts[0][1], decisions=tuple(sorted(decisions.items())), **arrays)


def _get_tick_arrays(take: Take) -> dict[str, Any]:
    """Return the arrays with a row per tick, by name."""
    return {name: value for name, value in vars(take).items() if isinstance(value, np.ndarray)}
