"""How jumps fade, and what they are priced with: numbers no user changes."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class BlendingNumbers:
    """Lengths and times are those of people."""

    # fading
    most_steps: int = tune(60, "1", "of Newton's method, which needs about six")
    precise: float = tune(
        1e-13, "1", "share of a time by which the last step moves it: floats hold little more"
    )
    shortest_fade: float = tune(
        1e-5, "s", "that a cubic takes at least: far below a tick, and division stays exact"
    )
    far: float = tune(
        700.0, "1", "times a spring's time constant, after which floats hold nothing of it"
    )
    small_turn: float = tune(
        0.05,
        "rad",
        "below, the rotation vector hardly affects its velocity, and dividing by it is noise",
    )
    faded: float = tune(
        5e-4, "1", "metres or radians, and the same per second: half a millimetre is not seen"
    )
    least_acceleration: float = tune(
        1.0, "m/s²", "a bone that hardly moves in the data may fade this hard: chosen by eye"
    )
    least_turn_acceleration: float = tune(10.0, "rad/s²", "the same of its turn: chosen by eye")
    # the price of a jump
    price_halflife: float = tune(
        0.1, "s", "of the springs that jumps are priced with, as *Blending* is by default"
    )
    price_nodes: int = tune(
        6, "1", "of Gauss-Laguerre quadrature, for the way that a fade goes: chosen by eye"
    )
    slide_price: float = tune(
        2.0,
        "1",
        "times its displacement on the ground, that a standing toe costs too: chosen by eye",
    )
    contact_price: float = tune(
        0.01, "m·s", "of each contact that begins or ends at the jump: chosen by eye"
    )
    jumps_at_once: int = tune(
        512, "1", "measured together: a long take has very many, which would fill the memory"
    )
    # leaps of played motion
    leap_reach: float = tune(
        0.1,
        "s",
        "around a leap, within which poses are evened out, less and less: a third of a swing",
    )
    leap_passes: int = tune(
        12, "1", "of evening out a leap at most: what is left then stays (by eye)"
    )


NUMBERS = BlendingNumbers()
