"""Separate the joints of performers from cameras and props."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

LIMB = 3  # joints, as of thigh, shin and foot
_FORKS = 2  # joints of a body where limbs part, such as hips and chest; a hand has one
_SHARE = 0.5  # least share of the largest tree's joints for other trees if none is a body


def is_body(parents: np.ndarray) -> bool:
    """Return whether joints, given by their `parents` (B,), are those of a body.

    Limbs part from hips and from a chest. Parents come before their children.
    """
    longest = np.ones(len(parents), dtype=int)  # number of joints in the longest chain down
    limbs = np.zeros(len(parents), dtype=int)
    for joint in range(len(parents) - 1, -1, -1):
        if (parent := int(parents[joint])) >= 0:
            longest[parent] = max(longest[parent], longest[joint] + 1)
            limbs[parent] += longest[joint] >= LIMB
    return int((limbs >= 2).sum()) >= _FORKS


def find_performers(trees: Mapping[str, np.ndarray]) -> list[str]:
    """Return the names of the performers among trees of joints, given by their parents.

    They are the bodies, or without any the largest tree and others that are about as large.
    """
    bodies = [name for name, parents in trees.items() if is_body(parents)]
    if bodies:
        return bodies
    least = _SHARE * max(len(parents) for parents in trees.values())
    return [name for name, parents in trees.items() if len(parents) >= least]
