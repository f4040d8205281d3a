"""Find the speed from which a creature runs, by its footfalls or the length of its legs.

For people it is a fixed speed. Animals with legs of another length change their gait at the same
Froude number, the square of the speed over gravity and the length of the legs. Source: Alexander
and Jayes 1983, A dynamic similarity hypothesis for the gaits of quadrupedal mammals.
"""

from __future__ import annotations

import numpy as np

from ..body.rig import Roles
from ..body.toe_ends import measure_leg_lengths, measure_size
from ..motion.contacts import is_person
from ..performance.settings import WALK_TO_RUN
from ..skeleton.skeleton import Skeleton
from .numbers import NUMBERS


def measure_pace(skeleton: Skeleton, roles: Roles) -> float:
    """Return the factor from speeds of people to those of a creature of this size: 1 for people."""
    lengths = measure_leg_lengths(skeleton.compute_rest_world()[1][None], roles)
    size = measure_size(skeleton, roles)
    usual = 1.0 if is_person(lengths / size) else np.mean(lengths / size) / NUMBERS.person_leg
    return float(np.sqrt(size * usual))


def find_walk_to_run(pace: float, speed: np.ndarray, contacts: np.ndarray, fps: float) -> float:
    """Return the speed in m/s that separates walking from running, for a creature of a `pace`.

    From the speeds (N,) of moving frames and their `contacts` (N, L), it best separates frames in
    which feet stand for more than half of the time from the others. If all walk, it is above their
    speeds. Without enough of both, only the length of the legs decides.

    Speeds grow with the root of a creature's length, as in falling; the smallest are slower.
    """
    limit = WALK_TO_RUN * pace
    if pace == 1.0 or not len(speed):
        return limit
    order = np.argsort(speed)
    duty = NUMBERS.duty if contacts.shape[1] > 2 else NUMBERS.duty_of_toes
    surplus = np.cumsum(contacts.mean(axis=1)[order] - duty)
    # walking frames below a limit count for it, and so do running frames above
    score = 2.0 * surplus - surplus[-1]
    sorted_speed = speed[order]
    enough = round(NUMBERS.enough * fps)
    least, most = limit * min(pace, 1.0) / NUMBERS.limit_shift, limit * NUMBERS.limit_shift
    near = (sorted_speed > least) & (sorted_speed < most)
    best = int(np.argmax(np.where(near, score, -np.inf)))
    walks = surplus[best]
    runs = surplus[-1] - surplus[best]
    if not near[best] or not walks > 0.0 > runs or not enough <= best < len(order) - enough:
        all_walk = len(order) > enough and len(order) - int(np.argmax(surplus)) < enough
        return max(limit, min(most, float(sorted_speed[-1]))) if all_walk else limit
    # in the middle of the rare speeds
    as_good = sorted_speed[near & (score > score[best] - NUMBERS.limits_alike * (walks - runs))]
    return float(np.sqrt(as_good[0] * as_good[-1]))
