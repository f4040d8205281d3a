"""How motion matching jumps, prices and searches: numbers no user changes."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class MatchingNumbers:
    """Lengths, times and speeds are those of people."""

    # jumps that nothing pops in
    ticks_seen: int = tune(
        3,
        "1",
        "after a jump, that are looked at for joints that pop: most pop in the first (by eye)",
    )
    longest_wait: float = tune(
        0.15, "s", "of a jump for a tick in which nothing pops: with more, answers come late"
    )
    looked_at: int = tune(
        64,
        "1",
        "nearest frames, among which one is looked for at which nothing leaps: chosen by eye",
    )
    frames_apart: int = tune(2, "1", "frames that are no farther from one that leaps leap as well")
    looked_at_once: int = tune(8, "1", "of these; the first few hardly ever all leap")
    # wishes
    beyond_data: float = tune(
        0.125,
        "1",
        "of a wish's range: with none, a dog leaves its path; with more, steps that sway repeat",
    )
    start_seconds: float = tune(
        1.0,
        "s",
        "after standing in which a walk begins, and its first step is chosen with more care",
    )
    nearest_seconds: float = tune(
        4.0, "s", "of the nearest motion, looked at for a frame to begin with: chosen by eye"
    )
    bearing_every: float = tune(
        1.0 / 30.0, "s", "frames of one run that are nearer have the same bearing"
    )
    tagged_frames: int = tune(
        60_000,
        "1",
        "with an index of their own at most: building a larger one would delay its tick",
    )
    # feet that stand
    support_stands: float = tune(
        0.05, "m", "a foot that stands moves by as much before it is seen to slide"
    )
    support_reaches: float = tune(
        3.0, "m/s", "that a swing makes up before it lands; 1 to 6 on eight sets slide alike"
    )
    support_gone: float = tune(
        0.1, "m", "stances of one gait differ by as much of what a body goes over a foot"
    )
    # live tempo
    tempo_step: float = tune(0.5, "s", "of people: a body is faster and slower again in each step")
    tempo_change: float = tune(0.5, "1/s", "of the rate: what the director's eases change at most")
    tempo_alike: float = tune(
        0.03, "1", "strides of one walk differ by as much: it is played as it is"
    )
    tempo_other: float = tune(0.06, "1", "a speed that differs by as much is another one")
    tempo_beyond: float = tune(
        0.1, "1", "of a speed that is still missing: other motion is looked for as without a tempo"
    )
    tempo_along: float = tune(20.0, "°", "motion that goes where it is asked to: it does not turn")
    tempo_astray: float = tune(
        45.0, "°", "motion that still has to turn: that takes the time it takes"
    )
    tempo_steady: float = tune(0.9, "1", "of its fastest, a way's slowest: it is gone at one speed")
    tempo_hasty: float = tune(0.7, "1", "the same of a way that starts, stops or changes its gait")
    # decisions that a weight would change
    same_decision: float = tune(
        1.0 / 3.0, "s", "within which another frame is the same decision: about a step"
    )
    flip_ratio: float = tune(
        16.0, "1", "up to which weights are tried: beyond, a feature counts for nothing or alone"
    )
    flip_ratios: int = tune(
        65, "1", "tried, and as many between two of them: to a thousandth of a weight"
    )
    flips_looked_at: int = tune(
        64, "1", "frames looked at first, and with each look for more: chosen by eye"
    )
    # prices
    price_counts: tuple[int, ...] = tune(
        (16, 64, 256),
        "1",
        "frames that are looked at, one after the other if they are not enough",
    )
    price_growth: int = tune(
        4, "1", "times as many frames each time, so that few looks find even a distant best"
    )
    # a frame like a pose
    similar_candidates: int = tune(
        64,
        "1",
        "frames whose whole bodies are compared with a pose to start from: chosen by eye",
    )
    similar_velocities: float = tune(
        0.1, "s", "a joint's velocity counts as where it leads within these: chosen by eye"
    )
    similar_speed: float = tune(
        0.3,
        "m/s",
        "of the root, that counts as much as a typical difference of a feature: chosen by eye",
    )
    similar_turn: float = tune(
        0.6, "rad/s", "of the root, that counts as much as `similar_speed`: chosen by eye"
    )
    # the search
    block: int = tune(
        16, "1", "frames in a block and blocks in a group, both with a box for each: chosen by eye"
    )
    blocks_only: int = tune(
        25_000,
        "1",
        "frames up to which testing the boxes of all blocks beats two levels",
    )
    first_axes: int = tune(12, "1", "principal axes of the first test of all boxes: chosen by eye")
    first_batch: int = tune(
        16, "1", "boxes scanned before the others are tested against the best cost so far"
    )
    largest_batch: int = tune(512, "1", "boxes scanned at once: chosen by eye")
    batch_growth: int = tune(
        8,
        "1",
        "times as many boxes the next time, of a search for one frame: few calls, little in vain",
    )
    several_growth: int = tune(
        4, "1", "the same of a search for several, whose bound falls more slowly"
    )
    few_boxes: int = tune(
        64, "1", "that are scanned together for several nearest frames, at one call"
    )
    axes_frames: int = tune(
        20_000, "1", "that principal axes are computed from, so that a build stays short"
    )
    frames_at_once: int = tune(
        4_096, "1", "whose coordinates are computed at a time, within the cache"
    )
    # numbers of rounding that decide
    even_tick: float = tune(1e-4, "1", "of a tick, by which seconds of frames are rounded")


NUMBERS = MatchingNumbers()
