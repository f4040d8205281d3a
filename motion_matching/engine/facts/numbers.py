"""What counts as a stance, an idle, an odd posture and a limit of motion: tuned numbers."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class FactNumbers:
    """Lengths, times and speeds are those of people."""

    # stances: what each flaw costs; 1 is plainly wrong, as a crouch or a stride is
    stance_low: float = tune(4.0, "1/leg length", "a quarter of the leg lower is a crouch")
    stance_bent: float = tune(1.0, "1/rad", "a knee bent by 60° more than stretched is in a stride")
    stance_raised: float = tune(
        6.0, "1/leg length", "a heel up by 15 cm is on tiptoe, or in a swing"
    )
    stance_flung: float = tune(1.6, "1/arm length", "a T-pose is 1.3, and worse than any stride")
    stance_uneven: float = tune(
        1.5, "1/leg length", "joints of a stride are 0.5 from their mirror's"
    )
    stance_rare: float = tune(2.0, "1/leg length", "joints are within 0.1 of their median in walks")
    stance_quick: float = tune(
        0.05, "s/m", "breaks ties: between equal poses the calmer fades better"
    )
    most_frames: int = tune(
        5000, "1", "of a whole database that are rated, or are compared: builds stay short"
    )
    frames_at_once: int = tune(4096, "1", "whose bones are found together, within the cache")
    tall: int = tune(
        90, "%", "percentile of the hips' heights, at which a body is upright: above are jumps"
    )
    stretched: int = tune(
        10,
        "%",
        "percentile of the bends of planted knees, at which they are stretched: below is noise",
    )
    # the bearing of a start
    bearing_low: float = tune(
        400.0,
        "1",
        "of hips a leg lower: a tenth of one costs as much as a start in a wrong direction",
    )
    bearing_out: float = tune(
        160.0, "1", "of hands a leg farther out: a quarter of one costs as much as such a start"
    )
    bearing_seconds: float = tune(1.0, "s", "ahead of a frame that count: a start is over by then")
    bearing_moments: int = tune(
        8, "1", "of these that are looked at: eight times in two steps (by eye)"
    )
    walking_frames: int = tune(
        1000,
        "1",
        "from which it is measured how a body walks: fewer than `most_frames`, as steps repeat",
    )
    enough_walking: float = tune(
        2.0, "s", "of walking, with less of which nothing is known of it: two strides"
    )
    body_frames: int = tune(3000, "1", "to measure a body from: percentiles of more are the same")
    # idles
    shortest_idle: float = tune(0.5, "s", "a shorter one is a moment between two steps")
    least_idling: float = tune(
        2.0, "s", "of all idles together: with less, one who stands repeats the same twitch"
    )
    idle_looks_every: float = tune(
        0.1, "s", "between frames of idles that are looked at, in which people hardly move"
    )
    idle_lead: float = tune(
        1.0,
        "s",
        "before an idle, in which a character comes to rest, and after it, in which it sets off",
    )
    idle_apart: float = tune(0.15, "s", "between idles and frames whose root moves: chosen by eye")
    upright: float = tune(
        0.9, "1", "of the usual height of the hips: lower, a body crouches or sits"
    )
    feet_apart: int = tune(
        75, "%", "percentile of how far feet are apart, up to which they usually are"
    )
    feet_margin: float = tune(0.01, "m", "beyond `feet_apart`: noise of a capture")
    feet_share: float = tune(0.5, "1", "of the feet in a comparison: they slide where they differ")
    held_cost: float = tune(0.1, "1", "above the best stance's, of poses that are held")
    played_cost: float = tune(
        0.7,
        "1",
        "the same of idles that are played: arms may be crossed in them, but not flung out",
    )
    started_cost: float = tune(
        0.1, "1", "the same of idles to start with, as of poses that are held"
    )
    # limits of motion
    peak_block: float = tune(
        1.0, "s", "that share a peak: how hard a body moves is known for each (by eye)"
    )
    peak_around: float = tune(0.5, "s", "before and after a block, that count too: half of one")
    limit_frames: int = tune(
        4000, "1", "that tell what nearly all do: percentiles of more are the same"
    )
    least_knee_rate: float = tune(
        5.0, "rad/s", "that the knees of people may always reach, though their data only stands"
    )
    least_knee_acceleration: float = tune(50.0, "rad/s²", "the same of how hard they bend")
    # odd postures
    avoidance: float = tune(
        10.0,
        "1",
        "added to the cost of odd postures that are to be avoided: about that of a hard jump",
    )
    odd_lead: float = tune(
        0.35, "s", "before an odd posture, in which there is still time for a jump"
    )
    odd_rate: float = tune(
        15.0, "1/s", "postures that are looked at: an odd one of 0.15 s is seen twice"
    )
    gait_window: float = tune(
        1.0, "s", "on either side, whose speed is that of the gait: about a stride"
    )
    style_window: float = tune(8.0, "s", "on either side: what lasts longer than this is a style")
    style_samples: int = tune(21, "1", "of such seconds; the middle one is the moment itself")
    least_gait: float = tune(5.0, "s", "of a gait, from which it is known what is usual in it")
    odd_spread: float = tune(
        4.0,
        "1",
        "standard deviations from which a posture may be odd: 1 in 16,000 of a normal spread",
    )
    spread_rounds: int = tune(
        3, "1", "of finding the spread without the odd ones, after which it hardly changes"
    )
    style_share: float = tune(
        0.5, "1", "of its deviation, by which an odd posture is away from those around it"
    )
    end_share: float = tune(
        0.6, "1", "of a limit, down to which the moment of an odd posture goes on"
    )
    shortest_odd: float = tune(0.15, "s", "a shorter odd moment is dropped: nobody sees it")
    odd_gap: float = tune(0.35, "s", "a shorter gap between odd moments is closed")
    long_limb: float = tune(
        0.4, "1", "of a leg's length: what hangs from the trunk and is longer is an arm"
    )
    most_listed: int = tune(8, "1", "odd postures in a report, as many as one reads")
    odd_lean: float = tune(
        30.0, "°", "of the trunk, forward, back or aside: ordinary walking and running stays below"
    )
    odd_hips: float = tune(
        0.2, "leg length", "of the hips' height: ordinary walking and running stays below"
    )
    odd_hand_height: float = tune(
        0.45, "leg length", "of a hand's height: ordinary walking and running stays below"
    )
    odd_hand_reach: float = tune(
        0.3, "leg length", "of a hand's distance: ordinary walking and running stays below"
    )
    odd_head: float = tune(
        0.25, "leg length", "of the head's height: ordinary walking and running stays below"
    )


NUMBERS = FactNumbers()
