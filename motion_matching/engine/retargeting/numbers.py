"""Numbers of retargeting, each with its unit and its reason."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class RetargetNumbers:
    """Lengths are shares of a leg's length where the unit is 1; limits of results are in degrees.

    `build.py study retargeting` measures the results (docs/retargeting-quality.md).
    """

    # neutral poses
    neutral_frames: int = tune(
        6000, "1", "of all clips that are looked at: rare poses are among them"
    )
    neutral_clips: int = tune(40, "1", "as `neutral_frames`")
    legs_down: float = tune(0.7, "1", "cosine of legs to the way down: 46°, as of a wide stand")
    head_up: float = tune(0.7, "1", "cosine of the head to the way up, likewise")
    hips_level: float = tune(
        0.3, "1", "cosine of the line of the hip joints to the way up, or to that up the trunk"
    )
    rest_upright: float = tune(
        0.9, "1", "cosine to the vertical, from which a rest pose stands in the world as it is: 26°"
    )
    sides_alike: float = tune(
        0.06, "1", "of the body's height: how much left and right may differ in a rest pose"
    )
    rest_on_ground: float = tune(
        0.15, "1", "of the body's height: a rest pose that starts farther off has no ground at zero"
    )
    upright: float = tune(
        0.85, "1", "of the usual height of hips over feet: lower frames show no standing body"
    )
    risen: float = tune(0.7, "1", "hip joints of people who kneel, sit or crawl are lower")
    shortest_stand: float = tune(
        1.0, "s", "frames of getting up and lying down show no standing body"
    )
    shin_upright: float = tune(
        math.cos(math.radians(50.0)), "1", "cosine of 50°: ankles bend no farther above a flat sole"
    )
    few_flat: float = tune(
        0.5, "1", "of the frames that should count as flat: so few of them are left by mistake"
    )
    flat_ankles: int = tune(
        30, "%", "percentile of the heights of an ankle in contact, below which its foot is flat"
    )
    person_leg: float = tune(
        0.85, "m", "limits of contacts are meant for such legs: of people from thigh to ankle"
    )
    animal_leg: float = tune(0.54, "m", "the same of dogs")
    # soles
    ankle_height: float = tune(0.07, "1", "over the ball: that of adults in rest poses of rigs")
    steepest_foot: float = tune(
        math.radians(50.0), "rad", "from the ankle to the ball, of any foot"
    )
    feet_unlike: float = tune(
        math.radians(8.0),
        "rad",
        "between feet of one body: capture systems' skeletons differ by 4°",
    )
    too_steep: float = tune(
        math.radians(20.0), "rad", "beyond a usual foot: skeletons that stand flat differ by 11°"
    )
    knee_hinge: float = tune(0.05, "1", "mean sine of the bend of a knee that shows its hinge: 3°")
    sure_of_foot: float = tune(
        3.0, "s", "of standing flat that show how a foot rolls: single steps are off by 5°"
    )
    seen_feet: float = tune(
        2.0, "s", "of feet that show how they slope while the body sits, or gets up over toes"
    )
    toes_slope: float = tune(
        math.radians(10.0), "rad", "to the tip of a toe's bone: rigs and files have 2° to 20°"
    )
    # hands and feet
    rest_stands: float = tune(
        math.cos(math.radians(30.0)), "1", "cosine of 30°: legs of a stand hang below the trunk"
    )
    animal_stands: float = tune(
        math.cos(math.radians(60.0)), "1", "cosine of 60°: legs of animals, which are bent"
    )
    hips_tilted: float = tune(
        math.sin(math.radians(10.0)), "1", "sine of 10°, of the line between the hip joints at rest"
    )
    trunk_snap: float = tune(
        math.cos(math.radians(25.0)),
        "1",
        "cosine of 25°: a trunk at rest leans less from the axis that the body stands on",
    )
    mirrored: float = tune(
        0.15, "1", "how far sides of a rest pose may be from their mirror images"
    )
    tall: float = tune(
        0.85, "1", "of the legs' length: hips of who stands are as high above the lower ankle"
    )
    ball_still: float = tune(0.25, "1/s", "of a leg's length: balls of feet that stand are slower")
    flat_feet_uneven: float = tune(
        math.radians(10.0), "rad", "flat feet differ less in how ankles rise above balls"
    )
    end_frames: int = tune(3000, "1", "of all clips that are looked at")
    least_end_frames: int = tune(60, "1", "of each of them")
    usual_slope: float = tune(
        math.radians(25.0), "rad", "of the way from ankle to ball of a flat foot: usual in rigs"
    )
    unsure: float = tune(
        32.0,
        "°",
        "of feet of a body that never stands: without a flat foot nothing tells a toe that "
        "points from a foot that slopes. A sole that is turned over is off by far more",
    )
    # axes of bones, and the trunk
    drawn_hinge: float = tune(
        math.cos(math.radians(15.0)), "1", "cosine of 15°: an axis drawn along its bone's hinge"
    )
    drawn_along: float = tune(
        math.cos(math.radians(1.0)), "1", "cosine of 1°: a bone drawn along an axis of its own"
    )
    same_axis: float = tune(
        math.cos(math.radians(5.0)), "1", "cosine of 5° to what motion shows: the axis meant"
    )
    carrying: float = tune(
        math.sin(math.radians(25.0)),
        "1",
        "sine of 25°, by which two straight segments may point aside: it tilts the hinge that "
        "motion shows, and the more the less the joint is bent",
    )
    long_stand: float = tune(
        30.0, "s", "of standing whose mean is how a head is held, and not where it looked"
    )
    trunk_straight: float = tune(
        math.cos(math.radians(30.0)), "1", "cosine of 30°, of parts of a trunk to all of it"
    )
    likely_rest: float = tune(
        math.radians(75.0), "rad", "from a bone's mean: a farther rest is drawn otherwise"
    )
    # anatomy
    bent: float = tune(math.radians(8.0), "rad", "a joint that is bent more shows its hinge")
    elbow_straight: float = tune(
        0.98, "1", "cosine of the bend of an elbow in a stretched zero pose: 11°"
    )
    no_foot: float = tune(0.02, "1", "a foot that ends sooner has no known end")
    paw: float = tune(0.75, "1", "of the wrist's height: paws end lower where they stand")
    ball_ahead: float = tune(0.15, "1", "where a ball is that no bone marks: that of a usual foot")
    ball_below: float = tune(0.8, "1", "of the ankle's height: the same")
    ball_height: float = tune(0.025, "1", "over the ground: that of a usual foot")
    planted_balls: int = tune(
        10, "%", "percentile of heights of balls that are planted, without single frames"
    )
    around_floor: float = tune(0.05, "1", "around that percentile, balls are on the floor")
    low_ground: float = tune(0.1, "1", "bodies that reach lower have no ground at zero")
    away_from_rest: float = tune(
        1e-3, "1", "of the size of a skeleton: bones that are nearer to their rest are there"
    )
    showing_frames: int = tune(200, "1", "of a clip that show where bones lie")
    loose_hips: float = tune(
        0.04, "1", "of the hips' width: hip joints that move more are not fixed to their bone"
    )
    hips_moving: int = tune(95, "%", "percentile of how far they move: single frames may be broken")
    raised: float = tune(
        0.4, "1", "of the hips' width: a joint farther from the hip joints' line shows a pitch"
    )
    at_hips: float = tune(1e-3, "1", "of the hips' width: a bone that is nearer rests at the hips")
    # feet
    contact_ease: float = tune(
        0.12, "s", "from a contact until a foot in the air follows the leg's directions"
    )
    same_floor: float = tune(0.015, "1", "a contact this near to the floor is on it")
    clearance: float = tune(0.5, "1", "of a scaled source's ball in the air: at least this high")
    smaller_foot: float = tune(
        0.6, "1", "how much farther than the source's a short foot may be pitched; by eye"
    )
    feet_alike: float = tune(
        0.15, "1", "logarithm of the ratio of feet that are pitched not at all: 16 % longer"
    )
    feet_other: float = tune(
        0.4, "1", "logarithm of the ratio of feet that are pitched in full: half as long again"
    )
    upside_down: float = tune(
        math.radians(120.0), "rad", "a foot that is pitched more is nearly upside down"
    )
    toes_bend: float = tune(math.radians(60.0), "rad", "of toes against the foot")
    ball_lifted: float = tune(0.08, "1", "toes of a ball that is higher follow the foot")
    steady: float = tune(
        0.12, "s", "over which pitches of feet and tilts of trunks are smoothed; by eye"
    )
    hips_drop: float = tune(0.3, "s", "by which hips sink before a foot would be out of reach")
    # trunks
    tilt_slack: float = tune(
        math.radians(4.0), "rad", "by which a trunk may lean otherwise than the source's: unseen"
    )
    most_tilt: float = tune(
        math.radians(35.0), "rad", "of a trunk: a giraffe's rises as much more than a dog's"
    )
    rearing: float = tune(
        math.radians(45.0), "rad", "from here on a rearing trunk is tilted less and less"
    )
    reared: float = tune(math.radians(75.0), "rad", "and from here on not at all")
    # limits of effort and of changes that count
    frames_at_once: int = tune(
        8000, "1", "of short clips that are retargeted at once; changes no result"
    )
    least_confidence: float = tune(
        0.5, "1", "below, a person looks: between `shaped` and `doubtful` of a body's roles"
    )
    root_moves: float = tune(0.01, "1, rad", "a root bone that moves less is at rest")
    bone_slides: float = tune(1e-3, "1", "a bone that moves less in its parent stays there")
    # judging results
    clear_side: float = tune(
        math.sin(math.radians(15.0)), "1", "sine of 15°: a joint that bends less has no clear side"
    )
    trunk_limit: float = tune(
        10.0, "°", "seen at a glance; skeletons differ by 5 when they bend over"
    )
    head_limit: float = tune(15.0, "°", "necks are 12 apart on skeletons of people alike")
    limb_limit: float = tune(5.0, "°", "a hand that is 4 cm away at the end of an arm")
    finger_limit: float = tune(
        10.0, "°", "bones of 3 cm, of which two skeletons are cut differently"
    )
    end_limit: float = tune(8.0, "°", "a sole that is seen to leave the ground at one edge")
    palm_limit: float = tune(
        40.0, "°", "lines of knuckles differ by 21 on skeletons of people alike"
    )
    torn: float = tune(
        0.01, "1", "of a bone's rest length, by which it may be away from its parent's joint"
    )
    torn_on_controls: float = tune(
        0.05, "1", "the same on control rigs, whose limbs stretch before they are straight"
    )
    spread: float = tune(
        3.0, "1", "95 % to median of heads, and of legs, which follow planted feet: 2.6 in a dash"
    )
    pitch_spread: float = tune(
        2.0, "1", "the same of the pitch of feet, which are longer or shorter"
    )
    animal_limits: float = tune(
        2.5, "1", "times the limits of limbs: 1.8 of a horse that moves as a dog"
    )
    shortest_bone: float = tune(0.05, "1", "shorter bones count as that long, for rounding")
    same_place: float = tune(0.01, "1", "bones that rest nearer to another are its double")
    branch: int = tune(3, "1", "bones in a line that are part of a body, and no prop or camera")
    finger_tip: float = tune(0.1, "1", "of a finger's length: a shorter last segment marks the tip")
    other_foot: float = tune(
        1.15, "1", "ratio of lengths of feet, from which they are pitched otherwise in the air"
    )
    heel_up: float = tune(
        math.sin(math.radians(20.0)), "1", "sine of 20°, along a foot: its heel is off the ground"
    )
    end_length: float = tune(0.1, "1", "of feet, toes and hands, roughly")


NUMBERS = RetargetNumbers()
