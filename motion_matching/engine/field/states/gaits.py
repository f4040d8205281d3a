"""Sort the states of a field into standing, walking and running: neighbours and entries of each.

If no clip leads from one gait to another, no chain of neighbours does. The neighbours of a pose are
alike: where they all lead elsewhere, as from standing, or where the goal turns round, no chain of
them leads to the goal within a reasonable time. Then a field enters another state of the gait.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...database.database import Database
from ...facts.avoided_postures import find_odd_frames
from ..numbers import NUMBERS
from .neighbours import Neighbours, measure_distances
from .states import MotionStates
from .tasks import TaskGoal

STANDING, WALKING, RUNNING = range(3)
SLOW = NUMBERS.standing_speed


def choose_gait(goal: TaskGoal, walk_to_run: float) -> int:
    """Return the gait of a goal, running from a speed on."""
    # standing states are so numerous and similar that no neighbour leads away from them
    if goal.speed < SLOW and abs(goal.direction) < NUMBERS.standing_angle:
        return STANDING
    return RUNNING if goal.speed > walk_to_run else WALKING


def classify_gaits(database: Database) -> tuple[np.ndarray, np.ndarray]:
    """Return the gait of each frame (N,), and masks (3, N) of frames that soon lead to each."""
    database = database.in_body_units
    motion = database.root_motion
    ranges = database.range_of_frame
    speed = np.hypot(motion[:, 0], motion[:, 1])
    goes = (speed > SLOW) | (np.abs(motion[:, 2]) > NUMBERS.standing_turn)
    gait = np.where(speed > database.walk_to_run, RUNNING, np.where(goes, WALKING, STANDING))
    own = gait == np.arange(3)[:, None]
    masks = own.copy()
    for number, seconds in enumerate(NUMBERS.gait_leads):
        for later in range(1, round(seconds * database.fps) + 1):
            masks[number, :-later] |= own[number, later:] & (ranges[later:] == ranges[:-later])
    return gait, masks


def find_gait_states(
    database: Database, states: MotionStates, *, with_odd: bool = True
) -> np.ndarray:
    """Return the states (3, S) of each gait, except near the end of a clip.

    A pose at the end of a clip has no neighbour that plays on like it, and leaps. A gait whose
    clips are all too short keeps their ends. Without odd postures, states of odd frames that other
    frames of the gait can replace are left out, too.
    """
    masks = classify_gaits(database)[1][:, states.frames]
    lasting = masks & states.find_lasting(database, round(NUMBERS.clip_end * states.fps))
    masks = _reduce(masks, lasting)
    return (
        masks
        if with_odd
        else _reduce(masks, masks & ~database.derive(find_odd_frames)[states.frames])
    )


def _reduce(masks: np.ndarray, fewer: np.ndarray) -> np.ndarray:
    """Return the fewer states (3, S) for each gait with enough of them, else all (3, S)."""
    enough = fewer.sum(axis=1) > NUMBERS.enough_share * masks.sum(axis=1)
    return np.where(enough[:, None], fewer, masks)


def find_played_chains(database: Database, states: MotionStates) -> np.ndarray:
    """Return the chain (S,) of each state; the ends of clips have none."""
    lasting = states.find_lasting(database, round(NUMBERS.clip_end * states.fps))
    return np.where(lasting, states.compute_chains(database), -1 - np.arange(len(states)))


def build_neighbours(
    features: np.ndarray,
    masks: np.ndarray,
    fewest: int = 1,
    followed: np.ndarray | None = None,
    check_cancelled: Callable[[], None] = lambda: None,
) -> list[Neighbours]:
    """Return the neighbours among the states (3, S) of each gait.

    If these are too few, they are among all states that move, or among all. `check_cancelled` is
    called before each, and may raise to stop.
    """
    goes = masks[WALKING] | masks[RUNNING]
    result = []
    for gait, mask in enumerate(masks):
        check_cancelled()
        choices = (mask,) if gait == STANDING else (mask, goes)
        among = next((choice for choice in choices if choice.sum() >= fewest), None)
        result.append(Neighbours(features, among, followed))
    return result


class Entries:
    """States (E,) of one gait, evenly chosen, that a field may enter."""

    def __init__(
        self, database: Database, states: MotionStates, features: np.ndarray, mask: np.ndarray
    ) -> None:
        lasting = mask & states.find_lasting(database, round(NUMBERS.entry_lasting * states.fps))
        among = np.flatnonzero(lasting if lasting.any() else mask)
        self.states = among[:: max(-(-len(among) // NUMBERS.most_entries), 1)]
        self._features = features[self.states]

    def find_best(
        self, rewards: np.ndarray, here: np.ndarray, least: float, reach: float = 0.0
    ) -> int:
        """Return the best state by its reward (E,) and by its distance from features (1, F).

        States within `reach` are blended anyway. It is -1 if none beyond is better than a reward of
        `least` in spite of its distance.
        """
        price = NUMBERS.entry_price
        most = rewards - price * reach  # only states no nearer than the reach may win
        among = (most > least).nonzero()[0]
        best = -1
        count = NUMBERS.first_entries
        while len(among):
            ranked = most.take(among).argsort(kind="stable")
            near = np.sort(among.take(ranked[-count:]))
            among = among.take(ranked[:-count])
            away = measure_distances(self._features.take(near, axis=0), here)
            gains = np.where(away >= reach, rewards.take(near) - price * away, -np.inf)
            first = int(gains.argmax())
            if gains[first] > least:
                best = int(self.states[near[first]])
                least = float(gains[first])
            among = among[most.take(among) > least]
            count = NUMBERS.entry_growth * count
        return best
