"""Compare motion states: metric, exact nearest neighbours, weights (notebook 003)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...body.rig import Roles
from ...database.database import Database
from ...maths.kd_order import kd_order
from ...skeleton.skeleton import Skeleton
from ..numbers import NUMBERS
from .states import MotionStates, compute_root_step

_GIVEN_RATE = 30.0  # velocities count in metres per 1/30 s at any frame rate
_LEG = {
    "thigh": NUMBERS.thigh_weight,
    "shin": NUMBERS.shin_weight,
    "foot": NUMBERS.foot_weight,
    "toe": NUMBERS.foot_weight,
}
_SMALLEST = 1e-12  # m², so that a state at distance zero has a weight
# a rotation matrix among 4 x 4 zeros, row by row, of a unit quaternion's products ww wi wj wk, ...
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
    """Weighted positions of bones and their motions within 1/30 s, in the character's frame.

    As all of a field, it is in body units.

    The distance of two states in metres is the sum over bones of the distances of their positions
    and of their motions, with weights (B,). Motions of bones include the turn of the character but
    not where it goes; both also count on their own, with `root_velocity` and `turn` (a weight times
    a lever in metres). `fixed_positions` (3, B) in the parents' frames replace those of the poses.
    """

    skeleton: Skeleton
    fps: float
    positions: np.ndarray
    velocities: np.ndarray
    root_velocity: float = NUMBERS.root_velocity_weight
    turn: float = NUMBERS.turn_lever
    fixed_positions: np.ndarray | None = None

    @classmethod
    def from_notebook(cls, database: Database) -> Metric:
        """Return the notebook's metric: local positions of the first frame, and no root motion."""
        database = database.in_body_units
        fixed = np.array(database.poses[0, :3])
        fixed[:, 0] = 0
        usual = cls.from_database(database)
        return replace(usual, root_velocity=0.0, turn=0.0, fixed_positions=fixed)

    @classmethod
    def from_database(cls, database: Database) -> Metric:
        """Return the same weights with each pose's positions, and the root's velocity and turn."""
        database = database.in_body_units
        positions = compute_position_weights(database.skeleton, database.roles)
        moving = (positions > 0).astype(np.float32)
        return cls(database.skeleton, database.fps, positions, moving)

    def compute_features(self, poses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """Return features (Q, F), three per term, of states (Q, 7, B) with bone 0 at the origin."""
        to, away_from, weights = self._terms
        counted = len(to)
        by_root = self.root_velocity > 0 or self.turn > 0
        terms = np.zeros((3, counted + 2 * by_root, len(poses)), np.float32)
        joints = self._compute_joints(poses, velocities)
        np.subtract(joints.take(to, axis=1), joints.take(away_from, axis=1), out=terms[:, :counted])
        terms[:, :counted] *= weights
        if by_root:
            step = compute_root_step(velocities).T
            rate = self.fps / _GIVEN_RATE
            np.multiply(step[:2], self.root_velocity * rate, out=terms[:2, counted])
            np.multiply(step[2], self.turn * rate, out=terms[0, counted + 1])
        return terms.transpose(2, 1, 0).reshape(len(poses), -1)

    def compute_state_features(
        self, states: MotionStates, check_cancelled: Callable[[], None] = lambda: None
    ) -> np.ndarray:
        """Return features (S, F) of a field's own states; `check_cancelled` may raise to stop."""
        parts = []
        for start in range(0, len(states), NUMBERS.states_at_once):
            check_cancelled()
            part = slice(start, start + NUMBERS.states_at_once)
            parts.append(self.compute_features(states.poses[part], states.velocities[part]))
        return np.concatenate(parts)

    @cached_property
    def _bones(self) -> np.ndarray:
        """The bones (n,) with weights and their ancestors, bone 0 first and then by depth."""
        get_ancestors = self.skeleton.get_ancestors
        counted = np.flatnonzero((self.positions > 0) | (self.velocities > 0)).tolist()
        bones = {0, *counted, *(above for bone in counted for above in get_ancestors(bone))}
        return np.array(sorted(bones, key=lambda bone: (len(get_ancestors(bone)), bone)), np.intp)

    @cached_property
    def _parts(self) -> np.ndarray:
        """The indices (2 n,) of the bones in a pose followed by its velocity, each bone in both."""
        return np.stack([self._bones, self.skeleton.bone_count + self._bones], axis=1).ravel()

    @cached_property
    def _chains(self) -> list[tuple[int, np.ndarray]]:
        """For 1, 2, 4, ... bones up: the first index with such an ancestor, and the ancestors."""
        bones = self._bones.tolist()
        chains = [self.skeleton.get_ancestors(bone) for bone in bones]
        result = []
        for up in (1 << step for step in range(len(chains[-1]).bit_length())):
            first = next(index for index, chain in enumerate(chains) if len(chain) >= up)
            above = np.array([bones.index(chain[up - 1]) for chain in chains[first:]])
            result.append((2 * first, (2 * above[:, None] + [0, 1]).ravel()))
        return result

    @cached_property
    def _terms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The two indices between which each term is measured, and the weights (T, 1) of the terms.

        Positions are measured from bone 0 at the origin, motions from before to after the tick.
        """
        positions = self.positions[self._bones] * NUMBERS.position_weight
        velocities = self.velocities[self._bones] * (self.fps / _GIVEN_RATE)
        placed = np.flatnonzero(positions > 0)
        moving = np.flatnonzero(velocities > 0)
        to = np.concatenate([2 * placed, 2 * moving + 1])
        away_from = np.concatenate([np.zeros_like(placed), 2 * moving])
        weights = np.concatenate([positions[placed], velocities[moving]]).astype(np.float32)
        return to, away_from, weights[:, None]

    def _compute_joints(self, poses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """Return the positions (3, 2 n, Q) of the bones, each before and after the tick.

        Bone 0 may turn but stays at the origin. Chains are multiplied by pointer doubling: each
        step joins chains into ones of twice the length.
        """
        parts = (
            np.concatenate([poses, velocities], axis=2).transpose(1, 2, 0).take(self._parts, axis=1)
        )
        world = _compute_matrices(parts[3:])
        turns = world[:3, :3]
        positions = world[:3, 3]
        turns[:, :, 1::2] = np.einsum("ijbq,jkbq->ikbq", turns[:, :, ::2], turns[:, :, 1::2])
        if self.fixed_positions is None:
            positions[:] = parts[:3]
            positions[:, 1::2] += positions[:, ::2]
        else:
            positions[:] = self.fixed_positions.take(self._bones, axis=1).repeat(2, axis=1)[
                ..., None
            ]
        positions[:, :2] = 0
        world[3, 3] = 1
        for first, above in self._chains:
            world[:3, :, first:] = np.einsum(
                "ijbq,jkbq->ikbq", world[:3].take(above, axis=2), world[:, :, first:]
            )
        return positions


def _compute_matrices(q: np.ndarray) -> np.ndarray:
    """Return rotation matrices, padded with zeros (4, 4, ...), of unit quaternions (4, ...)."""
    products = q[:, None] * q
    return np.matmul(_OF_PRODUCTS, products.reshape(16, -1)).reshape(4, 4, *q.shape[1:])


def compute_position_weights(skeleton: Skeleton, roles: Roles) -> np.ndarray:
    """Return the notebook's weights (B,) of positions by role: feet count most, arms hardly."""
    weights = np.zeros(skeleton.bone_count, np.float32)
    for bone in range(skeleton.bone_count):
        above = skeleton.get_ancestors(bone)
        if roles.spine in above and above.index(roles.spine) < NUMBERS.arm_bones:
            weights[bone] = NUMBERS.beyond_chest_weight
    for bone in skeleton.get_ancestors(roles.spine):
        if roles.hips in skeleton.get_ancestors(bone):
            weights[bone] = NUMBERS.spine_weight
    weights[roles.spine] = NUMBERS.chest_weight
    weights[roles.hips] = NUMBERS.hips_weight
    for leg in roles.legs:
        for part, weight in _LEG.items():
            weights[getattr(leg, part)] = weight
    return weights


def measure_distances(features: np.ndarray, here: np.ndarray) -> np.ndarray:
    """Return how far features (S, F) are from others (1, F): the sum of the lengths of terms."""
    terms = (features - here).reshape(len(features), -1, 3)
    return np.asarray(np.linalg.norm(terms, axis=-1).sum(axis=-1))


def compute_similarity_weights(distances: np.ndarray) -> np.ndarray:
    """Return weights (..., k) by inverse squared distance (..., k), which add up to one."""
    weights = 1.0 / (distances * distances + np.float32(_SMALLEST))
    weights /= np.add.reduce(weights, axis=-1, keepdims=True)
    return weights


class Neighbours:
    """Exact k nearest neighbours of S states by features (S, F), three to a term.

    The distance is the sum of the lengths of all terms. A sum of vectors is never longer than their
    total length: where terms that vary together are summed, as those of a foot and its toe, the
    distance by few sums is a close lower bound of the whole. Similar states lie in blocks, and by
    the triangle inequality a state's distance from a query is at least the difference of their
    distances from the block's center. So a query checks first the centers, then the sums of the
    remaining states, and few states in all terms. Similar queries in one call are searched around
    their mean, which is faster. Use it from one thread at a time: queries share work arrays.
    """

    _ROUNDING = 1e-5  # relative error of sums in another order

    def __init__(
        self,
        features: np.ndarray,
        among: np.ndarray | None = None,
        followed: np.ndarray | None = None,
    ) -> None:
        """Index all states, or only those `among` (S,).

        `followed` (S,): states whose next state is that of the next tick; see `find_nearest`.
        """
        self._ids = None if among is None or among.all() else np.flatnonzero(among)
        if followed is not None and self._ids is not None:
            followed = np.append(followed[self._ids[:-1]] & (np.diff(self._ids) == 1), False)
        self._next: np.ndarray | None = None
        if followed is not None:
            self._next = np.where(followed, np.arange(1, len(followed) + 1), -1)
        some = features if self._ids is None else features[self._ids]
        # components before terms, so that one row is one read
        terms = np.ascontiguousarray(some.reshape(len(some), -1, 3).transpose(0, 2, 1))
        self._count = len(terms)
        self._signs = _choose_sum_signs(terms, NUMBERS.bound_sums)
        sums = terms @ self._signs
        # blocks of similar states; the last is filled up
        block = NUMBERS.block_states
        order = kd_order(sums.reshape(self._count, -1), NUMBERS.group_states, block)
        once = order[np.sort(np.unique(order, return_index=True)[1])]
        self._states = np.pad(once, (0, -len(once) % block), mode="edge")
        self._rows = np.arange(len(self._states)).reshape(-1, block)
        self._whole = terms[self._states]
        self._sums = sums[self._states]
        blocks = self._sums.reshape(-1, block, *sums.shape[1:])
        middles = blocks.mean(axis=1)
        self._center_distances = _sum_lengths(blocks - middles[:, None])
        self._radii = self._center_distances.max(axis=1)
        self._centers = np.ascontiguousarray(middles.transpose(1, 2, 0))
        # the error of sums grows with their terms
        largest = np.abs(terms).sum(axis=(1, 2)).max() + self._radii.max()
        self._slack = self._ROUNDING * float(largest)
        # padding of the last block is no state
        for padded in (self._whole, self._sums, self._center_distances.reshape(-1)):
            padded[self._count :] = np.inf
        self._differences = np.empty_like(self._centers)
        self._squares = np.empty_like(self._centers[0])

    def find_nearest(
        self, features: np.ndarray, k: int, apart: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices (Q, k) of the nearest states in order, and their distances (Q, k).

        With `apart`, states among the 3 k / 2 nearest that are nearer than the states before and
        after them come first: the higher the frame rate, the more of the nearest are a tick apart
        and lead to the same. If there are fewer than k states, all are returned.
        """
        count = len(features)
        k = min(k, self._count)
        queries = features.reshape(count, -1, 3).transpose(0, 2, 1).astype(np.float32, order="C")
        indices = np.empty((count, k), np.intp)
        distances = np.empty((count, k), np.float32)
        for start in range(0, count, NUMBERS.queries_at_once):
            part = slice(start, start + NUMBERS.queries_at_once)
            some = queries[part]
            found = (indices[part], distances[part])
            if len(some) > 1 and not apart and self._fill_together(some, *found):
                continue
            for query, states, away in zip(some, *found, strict=True):
                states[:], away[:] = self._find_for_one(query, k, apart)
        return indices if self._ids is None else self._ids.take(indices), distances

    def _find_for_one(
        self, query: np.ndarray, k: int, apart: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return states (k,) and distances (k,) for one query (3, terms)."""
        wide = min(int(NUMBERS.wider_times * k), self._count) if apart else k
        sums = query @ self._signs
        away = self._measure_to_centers(sums)
        blocks = self._find_nearest_blocks(away, wide)
        seeds = self._rows.take(blocks, axis=0).ravel()
        exact = _compute_row_distances(self._whole, seeds, query)
        reach = np.partition(exact, wide - 1)[wide - 1]
        away[blocks] = np.inf  # these are known
        others = self._find_rows_within(sums, away, float(reach))
        exact = np.concatenate([exact, _compute_row_distances(self._whole, others, query)])
        reach = np.partition(exact, wide - 1)[wide - 1]
        among = (exact <= reach).nonzero()[0]
        states = self._states.take(np.concatenate([seeds, others]).take(among))
        ascending = states.argsort()
        states = states.take(ascending)
        exact = exact.take(among.take(ascending))
        rank = self._rank(states, exact, reach) if wide > k else exact
        order = rank.argsort(kind="stable")[:k]
        return states.take(order), exact.take(order)

    def _fill_together(
        self, queries: np.ndarray, indices: np.ndarray, distances: np.ndarray
    ) -> bool:
        """Fill the results of queries (Q, 3, terms) if similar; return whether they are."""
        k = indices.shape[1]
        middle = queries.sum(axis=0) / np.float32(len(queries))
        sums = middle @ self._signs
        away = self._measure_to_centers(sums)
        blocks = self._find_nearest_blocks(away, k)
        seeds = self._whole.take(self._rows.take(blocks, axis=0).ravel(), axis=0)
        nearest = seeds[_find_smallest(_sum_lengths(seeds - middle), 2 * k)]
        reach = self._bound_reach(nearest, queries, k)
        aside = _sum_lengths(queries - middle)
        if aside.max() > reach.max():
            return False
        rows = self._find_rows_within(sums, away, float((reach + aside).max()))
        rows = rows.take(self._states.take(rows).argsort())
        states = self._whole.take(rows, axis=0)
        from_middle = _sum_lengths(states - middle)
        # by now, nearer states than the seeds are known
        nearest = states[_find_smallest(from_middle, 2 * k)]
        reach = self._bound_reach(nearest, queries, k) * (1 + self._ROUNDING)
        query, state = np.nonzero(from_middle <= (reach + aside * (1 + self._ROUNDING))[:, None])
        if len(query) > NUMBERS.most_pairs:
            return False
        query_sums = (queries @ self._signs).take(query, axis=0)
        near = _sum_lengths(self._sums.take(rows.take(state), axis=0) - query_sums)
        possible = near <= reach.take(query) + self._slack
        query = query[possible]
        state = state[possible]
        exact = np.full((len(queries), len(rows)), np.inf, np.float32)
        exact[query, state] = _sum_lengths(states.take(state, axis=0) - queries.take(query, axis=0))
        used = np.flatnonzero(np.bincount(state, minlength=len(rows)))
        order = used.take(exact.take(used, axis=1).argsort(axis=1, kind="stable")[:, :k])
        indices[:] = self._states.take(rows.take(order))
        distances[:] = np.take_along_axis(exact, order, axis=1)
        return True

    def _rank(self, states: np.ndarray, exact: np.ndarray, reach: np.float32) -> np.ndarray:
        """Return ranks (n,): distances, raised for states no nearer than an adjacent one."""
        assert self._next is not None
        pairs = (self._next.take(states[:-1]) == states[1:]).nonzero()[0]
        further = pairs + (exact.take(pairs) <= exact.take(pairs + 1))
        rank = exact.copy()
        rank[further] = exact.take(further) + 2 * reach
        return rank

    def _find_nearest_blocks(self, away: np.ndarray, k: int) -> np.ndarray:
        """Return the blocks with the nearest centers, with at least 2 k states."""
        return _find_smallest(away, (2 * k + NUMBERS.bound_seeds) // NUMBERS.block_states + 1)

    def _bound_reach(self, seeds: np.ndarray, queries: np.ndarray, k: int) -> np.ndarray:
        """Return an upper bound (Q,) of the distances of each query's k nearest, by some states."""
        distances = _sum_lengths(seeds - queries[:, None])
        distances.partition(k - 1, axis=1)
        return distances[:, k - 1]

    def _find_rows_within(self, sums: np.ndarray, away: np.ndarray, most: float) -> np.ndarray:
        """Return rows (n,) that may be within a distance of a query, by its sums and centers."""
        limit = most * (1 + self._ROUNDING) + self._slack
        blocks = (away - self._radii <= limit).nonzero()[0]
        bounds = self._center_distances.take(blocks, axis=0)
        bounds -= away.take(blocks)[:, None]
        within = (np.abs(bounds, out=bounds) <= limit).ravel().nonzero()[0]
        left = self._rows.take(blocks, axis=0).ravel().take(within)
        return left[_compute_row_distances(self._sums, left, sums) <= limit]

    def _measure_to_centers(self, sums: np.ndarray) -> np.ndarray:
        """Return the distances (blocks,) of a query's sums (3, sums) from the centers of blocks."""
        d = np.subtract(self._centers, sums[:, :, None], out=self._differences)
        square = np.einsum("ijk,ijk->jk", d, d, out=self._squares)
        return np.add.reduce(np.sqrt(square, out=square), axis=0)


def _compute_row_distances(features: np.ndarray, rows: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Return the distances (n,) of some rows of features (S, 3, terms) from a query."""
    d = features.take(rows, axis=0)
    d -= query
    return _sum_lengths(d)


def _sum_lengths(d: np.ndarray) -> np.ndarray:
    """Return the sums (...) of the lengths of all terms (..., 3, terms)."""
    square = np.einsum("...ij,...ij->...j", d, d)
    return np.einsum("...j->...", np.sqrt(square, out=square))


def _find_smallest(values: np.ndarray, count: int) -> np.ndarray:
    """Return the indices (count,) of the smallest values (n,), unordered; all if no more."""
    if count >= len(values):
        return np.arange(len(values))
    return values.argpartition(count - 1)[:count]


def _choose_sum_signs(terms: np.ndarray, count: int) -> np.ndarray:
    """Return the sign of each of T terms (S, 3, T) in each sum (T, count), or 0.

    Terms that vary together are summed, so that distances between random states lose least.
    """
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, len(terms), (2, 100))
    parts = (terms[a] - terms[b]).transpose(0, 2, 1)
    signs = np.eye(parts.shape[1], dtype=np.float32)
    while len(signs) > count:
        squares = (parts * parts).sum(axis=2)
        separate = squares[:, :, None] + squares[:, None]
        products = 2 * parts @ parts.transpose(0, 2, 1)
        joined = np.sqrt(np.maximum([separate + products, separate - products], 0)).mean(axis=1)
        lengths = np.sqrt(squares).mean(axis=0)
        loss = lengths[:, None] + lengths - joined
        loss[:, np.arange(len(signs)), np.arange(len(signs))] = np.inf
        opposed, one, other = np.unravel_index(loss.argmin(), loss.shape)
        sign = np.float32(-1 if opposed else 1)
        parts[:, one] += sign * parts[:, other]
        signs[one] += sign * signs[other]
        parts = np.delete(parts, other, axis=1)
        signs = np.delete(signs, other, axis=0)
    return np.ascontiguousarray(signs.T)
