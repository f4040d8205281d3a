"""Advance a pose through the field by one tick: actions blend its neighbours and draw it to one."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..maths.rotations import component_quat
from .states import poses as algebra
from .states.states import MotionStates, compute_root_step

_AT_REST = np.array([0, 0, 0, 1, 0, 0, 0], np.float32)


class Step(NamedTuple):
    """The results of A actions: poses and velocities (..., A, 7, B) and root steps (..., A, 3).

    Poses are in the frame of the character after the tick: bone 0 rests at the origin. `root` is
    the step of the tick in the axes of the character before it: metres along x and y, and radians
    of turn.
    """

    pose: np.ndarray
    velocity: np.ndarray
    root: np.ndarray

    def select(self, action: int) -> Step:
        """Return the results of one action, of those at one pose."""
        return Step(*(part[action] for part in self))


def compute_action_weights(weights: np.ndarray) -> np.ndarray:
    """Return the weights (..., k, k) of one action per neighbour, from similarity weights (..., k).

    Action i raises neighbour i to 1, leaves the others, and scales all to the sum 1 (notebook 003).
    """
    actions = np.maximum(weights[..., None, :], np.eye(weights.shape[-1], dtype=weights.dtype))
    actions /= np.add.reduce(actions, axis=-1, keepdims=True)
    return actions


def integrate(
    states: MotionStates, pose: np.ndarray, indices: np.ndarray, weights: np.ndarray, drift: float
) -> Step:
    """Return the results of A actions at poses (..., 7, B) whose bone 0 rests at the origin.

    `indices` (..., k) are the neighbours of each pose, `weights` (..., A, k) those of its actions.
    With drift δ the result is interpolated by δ toward where the most weighted neighbour goes: v' =
    (1-δ) Σ aᵢvᵢ ⊕ δ((x̄ ⊕ v̄) ⊖ x), and the next velocity is (1-δ) Σ aᵢyᵢ ⊕ δȳ. Interpolation
    commutes with rotation, so x ⊕ v' lies at δ between x ⊕ Σ aᵢvᵢ and x̄ ⊕ v̄. Source: notebook
    003, Integration function and drift correction.
    """
    result = algebra.blend(states.motions.take(indices, axis=0), weights)
    result[..., 0, :, :] = algebra.add_joints(pose[..., None, :, :], result[..., 0, :, :])
    if drift > 0.0:
        most = weights.argmax(axis=-1)
        is_one = indices.ndim == 1
        favoured = indices[most] if is_one else np.take_along_axis(indices, most, axis=-1)
        pull = states.motions.take(favoured, axis=0)
        pull[..., 0, :, :] = states.next_poses.take(favoured, axis=0)
        result = algebra.interpolate(result, pull, drift)
    next_pose = result[..., 0, :, :]
    velocity = result[..., 1, :, :]
    root = compute_root_step(next_pose)
    next_pose[..., 0] = _AT_REST
    return Step(next_pose, velocity, root)


def keep_momentum(
    states: MotionStates,
    step: Step,
    before: tuple[np.ndarray, np.ndarray],
    indices: np.ndarray,
    weights: np.ndarray,
    shares: np.ndarray,
) -> Step:
    """Return the step of one action with shares (B,) of the motion that was going on.

    `before` are the pose and velocity (7, B) so far, the action blends states `indices` (k,) by
    `weights` (k,). So a change of action fades instead of leaping. The blended clips' own changes
    within the tick are not delayed: the returned velocity goes on like theirs.
    """
    pose, velocity = before
    own = place_root(algebra.subtract_joints(step.pose, pose), step.root)
    both = np.empty((2, *own.shape), np.float32)
    moved, later = both
    np.add(own, shares * (velocity - own), out=moved)
    parts = weights @ states.motions.take(indices, axis=0).reshape(len(weights), -1)
    first, second = parts.reshape(both.shape)
    np.add(moved, second - first, out=later)
    component_quat.normalize(both[:, 3:])
    next_pose = algebra.add_joints(pose, moved)
    next_pose[:, 0] = _AT_REST
    return Step(next_pose, later, compute_root_step(moved))


def place_root(pose: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Return a pose (7, B) with bone 0 where a step of the root (3,) leads."""
    x, y, turn = root.tolist()
    result = pose.copy()
    result[:, 0] = x, y, 0.0, math.cos(0.5 * turn), 0.0, 0.0, math.sin(0.5 * turn)
    return result
