"""Which motion states are alike: similarity metric, exact k nearest neighbours, similarity weights (notebook 003)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..matching.database import Database
from ..matching.kd_order import kd_order
from ..motion.rig import Roles
from ..motion.skeleton import Skeleton
from .states import MotionStates, root_step

_RATE = 30.0  # velocities count in metres per 1/30 s, whatever the frame rate
_POSITIONS = 0.8  # of all positions against velocities
_HIPS, _SPINE, _CHEST, _BEYOND = 0.3, 0.1, 0.5, 0.01
_LEG = {"thigh": 0.2, "shin": 0.5, "foot": 1.0, "toe": 1.0}
_REACH = 4  # bones from the chest to a hand, or past the head: fingers say nothing about a motion
_ROOT_VELOCITY, _TURN = 4.0, 1.0  # weight, and weight times lever in metres
_CHUNK = 2048  # states whose features are found together
_SMALLEST = 1e-12  # m², so that a state at no distance at all has a weight
# a rotation matrix, row by row, of the products ww wi wj wk, iw ii ij ik, ... of a unit quaternion's parts
_OF_PRODUCTS = np.array([
    [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1],
    [0, 0, 0, -2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1],
    [0, -2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0],
    [0, 0, -2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0],
    [0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0],
    [1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1],
], np.float32)


@dataclass(frozen=True)
class Metric:
    """Weighted places of bones and how they move within 1/30 s, in the character's frame; distances are in metres.

    The distance of two states is the sum over bones of the distances of their places, and of their motions. Weights are
    (B,). Motions of bones are seen by a character that stays where it is: how it turns is in them, where it goes is not, and
    both count for themselves with `root_velocity` and `turn` (a weight times a lever in metres). `places` (3, B) are those
    of bones in their parents' frames where the poses' own do not count.
    """

    skeleton: Skeleton
    fps: float
    positions: np.ndarray
    velocities: np.ndarray
    root_velocity: float = 0.0
    turn: float = 0.0
    places: np.ndarray | None = None

    @classmethod
    def notebook(cls, database: Database) -> Metric:
        """The notebook's own: its weights by role, bones where the first frame has them, no matter where the root goes."""
        positions = position_weights(database.skeleton, database.roles)
        places = np.array(database.poses[0, :3])
        places[:, 0] = 0
        return cls(database.skeleton, database.fps, positions, (positions > 0).astype(np.float32), places=places)

    @classmethod
    def default(cls, database: Database) -> Metric:
        """The same weights with the places that bones have, and with the root's velocity and turn."""
        positions = position_weights(database.skeleton, database.roles)
        moving = (positions > 0).astype(np.float32)
        return cls(database.skeleton, database.fps, positions, moving, _ROOT_VELOCITY, _TURN)

    def features(self, poses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """Features (Q, F), three for each term of the distance, of states (Q, 7, B) whose bone 0 rests at the origin."""
        count, rate = len(poses), self.fps / _RATE
        (placed, of_place), (moving, of_motion) = self._terms
        joints = self._joints(poses, velocities)
        here, there = joints[..., :count], joints[..., count:]
        motion = there.take(moving, axis=1)
        motion -= here.take(moving, axis=1)
        terms = [here.take(placed, axis=1) * of_place, motion * (of_motion * rate)]
        if self.root_velocity > 0 or self.turn > 0:
            root = np.zeros((3, 2, count), np.float32)
            x, y, turn = root_step(velocities).T
            root[0, 0], root[1, 0] = x * (self.root_velocity * rate), y * (self.root_velocity * rate)
            root[0, 1] = turn * (self.turn * rate)
            terms.append(root)
        return np.concatenate(terms, axis=1).transpose(2, 1, 0).reshape(count, -1)

    def of_states(self, states: MotionStates, told: Callable[[], None] = lambda: None) -> np.ndarray:
        """Features (S, F) of a field's own states; `told` is called now and then, and may raise to stop."""
        parts = []
        for start in range(0, len(states), _CHUNK):
            told()
            part = slice(start, start + _CHUNK)
            parts.append(self.features(states.poses[part], states.velocities[part]))
        return np.concatenate(parts)

    @cached_property
    def _order(self) -> tuple[np.ndarray, list[tuple[slice, np.ndarray]]]:
        """The bones that count and those they hang on, upper ones first, and by depth: which they are, and their parents."""
        counted = np.flatnonzero((self.positions > 0) | (self.velocities > 0))
        chains = {int(bone): len(self.skeleton.ancestors(int(bone))) for bone in counted}
        for bone in counted:
            for above in self.skeleton.ancestors(int(bone)):
                chains[above] = len(self.skeleton.ancestors(above))
        bones = np.array(sorted(chains, key=lambda bone: (chains[bone], bone)), np.intp)
        depths = np.array([chains[int(bone)] for bone in bones])
        place = np.full(self.skeleton.bone_count, -1)
        place[bones] = np.arange(len(bones))
        levels = []
        for depth in range(1, int(depths.max()) + 1):
            first, last = np.searchsorted(depths, [depth, depth + 1])
            levels.append((slice(first, last), place[self.skeleton.parents[bones[first:last]]]))
        return bones, levels

    @cached_property
    def _terms(self) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Of positions and of velocities: which of the ordered bones count, and their weights (n, 1)."""
        bones = self._order[0]

        def counted(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            chosen = np.flatnonzero(weights[bones] > 0)
            return chosen, weights[bones[chosen], None].astype(np.float32)

        return counted(self.positions * np.float32(_POSITIONS)), counted(self.velocities)

    def _joints(self, poses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """Places (3, n, 2 Q) of the ordered bones of poses and, behind them, of those that they are led to, in the frame
        that bone 0 is in, which may turn but stays where it is."""
        bones, levels = self._order
        count = len(poses)
        parts = np.concatenate([poses, velocities]).transpose(1, 2, 0).take(bones, axis=1)
        world = np.zeros((4, 4, len(bones), 2 * count), np.float32)
        world[:3, :3] = _matrices(parts[3:])
        world[:3, :3, :, count:] = np.einsum("ijbq,jkbq->ikbq", world[:3, :3, :, :count], world[:3, :3, :, count:])
        world[:3, 3] = parts[:3] if self.places is None else self.places[:, bones, None]
        if self.places is None:
            world[:3, 3, :, count:] += parts[:3, :, :count]
        world[:3, 3, 0] = 0
        world[3, 3] = 1
        for level, parents in levels:
            world[:3, :, level] = np.einsum("ijbq,jkbq->ikbq", world[:3].take(parents, axis=2), world[:, :, level])
        return world[:3, 3]


def _matrices(q: np.ndarray) -> np.ndarray:
    """Rotation matrices (3, 3, ...) of unit quaternions (4, ...)."""
    products = q[:, None] * q
    return np.matmul(_OF_PRODUCTS, products.reshape(16, -1)).reshape(3, 3, *q.shape[1:])


def position_weights(skeleton: Skeleton, roles: Roles) -> np.ndarray:
    """The notebook's weights (B,) of positions by role, so that they suit any skeleton: feet count most, arms hardly."""
    weights = np.zeros(skeleton.bone_count, np.float32)
    for bone in range(skeleton.bone_count):
        above = skeleton.ancestors(bone)
        if roles.spine in above and above.index(roles.spine) < _REACH:
            weights[bone] = _BEYOND
    for bone in skeleton.ancestors(roles.spine):
        if roles.hips in skeleton.ancestors(bone):
            weights[bone] = _SPINE
    weights[roles.spine] = _CHEST
    weights[roles.hips] = _HIPS
    for leg in roles.legs:
        for part, weight in _LEG.items():
            weights[getattr(leg, part)] = weight
    return weights


def similarity_weights(distances: np.ndarray) -> np.ndarray:
    """Weights (..., k) by inverse squared distance (..., k), adding up to one."""
    weights = 1.0 / (distances * distances + np.float32(_SMALLEST))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights


class Neighbours:
    """Exact k nearest of S states by their features (S, F), three to a term whose lengths add up to the distance.

    States that are alike lie in blocks. By the triangle inequality a state is no nearer to a query than its distance from
    the middle of its block differs from that of the query, and a sum over some of the terms is never more than the whole:
    first the middles are looked at, then the states left over in the terms that tell most, and few in all. Queries that are
    asked together are looked for around their middle: what is near to one of them is no further from there than that and
    its own way there. So those that are alike are best asked together.
    """

    _WIDER = 1.5  # times as many states as are asked for are looked at for those of different stretches
    _FIRST = 16  # terms that tell most
    _BLOCK, _GROUP = 16, 256
    _SEEDS = 64  # states beside the 2 k that the first bound comes from
    _TOGETHER = 16  # queries that are looked for around one place
    _MOST = 12_000  # distances of them all; queries that need more are unlike and go alone
    _ROUNDING = np.float32(1e-5)  # of sums in another order

    def __init__(
        self, features: np.ndarray, among: np.ndarray | None = None, followed: np.ndarray | None = None
    ) -> None:
        """Of all states, or only those `among` (S,) which neighbours are to be found.

        `followed` (S,) says of which states the next one is that of the next tick; see `nearest`.
        """
        self._ids = None if among is None or among.all() else np.flatnonzero(among)
        if followed is not None and self._ids is not None:
            followed = followed[self._ids[:-1]] & (np.diff(self._ids) == 1)
        self._followed = followed
        terms = (features if self._ids is None else features[self._ids]).reshape(-1, features.shape[1] // 3, 3)
        self._count, self._order = len(terms), _by_contribution(terms)
        self._states = _blocks(terms[:, self._order[: self._FIRST]].reshape(self._count, -1), self._GROUP, self._BLOCK)
        self._places = np.empty(self._count, np.intp)
        self._places[self._states[: self._count]] = np.arange(self._count)
        # components before terms, so that one row is one read
        self._whole = terms[self._states].transpose(0, 2, 1).take(self._order, axis=2)
        blocks = self._whole[:, :, : self._FIRST].reshape(-1, self._BLOCK, 3, min(self._FIRST, len(self._order)))
        middles = blocks.mean(axis=1)
        self._aside = _distances(blocks, middles[:, None])
        self._radii = self._aside.max(axis=1)
        self._middles = np.ascontiguousarray(middles.transpose(1, 2, 0))
        self._first = np.ascontiguousarray(blocks).reshape(-1, *blocks.shape[2:])
        # what fills up the last block is no state
        for padded in (self._whole, self._first, self._aside.reshape(-1)):
            padded[self._count :] = np.inf
        self._differences, self._squares = np.empty_like(self._middles), np.empty_like(self._middles[0])

    def nearest(self, features: np.ndarray, k: int, apart: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Indices (Q, k) of the nearest states from the nearest on, and their distances (Q, k).

        With `apart` those of the 3 k / 2 nearest come first that are nearer than the state before and the one after, and
        then the others: the more frames there are, the more of the nearest are a tick apart, and lead to the same. Where
        there are fewer states than k, these are all.
        """
        k = min(k, self._count)
        wide = min(int(self._WIDER * k), self._count) if apart else k
        queries = features.reshape(len(features), -1, 3)[:, self._order].transpose(0, 2, 1).astype(np.float32, order="C")
        indices, distances = np.empty((len(queries), k), np.intp), np.empty((len(queries), k), np.float32)
        for start in range(0, len(queries), self._TOGETHER):
            part = slice(start, start + self._TOGETHER)
            self._nearest(queries[part], wide, indices[part], distances[part])
        return indices if self._ids is None else self._ids[indices], distances

    def _nearest(self, queries: np.ndarray, wide: int, indices: np.ndarray, distances: np.ndarray) -> None:
        """The same for queries (Q, 3, terms) that lie around one place, of the `wide` nearest."""
        left = self._around(queries, wide)
        if left is None:
            for q in range(len(queries)):
                self._nearest(queries[q : q + 1], wide, indices[q : q + 1], distances[q : q + 1])
            return
        exact = _distances(self._whole.take(self._places[left], axis=0), queries[:, None])
        k = indices.shape[1]
        rank = self._ranked(exact, left, wide) if wide > k else exact
        order = rank.argsort(axis=1, kind="stable")[:, :k]
        indices[:] = left[order]
        distances[:] = np.take_along_axis(exact, order, axis=1)

    def _ranked(self, exact: np.ndarray, left: np.ndarray, wide: int) -> np.ndarray:
        """Distances (Q, n) of the states `left` (n,), greater for those that are not to come first of the `wide` nearest."""
        assert self._followed is not None
        beside = self._followed[left[:-1]] & (np.diff(left) == 1)
        nearer = exact[:, 1:] < exact[:, :-1]
        reach = np.partition(exact, wide - 1, axis=1)[:, wide - 1 : wide]
        later = exact > reach
        later[:, 1:] |= beside & ~nearer
        later[:, :-1] |= beside & nearer
        return exact + 2 * reach * later

    def _around(self, queries: np.ndarray, k: int) -> np.ndarray | None:
        """States (n,) among which the k nearest of all queries (Q, 3, terms) are, ascending; None where these are unlike."""
        alone = len(queries) == 1
        middle = queries[0] if alone else queries.mean(axis=0)
        away = self._to_middles(middle)
        most = self._reach(queries, middle, away, k)
        if most is None:
            return None
        limits = most + self._ROUNDING * away
        blocks = np.flatnonzero(away - self._radii <= limits)
        bounds = np.abs(self._aside.take(blocks, axis=0) - away.take(blocks)[:, None])
        within = np.flatnonzero(bounds <= limits.take(blocks)[:, None])
        left = (blocks * self._BLOCK).take(within // self._BLOCK) + within % self._BLOCK
        left = left[_distances(self._first.take(left, axis=0), middle[:, : self._FIRST]) <= most]
        if not alone:
            left = left[_distances(self._whole.take(left, axis=0), middle) <= most]
            if len(queries) * len(left) > self._MOST:
                return None
        return np.sort(self._states[left])

    def _reach(self, queries: np.ndarray, middle: np.ndarray, away: np.ndarray, k: int) -> np.float32 | None:
        """How far from the middle of queries the k nearest of each are at most; None where these are unlike.

        What is found in the blocks whose middles are the least `away` (blocks,) tells.
        """
        nearest = _smallest(away, (2 * k + self._SEEDS) // self._BLOCK + 1)
        seeds = self._whole.reshape(-1, self._BLOCK, *self._whole.shape[1:]).take(nearest, axis=0)
        seeds = seeds.reshape(-1, *self._whole.shape[1:])
        if len(queries) > 1:
            seeds = seeds[_smallest(_distances(seeds, middle), 2 * k)]
        reach = np.partition(_distances(seeds, queries[:, None]), k - 1, axis=1)[:, k - 1]
        if len(queries) > 1:
            aside = _distances(queries, middle)
            if aside.max() > reach.max():
                return None
            reach += aside
        return reach.max() * (1 + self._ROUNDING)

    def _to_middles(self, place: np.ndarray) -> np.ndarray:
        """Distances (blocks,) of a place (3, terms) to the middles of blocks, in the first terms."""
        d = np.subtract(self._middles, place[:, : self._FIRST, None], out=self._differences)
        square = np.einsum("ijk,ijk->jk", d, d, out=self._squares)
        return np.add.reduce(np.sqrt(square, out=square), axis=0)


def _blocks(points: np.ndarray, group: int, block: int) -> np.ndarray:
    """An order of points (N, D), each once, in which those that are alike lie in blocks; the last is repeated to fill one."""
    order = kd_order(points, group, block)
    once = order[np.sort(np.unique(order, return_index=True)[1])]
    return np.pad(once, (0, -len(once) % block), mode="edge")


def _distances(states: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Distances (...) of features (..., 3, terms)."""
    d = states - queries
    square = np.einsum("...ij,...ij->...j", d, d)
    return np.einsum("...j->...", np.sqrt(square, out=square))


def _smallest(values: np.ndarray, count: int) -> np.ndarray:
    """Where the smallest (count,) of values (n,) are, in no order; all where there are no more."""
    return np.arange(len(values)) if count >= len(values) else values.argpartition(count - 1)[:count]


def _by_contribution(terms: np.ndarray) -> np.ndarray:
    """Terms (T,) of features (S, T, 3) in the order of what they add to the distance of two states drawn at random."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, len(terms), (2, 2000))
    return np.argsort(-np.linalg.norm(terms[a] - terms[b], axis=-1).mean(axis=0), kind="stable")
