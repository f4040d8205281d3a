"""Strategies of hypothesis for what many properties are about: rotations, vectors, random numbers.

A test draws few numbers; large arrays come from a generator that a drawn seed starts, as drawing
them one by one takes long.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from motion_matching.engine.maths.rotations import quat


def make_generators() -> st.SearchStrategy[np.random.Generator]:
    """Return generators of random numbers, for arrays too large to be drawn one by one."""
    return st.integers(0, 2**31).map(np.random.default_rng)


def make_vectors(count: int, most: float = 10.0) -> st.SearchStrategy[np.ndarray]:
    """Return arrays (count, 3) of float64."""
    number = st.floats(-most, most, width=32)
    numbers = st.lists(number, min_size=3 * count, max_size=3 * count)
    return numbers.map(lambda drawn: np.array(drawn, np.float64).reshape(count, 3))


def make_quaternions(count: int) -> st.SearchStrategy[np.ndarray]:
    """Return arrays (count, 4) of unit quaternions, also of no turn, half turns and tiny ones."""
    number = st.sampled_from([0.0, 1.0, -1.0, 1e-6]) | st.floats(-1.0, 1.0, width=32)
    four = st.tuples(number, number, number, number).filter(lambda q: np.linalg.norm(q) > 1e-3)
    quats = st.lists(four, min_size=count, max_size=count)
    return quats.map(lambda drawn: quat.normalize(np.array(drawn, np.float64)))
