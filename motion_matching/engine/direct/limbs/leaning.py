"""Lean a body to bring its hands to marks: trunk, shoulders and hips, as far as people bend.

Where arms are too short, the trunk bends at the hips and along the spine toward the mark, and turns
its nearer shoulder to it. The hips go back for balance, the feet stay where they are, and the other
arm hangs on. The arms themselves are bent afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...control.rollout import Take
from ...database.database import Database
from ...maths import planar
from ...maths.easing import smoothstep
from ...maths.numeric import arctan2
from ...maths.rotations import quat
from ..numbers import NUMBERS as DIRECT
from ..objective import COSTS
from ..obstacles.obstruction import Obstruction
from ..shot.shot import Mark
from .leaning_body import Lean, LeaningBody, bend, find_body, stand
from .numbers import NUMBERS


class _Reaching(NamedTuple):
    """Hands, and the goals (K, 3) of each at consecutive ticks (K,)."""

    ticks: np.ndarray
    goals: Mapping[str, np.ndarray]


def lean_to_marks(
    take: Take,
    marks: Sequence[Mark],
    database: Database,
    begins: float = 0.0,
    obstruction: Obstruction | None = None,
) -> Take:
    """Return a take, whose feet are planted, that leans where hands do not reach their marks.

    It `begins` at a second of the shot. Without arms, or with four legs, nothing leans. A head does
    not lean into an obstruction.
    """
    body = find_body(database) if any(mark.is_limb for mark in marks) else None
    if body is None:
        return take
    poses = take.poses
    for reaching in _list_reaching(take, marks, body, begins):
        poses = _lean(poses, reaching, body, take, obstruction)
    return replace(take, poses=poses)


def _list_reaching(
    take: Take, marks: Sequence[Mark], body: LeaningBody, begins: float
) -> list[_Reaching]:
    """Return when hands have goals; hands of marks that overlap in time reach together."""
    spans = sorted(
        (max(mark.time - begins, 0.0), mark.time + mark.hold - begins, k)
        for k, mark in enumerate(marks)
        if mark.is_limb and mark.part in body.arms and mark.time + mark.hold >= begins
    )
    groups: list[list[Mark]] = []
    last = -math.inf
    for start, stop, k in spans:
        if start > last:
            groups.append([])
        groups[-1].append(marks[k])
        last = max(last, stop)
    found = (_make_reaching(take, group, body, begins) for group in groups)
    return [each for each in found if each is not None]


def _make_reaching(
    take: Take, marks: Sequence[Mark], body: LeaningBody, begins: float
) -> _Reaching | None:
    spans = [mark.find_span(take.fps, begins) for mark in marks]
    first, last = min(first for first, _ in spans), max(last for _, last in spans)
    if begins == 0.0:
        first = min(first, take.frame_count - 1)
    ticks = np.arange(max(first, 0), min(last + 1, take.frame_count))
    if not len(ticks) or first < 0:
        return None
    goals = {}
    for mark in marks:
        end = body.arms[mark.part].end
        hand = take.skeleton.compute_bone_positions([end], take.poses[ticks])[:, 0]
        goals[mark.part] = mark.find_goals(hand)
    return _Reaching(ticks, goals)


def _lean(
    poses: np.ndarray,
    reaching: _Reaching,
    body: LeaningBody,
    take: Take,
    obstruction: Obstruction | None,
) -> np.ndarray:
    """Return poses (T, 7, B) that lean for hands, with transitions before and after."""
    parents = take.skeleton.parents
    frame = _Frame.from_poses(poses[reaching.ticks], reaching, body, parents, obstruction)
    lean = _find_lean(frame, take.fps)
    if lean is None:
        return poses
    first, last = int(reaching.ticks[0]), int(reaching.ticks[-1])
    ease_in, ease_out = (
        (NUMBERS.lean_ease + NUMBERS.lean_ease_more * lean.amount[k]) * take.fps for k in (0, -1)
    )
    start, stop = math.ceil(first - ease_in), math.floor(last + ease_out) + 1
    ticks = np.arange(max(start, 0), min(stop, len(poses)))
    early = np.maximum(first - ticks, 0) / ease_in
    late = np.maximum(ticks - last, 0) / ease_out
    share = smoothstep(1.0 - np.maximum(early, late))
    at = np.clip(ticks, first, last) - first
    shown = lean.map(lambda rows: (rows[at].T * share).T)
    result = poses.copy()
    result[ticks] = bend(poses[ticks], shown, body, parents)
    return stand(result, poses, ticks, body, take)


def _find_lean(frame: _Frame, fps: float) -> Lean | None:
    """Return the least lean with which arms reach, hips as high as possible; None without."""
    amounts = np.linspace(0.0, 1.0, NUMBERS.lean_steps + 1)
    count = len(frame.poses)
    best = None
    for down in NUMBERS.hips_down:
        missing = np.stack([frame.measure_missing(np.full(count, a), down) for a in amounts])
        if not down and np.all(missing[0] <= 0.0):
            return None
        left = np.maximum(missing.min(axis=0), 0.0)
        if best is None or left.max() < best[0] - NUMBERS.worth_bending:
            best = float(left.max()), down, missing
        if best[0] <= 0.0:
            break
    assert best is not None
    _, down, missing = best
    hopeless = missing.min(axis=0) > NUMBERS.lean_hopeless
    if hopeless[0]:
        return None
    from scipy.ndimage import gaussian_filter1d  # late: 0.1 s, and few scenes need a lean

    amount = np.where(hopeless, 0.0, _find_amounts(amounts, missing))
    lean = frame.make_lean(amount, np.where(hopeless, 0.0, down))
    width = NUMBERS.lean_calm * fps  # a lean changes no faster than a trunk does
    return lean.map(lambda rows: gaussian_filter1d(rows, width, axis=0, mode="nearest"))


def _find_amounts(amounts: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return the least amounts (K,) at which nothing is missing (A, K), or least is."""
    reached = missing <= 0.0
    best = np.where(reached.any(axis=0), reached.argmax(axis=0), missing.argmin(axis=0))
    columns = np.arange(len(best))
    before = np.maximum(best - 1, 0)
    high, low = missing[before, columns], missing[best, columns]
    is_between = reached[best, columns] & (best > 0) & (high < COSTS.lean_barred)
    share = np.where(is_between, high / np.maximum(high - low, 1e-9), 1.0)
    return np.asarray(amounts[before] + share * (amounts[best] - amounts[before]))


class _Frame(NamedTuple):
    """Reference of a lean of K poses; directions are seen from the character."""

    poses: np.ndarray
    goals: Mapping[str, np.ndarray]
    body: LeaningBody
    parents: np.ndarray
    yaw: np.ndarray
    way: np.ndarray  # (K, 2) direction of the lean
    twist: np.ndarray  # (K,) share and side of the turn of a shoulder
    shoulders: Mapping[str, np.ndarray]
    obstruction: Obstruction | None

    @classmethod
    def from_poses(
        cls,
        poses: np.ndarray,
        reaching: _Reaching,
        body: LeaningBody,
        parents: np.ndarray,
        obstruction: Obstruction | None,
    ) -> _Frame:
        rotations, joints = quat.compute_world(poses, parents)
        left = quat.mul_vec(rotations[:, 0], np.array([1.0, 0.0, 0.0]))
        yaw = arctan2(left[:, 1], left[:, 0])
        shoulders = {hand: joints[:, limb.root] for hand, limb in body.arms.items()}
        middle = np.mean(list(shoulders.values()), axis=0)
        goal = np.mean(list(reaching.goals.values()), axis=0)
        from_hands = np.mean([shoulders[hand] for hand in reaching.goals], axis=0)
        away = planar.rotate((goal - from_hands)[:, :2], -yaw)
        ahead = np.array([0.0, -1.0])
        far = np.linalg.norm(away, axis=1, keepdims=True)
        away = away + np.maximum(NUMBERS.below_shoulders - far, 0.0) * ahead
        way = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
        beside = planar.rotate((from_hands - middle)[:, :2], -yaw)
        spread = np.array(list(shoulders.values()))[..., :2] - middle[:, :2]
        span = max(float(np.linalg.norm(spread, axis=-1).max()), 1e-6)
        turned = (beside[:, 0] * way[:, 1] - beside[:, 1] * way[:, 0]) / span
        return cls(poses, reaching.goals, body, parents, yaw, way, turned, shoulders, obstruction)

    def make_lean(self, amount: np.ndarray, down: np.ndarray | float) -> Lean:
        """Return the lean by shares (K,) of a person's range, with hips `down` in metres."""
        sideways = self.way[:, 0]
        ahead = -self.way[:, 1]
        most = np.where(ahead >= 0.0, NUMBERS.lean_forward, NUMBERS.lean_backward)
        angle = 1.0 / np.hypot(ahead / most, sideways / NUMBERS.lean_aside)
        # about the horizontal axis that tips the vertical toward the way
        axis = np.column_stack([-self.way[:, 1], self.way[:, 0], np.zeros(len(amount))])
        turn = (amount * angle)[:, None] * axis
        early = np.minimum(2.0 * amount, 1.0)
        turn[:, 2] += NUMBERS.lean_twist * early * self.twist
        collars = {hand: self._turn_collar(hand, early) for hand in self.goals}
        shift = np.zeros((len(amount), 3))
        shift[:, 2] = -np.asarray(down)
        leant = Lean(turn, collars, shift, amount)
        gone = self._find_shoulders(leant) - np.mean(list(self.shoulders.values()), axis=0)
        back = -NUMBERS.hips_back * planar.rotate(gone[:, :2], -self.yaw)
        far = np.linalg.norm(back, axis=1, keepdims=True)
        most_back = NUMBERS.farthest_back
        shift[:, :2] = back * (most_back * np.tanh(far / most_back) / np.maximum(far, 1e-9))
        return leant

    def _turn_collar(self, hand: str, share: np.ndarray) -> np.ndarray:
        """Return rotation vectors (K, 3) that lead a shoulder toward its goal."""
        to_goal = quat.normalize_vectors(self.goals[hand] - self.shoulders[hand])
        middle = np.mean(list(self.shoulders.values()), axis=0)
        outward = quat.normalize_vectors(self.shoulders[hand] - middle)
        axis = np.cross(outward, to_goal)
        turn = NUMBERS.lean_collar * share[:, None] * axis
        turn[:, :2] = planar.rotate(turn[:, :2], -self.yaw)
        return turn

    def _find_shoulders(self, lean: Lean) -> np.ndarray:
        """Return the middle (K, 3) of shoulders of a lean."""
        poses = bend(self.poses, lean, self.body, self.parents)
        _, joints = quat.compute_world(poses, self.parents)
        roots = [limb.root for limb in self.body.arms.values()]
        return np.asarray(np.mean([joints[:, root] for root in roots], axis=0))

    def measure_missing(self, amount: np.ndarray, down: float) -> np.ndarray:
        """Return how much farther (K,) than arms reach the farthest goal is.

        It is `lean_barred` where the head would lean into an obstacle.
        """
        poses = bend(self.poses, self.make_lean(amount, down), self.body, self.parents)
        _, joints = quat.compute_world(poses, self.parents)
        missing = []
        for hand, goal in self.goals.items():
            root, middle, end = (joints[:, bone] for bone in self.body.arms[hand])
            length = np.linalg.norm(middle - root, axis=1) + np.linalg.norm(end - middle, axis=1)
            missing.append(np.linalg.norm(goal - root, axis=1) - NUMBERS.reach * length)
        result = np.max(missing, axis=0)
        if self.obstruction is None or self.body.head is None or not amount.any():
            return np.asarray(result)
        neck, head = (joints[:, bone] for bone in (self.parents[self.body.head], self.body.head))
        crown = head + DIRECT.crown * quat.normalize_vectors(head - neck)
        stands = self.poses[:, 2, 0].astype(np.float64)
        depths = [self.obstruction.measure_depths(point, stands) for point in (head, crown)]
        is_bumped = np.max(depths, axis=0) > -NUMBERS.head_clear
        return np.where(is_bumped, COSTS.lean_barred, result)
