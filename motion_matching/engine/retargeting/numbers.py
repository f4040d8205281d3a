"""Numbers of retargeting, each with its unit and its reason."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin

from ..settings import tune


@dataclass(frozen=True)
class RetargetNumbers:
    """Lengths are shares of a leg's length where the unit is 1; limits of results are in degrees.

    `build.py study retargeting` measures the results (docs/retargeting-quality.md).
    """

    # neutral poses
    neutral_frames: int = tune(6000, "1", "of all clips: rare poses are among them")
    neutral_clips: int = tune(40, "1", "as `neutral_frames`")
    legs_down: float = tune(0.7, "1", "cosine of legs to the way down: 46°, as of a wide stand")
    head_up: float = tune(0.7, "1", "cosine of the head to the way up, likewise")
    hips_level: float = tune(0.3, "1", "cosine of the line of hip joints to the way up: 73°")
    rest_upright: float = tune(0.9, "1", "cosine to the vertical of a rest pose that stands: 26°")
    sides_alike: float = tune(0.06, "1", "of the height: sides of a rest pose differ by less")
    rest_on_ground: float = tune(0.15, "1", "of the height: farther off, no ground is at zero")
    upright: float = tune(0.85, "1", "of the hips' usual height: lower frames do not stand")
    risen: float = tune(0.7, "1", "hip joints of people who kneel, sit or crawl are lower")
    shortest_stand: float = tune(1.0, "s", "frames of getting up or lying down show no stand")
    shin_upright: float = tune(cos(radians(50.0)), "1", "cosine of 50°: most that an ankle bends")
    few_flat: float = tune(0.5, "1", "of the frames expected to be flat: fewer are a mistake")
    flat_ankles: int = tune(30, "%", "percentile of an ankle's heights: below, the foot is flat")
    person_leg: float = tune(0.85, "m", "thigh to ankle: limits of contacts are for such legs")
    animal_leg: float = tune(0.54, "m", "the same of dogs")
    # soles
    ankle_height: float = tune(0.07, "1", "over the ball: that of adults in rest poses of rigs")
    steepest_foot: float = tune(radians(50.0), "rad", "from the ankle to the ball, of any foot")
    feet_unlike: float = tune(radians(8.0), "rad", "feet of one body: captures differ by 4°")
    too_steep: float = tune(radians(20.0), "rad", "beyond a usual foot: flat ones differ by 11°")
    knee_hinge: float = tune(0.05, "1", "mean sine of the bend of a knee that shows its hinge: 3°")
    sure_of_foot: float = tune(3.0, "s", "of standing flat: single steps roll otherwise by 5°")
    seen_feet: float = tune(2.0, "s", "of feet that slope while the body sits or gets up")
    toes_slope: float = tune(radians(10.0), "rad", "to the tip of a toe: rigs have 2° to 20°")
    # hands and feet
    rest_stands: float = tune(cos(radians(30.0)), "1", "cosine of 30°: legs hang below the trunk")
    animal_stands: float = tune(cos(radians(60.0)), "1", "cosine of 60°: animals' legs are bent")
    hips_tilted: float = tune(sin(radians(10.0)), "1", "sine of 10°, of the hip joints' line")
    trunk_snap: float = tune(cos(radians(25.0)), "1", "cosine of 25°: trunks at rest lean less")
    mirrored: float = tune(0.15, "1", "how far sides of a rest pose may be from mirror images")
    tall: float = tune(0.85, "1", "of the legs' length: hips of who stands are as high")
    ball_still: float = tune(0.25, "1/s", "of a leg's length: balls of feet that stand are slower")
    flat_feet_uneven: float = tune(radians(10.0), "rad", "flat feet differ less in this slope")
    end_frames: int = tune(3000, "1", "of all clips that are looked at")
    least_end_frames: int = tune(60, "1", "of each of them")
    usual_slope: float = tune(radians(25.0), "rad", "from ankle to ball of a flat foot: usual")
    unsure: float = tune(
        32.0, "°", "of feet that never stand flat: a toe that points looks as a foot that slopes"
    )
    # axes of bones, and the trunk
    drawn_hinge: float = tune(cos(radians(15.0)), "1", "cosine of 15°: drawn along its hinge")
    drawn_along: float = tune(cos(radians(1.0)), "1", "cosine of 1°: a bone along its own axis")
    same_axis: float = tune(cos(radians(5.0)), "1", "cosine of 5° to motion's: the axis meant")
    carrying: float = tune(
        sin(radians(25.0)), "1", "sine of 25°: segments aside tilt the hinge that motion shows"
    )
    long_stand: float = tune(30.0, "s", "of standing: the mean is then how a head is held")
    trunk_straight: float = tune(cos(radians(30.0)), "1", "cosine of 30°, of parts to the whole")
    likely_rest: float = tune(radians(75.0), "rad", "off a bone's mean: others are drawn otherwise")
    # anatomy
    bent: float = tune(radians(8.0), "rad", "a joint that is bent more shows its hinge")
    elbow_straight: float = tune(0.98, "1", "cosine of 11°, of an elbow in a stretched zero pose")
    no_foot: float = tune(0.02, "1", "a foot that ends sooner has no known end")
    paw: float = tune(0.75, "1", "of the wrist's height: paws end lower where they stand")
    ball_ahead: float = tune(0.15, "1", "where a ball is that no bone marks: that of a usual foot")
    ball_below: float = tune(0.8, "1", "of the ankle's height: the same")
    ball_height: float = tune(0.025, "1", "over the ground: that of a usual foot")
    planted_balls: int = tune(10, "%", "percentile of planted balls' heights, without outliers")
    around_floor: float = tune(0.05, "1", "around that percentile, balls are on the floor")
    low_ground: float = tune(0.1, "1", "bodies that reach lower have no ground at zero")
    away_from_rest: float = tune(1e-3, "1", "of a skeleton's size: nearer bones are at their rest")
    showing_frames: int = tune(200, "1", "of a clip that show where bones lie")
    loose_hips: float = tune(0.04, "1", "of the hips' width: fixed hip joints move less")
    hips_moving: int = tune(95, "%", "percentile of how far they move: single frames may be broken")
    raised: float = tune(0.4, "1", "of the hips' width: a joint farther off shows a pitch")
    at_hips: float = tune(1e-3, "1", "of the hips' width: a bone that is nearer rests at the hips")
    # feet
    contact_ease: float = tune(0.12, "s", "until a foot in the air follows the leg's directions")
    same_floor: float = tune(0.015, "1", "a contact this near to the floor is on it")
    clearance: float = tune(0.5, "1", "of a scaled source's ball in the air: at least this high")
    smaller_foot: float = tune(0.6, "1", "times the source's pitch, of a short foot; by eye")
    feet_alike: float = tune(0.15, "1", "logarithm of a ratio, 16 %: feet are pitched not at all")
    feet_other: float = tune(0.4, "1", "logarithm of a ratio, 49 %: feet are pitched in full")
    upside_down: float = tune(radians(120.0), "rad", "a foot pitched more is nearly upside down")
    toes_bend: float = tune(radians(60.0), "rad", "of toes against the foot")
    ball_lifted: float = tune(0.08, "1", "toes of a ball that is higher follow the foot")
    steady: float = tune(0.12, "s", "in which pitches of feet and tilts are smoothed; by eye")
    hips_drop: float = tune(0.3, "s", "by which hips sink before a foot would be out of reach")
    # trunks
    tilt_slack: float = tune(radians(4.0), "rad", "by which a trunk may lean otherwise: unseen")
    most_tilt: float = tune(radians(35.0), "rad", "a giraffe's rises as much more than a dog's")
    rearing: float = tune(radians(45.0), "rad", "from here on a trunk is tilted less and less")
    reared: float = tune(radians(75.0), "rad", "and from here on not at all")
    # limits of effort and of changes that count
    frames_at_once: int = tune(8000, "1", "of short clips at once; changes no result")
    least_confidence: float = tune(0.5, "1", "below, a person looks: `doubtful` roles are")
    root_moves: float = tune(0.01, "1, rad", "a root bone that moves less is at rest")
    bone_slides: float = tune(1e-3, "1", "a bone that moves less in its parent stays there")
    # judging results
    clear_side: float = tune(sin(radians(15.0)), "1", "sine of 15°: less has no clear side")
    trunk_limit: float = tune(10.0, "°", "seen at a glance; skeletons bent over differ by 5")
    head_limit: float = tune(15.0, "°", "necks are 12 apart on skeletons of people alike")
    limb_limit: float = tune(5.0, "°", "a hand that is 4 cm away at the end of an arm")
    finger_limit: float = tune(10.0, "°", "bones of 3 cm, which skeletons cut differently")
    end_limit: float = tune(8.0, "°", "a sole that is seen to leave the ground at one edge")
    palm_limit: float = tune(40.0, "°", "lines of knuckles of people alike differ by 21")
    torn: float = tune(0.01, "1", "of its length, by which a bone may be off its parent's joint")
    torn_on_controls: float = tune(0.05, "1", "the same on control rigs, whose limbs stretch")
    spread: float = tune(3.0, "1", "95 % to median of heads and legs: 2.6 in a dash")
    pitch_spread: float = tune(2.0, "1", "the same of the pitch of feet of other lengths")
    animal_limits: float = tune(2.5, "1", "times limbs' limits: 1.8 of a horse that moves as a dog")
    shortest_bone: float = tune(0.05, "1", "shorter bones count as that long, for rounding")
    same_place: float = tune(0.01, "1", "bones that rest nearer to another are its double")
    branch: int = tune(3, "1", "bones in a line that are part of a body, and no prop or camera")
    finger_tip: float = tune(0.1, "1", "of a finger's length: a shorter last segment marks the tip")
    other_foot: float = tune(1.15, "1", "ratio of feet that are pitched otherwise in the air")
    heel_up: float = tune(sin(radians(20.0)), "1", "sine of 20°: its heel is off the ground")
    end_length: float = tune(0.1, "1", "of feet, toes and hands, roughly")


NUMBERS = RetargetNumbers()
