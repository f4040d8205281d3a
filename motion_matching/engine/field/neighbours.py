"""Which motion states are alike: similarity metric, exact k nearest neighbours, similarity weights (notebook 003)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..matching.database import Database
from ..maths.kd_order import kd_order
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
# a rotation matrix among 4 x 4 zeros, row by row, of the products ww wi wj wk, iw ii ij ik, ... of a unit quaternion's parts
_OF_PRODUCTS = np.pad(
    np.array(
        [
            [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1],
            [0, 0, 0, -2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            [0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, 2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            [1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1],
            [0, -2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0],
            [0, 0, -2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0],
            [0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0],
            [1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1],
        ],
        np.float32,
    ).reshape(3, 3, 16),
    ((0, 1), (0, 1), (0, 0)),
).reshape(16, 16)


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
        return cls(
            database.skeleton,
            database.fps,
            positions,
            (positions > 0).astype(np.float32),
            places=places,
        )

    @classmethod
    def default(cls, database: Database) -> Metric:
        """The same weights with the places that bones have, and with the root's velocity and turn."""
        positions = position_weights(database.skeleton, database.roles)
        moving = (positions > 0).astype(np.float32)
        return cls(database.skeleton, database.fps, positions, moving, _ROOT_VELOCITY, _TURN)

    def features(self, poses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """Features (Q, F), three for each term of the distance, of states (Q, 7, B) whose bone 0 rests at the origin."""
        to, away_from, weights = self._terms
        counted, by_root = len(to), self.root_velocity > 0 or self.turn > 0
        terms = np.zeros((3, counted + 2 * by_root, len(poses)), np.float32)
        places = self._joints(poses, velocities)
        np.subtract(places.take(to, axis=1), places.take(away_from, axis=1), out=terms[:, :counted])
        terms[:, :counted] *= weights
        if by_root:
            step, rate = root_step(velocities).T, self.fps / _RATE
            np.multiply(step[:2], self.root_velocity * rate, out=terms[:2, counted])
            np.multiply(step[2], self.turn * rate, out=terms[0, counted + 1])
        return terms.transpose(2, 1, 0).reshape(len(poses), -1)

    def of_states(
        self, states: MotionStates, told: Callable[[], None] = lambda: None
    ) -> np.ndarray:
        """Features (S, F) of a field's own states; `told` is called now and then, and may raise to stop."""
        parts = []
        for start in range(0, len(states), _CHUNK):
            told()
            part = slice(start, start + _CHUNK)
            parts.append(self.features(states.poses[part], states.velocities[part]))
        return np.concatenate(parts)

    @cached_property
    def _bones(self) -> np.ndarray:
        """The bones (n,) that count and those they hang on, bone 0 first and then by depth."""
        counted = np.flatnonzero((self.positions > 0) | (self.velocities > 0)).tolist()
        bones = {
            0,
            *counted,
            *(above for bone in counted for above in self.skeleton.ancestors(bone)),
        }
        return np.array(
            sorted(bones, key=lambda bone: (len(self.skeleton.ancestors(bone)), bone)), np.intp
        )

    @cached_property
    def _parts(self) -> np.ndarray:
        """Where the bones (2 n,) are in a pose with its velocity behind it, each of them in both."""
        return np.stack([self._bones, self.skeleton.bone_count + self._bones], axis=1).ravel()

    @cached_property
    def _chains(self) -> list[tuple[int, np.ndarray]]:
        """For 1, 2, 4, ... bones up, as far as any chain goes: from which of the bones' places on, each bone having two,
        as it is and as it is led to, such a bone is there, and where its own is."""
        bones = self._bones.tolist()
        chains = [self.skeleton.ancestors(bone) for bone in bones]
        result = []
        for up in (1 << step for step in range(len(chains[-1]).bit_length())):
            first = next(place for place, chain in enumerate(chains) if len(chain) >= up)
            above = np.array([bones.index(chain[up - 1]) for chain in chains[first:]])
            result.append((2 * first, (2 * above[:, None] + [0, 1]).ravel()))
        return result

    @cached_property
    def _terms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Between which of the bones' places terms are, and their weights (T, 1): places from bone 0, which is at the
        origin, and motions from what a bone is to where it is led."""
        positions, velocities = (
            self.positions[self._bones] * _POSITIONS,
            self.velocities[self._bones] * (self.fps / _RATE),
        )
        placed, moving = np.flatnonzero(positions > 0), np.flatnonzero(velocities > 0)
        to, away_from = (2 * placed, 2 * moving + 1), (np.zeros_like(placed), 2 * moving)
        weights = np.concatenate([positions[placed], velocities[moving]]).astype(np.float32)
        return np.concatenate(to), np.concatenate(away_from), weights[:, None]

    def _joints(self, poses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """Places (3, 2 n, Q) of the bones, of each as it is and as it is led to, in the frame that bone 0 is in, which may
        turn but stays where it is.

        Chains are multiplied by pointer doubling: each step joins what two bones make of twice as many.
        """
        parts = (
            np.concatenate([poses, velocities], axis=2).transpose(1, 2, 0).take(self._parts, axis=1)
        )
        world = _matrices(parts[3:])
        turns, places = world[:3, :3], world[:3, 3]
        turns[:, :, 1::2] = np.einsum("ijbq,jkbq->ikbq", turns[:, :, ::2], turns[:, :, 1::2])
        if self.places is None:
            places[:] = parts[:3]
            places[:, 1::2] += places[:, ::2]
        else:
            places[:] = self.places.take(self._bones, axis=1).repeat(2, axis=1)[..., None]
        places[:, :2] = 0
        world[3, 3] = 1
        for first, above in self._chains:
            world[:3, :, first:] = np.einsum(
                "ijbq,jkbq->ikbq", world[:3].take(above, axis=2), world[:, :, first:]
            )
        return places


def _matrices(q: np.ndarray) -> np.ndarray:
    """Rotation matrices among zeros (4, 4, ...) of unit quaternions (4, ...)."""
    products = q[:, None] * q
    return np.matmul(_OF_PRODUCTS, products.reshape(16, -1)).reshape(4, 4, *q.shape[1:])


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
    weights /= np.add.reduce(weights, axis=-1, keepdims=True)
    return weights


class Neighbours:
    """Exact k nearest of S states by their features (S, F), three to a term whose lengths add up to the distance.

    A sum of vectors is never longer than these are together: where terms that differ alike are summed, as those of a foot
    and its toe, few sums are nearly as far apart as all the terms. States that are alike lie in blocks, and by the triangle
    inequality a state is no nearer to a query than its distance from the middle of its block differs from that of the
    query. So first the middles are looked at, then the sums of the states left over, and few states in all terms. Queries
    that are asked together are looked for around their middle: what is near to one of them is no further from there than
    that and its own way there. So those that are alike are best asked together. One thread at a time: a query works in
    arrays kept for it.
    """

    _WIDER = (
        1.5  # times as many states as are asked for are looked at for those of different stretches
    )
    _SUMS = 8  # of terms, in which bounds are
    _BLOCK, _GROUP = 16, 256  # states in a block, and in what is halved to get there
    _SEEDS = 64  # states beside 2 k of them that the first bound comes from
    _TOGETHER = 16  # queries that are looked for around one place
    _MOST = 30_000  # distances of them all; queries that need more are unlike and go alone
    _ROUNDING = 1e-5  # of sums in another order

    def __init__(
        self,
        features: np.ndarray,
        among: np.ndarray | None = None,
        followed: np.ndarray | None = None,
    ) -> None:
        """Of all states, or only those `among` (S,) which neighbours are to be found.

        `followed` (S,) says of which states the next one is that of the next tick; see `nearest`.
        """
        self._ids = None if among is None or among.all() else np.flatnonzero(among)
        if followed is not None and self._ids is not None:
            followed = np.append(followed[self._ids[:-1]] & (np.diff(self._ids) == 1), False)
        self._next = (
            None if followed is None else np.where(followed, np.arange(1, len(followed) + 1), -1)
        )
        some = features if self._ids is None else features[self._ids]
        # components before terms, so that one row is one read
        terms = np.ascontiguousarray(some.reshape(len(some), -1, 3).transpose(0, 2, 1))
        self._count = len(terms)
        self._signs = _signs_of_sums(terms, self._SUMS)
        sums = terms @ self._signs
        self._states = _blocks(sums.reshape(self._count, -1), self._GROUP, self._BLOCK)
        self._rows = np.arange(len(self._states)).reshape(-1, self._BLOCK)
        self._whole, self._sums = terms[self._states], sums[self._states]
        blocks = self._sums.reshape(-1, self._BLOCK, *sums.shape[1:])
        middles = blocks.mean(axis=1)
        self._aside = _distances(blocks, middles[:, None])
        self._radii = self._aside.max(axis=1)
        self._middles = np.ascontiguousarray(middles.transpose(1, 2, 0))
        # sums are as exact as what is summed is large
        self._slack = self._ROUNDING * float(
            np.abs(terms).sum(axis=(1, 2)).max() + self._radii.max()
        )
        # what fills up the last block is no state
        for padded in (self._whole, self._sums, self._aside.reshape(-1)):
            padded[self._count :] = np.inf
        self._differences, self._squares = (
            np.empty_like(self._middles),
            np.empty_like(self._middles[0]),
        )

    def nearest(
        self, features: np.ndarray, k: int, apart: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Indices (Q, k) of the nearest states from the nearest on, and their distances (Q, k).

        With `apart` those of the 3 k / 2 nearest come first that are nearer than the state before and the one after, and
        then the others: the more frames there are, the more of the nearest are a tick apart, and lead to the same. Where
        there are fewer states than k, these are all.
        """
        k = min(k, self._count)
        queries = (
            features.reshape(len(features), -1, 3).transpose(0, 2, 1).astype(np.float32, order="C")
        )
        indices, distances = (
            np.empty((len(queries), k), np.intp),
            np.empty((len(queries), k), np.float32),
        )
        for start in range(0, len(queries), self._TOGETHER):
            part = slice(start, start + self._TOGETHER)
            self._nearest(queries[part], apart, indices[part], distances[part])
        return indices if self._ids is None else self._ids.take(indices), distances

    def _nearest(
        self, queries: np.ndarray, apart: bool, indices: np.ndarray, distances: np.ndarray
    ) -> None:
        """The same for queries (Q, 3, terms), together where they lie around one place."""
        if len(queries) == 1 or apart or not self._together(queries, indices, distances):
            for query, states, of_states in zip(queries, indices, distances, strict=True):
                states[:], of_states[:] = self._alone(query, len(states), apart)

    def _alone(self, query: np.ndarray, k: int, apart: bool) -> tuple[np.ndarray, np.ndarray]:
        """The same for one query (3, terms): states (k,) and distances (k,)."""
        wide = min(int(self._WIDER * k), self._count) if apart else k
        place = query @ self._signs
        away = self._to_middles(place)
        blocks = self._nearest_blocks(away, wide)
        seeds = self._rows.take(blocks, axis=0).ravel()
        exact = _distances_of(self._whole, seeds, query)
        reach = np.partition(exact, wide - 1)[wide - 1]
        away[blocks] = np.inf  # these are known
        others = self._within(place, away, float(reach))
        exact = np.concatenate([exact, _distances_of(self._whole, others, query)])
        reach = np.partition(exact, wide - 1)[wide - 1]
        among = (exact <= reach).nonzero()[0]
        states = self._states.take(np.concatenate([seeds, others]).take(among))
        ascending = states.argsort()
        states, exact = states.take(ascending), exact.take(among.take(ascending))
        rank = self._ranked(states, exact, reach) if wide > k else exact
        order = rank.argsort(kind="stable")[:k]
        return states.take(order), exact.take(order)

    def _together(self, queries: np.ndarray, indices: np.ndarray, distances: np.ndarray) -> bool:
        """The same for queries (Q, 3, terms), if they are alike."""
        k = indices.shape[1]
        middle = queries.sum(axis=0) / np.float32(len(queries))
        place = middle @ self._signs
        away = self._to_middles(place)
        seeds = self._whole.take(
            self._rows.take(self._nearest_blocks(away, k), axis=0).ravel(), axis=0
        )
        reach = self._reach(seeds[_smallest(_distances(seeds, middle), 2 * k)], queries, k)
        aside = _distances(queries, middle)
        if aside.max() > reach.max():
            return False
        rows = self._within(place, away, float((reach + aside).max()))
        rows = rows.take(self._states.take(rows).argsort())
        states = self._whole.take(rows, axis=0)
        from_middle = _distances(states, middle)
        # nearer ones than the seeds are known by now
        reach = self._reach(states[_smallest(from_middle, 2 * k)], queries, k) * (
            1 + self._ROUNDING
        )
        query, state = np.nonzero(from_middle <= (reach + aside * (1 + self._ROUNDING))[:, None])
        if len(query) > self._MOST:
            return False
        near = _distances(
            self._sums.take(rows.take(state), axis=0), (queries @ self._signs).take(query, axis=0)
        )
        possible = near <= reach.take(query) + self._slack
        query, state = query[possible], state[possible]
        exact = np.full((len(queries), len(rows)), np.inf, np.float32)
        exact[query, state] = _distances(states.take(state, axis=0), queries.take(query, axis=0))
        kept = np.flatnonzero(np.bincount(state, minlength=len(rows)))
        order = kept.take(exact.take(kept, axis=1).argsort(axis=1, kind="stable")[:, :k])
        indices[:] = self._states.take(rows.take(order))
        distances[:] = np.take_along_axis(exact, order, axis=1)
        return True

    def _ranked(self, states: np.ndarray, exact: np.ndarray, reach: np.float32) -> np.ndarray:
        """Distances (n,) of states (n,) up to a reach, beyond it for those no nearer than the one before or after."""
        assert self._next is not None
        pairs = (self._next.take(states[:-1]) == states[1:]).nonzero()[0]
        further = pairs + (exact.take(pairs) <= exact.take(pairs + 1))
        rank = exact.copy()
        rank[further] = exact.take(further) + 2 * reach
        return rank

    def _nearest_blocks(self, away: np.ndarray, k: int) -> np.ndarray:
        """The blocks whose middles are the least `away` (blocks,), of 2 k states or more."""
        return _smallest(away, (2 * k + self._SEEDS) // self._BLOCK + 1)

    def _reach(self, seeds: np.ndarray, queries: np.ndarray, k: int) -> np.ndarray:
        """How far the k nearest of each query (Q,) are at most, as some states tell."""
        distances = _distances(seeds, queries[:, None])
        distances.partition(k - 1, axis=1)
        return distances[:, k - 1]

    def _within(self, place: np.ndarray, away: np.ndarray, most: float) -> np.ndarray:
        """Rows (n,) that may be so near to a place whose sums (3, sums) are so far `away` (blocks,) from the middles."""
        limit = most * (1 + self._ROUNDING) + self._slack
        blocks = (away - self._radii <= limit).nonzero()[0]
        bounds = self._aside.take(blocks, axis=0)
        bounds -= away.take(blocks)[:, None]
        within = (np.abs(bounds, out=bounds) <= limit).ravel().nonzero()[0]
        left = self._rows.take(blocks, axis=0).ravel().take(within)
        return left[_distances_of(self._sums, left, place) <= limit]

    def _to_middles(self, place: np.ndarray) -> np.ndarray:
        """Distances (blocks,) of the sums (3, sums) of a place to the middles of blocks."""
        d = np.subtract(self._middles, place[:, :, None], out=self._differences)
        square = np.einsum("ijk,ijk->jk", d, d, out=self._squares)
        return np.add.reduce(np.sqrt(square, out=square), axis=0)


def _blocks(points: np.ndarray, group: int, block: int) -> np.ndarray:
    """An order of points (N, D) in which those that are alike lie in blocks; the last one is repeated to fill its block."""
    order = kd_order(points, group, block)
    once = order[np.sort(np.unique(order, return_index=True)[1])]
    return np.pad(once, (0, -len(once) % block), mode="edge")


def _distances(states: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Distances (...) of features (..., 3, terms)."""
    return _lengths(states - queries)


def _distances_of(features: np.ndarray, rows: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Distances (n,) of some rows of features (S, 3, terms) to a query."""
    d = features.take(rows, axis=0)
    d -= query
    return _lengths(d)


def _lengths(d: np.ndarray) -> np.ndarray:
    """Sums (...) of the lengths of all terms (..., 3, terms)."""
    square = np.einsum("...ij,...ij->...j", d, d)
    return np.einsum("...j->...", np.sqrt(square, out=square))


def _smallest(values: np.ndarray, count: int) -> np.ndarray:
    """Where the smallest (count,) of values (n,) are, in no order; all where there are no more."""
    return (
        np.arange(len(values)) if count >= len(values) else values.argpartition(count - 1)[:count]
    )


def _signs_of_sums(terms: np.ndarray, count: int) -> np.ndarray:
    """With which sign each of the terms (S, 3, T) is in which sum (T, count), or 0: those are joined that differ alike,
    so that least is lost of the distances of states drawn at random."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, len(terms), (2, 100))
    parts = (terms[a] - terms[b]).transpose(0, 2, 1)
    signs = np.eye(parts.shape[1], dtype=np.float32)
    while len(signs) > count:
        squares = (parts * parts).sum(axis=2)
        apart, products = (
            squares[:, :, None] + squares[:, None],
            2 * parts @ parts.transpose(0, 2, 1),
        )
        joined = np.sqrt(np.maximum([apart + products, apart - products], 0)).mean(axis=1)
        lengths = np.sqrt(squares).mean(axis=0)
        lost = lengths[:, None] + lengths - joined
        lost[:, np.arange(len(signs)), np.arange(len(signs))] = np.inf
        opposed, one, other = np.unravel_index(lost.argmin(), lost.shape)
        sign = np.float32(-1 if opposed else 1)
        parts[:, one] += sign * parts[:, other]
        signs[one] += sign * signs[other]
        parts, signs = np.delete(parts, other, axis=1), np.delete(signs, other, axis=0)
    return np.ascontiguousarray(signs.T)
