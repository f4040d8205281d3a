"""Actions: blends of neighbours that each favour one of them (notebook 003, Greedy action
selection).
"""

from __future__ import annotations

import numpy as np


def compute_action_weights(weights: np.ndarray) -> np.ndarray:
    """Return the weights (..., k, k) of one action per neighbour, from similarity weights (..., k).

    Action i raises the weight of neighbour i to 1, leaves the others, and scales all to the sum 1.
    """
    actions = np.maximum(weights[..., None, :], np.eye(weights.shape[-1], dtype=weights.dtype))
    actions /= np.add.reduce(actions, axis=-1, keepdims=True)
    return actions
