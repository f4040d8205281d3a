"""Tuned numbers that define stances, idles, odd postures and limits of motion."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class FactNumbers:
    """Lengths, times and speeds are those of people."""

    # stances: the cost of each flaw; 1 is plainly wrong, like a crouch or a stride
    stance_low: float = tune(4.0, "1/leg length", "a quarter of the leg lower is a crouch")
    stance_bent: float = tune(1.0, "1/rad", "a knee bent by 60° more than stretched is in a stride")
    stance_raised: float = tune(6.0, "1/leg length", "a heel 15 cm up is on tiptoe or swings")
    stance_flung: float = tune(1.6, "1/arm length", "a T-pose is 1.3, and worse than any stride")
    stance_uneven: float = tune(1.5, "1/leg length", "a stride's joints are 0.5 off their mirror's")
    stance_rare: float = tune(2.0, "1/leg length", "joints are within 0.1 of their median in walks")
    stance_quick: float = tune(0.05, "s/m", "breaks ties: the calmer of equal poses fades better")
    most_frames: int = tune(5000, "1", "of a database, rated or compared, in short builds")
    frames_at_once: int = tune(4096, "1", "whose bones are found together, within the cache")
    tall: int = tune(90, "%", "percentile of hips' heights that is upright: above are jumps")
    stretched: int = tune(10, "%", "percentile of bends of planted, stretched knees")
    # the bearing of a start
    bearing_low: float = tune(400.0, "1", "per leg that hips are lower: 0.1 is as a wrong start")
    bearing_out: float = tune(160.0, "1", "per leg that hands are out: 0.25 is as a wrong start")
    bearing_seconds: float = tune(1.0, "s", "ahead of a frame that count: a start is over by then")
    bearing_moments: int = tune(8, "1", "of these that are looked at: by eye")
    walking_frames: int = tune(1000, "1", "that show how a body walks: steps repeat")
    enough_walking: float = tune(2.0, "s", "two strides: with less, nothing is known of walking")
    body_frames: int = tune(3000, "1", "to measure a body from, so that builds stay short")
    # idles
    shortest_idle: float = tune(0.5, "s", "a shorter one is a moment between two steps")
    least_idling: float = tune(2.0, "s", "of all idles: with less, the same twitch repeats")
    idle_looks_every: float = tune(0.1, "s", "in which people who idle hardly move")
    idle_lead: float = tune(1.0, "s", "to come to rest before an idle, and to set off after it")
    idle_apart: float = tune(0.15, "s", "between idles and frames whose root moves: chosen by eye")
    upright: float = tune(0.9, "1", "of the hips' usual height: lower, a body crouches or sits")
    feet_apart: int = tune(75, "%", "percentile of how far feet are apart that is usual")
    feet_margin: float = tune(0.01, "m", "beyond `feet_apart`: noise of a capture")
    feet_share: float = tune(0.5, "1", "of the feet in a comparison: they slide where they differ")
    held_cost: float = tune(0.1, "1", "above the best stance's, of poses that are held")
    played_cost: float = tune(0.7, "1", "the same of played idles: arms crossed, but not flung out")
    started_cost: float = tune(0.1, "1", "the same of idles to start with, as of held poses")
    # limits of motion
    peak_block: float = tune(1.0, "s", "that share a peak of how hard a body moves: by eye")
    peak_around: float = tune(0.5, "s", "before and after a block, that count too: half of one")
    limit_frames: int = tune(4000, "1", "that show what nearly all do, in short builds")
    least_knee_rate: float = tune(
        5.0, "rad/s", "that the knees of people may always reach, though their data only stands"
    )
    least_knee_acceleration: float = tune(50.0, "rad/s²", "the same of how hard they bend")
    # odd postures
    avoidance: float = tune(10.0, "1", "added to the cost of odd postures: about a hard jump's")
    odd_lead: float = tune(0.35, "s", "before an odd posture, in time for another jump")
    odd_rate: float = tune(15.0, "1/s", "of looks: an odd posture of 0.15 s is seen twice")
    gait_window: float = tune(1.0, "s", "on either side that tell a gait's speed: a stride")
    style_window: float = tune(8.0, "s", "on either side: what lasts longer than this is a style")
    style_samples: int = tune(21, "1", "of such seconds; the middle one is the moment itself")
    least_gait: float = tune(5.0, "s", "of a gait, from which it is known what is usual in it")
    odd_spread: float = tune(4.0, "1", "standard deviations: 1 in 16,000 is farther off")
    spread_rounds: int = tune(3, "1", "without odd ones, after which it hardly changes")
    style_share: float = tune(0.5, "1", "of its deviation, off those around it")
    end_share: float = tune(0.6, "1", "of a limit, down to which an odd moment goes on")
    shortest_odd: float = tune(0.15, "s", "a shorter odd moment is dropped: nobody sees it")
    odd_gap: float = tune(0.35, "s", "a shorter gap between odd moments is closed")
    long_limb: float = tune(0.4, "1", "of a leg's length: a longer limb of the trunk is an arm")
    most_listed: int = tune(8, "1", "odd postures in a report, as many as one reads")
    odd_lean: float = tune(30.0, "°", "of the trunk, to any side: usual gaits stay below")
    odd_hips: float = tune(0.2, "leg length", "of the hips' height: usual gaits stay below")
    odd_hand_height: float = tune(0.45, "leg length", "of a hand's height: usual gaits stay below")
    odd_hand_reach: float = tune(0.3, "leg length", "of a hand's distance: usual gaits stay below")
    odd_head: float = tune(0.25, "leg length", "of the head's height: usual gaits stay below")


NUMBERS = FactNumbers()
