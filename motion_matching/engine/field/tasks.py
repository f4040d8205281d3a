"""What a character is asked for, as a state beside its motion: a direction, a speed, and tags.

Source: notebook 003 (Lee et al. 2010), value functions over task states. Its direction is the task of facing a heading;
its walk and jog are tags here, any that the data has; the speed is a second dimension of the task.
"""

from __future__ import annotations

import math
import reprlib
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from ..control.settings import LARGEST_SPEED, is_number
from ..errors import SettingsError

ANY = ""  # the task without a tag, which every value function knows
FEWEST_DIRECTIONS, MOST_DIRECTIONS, MOST_SPEEDS = 3, 179, 20


class Wish(NamedTuple):
    """What is asked for now: a heading seen from the character (radians, left positive, on that side), m/s, and tags."""

    direction: float
    speed: float = 0.0
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Tasks:
    """The task states that values are kept for.

    `directions` headings from straight back to the right over straight ahead to straight back to the left, an odd number;
    `speeds` in m/s, ascending, or none where any speed will do; `tags` that may be asked for. An action is rewarded with
    -|θ'|, θ' being the heading that is left to turn after it, + `tag_reward` for as much of its result as carries the tag,
    - `speed_reward` for each m/s amiss.

    Back to the left is not back to the right: the simulation object turns to one side, and holds back a character that
    would come the other way round.
    """

    directions: int = 17
    speeds: tuple[float, ...] = ()
    tags: tuple[str, ...] = ()
    tag_reward: float = 1.0
    speed_reward: float = 0.5

    def __post_init__(self) -> None:
        whole = isinstance(self.directions, int) and not isinstance(self.directions, bool)
        if not (
            whole
            and FEWEST_DIRECTIONS <= self.directions <= MOST_DIRECTIONS
            and self.directions % 2
        ):
            raise SettingsError(
                f"The number of directions is {reprlib.repr(self.directions)}; give an odd number from "
                f"{FEWEST_DIRECTIONS} to {MOST_DIRECTIONS}, so that one of them is straight ahead."
            )
        known = all(is_number(s) and 0 <= s <= LARGEST_SPEED for s in self.speeds)
        if (
            not known
            or list(self.speeds) != sorted(set(self.speeds))
            or len(self.speeds) > MOST_SPEEDS
        ):
            raise SettingsError(
                f"The speeds are {reprlib.repr(self.speeds)}; give up to {MOST_SPEEDS} in m/s, each above "
                f"the one before, from 0 to {LARGEST_SPEED:g}."
            )
        if len(set(self.tags)) != len(self.tags) or not all(
            isinstance(tag, str) and tag for tag in self.tags
        ):
            raise SettingsError(f"The tags are {reprlib.repr(self.tags)}; give different names.")
        for name in ("tag_reward", "speed_reward"):
            value = getattr(self, name)
            if not (is_number(value) and 0 <= value <= 100):
                raise SettingsError(
                    f"The setting '{name}' is {reprlib.repr(value)}; give a number from 0 to 100."
                )

    @property
    def spacing(self) -> float:
        """Radians between two directions."""
        return math.tau / (self.directions - 1)

    @property
    def headings(self) -> np.ndarray:
        """The directions (T,), from -pi to pi."""
        return np.linspace(-math.pi, math.pi, self.directions)

    @property
    def names(self) -> tuple[str, ...]:
        """The tasks by tag: first the one that asks for none."""
        return (ANY, *self.tags)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of speeds, tasks by tag, and directions."""
        return max(len(self.speeds), 1), len(self.names), self.directions

    def between(self, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Indices of the directions beside any others in radians, and the share of the second; what is further round
        than straight back counts as that."""
        place = (np.clip(direction, -math.pi, math.pi) + math.pi) / self.spacing
        first = np.minimum(place.astype(np.intp), self.directions - 2)
        return first, first + 1, place - first

    def speed_shares(self, speed: float) -> np.ndarray:
        """How much each of the speeds (S,) counts for another one; beyond the ends the last counts."""
        if len(self.speeds) < 2:
            return np.ones(1)
        return np.array([np.interp(speed, self.speeds, row) for row in np.eye(len(self.speeds))])

    def tag_shares(self, tags: frozenset[str]) -> np.ndarray:
        """How much each task by tag (G,) counts where these tags are asked for: those that are known, alike."""
        asked = np.array([name in tags for name in self.names], np.float64)
        if not asked.any():
            asked[0] = 1.0
        return asked / asked.sum()

    def reward(
        self, wish: Wish, turn: np.ndarray, speed: np.ndarray, tagged: np.ndarray
    ) -> np.ndarray:
        """What actions (...) bring at once: they turn by `turn` radians, go at `speed` m/s, and reach states of which a
        share `tagged` (..., tags) carries each of the tags."""
        reward = -np.abs(wish.direction - turn)
        if self.tags and wish.tags:
            reward += self.tag_reward * (tagged @ self.tag_shares(wish.tags)[1:])
        if self.speeds:
            wanted = min(max(wish.speed, self.speeds[0]), self.speeds[-1])
            reward -= self.speed_reward * np.abs(speed - wanted)
        return reward

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def tasks_from_dict(data: dict[str, Any]) -> Tasks:
    """The tasks that `to_dict` gave; TypeError or SettingsError where they are none."""
    return Tasks(**data | {name: tuple(data[name]) for name in ("speeds", "tags") if name in data})


def task_speeds(fastest: float, count: int = 5) -> tuple[float, ...]:
    """So many speeds from standing to the fastest."""
    return tuple(np.linspace(0.0, fastest, count).round(3).tolist())
