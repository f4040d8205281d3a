"""Tuned numbers for jumps, prices and searches; no user changes them."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class MatchingNumbers:
    """Lengths, times and speeds are those of people."""

    # jumps without pops
    ticks_seen: int = tune(3, "1", "after a jump, looked at for joints that pop: by eye")
    longest_wait: float = tune(0.15, "s", "of a jump that would pop; longer delays answers")
    looked_at: int = tune(64, "1", "nearest frames, for one without leaps: by eye")
    frames_apart: int = tune(2, "1", "frames that are no farther from one that leaps leap as well")
    looked_at_once: int = tune(8, "1", "of these; the first few hardly ever all leap")
    # wishes
    beyond_data: float = tune(0.125, "1", "of a wish's range: at 0 dogs leave paths")
    start_seconds: float = tune(1.0, "s", "after standing: a first step is chosen with care")
    nearest_seconds: float = tune(4.0, "s", "of motion, for a frame to begin with: by eye")
    bearing_every: float = tune(1.0 / 30.0, "s", "nearer frames of a run have the same bearing")
    tagged_frames: int = tune(60_000, "1", "of an own index: a larger one would delay its tick")
    # feet that stand
    support_stands: float = tune(0.05, "m", "a planted foot moves as far before it visibly slides")
    support_reaches: float = tune(
        3.0, "m/s", "that a swing makes up before it lands; 1 to 6 on eight sets slide alike"
    )
    support_gone: float = tune(0.1, "m", "by which a body's ways over a foot differ in one gait")
    # live tempo
    tempo_step: float = tune(0.5, "s", "of people: a body is faster and slower again in each step")
    tempo_change: float = tune(0.5, "1/s", "of the rate: what the director's eases change at most")
    tempo_alike: float = tune(0.03, "1", "strides of a walk differ by this: no change of tempo")
    tempo_other: float = tune(0.06, "1", "a speed that differs by as much is another one")
    tempo_beyond: float = tune(
        0.1, "1", "of a speed that is still missing: other motion is looked for as without a tempo"
    )
    tempo_along: float = tune(20.0, "°", "motion that goes where it is asked to: it does not turn")
    tempo_astray: float = tune(45.0, "°", "motion that still turns takes the time it takes")
    tempo_steady: float = tune(0.9, "1", "of its fastest, a way's slowest: it is gone at one speed")
    tempo_hasty: float = tune(0.7, "1", "the same of a way that starts, stops or changes its gait")
    # decisions that a weight would change
    same_decision: float = tune(1.0 / 3.0, "s", "frames within a step are the same decision")
    flip_ratio: float = tune(16.0, "1", "beyond, a feature counts for nothing or alone")
    flip_ratios: int = tune(65, "1", "tried, twice: to a thousandth of a weight")
    flips_looked_at: int = tune(64, "1", "frames of each look: by eye")
    # prices
    price_counts: tuple[int, ...] = tune((16, 64, 256), "1", "looked at until enough: by eye")
    price_growth: int = tune(4, "1", "times as many each time: few looks")
    # a frame like a pose
    similar_candidates: int = tune(64, "1", "whose whole bodies are compared with a pose: by eye")
    similar_velocities: float = tune(0.1, "s", "of velocity, added to a joint's place: by eye")
    similar_speed: float = tune(0.3, "m/s", "that counts as a feature's typical difference: by eye")
    similar_turn: float = tune(0.6, "rad/s", "that counts as `similar_speed` does: by eye")
    # the search
    block: int = tune(16, "1", "frames in a block, and blocks in a group: by eye")
    blocks_only: int = tune(25_000, "1", "frames up to which one level of boxes beats two")
    first_axes: int = tune(12, "1", "principal axes of the first test of all boxes: chosen by eye")
    first_batch: int = tune(16, "1", "boxes scanned before others have to beat them")
    largest_batch: int = tune(512, "1", "boxes scanned at once: chosen by eye")
    batch_growth: int = tune(8, "1", "times as many boxes each time: few calls, little in vain")
    several_growth: int = tune(4, "1", "the same for several, whose bound falls slower")
    few_boxes: int = tune(64, "1", "scanned together for several nearest frames")
    axes_frames: int = tune(20_000, "1", "for principal axes, so that builds stay short")
    frames_at_once: int = tune(4_096, "1", "whose coordinates stay within the cache")
    # numbers of rounding that decide
    even_tick: float = tune(1e-4, "1", "of a tick, by which seconds of frames are rounded")


NUMBERS = MatchingNumbers()
