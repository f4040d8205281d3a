"""Tuned numbers for fading and pricing jumps; no user changes them."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class BlendingNumbers:
    """Lengths and times are those of people."""

    # fading
    most_steps: int = tune(60, "1", "of Newton's method, which needs about six")
    precise: float = tune(1e-13, "1", "of a time, moved by the last step: floats hold little more")
    shortest_fade: float = tune(1e-5, "s", "of a cubic: far below a tick, and division stays exact")
    far: float = tune(700.0, "1", "time constants of a spring, after which floats hold nothing")
    small_turn: float = tune(0.05, "rad", "a smaller rotation vector hardly affects its velocity")
    faded: float = tune(5e-4, "1", "metres or radians, and per second: nobody sees less")
    least_acceleration: float = tune(1.0, "m/s²", "of bones that hardly move in the data: by eye")
    least_turn_acceleration: float = tune(10.0, "rad/s²", "the same of its turn: chosen by eye")
    # the price of a jump
    price_halflife: float = tune(0.1, "s", "of the springs of prices, as *Blending* is by default")
    price_nodes: int = tune(6, "1", "of Gauss-Laguerre quadrature of a fade's way: by eye")
    slide_price: float = tune(2.0, "1", "times its displacement, for a toe that stands: by eye")
    contact_price: float = tune(0.01, "m·s", "of each contact that a jump begins or ends: by eye")
    jumps_at_once: int = tune(512, "1", "of a long take, not to fill the memory")
    # leaps of played motion
    leap_reach: float = tune(0.1, "s", "around a leap, in which poses are evened out: by eye")
    leap_passes: int = tune(12, "1", "that even out a leap at most; a rest then stays: by eye")


NUMBERS = BlendingNumbers()
