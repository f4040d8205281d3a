"""Plant feet of poses, or of a toe alone, with the settings that takes have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from motion_matching.engine.feet.contact_ranges import ContactRange, build_contact_mask
from motion_matching.engine.feet.planting import FeetPlan, plant_feet
from motion_matching.engine.feet.planting.feet_plan import Feet, FootTrack
from motion_matching.engine.feet.planting.solver import solve
from motion_matching.engine.ground.ground import FLAT, Ground, compute_step_heights
from motion_matching.engine.legs.legs import LegGeometry
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.engine.skeleton.skeleton import Skeleton

_LEG = 3.0  # metres: a leg so long that it reaches anywhere here


def plant(
    poses: np.ndarray,
    skeleton: Skeleton,
    legs: Sequence[LegGeometry],
    ranges: Sequence[ContactRange],
    fps: float,
    **options: Any,
) -> np.ndarray:
    """Return poses (T, 7, B) with feet planted in `ranges`."""
    settings = PerformerSettings()
    clearance, buffer = settings.feet.swing_clearance, settings.feet.stretch_buffer
    return plant_feet(poses, skeleton, FeetPlan(legs, ranges, fps, clearance, buffer, **options))


def solve_toe(
    toe: np.ndarray,
    ranges: Sequence[ContactRange],
    fps: float,
    standing: float,
    data: np.ndarray | None = None,
    clearance: float = 0.0,
    ground: Ground = FLAT,
    stands: np.ndarray | float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the path (T, 3) of a toe of a long leg, and the floor's heights (T,) below it."""
    count = len(toe)
    data, stands = toe if data is None else data, np.zeros(count) + stands
    bodies = np.column_stack([data[:, :2], stands])
    leg = LegGeometry((1, 2, 3, 4), 0, 1, 2, (-1.0, 0.0, 0.0), None, 0.0, standing, 0.0, 0.0)
    up, half = np.tile([0.0, 0.0, 1.0], (count, 1)), np.full(count, _LEG)
    hip = toe * [1.0, 1.0, 0.0] + (0.8 * 2.0 * _LEG + stands)[:, None] * up
    arm = 0.1 * up + [0.0, 0.1, 0.0]
    floor = compute_step_heights(ground, data[:, :2], bodies)
    heights, planted = data[:, 2] - floor, build_contact_mask(ranges, count, 1)[:, 0]
    stand, firm, raised = toe[:, :2].copy(), np.zeros(count, bool), np.zeros(count)
    for r in ranges:
        frames = slice(r.start, r.stop)
        stand[frames] = np.median(toe[frames, :2], axis=0) if r.point is None else r.point
        firm[frames] = r.point is not None
        raised[frames] = np.clip(np.median(heights[frames]) - standing, 0.0, 0.025)
    foot = FootTrack(
        leg=leg,
        column=1,
        toe=toe,
        arm=arm,
        axis=np.tile([1.0, 0.0, 0.0], (count, 1)),
        hip=hip,
        hinge=np.tile([-1.0, 0.0, 0.0], (count, 1)),
        upper=half,
        lower=half,
        extension=np.linalg.norm(toe + arm - hip, axis=-1),
        above=toe[:, 2] - compute_step_heights(ground, toe[:, :2], bodies) - standing,
        steps=np.diff(data[:, :2], axis=0, append=data[-1:, :2]),
        heights=heights,
        jumped=np.zeros(count, bool),
        planted=planted,
        stand=stand,
        firm=firm,
        raised=raised,
        down=np.zeros(count),
        side=np.zeros(count),
    )
    plan = FeetPlan([leg], ranges, fps, clearance, 0.0, ground=ground)
    placed = solve(Feet([foot], plan, bodies))
    return placed.toes[0], placed.floors[0]
