"""Play a plan: interpolate frames where time is bent, and fade jumps as in live play."""

from __future__ import annotations

import numpy as np

from ...blending.inertialization import Inertializer
from ...blending.jump import Jump
from ...blending.transition_cost import Transition, measure_prices
from ...control.rollout import Take
from ...maths.rotations import quat
from ...maths.rotations.component_quat import mix_poses
from ...performance.intent import Intent
from ...performance.performance import Performance
from ...performance.settings import PerformerSettings
from ..fit.closing import Closed
from ..footage.footage import Footage
from ..obstacles.heights import compute_heights
from ..search.beam import ShotPlan
from ..shot.shot import Shot

_BETWEEN = 1e-3  # share of a frame below which it is shown unchanged


def _sample_poses(footage: Footage, frames: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return poses (K, 7, B) a share (K,) of the way from frames (K,) to those after them."""
    source = np.asarray(footage.database.poses)
    poses = np.array(source[frames])
    between = (shares > _BETWEEN) & (footage.left[frames] > 0)
    if between.any():
        after = source[frames[between] + 1]
        poses[between] = mix_poses(poses[between], after, shares[between])
    return poses


def _sample_state(
    footage: Footage, frame: int, share: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pose (7, B), velocities (6, B) and root velocity (3,) at one moment."""
    [pose] = _sample_poses(footage, np.array([frame]), np.array([max(share, 0.0)]))
    velocities = footage.database.velocities
    root = footage.database.root_motion
    return pose, np.asarray(velocities[frame]), np.asarray(root[frame])


def play(
    footage: Footage,
    shot: Shot,
    plan: ShotPlan,
    closed: Closed,
    settings: PerformerSettings,
    desired: np.ndarray,
) -> Take:
    """Return the take of a plan; its feet are not yet planted.

    `desired` (T, 3) is the guide's place and heading.
    """
    database = footage.database
    frames = _find_frames(footage, plan, closed.plan_ticks)
    poses, transitions = blend(footage, plan, closed.plan_ticks, settings)
    places = closed.places.copy()
    poses[:, :2, 0], poses[:, 3:, 0] = places[:, :2], quat.from_yaw(places[:, 2])
    poses[:, 2, 0] = compute_heights(
        shot.floor, places[:, :2], settings.feet.hips_halflife * database.fps
    )
    prices = np.full(len(poses), np.nan, np.float32)
    at = list(transitions)
    prices[at] = measure_prices(list(transitions.values()), database.skeleton.parents)
    velocity = np.gradient(desired[:, :2], axis=0) * database.fps
    lead = np.column_stack([closed.lead, closed.turn])
    performance = make_performance(shot, velocity, desired[:, 2], database.fps, settings)
    return Take(
        name=shot.name,
        skeleton=database.skeleton,
        fps=database.fps,
        poses=poses,
        unlocked_poses=poses.copy(),
        locked=np.zeros((len(poses), len(database.roles.legs)), bool),
        frames=frames.astype(np.int32),
        shares=np.zeros(len(poses), np.float32),
        rates=np.ones(len(poses), np.float32),
        jumped=np.isin(np.arange(len(poses)), at),
        cost=np.zeros(len(poses), np.float32),
        prices=prices,
        character=places,
        simulation=places.copy(),
        apart=-lead / database.fps,
        desired_velocity=velocity,
        desired_yaw=desired[:, 2],
        blocked=np.zeros(len(poses), bool),
        contacts=np.asarray(database.contacts)[frames],
        decisions=(),
        performance=performance,
        settings=settings.to_dict(),
    )


def _split_ticks(plan: ShotPlan, plan_ticks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the whole ticks (T,) of a plan before others, and the shares (T,) to the next."""
    low = np.minimum(np.floor(plan_ticks + 1e-6).astype(int), len(plan.frames) - 1)
    return low, np.maximum(plan_ticks - low, 0.0)


def _find_frames(footage: Footage, plan: ShotPlan, plan_ticks: np.ndarray) -> np.ndarray:
    """Return the frames (T,) nearest to ticks (T,) of a plan."""
    low, share = _split_ticks(plan, plan_ticks)
    frames = plan.frames[low]
    after = (share > 0.5) & (footage.left[frames] > 0)
    after &= ~plan.jumps[np.minimum(low + 1, len(plan.jumps) - 1)]
    return np.asarray(frames + after)


def blend(
    footage: Footage, plan: ShotPlan, plan_ticks: np.ndarray, settings: PerformerSettings
) -> tuple[np.ndarray, dict[int, Transition]]:
    """Return the poses (T, 7, B) of ticks (T,) of a plan, wherever they are, with fading jumps.

    Also return the transitions, by tick.
    """
    low, share = _split_ticks(plan, plan_ticks)
    database = footage.database
    limits = np.array(database.limits)
    dt = 1.0 / database.fps
    inertializer = Inertializer.from_settings(limits, settings, dt)
    poses = _sample_poses(footage, plan.frames[low], share)
    transitions: dict[int, Transition] = {}
    begin = 0
    for at in np.flatnonzero(plan.jumps).tolist():
        tick = int(np.searchsorted(low, at))  # that shows the jump
        if tick >= len(poses):
            break
        if tick > begin:
            poses[begin:tick] = inertializer.play(poses[begin:tick])
            begin = tick
        # at the tick before: the shown frame, and the one that would have led here
        moment = float(plan_ticks[tick - 1])
        source = int(low[tick - 1])
        target = float(plan.frames[at] - (at - moment))
        first = max(int(np.floor(target + 1e-6)), int(footage.before[plan.frames[at]]))
        jump = Jump(
            *_sample_state(footage, int(plan.frames[source]), moment - source),
            *_sample_state(footage, first, target - first),
        )
        inertializer.transition(jump)
        transitions[tick] = Transition(jump.target_pose, jump.target_velocity, inertializer.fading)
    poses[begin:] = inertializer.play(poses[begin:])
    return poses, transitions


def make_performance(
    shot: Shot,
    velocity: np.ndarray,
    yaw: np.ndarray,
    fps: float,
    settings: PerformerSettings,
) -> Performance:
    """Return a performance with the same requests, for steered controllers."""
    gaits = np.zeros(len(yaw))
    tags = np.full(len(yaw), frozenset[str](), object)
    for time, gait in shot.list_gaits():
        gaits[round(time * fps) :] = float(gait == "run")
    for time, wanted in shot.list_tags():
        tags[round(time * fps) :] = wanted
    rows = zip(velocity.round(3).tolist(), yaw.round(3).tolist(), gaits.tolist(), tags, strict=True)
    intents = tuple(
        Intent(velocity=(vx, vy), facing=facing, gait=gait, tags=wanted)
        for (vx, vy), facing, gait, wanted in rows
    )
    return Performance(
        shot.name,
        fps,
        intents,
        shot.position,
        shot.facing,
        shot.seed,
        settings=settings.to_dict(),
        obstacles=shot.obstacles,
        walls=shot.walls,
        floor=shot.floor,
    )
