"""Price a jump between two frames by how far, and for how long, joints are off their motion.

Source: Holden, Inertialization Transition Cost, with distances in space instead of along axes.
"""

from __future__ import annotations

import numpy as np

from ..maths.springs import halflife_to_rate
from .numbers import NUMBERS

HALFLIFE = NUMBERS.price_halflife
RATE = float(halflife_to_rate(HALFLIFE))
_NODES, _SHARES = np.polynomial.laguerre.laggauss(NUMBERS.price_nodes)


def compute_left(t: np.ndarray) -> np.ndarray:
    """Return the share of an offset that is left t (...) seconds after a jump."""
    return np.asarray(np.exp(-RATE * t) * (1.0 + RATE * t))


def compute_prices(
    offset: np.ndarray, velocity: np.ndarray, weights: np.ndarray, left: np.ndarray, to: np.ndarray
) -> np.ndarray:
    """Return the prices (...) of jumps in metre-seconds.

    Offsets (..., K, 3) in metres and their velocities are of joints, toes first; `weights` (K,);
    contacts (..., L) of the toes in the frames `left`, and in the frames jumped `to`.
    The length of exp(-y t) (x + (v + y x) t) is integrated by Gauss-Laguerre quadrature.
    """
    slope = velocity / RATE + offset
    xx, xs, ss = (
        np.einsum("...i,...i->...", a, b)
        for a, b in ((offset, offset), (offset, slope), (slope, slope))
    )
    area = np.zeros_like(xx)
    for node, share in zip(_NODES.astype(xx.dtype), _SHARES.astype(xx.dtype), strict=True):
        square = np.maximum(xx + 2.0 * node * xs + node * node * ss, 0.0)
        area += share * np.sqrt(square, out=square)
    price = area @ weights / RATE
    # a toe that stands on both sides is dragged by all of its offset, one that changes by half
    stands = left.astype(offset.dtype) + to
    toes = offset[..., : left.shape[-1], :2]
    by = NUMBERS.slide_price / RATE
    dragged = np.sqrt(np.einsum("...i,...i->...", toes, toes)) * by * stands
    return np.asarray(price + (dragged + NUMBERS.contact_price * (left != to)).sum(axis=-1))
