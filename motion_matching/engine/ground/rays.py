"""Cast rays onto the ground, as a cursor in a view does."""

from __future__ import annotations

from collections.abc import Sequence

from .ground import Ground, is_flat
from .numbers import NUMBERS

_SHORTEST = 1e-9  # of a ray's way down: less never meets the floor


def cast_ray(
    ground: Ground, origin: Sequence[float], direction: Sequence[float], above: float = 0.0
) -> tuple[float, float, float] | None:
    """Return where a ray from above meets the floor, raised by `above` metres, or None.

    `origin` and `direction` are (x, y, z), the direction of length 1.
    """
    (x, y, z) = origin
    (dx, dy, dz) = direction
    if dz > -_SHORTEST:
        return None
    reach = min((z - above) / -dz, NUMBERS.farthest_ray)
    if is_flat(ground):
        return (
            (x + reach * dx, y + reach * dy, above) if 0.0 < reach < NUMBERS.farthest_ray else None
        )

    def measure_gap(along: float) -> float:
        return z + along * dz - above - ground.height(x + along * dx, y + along * dy)

    reach = min(reach + NUMBERS.deepest_floor / -dz, NUMBERS.farthest_ray)
    looks = (reach * k / NUMBERS.ray_looks for k in range(NUMBERS.ray_looks + 1))
    far = next((along for along in looks if measure_gap(along) <= 0.0), None)
    if not far:  # below the floor already, or never
        return None
    near = far - reach / NUMBERS.ray_looks
    for _ in range(NUMBERS.ray_halvings):
        middle = 0.5 * (near + far)
        near, far = (middle, far) if measure_gap(middle) > 0.0 else (near, middle)
    return x + far * dx, y + far * dy, z + far * dz
