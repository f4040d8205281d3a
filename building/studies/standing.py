"""Measure how bodies stand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motion_matching.engine.legs.numbers import NUMBERS as LEG_NUMBERS
from motion_matching.engine.maths.along_time import find_runs
from motion_matching.engine.motion.rest import AT_REST
from motion_matching.engine.takes.bodies import BodyMotion

_SECONDS = 0.5  # of a stance whose width counts: the shortest idle


def measure_ankle_floors(bodies: Sequence[BodyMotion]) -> np.ndarray:
    """Return the height (L,) of each standing ankle: the 2nd percentile of its heights in clips."""
    heights = np.concatenate([body.legs[:, :, 2, 2] for body in bodies])
    return np.percentile(heights, LEG_NUMBERS.standing_percentile, axis=0)


def measure_standing(bodies: Sequence[BodyMotion], ankle_floors: np.ndarray) -> dict[str, float]:
    """Measure how bodies stand: half a second or more slower than 0.1 m/s.

    - `standing_seconds`: in all; the others are 0 if nobody stands
    - `standing_feet_apart` in metres: how far the first two ankles are apart, 95 % of the time
    - `standing_heel_up`: the share with an ankle 5 cm above `ankle_floors` (L,)
    """
    seconds, apart, up = 0.0, [np.zeros(0)], [np.zeros(0, bool)]
    for body in bodies:
        runs = find_runs(np.linalg.norm(body.velocity, axis=-1) < AT_REST.speed)
        stands = np.zeros(len(body.legs), bool)
        for start, stop in runs[np.diff(runs, axis=1)[:, 0] >= _SECONDS * body.fps]:
            stands[start:stop] = True
        ankles = body.legs[stands, :, 2]
        seconds += len(ankles) / body.fps
        apart.append(np.linalg.norm(np.ptp(ankles[:, :2, :2], axis=1), axis=-1))
        up.append(np.any(ankles[..., 2] > ankle_floors + AT_REST.heel, axis=1))
    distances = np.concatenate(apart)
    return {
        "standing_seconds": seconds,
        "standing_feet_apart": float(np.percentile(distances, 95)) if len(distances) else 0.0,
        "standing_heel_up": float(np.concatenate(up).mean()) if len(distances) else 0.0,
    }
