"""Idle while nothing is requested: play the data's standing motion on and on.

Both methods share this. It only chooses frames; the method shows them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...maths.along_time import MOMENT, count_frames
from ...maths.rotations import quat
from ...motion.rest import AT_REST
from .numbers import NUMBERS

if TYPE_CHECKING:
    from ..method import Goal


class Idles(NamedTuple):
    """The R idles of a database: runs of frames in which the character simply stands.

    Idle r has the frames `starts[r]` to `stops[r]` - 1. E frames, `entries` (E,), may be entered:
    `runs` (E,) are their idles, `seconds` (E,) the time left in these, and `joints` (E, J, 3) the
    bones 1 to J in the character's frame, with `weights` (J,) that sum to 1. `pace` is that of the
    creature, 1 for people. A performance begins at the frame `start`, -1 if unknown. If an idle
    `leads_on` into motion, the data shows how the body sets off.

    Without idles, the entries are the poses that are the best stances, best first: one is held.
    """

    starts: np.ndarray
    stops: np.ndarray
    entries: np.ndarray
    runs: np.ndarray
    seconds: np.ndarray
    joints: np.ndarray
    weights: np.ndarray
    pace: float
    start: int = -1
    leads_on: bool = False

    @property
    def holds(self) -> bool:
        """Whether there are only poses to hold."""
        return not len(self.starts) and len(self.entries) > 0


class Idling:
    """Chooses the frames that a method plays while its goal is to stand."""

    def __init__(
        self,
        idles: Idles,
        parents: np.ndarray,
        fps: float,
        make_tag_mask: Callable[[frozenset[str]], np.ndarray],
    ) -> None:
        self._idles = idles
        self._parents = parents
        self._fps = fps
        self._make_tag_mask = make_tag_mask
        self._tagged: dict[frozenset[str], np.ndarray] = {}
        # of the poses before, while it waits: the oldest is a moment ago
        self._joints: deque[np.ndarray] = deque(
            maxlen=count_frames(fps, MOMENT * min(idles.pace, 1.0))
        )
        self._slow = AT_REST.settled_speed * idles.pace
        self._steady = AT_REST.settled * AT_REST.turn / idles.pace
        self.reset()

    def reset(self) -> None:
        """Forget the motion played so far."""
        self._tick = 0
        self._frame = -1
        self._shown = -1
        self._is_requested = False
        self._waited = 0
        self._joints.clear()
        self._played = np.full(len(self._idles.starts), -np.inf)  # the last tick of each idle

    def begin(self) -> int:
        """Return the frame to start at, whose pose is held without idles; -1 if it is unknown."""
        if self._idles.holds:
            self._frame = self._idles.start
        return self._idles.start

    def choose(self, goal: Goal, frame: int, root: np.ndarray, pose: np.ndarray) -> int:
        """Return the frame to play on from in this tick, or -1 if the method goes after its goal.

        The method now shows `frame` and a `pose` (7, B), and moves at `root` (3,), as in `Motion`.
        """
        self._tick += 1
        if not (goal.rests if self._idles.holds else goal.stands):
            self._is_requested = goal.jump_to is not None or goal.enter is not None
            self._frame = self._shown = -1
            self._waited = 0
            self._joints.clear()
            return -1
        if self._is_requested:
            self._follow_request(frame)
        if self._idles.holds:
            return self._hold(goal, pose)
        if self._frame < 0 and not self._may_begin(goal, root, pose):
            return -1
        return self._go_on(frame if self._frame < 0 else self._frame, pose, goal.tags)

    def _may_begin(self, goal: Goal, root: np.ndarray, pose: np.ndarray) -> bool:
        """Return whether the motion played has come to rest, and nothing else must end first."""
        if goal.fading or self._is_requested or not len(self._idles.starts):
            return False
        self._waited += 1
        if self._waited > NUMBERS.longest_wait * self._fps:
            return True
        x, y, turn = root.tolist()
        if x * x + y * y > self._slow**2 or abs(turn) > self._steady:
            return False
        joints = self._compute_joints(pose)
        ticks = len(self._joints)
        before = self._joints[0] if ticks else joints
        self._joints.append(joints)
        if ticks < (self._joints.maxlen or 1):
            return False
        speed = np.linalg.norm(joints - before, axis=1).mean() * self._fps / ticks
        return bool(speed < AT_REST.settled * AT_REST.bones * self._idles.pace)

    def _hold(self, goal: Goal, pose: np.ndarray) -> int:
        """Return the frame whose pose is held, -1 if it is too early for one."""
        self._waited += 1
        wait = NUMBERS.held_after if goal.stands else NUMBERS.held_aside_after
        may_begin = self._frame < 0 and not (goal.fading or self._is_requested)
        if may_begin and self._waited > wait * self._fps:
            self._frame = int(self._idles.entries[self._compare(pose).argmin()])
        return self._frame

    def _follow_request(self, frame: int) -> None:
        """Let motion that was requested play until it is left for other motion."""
        on = (frame - self._shown) / self._fps
        self._is_requested = (
            self._shown < 0 or -NUMBERS.requested_before <= on <= NUMBERS.requested_after
        )
        self._shown = frame

    def _go_on(self, frame: int, pose: np.ndarray, tags: frozenset[str]) -> int:
        """Return the frame to play on from: this one, or where it ends, one of another idle."""
        run = self._find_run(frame)
        if run < 0 or (tags and not self._find_tagged(tags)[frame + 1]):
            frame = self._choose_entry(pose, tags)
            run = self._find_run(frame)
        if run < 0:
            self._frame = -1
            return -1
        self._frame = frame + 1
        self._played[run] = self._tick
        return frame

    def _find_run(self, frame: int) -> int:
        """Return the idle in which a frame is followed by another, -1 if there is none."""
        run = int(self._idles.starts.searchsorted(frame, side="right")) - 1
        return run if run >= 0 and frame < self._idles.stops[run] - 1 else -1

    def _find_tagged(self, tags: frozenset[str]) -> np.ndarray:
        if tags not in self._tagged:
            self._tagged[tags] = self._make_tag_mask(tags)
        return self._tagged[tags]

    def _choose_entry(self, pose: np.ndarray, tags: frozenset[str]) -> int:
        """Return the best frame to enter from a pose, -1 if there is none.

        It is like the pose, goes on for long, and belongs to an idle not played within a minute.
        If all were played, the ones played longest ago are better.
        """
        idles = self._idles
        able = np.ones(len(idles.entries), bool)
        if tags:
            able = self._find_tagged(tags)[idles.entries]
        if not able.any():
            return -1
        age = (self._tick - self._played)[idles.runs]
        fresh = able & (age > NUMBERS.unrepeated * self._fps)
        cost = self._compare(pose) + NUMBERS.change_price**2 * idles.pace**4
        if fresh.any():
            able = fresh
        else:
            cost += (NUMBERS.repeat_price * (1.0 - age / age[able].max())) ** 2 * idles.pace**4
        cost /= np.minimum(idles.seconds, NUMBERS.long_idle)
        return int(idles.entries[np.argmin(np.where(able, cost, np.inf))])

    def _compare(self, pose: np.ndarray) -> np.ndarray:
        """Return the mean squared distances (E,) of a pose's bones to those of all entries."""
        away = self._idles.joints - self._compute_joints(pose)
        return np.asarray(np.einsum("ejc,ejc,j->e", away, away, self._idles.weights))

    def _compute_joints(self, pose: np.ndarray) -> np.ndarray:
        """Return the joints (J, 3) of a pose in the character's frame."""
        local = pose[None].copy()
        local[..., 0] = [0, 0, 0, 1, 0, 0, 0]
        return quat.compute_world(local, self._parents)[1][0, 1:].astype(np.float32)
