"""Tuned numbers for breathing, idling and looking about; no user changes them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...settings import tune


@dataclass(frozen=True)
class LifeNumbers:
    """Lengths and times are those of a body of people's size."""

    # breathing: how far a body moves at most, how often, and how soon that begins
    breath_least: float = tune(3.0, "s", "20 breaths a minute, the quickest of a healthy adult")
    breath_most: float = tune(5.0, "s", "12 breaths a minute, the slowest of a healthy adult")
    shift_least: float = tune(2.6, "s", "a quicker sway looks nervous")
    shift_most: float = tune(6.0, "s", "a slower one looks frozen within a cut of some seconds")
    shift_inner: float = tune(0.35, "1", "share of a sway by which its turning points vary: by eye")
    sway_aside: float = tune(0.006, "m", "quiet standing sways by about a centimetre")
    sway_ahead: float = tune(0.004, "m", "and by less back and forth")
    sway_sink: float = tune(0.003, "m", "knees give way as weight shifts; legs do not overstretch")
    breath_lift: float = tune(0.0015, "m", "the trunk rises with a breath")
    breath_chest: float = tune(0.010, "rad", "lifts shoulders by 3 mm, as a quiet breath does")
    trunk_twist: float = tune(0.012, "rad", "moves hands by 3 to 5 mm")
    hip_roll: float = tune(0.006, "rad", "the hip of the leg that bears the weight rises by 1 mm")
    head_share: float = tune(0.3, "share", "eyes keep to what they see, so a head moves less")
    lowest_hips: float = tune(0.05, "m", "hips that come down by more crouch; a foot should step")
    settling_halflife: float = tune(0.12, "s", "of coming down: follows a breath within 0.2 s")
    begin_halflife: float = tune(0.4, "s", "of its beginning, as a held body settles")
    end_halflife: float = tune(0.12, "s", "halflife in which it ends, within a first step")
    unseen_share: float = tune(1e-5, "1", "of the whole movement, which no eye sees")
    # idles
    unrepeated: float = tune(60.0, "s", "in which no idle is repeated if there are others: by eye")
    long_idle: float = tune(3.0, "s", "a longer idle is no better: another one follows")
    change_price: float = tune(0.03, "m", "of difference, per change: long idles are better")
    repeat_price: float = tune(0.2, "m", "of difference, for an idle just played")
    longest_wait: float = tune(0.7, "s", "for motion to come to rest before it is held: by eye")
    requested_before: float = tune(0.2, "s", "before requested motion, as part of it: by eye")
    requested_after: float = tune(1.0, "s", "after it: about as long as a stop or a start takes")
    held_after: float = tune(0.1, "s", "until a pose is held where no data stands")
    held_aside_after: float = tune(2.0, "s", "the same where one faces aside and may turn first")
    # looks
    front_frames: int = tune(2000, "1", "to measure a bone's front: more are slow")
    clear_front: float = tune(0.5, "1", "mean length of unit vectors ahead of a front: by eye")
    upright_share: float = tune(0.2, "1", "level share of a direction whose heading means nothing")
    level_share: float = tune(0.4, "1", "more, and a heading counts in full: by eye")
    behind: float = tune(math.radians(110.0), "rad", "points farther round are looked at less")
    far_behind: float = tune(math.radians(160.0), "rad", "from which points are left alone")
    beyond_limit: float = tune(1.25, "1", "times its limit, for a soft limit to be nearly reached")
    unseen_angle: float = tune(1e-6, "rad", "a turn that no eye sees")


NUMBERS = LifeNumbers()
