"""Numbers that distinguish the bones of a body, each with its unit and its reason."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class BodyNumbers:
    """Lengths are shares of the body or of its limbs, so that giants and mice are read alike.

    Without a source, the reason is what lies on either side of the number. The bodies of `build.py
    study retargeting` are read with all of them.
    """

    # chains and segments
    tip: float = tune(
        0.2, "1", "of the length before it: a last bone that is shorter marks the end of a chain"
    )
    segment_aside: float = tune(
        0.1, "1", "of a segment's length: a bone that is no farther off it is a piece of it"
    )
    segment_place: float = tune(
        0.01, "1", "of a segment's length: bones that are no farther off lie in one place"
    )
    leaf_along: float = tune(0.95, "1", "of a segment: a leaf that lies before is inside it")
    leaf_aside: float = tune(
        0.02, "1", "of a segment's length: a leaf that lies farther off is outside"
    )
    body_left: float = tune(
        0.3, "1", "of the body's size: a bone from which legs go farther away belongs to no body"
    )
    # mirror images
    symmetric: float = tune(
        0.02,
        "1",
        "of its size, that a symmetric rest pose may deviate: rigs made by hand are off by a "
        "centimetre or two",
    )
    aligned: float = tune(
        math.cos(math.radians(0.5)),
        "1",
        "cosine of 0.5°: offsets on a rig whose bones share axes up to signs differ less",
    )
    never_turns: float = tune(
        1.0 - 1e-6, "1", "least singular value of a bone's mean rotation that stands still"
    )
    firm_offsets: float = tune(
        1e4,
        "1",
        "weight of offsets, which decide where a bone points; the average pose only decides "
        "its roll",
    )
    # plan of a body
    same_place: float = tune(
        0.02, "1", "of a leg's length: joints that are nearer to one another coincide"
    )
    uneven_segments: float = tune(
        1.5, "1", "how much longer a segment may be than that of the other side; by eye"
    )
    unlike_segments: float = tune(
        4.0, "1", "and than its neighbour in the same limb: a longer one holds more than a segment"
    )
    opposite: float = tune(
        -0.5, "1", "cosine between two ways to the left of one body, below which they contradict"
    )
    knee_bent: float = tune(
        0.05, "1", "sine of 3°: knees that bend less, in the mean, tell of no side"
    )
    head_aside: float = tune(
        math.sin(math.radians(45.0)),
        "1",
        "sine of 45°, of its distance: a head that is farther from the middle is aside",
    )
    named: float = tune(1.0, "1", "confidence in a role that a bone's name tells")
    shaped: float = tune(
        0.6, "1", "in one that the shape tells: above one half, so that retargeting takes it"
    )
    doubtful: float = tune(
        0.4, "1", "in one whose sides differ: below one half, so that a person looks at it"
    )
    doubtful_lengths: float = tune(
        0.25, "1", "in which the lengths of both sides' parts may differ; by eye"
    )
    # fore legs
    standing: float = tune(
        math.radians(75.0), "rad", "off the vertical: legs lead down, an insect's hardly do"
    )
    off_trunk: float = tune(
        math.radians(60.0), "rad", "off the trunk: legs that point along it show a pose of zeros"
    )
    as_high: float = tune(
        0.6, "1", "of the height over the feet in the motion: below, a body lies or sits"
    )
    upright_trunk: float = tune(
        math.radians(45.0), "rad", "off the vertical: a trunk stands upright, of people and apes"
    )
    on_ground: float = tune(0.15, "1", "of a hind leg's length: an end below stands on the ground")
    foreleg_length: float = tune(0.7, "1", "of a hind leg's length: arms are shorter")
    knees_up: float = tune(0.25, "1", "of a hind leg's length: whoever crawls has the knees lower")
    seen_on_ground: float = tune(0.2, "1", "of the time on the ground, at least")
    as_often: float = tune(
        0.6, "1", "of the hind legs' time on the ground: hands of people touch it now and then"
    )
    long_legs: float = tune(
        1.8,
        "1",
        "of the way from hips to shoulders: people's legs are 2.1 to 3.7 times as long, and "
        "they crawl; those of animals that lie at rest are little longer than their trunk",
    )
    paw_height: float = tune(
        0.3, "1", "of the shoulders' height: wrists over a paw are lower, stooping hands higher"
    )
    # toes
    toe_above: float = tune(
        0.06, "1", "of the leg's length: a joint that stands higher above its end is no toe"
    )
    standing_heights: int = tune(5, "%", "percentile of heights at which a leg stands")
    resting_heights: int = tune(
        20, "%", "percentile of heights below which an end may rest on the ground"
    )
    toe_still: float = tune(
        0.7, "1", "of the joint's speed there: an end that moves faster hangs in the air"
    )
    usual_legs: tuple[float, float] = tune(
        (0.5, 1.0), "m", "from thigh to toe: distances of such bodies are those of people"
    )
    # stances
    stance_frames: int = tune(
        3000, "1", "that are looked at: more take longer and show the same stances"
    )
    arms_down: float = tune(0.5, "rad", "of posture that arms to the sides are worth; by eye")
    arms_out: tuple[float, float] = tune(
        (math.radians(25.0), math.radians(110.0)),
        "rad, rad",
        "off the vertical: arms that are held to the sides",
    )
    stance_lean: float = tune(
        math.radians(35.0), "rad", "that legs and trunk of a stance may lean at most"
    )
    stance_score: float = tune(0.8, "1", "score up to which a pose is a T- or A-pose; by eye")
    arm_drop: float = tune(
        math.radians(40.0), "rad", "of the arms of an A-pose, below the horizontal: usual in rigs"
    )
    foot_drop: float = tune(
        math.radians(25.0), "rad", "of a foot from the ankle to the toe joint: usual in rigs"
    )
    toe_height: float = tune(
        0.03, "1", "of the leg's length: the toe joint above the ground, where a foot has one"
    )
    ankle_height: float = tune(
        0.1, "1", "of the leg's length: the ankle above the ground, where it is the lowest joint"
    )
    # examined frames
    sampled_frames: int = tune(
        4000, "1", "of all clips: lengths and hinges are steady with far fewer, rare poses are not"
    )
    sampled_clips: int = tune(40, "1", "as `sampled_frames`")
    length_clips: int = tune(10, "1", "that show how long bones are, and which lie in a line")
    length_frames: int = tune(20, "1", "of each of these clips")
    subset_frames: int = tune(2000, "1", "of all clips: a bone that moves does so within them")
    subset_clips: int = tune(60, "1", "as `subset_frames`")
    least_rate: float = tune(15.0, "Hz", "slower, a foot's rest cannot be seen")
    # legs
    leg_reach: float = tune(
        0.1, "1", "of the body's height: a chain whose end comes below reaches the ground"
    )
    foot_low: float = tune(0.2, "1", "of the body's height: bones below belong to a foot")
    on_bone: float = tune(0.1, "1", "of a bone's length: what is no farther away lies on it")
    long_segment: float = tune(
        0.2, "1", "of a leg's length: thigh and shin are longer, a hip joint before them is shorter"
    )
    no_length: float = tune(
        0.005, "1", "of a leg's length: a shorter segment is none, but two joints in one place"
    )
    straight: float = tune(
        math.radians(3.0), "rad", "a joint that never bends more is a twist bone's, and no knee"
    )
    blade: float = tune(
        0.8, "1", "of the first segment's length: a longer third one begins below a blade"
    )
    # arms
    branch_aside: float = tune(
        0.03, "1", "of the body's height: a branch farther from the middle belongs to a side"
    )
    arm_alike: float = tune(
        0.6, "1", "an upper arm and a forearm are at least this much alike in length"
    )
    fork: float = tune(
        0.35, "1", "how much it speaks for a hand that fingers branch from it; by eye"
    )
    last_bone: float = tune(
        0.15, "1", "and against it that nothing is below, and the bone itself is short; by eye"
    )
    hand_length: float = tune(0.25, "1", "of a forearm's length: a hand is longer")
    elbow_back: float = tune(0.03, "1", "of a foreleg's length: an elbow points farther back")
    elbow_segment: float = tune(
        0.12, "1", "of a foreleg's length: segments at its elbow are longer"
    )
    inline: float = tune(
        1e-4, "1", "less the cosine: joints that never bend more, by 0.8°, only halve a segment"
    )
    equal_halves: float = tune(0.03, "1", "in which the halves of a segment may differ")
    # trunk
    unlike_pair: float = tune(
        0.1, "1", "of a limb's length: pairs of limbs differ by less, bones of a tail by more"
    )
    long_branch: float = tune(
        0.25, "1", "of the body's height: an arm is longer, a lock of hair or a coat-tail rarely"
    )
    twins_apart: float = tune(0.02, "1", "of the body's height: twins are farther from the middle")
    twins_uneven: float = tune(
        0.5, "1", "of the distance between twins: so far their middle may be aside"
    )
    leaf_still: float = tune(
        math.radians(0.1), "rad", "a leaf that never turns more only marks the tip of a chain"
    )
    # axes of files
    axes_frames: int = tune(120, "1", "of a clip that are looked at")
    speed_step: float = tune(
        1.0 / 30.0, "s", "over which speeds are measured: a frame of video; shorter ones are noise"
    )
    rest_along: float = tune(0.85, "1", "cosine of a body's way up to an axis at rest: 32°")
    along: float = tune(
        0.7, "1", "cosine of a body's way up to an axis in motion: 46°, as people bend"
    )
    hangs: float = tune(
        -0.3, "1", "cosine to it of the way to the head, below which legs and trunk run alike"
    )
    floor_near: float = tune(
        0.1, "1", "of the legs' length: height over the floor of what rests on it"
    )
    floor_slow: float = tune(0.35, "1/s", "of the legs' length: speed of what rests on the floor")
    floor_height: int = tune(
        10, "%", "percentile of the height of the lowest bone, which is that of the floor"
    )
    goes: float = tune(
        0.1, "1", "of frames in which the hips are faster than what rests: else nothing tells"
    )
    walks: float = tune(
        0.2, "1", "of these in which feet rest on the floor under other axes: runs have few"
    )
    floats: float = tune(
        0.34, "1", "times as often as that, anything rests on the ground as it is read"
    )
    clearly_behind: float = tune(
        0.2, "1", "of the length of feet, by which toes lie behind ankles that face the other way"
    )


NUMBERS = BodyNumbers()
