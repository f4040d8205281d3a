"""Tasks of a motion field: a direction, a speed, and tags.

Source: notebook 003 (Lee et al. 2010), value functions over task states. Its walk and jog become
tags, any that the data has; the speed is a second dimension of the task.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from ...errors import SettingsError
from ...maths.planar import wrap
from ...performance.settings import LARGEST_SPEED
from ...settings import is_number
from ...units import measured
from ..numbers import NUMBERS

ANY = ""  # the task without a tag, which every value function has
TASK_NAMES: tuple[str, ...] = ("direction", "speed")
STRAIGHT_AHEAD = (0.0, -1.0)
FEWEST_DIRECTIONS = 3
MOST_DIRECTIONS = 179
MOST_SPEEDS = 20


class TaskGoal(NamedTuple):
    """A goal: a heading in radians to the left of the character's, a speed in m/s, and tags.

    `course` is the direction of movement seen from that heading.
    """

    direction: float
    speed: float = 0.0
    tags: frozenset[str] = frozenset()
    course: tuple[float, float] = STRAIGHT_AHEAD


@measured(speeds="m/s")
@dataclass(frozen=True)
class Tasks:
    """The task states that a value function covers.

    `directions`, an odd number, are headings from straight back on the right over straight ahead to
    straight back on the left. `speeds` in m/s ascend; none if any speed will do. `tags` can be
    requested. An action is rewarded with -|θ'|, where θ' is the heading left to turn after it, plus
    `tag_reward` times the share of its result that carries the tag, minus `speed_reward` for each
    m/s of error.

    Back on the left differs from back on the right: the simulation object turns to one side, and
    holds back a character that would turn the other way.

    `as_notebook`: directions are evenly spaced on a circle instead, from straight back on, and an
    action is rewarded for a tag if the state that it starts from carries it.
    """

    directions: int = 17
    speeds: tuple[float, ...] = ()
    tags: tuple[str, ...] = ()
    tag_reward: float = 1.0
    speed_reward: float = 0.5
    as_notebook: bool = False

    def __post_init__(self) -> None:
        count = self.directions
        speeds = self.speeds
        whole = isinstance(count, int) and not isinstance(count, bool)
        if not (whole and FEWEST_DIRECTIONS <= count <= MOST_DIRECTIONS and count % 2):
            raise SettingsError(
                f"The number of directions is {reprlib.repr(count)}; give an odd number from "
                f"{FEWEST_DIRECTIONS} to {MOST_DIRECTIONS}, so that one of them is straight ahead."
            )
        if self.as_notebook not in (False, True):
            text = f"'as_notebook' is {reprlib.repr(self.as_notebook)}; give true or false."
            raise SettingsError(f"The setting {text}")
        valid = all(is_number(s) and 0 <= s <= LARGEST_SPEED for s in speeds)
        if not valid or list(speeds) != sorted(set(speeds)) or len(speeds) > MOST_SPEEDS:
            raise SettingsError(
                f"The speeds are {reprlib.repr(speeds)}; give up to {MOST_SPEEDS} in m/s, each "
                f"above the one before, from 0 to {LARGEST_SPEED:g}."
            )
        valid = all(isinstance(tag, str) and tag for tag in self.tags)
        if not valid or len(set(self.tags)) != len(self.tags):
            raise SettingsError(f"The tags are {reprlib.repr(self.tags)}; give different names.")
        for name in ("tag_reward", "speed_reward"):
            value = getattr(self, name)
            if not (is_number(value) and 0 <= value <= 100):
                raise SettingsError(
                    f"The setting '{name}' is {reprlib.repr(value)}; give a number from 0 to 100."
                )

    @property
    def spacing(self) -> float:
        """The angle between two directions in radians."""
        return math.tau / (self.directions - (not self.as_notebook))

    @property
    def headings(self) -> np.ndarray:
        """The directions (T,), from -pi to pi, which a circle leaves out."""
        return np.linspace(-math.pi, math.pi, self.directions, endpoint=not self.as_notebook)

    @property
    def names(self) -> tuple[str, ...]:
        """The tasks by tag, first the one without a tag."""
        return (ANY, *self.tags)

    @property
    def shape(self) -> tuple[int, int, int]:
        """The numbers of speeds, tasks by tag, and directions."""
        return max(len(self.speeds), 1), len(self.names), self.directions

    def find_between(self, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the two directions around others as indices, and the second's share."""
        if self.as_notebook:
            around = (direction + math.pi) / self.spacing
            low = np.floor(around)
            first = low.astype(np.intp) % self.directions
            return first, (first + 1) % self.directions, around - low
        position = (np.clip(direction, -math.pi, math.pi) + math.pi) / self.spacing
        first = np.minimum(position.astype(np.intp), self.directions - 2)
        return first, first + 1, position - first

    def compute_speed_shares(self, speed: float) -> np.ndarray:
        """Return the shares (S,) of the speeds in another one, which is clamped to their range."""
        if len(self.speeds) < 2:
            return np.ones(1)
        return np.array([np.interp(speed, self.speeds, row) for row in np.eye(len(self.speeds))])

    def compute_tag_shares(self, tags: frozenset[str]) -> np.ndarray:
        """Return the shares (G,) of tasks by tag for some tags: equal for all that are known."""
        is_requested = np.array([name in tags for name in self.names], np.float64)
        if not is_requested.any():
            is_requested[0] = 1.0
        return is_requested / is_requested.sum()

    def measure_error(self, direction: np.ndarray) -> np.ndarray:
        """Return the angles left to turn, of directions that may lie beyond straight back."""
        return wrap(direction) if self.as_notebook else direction

    def compute_reward(
        self, goal: TaskGoal, turn: np.ndarray, speed: np.ndarray, tagged: np.ndarray
    ) -> np.ndarray:
        """Return the immediate reward of actions (...).

        They turn by `turn` radians and move at `speed` m/s. A share `tagged` (..., tags) of the
        states reached carries each tag.
        """
        reward = self.reward_tags(goal, tagged) - np.abs(self.measure_error(goal.direction - turn))
        if self.speeds:
            target = min(max(goal.speed, self.speeds[0]), self.speeds[-1])
            reward -= self.speed_reward * np.abs(speed - target)
        return reward

    def reward_tags(self, goal: TaskGoal, tagged: np.ndarray) -> np.ndarray | float:
        """Return the reward for the goal's tags alone, by shares `tagged` (..., tags)."""
        if not (self.tags and goal.tags):
            return 0.0
        return self.tag_reward * (tagged @ self.compute_tag_shares(goal.tags)[1:])

    def to_dict(self) -> dict[str, Any]:
        data = asdict(self)
        if not self.as_notebook:
            del data["as_notebook"]  # so that programs that lack it read the rest
        return data


def tasks_from_dict(data: dict[str, Any]) -> Tasks:
    """Return the tasks that `to_dict` gave. Raises TypeError or SettingsError for other data."""
    return Tasks(**data | {name: tuple(data[name]) for name in ("speeds", "tags") if name in data})


def make_tasks(
    names: Sequence[str],
    fastest: float,
    *,
    directions: int = 17,
    tags: Sequence[str] = (),
    as_notebook: bool = False,
) -> Tasks:
    """Return the tasks of these names: 'direction', and 'speed' up to the `fastest` in m/s."""
    if unknown := [name for name in names if name not in TASK_NAMES]:
        raise SettingsError(
            f"There is no task '{unknown[0]}'; use {' or '.join(TASK_NAMES)}, or both as "
            f"{','.join(TASK_NAMES)}, and tags for tags of frames."
        )
    speeds = space_speeds(fastest) if "speed" in names else ()
    return Tasks(directions, speeds, tuple(tags), as_notebook=as_notebook)


def space_speeds(fastest: float) -> tuple[float, ...]:
    """Return five evenly spaced speeds from standing to the fastest, in m/s."""
    return tuple(np.linspace(0.0, fastest, NUMBERS.speed_count).round(3).tolist())
