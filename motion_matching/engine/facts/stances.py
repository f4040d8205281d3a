"""Rate frames as stances: upright, even, at ease and ordinary poses are best.

One score chooses the pose to hold where no data stands, the idles to play, and the start of a
character. It needs no names of bones, and works for bodies without arms and for animals.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..database.database import Database
from ..maths.along_time import MOMENT, count_frames
from ..maths.rotations import quat
from .character import measure_character_legs
from .numbers import NUMBERS
from .postures import find_arms, measure_leg


class _FrameTable:
    """Values that depend on single frames (F,) of a motion, computed once for each frame."""

    def __init__(self, frame_count: int, compute: Callable[[np.ndarray], np.ndarray]) -> None:
        self._compute = compute
        # rows by frame, -1 for unknown ones; one attribute, because threads share the table
        none = np.zeros(0, np.intp)
        self._known = np.full(frame_count, -1, np.int32), compute(none)

    def get(self, frames: np.ndarray) -> np.ndarray:
        """Return the values of frames (F,), computing missing ones."""
        places, rows = self._known
        unknown = np.unique(frames[places[frames] < 0])
        if len(unknown):
            places = places.copy()
            places[unknown] = np.arange(len(rows), len(rows) + len(unknown))
            rows = np.concatenate([rows, self._compute(unknown)])
            self._known = places, rows
        return np.asarray(rows[places[frames]])


class StanceScore:
    """Rates poses of a database as stances.

    `frames` (F,) are a sample of the frames from which play can go on, with `costs` (F,), best
    first. Lengths are in legs of the body, straightness is relative to its own straightest.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._legs = database.derive(measure_character_legs)
        skeleton = database.skeleton
        roles = database.roles
        lengths = np.linalg.norm(np.asarray(database.poses[0, :3]), axis=0)
        own = [measure_leg(skeleton, leg, lengths) for leg in roles.legs]
        self._leg = max(float(np.mean(own)) if own else 1.0, 1e-6)
        self._arms = [
            (shoulder, hand, _measure_chain(skeleton.parents, lengths, shoulder, hand))
            for shoulder, hand in find_arms(skeleton, roles, lengths, self._leg)
        ]
        frames = np.flatnonzero(_are_followed(database))
        frames = frames[:: max(-(-len(frames) // NUMBERS.most_frames), 1)]
        costs = self._recall(len(frames))
        if costs is None:
            joints = compute_joints(database, frames)
            self._measure_usual(frames, joints)
            costs = self.rate(frames, joints)
        order = np.argsort(costs, kind="stable")
        self.frames = frames[order]
        self.costs = costs[order]
        self._costs, self._carriages, self._joints = (
            _FrameTable(database.frame_count, compute)
            for compute in (self._rate_frames, self._measure_carriage, self._compute_joints)
        )

    def _recall(self, count: int) -> np.ndarray | None:
        """Return the stored costs (count,) of the frames, with what is usual; None without them."""
        legs = len(self._database.roles.legs)
        bones = self._database.skeleton.bone_count
        usual = self._database.get_fact("stance_usual", 1 + legs + 3 * bones)
        if usual is not None:
            self._tall = usual.item(0)
            self._stretched = usual[1 : 1 + legs]
            self._median = usual[1 + legs :].reshape(bones, 3).astype(np.float32)
            self._pairs = self._pair_joints()
        return None if usual is None else self._database.get_fact("stance_costs", count)

    def to_facts(self) -> dict[str, list[float]]:
        """Return what is stored of it with a database."""
        usual = [self._tall, *self._stretched.tolist(), *self._median.ravel().tolist()]
        return {
            "stance_usual": usual,
            "stance_costs": self.costs[np.argsort(self.frames)].tolist(),
        }

    def _measure_usual(self, frames: np.ndarray, joints: np.ndarray) -> None:
        """Measure how upright and how stretched this body gets, and where its joints are."""
        if not len(frames):
            joints = np.zeros((1, *joints.shape[1:]), np.float32)
            frames = np.zeros(1, np.intp)
        self._tall = float(np.percentile(joints[:, self._database.roles.hips, 2], NUMBERS.tall))
        self._median = np.median(joints, axis=0)
        self._pairs = self._pair_joints()
        bends = self._measure_bends(joints)
        planted = np.asarray(self._database.contacts)[frames]
        self._stretched = np.array(
            [
                np.percentile(bend[stands] if stands.any() else bend, NUMBERS.stretched)
                for bend, stands in zip(bends.T, planted.T, strict=True)
            ]
        )

    def find_least(self, database: Database) -> float:
        """Return the cost of the best stance that the tags of a database of this motion allow."""
        costs = self.costs[np.asarray(database.playable)[self.frames]]
        return float(costs[0]) if len(costs) else 0.0

    def list_best(self, margin: float, database: Database) -> np.ndarray:
        """Return the frames (K,) whose costs are within a margin of the best one's, best first."""
        allowed = np.asarray(database.playable)[self.frames]
        return self.frames[allowed & (self.costs <= self.find_least(database) + margin)]

    def rate_frames(self, frames: np.ndarray) -> np.ndarray:
        """Return the costs (F,) of frames as stances."""
        return self._costs.get(frames)

    def measure_carriage(self, frames: np.ndarray) -> np.ndarray:
        """Return how low the hips are, and how far from them a hand is over the ground (F, 2).

        Both are in legs.
        """
        return self._carriages.get(frames)

    def compute_joints(self, frames: np.ndarray) -> np.ndarray:
        """Return where the bones (F, B, 3) of frames are, as the character sees them."""
        return self._joints.get(frames)

    def _rate_frames(self, frames: np.ndarray) -> np.ndarray:
        return self.rate(frames, self._compute_joints(frames))

    def _compute_joints(self, frames: np.ndarray) -> np.ndarray:
        return compute_joints(self._database, frames)

    def rate(self, frames: np.ndarray, joints: np.ndarray) -> np.ndarray:
        """Return the costs (F,) of frames as stances, whose joints are at (F, B, 3)."""
        flaws = self.measure(frames, joints)
        return np.asarray(
            sum(getattr(NUMBERS, f"stance_{name}") * flaw for name, flaw in flaws.items())
        )

    def measure(self, frames: np.ndarray, joints: np.ndarray) -> dict[str, np.ndarray]:
        """Return the size of each flaw (F,) of the poses, by the names of the weights."""
        none = np.zeros(len(frames))
        roles = self._database.roles
        ankles = joints[:, [leg.foot for leg in roles.legs], 2]
        raised = np.maximum(ankles - np.array([leg.foot_height for leg in self._legs]), 0.0)
        away = np.linalg.norm(joints - self._median, axis=-1)[:, 1:]
        bent = np.maximum(self._measure_bends(joints) - self._stretched, 0.0)
        return {
            "low": self._measure_lowness(joints[:, roles.hips]),
            "bent": bent.max(axis=1) if roles.legs else none,
            "raised": raised.max(axis=1) / self._leg if roles.legs else none,
            "flung": self._measure_arms(joints),
            "uneven": self._measure_unevenness(joints),
            "rare": away.mean(axis=1) / self._leg,
            "quick": measure_calmness(self._database, frames) / self._database.pace,
        }

    def _measure_carriage(self, frames: np.ndarray) -> np.ndarray:
        bones = [self._database.roles.hips, *(hand for _, hand, _ in self._arms)]
        poses = np.asarray(self._database.poses)[frames]
        joints = self._database.skeleton.compute_bone_positions(bones, poses, root=0)
        away = np.linalg.norm((joints - joints[:, :1])[..., :2], axis=-1)
        return np.stack([self._measure_lowness(joints[:, 0]), away.max(axis=1) / self._leg], axis=1)

    def _measure_lowness(self, hips: np.ndarray) -> np.ndarray:
        """Return how far hips (F, 3) are below their upright height, in legs."""
        return np.asarray(np.maximum(self._tall - hips[:, 2], 0.0) / self._leg)

    def _measure_arms(self, joints: np.ndarray) -> np.ndarray:
        """Return how far the farther hand (F,) is from its hanging place, in arms."""
        hands = [
            np.linalg.norm(joints[:, hand] - joints[:, shoulder] + [0.0, 0.0, length], axis=-1)
            / length
            for shoulder, hand, length in self._arms
        ]
        return np.asarray(np.max(hands, axis=0) if hands else np.zeros(len(joints)))

    def _measure_bends(self, joints: np.ndarray) -> np.ndarray:
        """Return how far each knee (F, L) is from straight, in radians."""
        thighs, shins, feet = (
            joints[:, [getattr(leg, part) for leg in self._database.roles.legs]]
            for part in ("thigh", "shin", "foot")
        )
        upper = quat.normalize_vectors(shins - thighs)
        lower = quat.normalize_vectors(feet - shins)
        return np.asarray(np.arccos(np.clip(np.sum(upper * lower, axis=-1), -1.0, 1.0)))

    def _pair_joints(self) -> np.ndarray:
        """Return the joints (2, P) of legs and arms, each with that of the other side.

        Names do not matter. Joints in the middle of the trunk are their own counterparts.
        """
        skeleton = self._database.skeleton
        roles = self._database.roles
        head = roles.spine if roles.head is None else roles.head
        trunk = skeleton.get_chain_to_root(head)[:-1]
        sides: dict[bool, list[list[int]]] = {False: [], True: []}
        for leg in roles.legs:
            if leg.side:
                sides[leg.side == "L"].append([leg.thigh, leg.shin, leg.foot, leg.toe])
        for shoulder, hand, _ in self._arms:
            chain = skeleton.get_chain_to_root(hand)
            arm = chain[: chain.index(shoulder) + 1]
            sides[bool(self._median[hand, 0] > self._median[roles.hips, 0])].append(arm)
        pairs = [(bone, bone) for bone in trunk]
        for left, right in zip(sides[True], sides[False], strict=False):
            pairs += [*zip(left, right, strict=False), *zip(right, left, strict=False)]
        return np.array(pairs, np.intp).T

    def _measure_unevenness(self, joints: np.ndarray) -> np.ndarray:
        """Return how far joints (F, B, 3) are from their mirror image about the hips, in legs."""
        seen = joints - joints[:, [self._database.roles.hips]] * [1.0, 0.0, 0.0]
        own, other = self._pairs
        away = seen[:, own] - seen[:, other] * [-1.0, 1.0, 1.0]
        return np.asarray(np.sqrt(np.sum(away**2, axis=-1).mean(axis=1)) / self._leg)


def _measure_chain(parents: np.ndarray, lengths: np.ndarray, first: int, last: int) -> float:
    """Return the length of a chain of bones below its first joint."""
    result = 0.0
    bone = last
    while bone != first:
        result = result + float(lengths[bone])
        bone = int(parents[bone])
    return max(result, 1e-6)


def _are_followed(database: Database) -> np.ndarray:
    """Return the frames (N,) that two others follow, whatever their tags."""
    after = database.followers
    return np.asarray((after >= 0) & (after[after] >= 0))


def find_followed(database: Database) -> np.ndarray:
    """Return the playable frames (N,) that two more follow, which a field needs."""
    after = database.successors
    return np.asarray(database.playable & (after >= 0) & (after[after] >= 0))


def compute_joints(database: Database, frames: np.ndarray) -> np.ndarray:
    """Return where the bones (F, B, 3) of frames are, as the character sees them."""
    poses = np.asarray(database.poses)
    parents = database.skeleton.parents
    result = np.empty((len(frames), poses.shape[2], 3), np.float32)
    for start in range(0, len(frames), NUMBERS.frames_at_once):
        local = poses[frames[start : start + NUMBERS.frames_at_once]]
        local[:, :, 0] = [0, 0, 0, 1, 0, 0, 0]
        result[start : start + NUMBERS.frames_at_once] = quat.compute_world(local, parents)[1]
    return result


def measure_calmness(database: Database, frames: np.ndarray) -> np.ndarray:
    """Return the mean speed (F,) of the bones in m/s from each frame to a moment after it."""
    later = frames
    ticks = np.zeros(len(frames))
    for _ in range(count_frames(database.fps, MOMENT * min(database.pace, 1.0))):
        after = database.followers[later]
        later = np.where(after < 0, later, after)
        ticks = ticks + (after >= 0)
    now, then = (compute_joints(database, at) for at in (frames, later))
    way = np.linalg.norm(then - now, axis=-1)[:, 1:].mean(axis=1)
    return np.asarray(way * database.fps / np.maximum(ticks, 1))
