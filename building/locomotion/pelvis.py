"""Compute the height of the pelvis over the legs that carry it, and motion without an aim.

The height is the smooth curve nearest to the heights that the loaded legs give.

Source: measured walks and runs. In a walk the knee strikes nearly straight, yields by 15 to 20
degrees, straightens again and folds before the toes leave (Winter 1991; Perry and Burnfield 2010),
so that the body vaults over it and rises and falls by 3 to 5 cm. In a run it lands bent and yields
to 50 degrees; between two steps the body falls freely, 8 to 10 cm up and down (Novacheck 1998).
Sideways the pelvis sways by 4 to 5 cm over the standing leg, less at speed (Orendurff et al. 2004),
drops on the swinging side by 4 to 5 degrees as a leg takes up its load, and turns by 4 to 9 degrees
to each side (Inman, Ralston and Todd 1981); in a run it rocks three times a stride (Schache et al.
1999).
"""

from __future__ import annotations

import numpy as np

from motion_matching.engine.maths.easing import smootherstep

from .feet import Foot

Array = np.ndarray

GRAVITY = 9.81
_STIFFNESS = 0.033  # seconds over which the height may not follow the legs
# weights, in loaded legs: of the height that the lower leg would give, even in flight, and of what
# a leg gains at each pass in which it cannot reach the ground
_CAREFUL, _OVERSTRETCHED = 0.03, 0.5
_FLOOR = 0.2  # seconds over which the ground is levelled between two steps
_STANDING_KNEE = np.radians(7.0)
_STEP = 1.0  # seconds: a longer stance is standing


def smooth(values: Array, seconds: float, rate: float) -> Array:
    """Smooth along time by a Gaussian with a deviation in seconds; ends are repeated."""
    from scipy.ndimage import gaussian_filter1d  # loads in 0.15 s

    return gaussian_filter1d(values, seconds * rate, axis=0, mode="nearest")


def generate_wander(times: Array, rng: np.random.Generator) -> Array:
    """Draw a slow aimless signal (F,) from about -1 to 1."""
    frequencies, phases = rng.uniform(0.05, 0.3, 4), rng.uniform(0.0, 2.0 * np.pi, 4)
    return 0.5 * np.sum(np.sin(2.0 * np.pi * times[:, None] * frequencies + phases), axis=-1)


def generate_resting_leg(times: Array, rng: np.random.Generator) -> Array:
    """Draw which leg a person at ease rests on (F,), from the left one at 1 to the right one at -1.

    The weight shifts every few seconds, as in unconstrained standing (Duarte and Zatsiorsky 1999).
    """
    holds = np.cumsum(rng.uniform(2.2, 4.5, int(times[-1] / 2.2) + 2)) - rng.uniform(0.0, 2.0)
    side = rng.uniform(0.3, 1.0, len(holds) + 1) * rng.choice([-1.0, 1.0])
    side[1::2] *= -1.0
    number = np.searchsorted(holds, times)
    begun = np.append(-np.inf, holds)[number]
    before = side[np.maximum(number - 1, 0)]
    return before + (side[number] - before) * smootherstep((times - begun) / 1.6)


def compute_knee_bend(foot: Foot, pace: Array, running: Array) -> Array:
    """Return the bend of the knee (F,) in radians of a leg that bears its load."""
    share = np.clip(foot.since / foot.stance_duration, 0.0, 1.0)
    left = np.clip(foot.until / foot.stance_duration, 0.0, 1.0)
    stepping = smootherstep((1.3 * _STEP - foot.since - foot.until) / (0.5 * _STEP))
    yielding = np.sin(np.pi * np.clip(share / 0.6, 0.0, 1.0)) ** 2
    # in a fast walk the knee stays bent, so that the body bobs no more
    brisk = np.clip(pace - 1.0, 0.0, 0.8) * np.sin(np.pi * share) ** 2
    folding = np.clip(1.0 - left / 0.25, 0.0, 1.0) ** 2
    walk = np.radians(8.0 + 15.0 * np.minimum(pace, 1.4) * yielding + 18.0 * brisk + 20.0 * folding)
    yielding_run = 35.0 + 8.0 * np.clip(pace - 2.5, -0.5, 1.5)
    run = np.radians(15.0 + yielding_run * np.sin(np.pi * np.clip(share / 0.95, 0.0, 1.0)))
    return _STANDING_KNEE + stepping * (walk + running * (run - walk) - _STANDING_KNEE)


def compute_floor(feet: tuple[Foot, Foot], rate: float) -> Array:
    """Return the smooth height (F,) of the ground under a body between its feet.

    In the middle of a stance it is that of the foot that stands: the other foot is halfway.
    """
    return smooth(0.5 * (feet[0].floor + feet[1].floor), _FLOOR, rate)


def solve_pelvis_height(
    heights: list[Array], load: list[Array], limits: list[Array], running: Array, rate: float
) -> Array:
    """Return the smooth height (F,) nearest to the `heights` of the loaded legs, below all limits.

    `heights` and `load` (0 to 1) belong to the legs; `limits` are their reach and other bounds,
    (F,) each. Minimises the sum of loads times squared differences, and of squared accelerations
    relative to free fall when a runner has no leg on the ground.
    """
    limit = np.min(limits, axis=0) - 0.002
    weight = np.sum(load, axis=0) + _CAREFUL
    target = np.sum([w * np.minimum(h, limit) for w, h in zip(load, heights, strict=True)], axis=0)
    target += _CAREFUL * np.minimum(limit, np.minimum(*heights))
    fall = -GRAVITY * running * (1.0 - np.clip(weight, 0.0, 1.0))
    height = _solve_smoothest_curve(weight, target, fall, rate)
    held = np.zeros_like(height)
    for _ in range(4):
        held += _OVERSTRETCHED * np.clip((height - limit) / 0.01, 0.0, 1.0)
        height = _solve_smoothest_curve(weight + held, target + held * limit, fall, rate)
    return height - _compute_envelope(height - limit - 0.002, rate)


def _solve_smoothest_curve(weight: Array, target: Array, acceleration: Array, rate: float) -> Array:
    """Return the h (F,) of least weight h^2 - 2 target h and squares of h'' - acceleration."""
    from scipy.linalg import solveh_banded  # loads in 0.15 s

    stiffness = _STIFFNESS**4 * rate**4
    count = len(weight)
    inner = np.zeros(count)
    inner[1:-1] = 1.0
    bands = np.zeros((3, count))  # D'D of second differences D, upper form
    bands[2] = weight + stiffness * (4.0 * inner + np.roll(inner, 1) + np.roll(inner, -1))
    bands[1, 1:] = -2.0 * stiffness * (inner[1:] + inner[:-1])
    bands[0, 2:] = stiffness * inner[1:-1]
    bent = inner * acceleration / rate**2
    pull = -2.0 * bent + np.roll(bent, 1) + np.roll(bent, -1)
    return solveh_banded(bands, target + stiffness * pull)


def _compute_envelope(excess: Array, rate: float) -> Array:
    """Return a smooth curve (F,) that is nowhere below `excess` or zero."""
    from scipy.ndimage import maximum_filter1d  # loads in 0.15 s

    radius = max(1, round(0.1 * rate))
    highest = maximum_filter1d(np.maximum(excess, 0.0), 2 * radius + 1, mode="nearest")
    window = np.hanning(2 * radius + 3)[1:-1]
    return np.convolve(np.pad(highest, radius, mode="edge"), window / window.sum(), mode="valid")
