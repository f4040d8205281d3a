"""One tick through the field: a pose moves as a blend of its neighbours does, and is drawn to the nearest of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import poses as algebra
from .states import MotionStates, root_step

_AT_REST = np.array([0, 0, 0, 1, 0, 0, 0], np.float32)


class Step(NamedTuple):
    """What A actions lead to: poses and velocities (..., A, 7, B), and what the root does (..., A, 3).

    Poses are in the frame of the character after the tick: bone 0 rests at the origin. `root` is the step there, metres to
    x and y in the axes of the character before it, and radians of turn.
    """

    pose: np.ndarray
    velocity: np.ndarray
    root: np.ndarray


def step(
    states: MotionStates, pose: np.ndarray, indices: np.ndarray, weights: np.ndarray, drift: float
) -> Step:
    """The results of A actions at poses (..., 7, B) whose bone 0 rests at the origin.

    indices (..., k) are the neighbours of each pose, weights (..., A, k) those of its actions. With drift δ the result lies
    that part of the way to where the most weighted neighbour goes (notebook 003, Integration function and drift
    correction): v' = (1-δ) Σ aᵢvᵢ ⊕ δ((x̄ ⊕ v̄) ⊖ x), and the next velocity is (1-δ) Σ aᵢyᵢ ⊕ δȳ. As arcs stay arcs
    whatever turns them all, x ⊕ v' lies that part of the way from x ⊕ Σ aᵢvᵢ to x̄ ⊕ v̄.
    The velocity that the pose has now enters through its neighbours alone.
    """
    led = algebra.blend(states.motions.take(indices, axis=0), weights)
    led[..., 0, :, :] = algebra.add_joints(pose[..., None, :, :], led[..., 0, :, :])
    if drift > 0.0:
        most = weights.argmax(axis=-1)
        favoured = (
            indices[most] if indices.ndim == 1 else np.take_along_axis(indices, most, axis=-1)
        )
        pull = states.motions.take(favoured, axis=0)
        pull[..., 0, :, :] = states.next_poses.take(favoured, axis=0)
        led = algebra.interpolate(led, pull, drift)
    result, velocity = led[..., 0, :, :], led[..., 1, :, :]
    root = root_step(result)
    result[..., 0] = _AT_REST
    return Step(result, velocity, root)
