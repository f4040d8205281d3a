"""Numbers that distinguish the bones of a body, each with its unit and its reason."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin

from ..settings import tune


@dataclass(frozen=True)
class BodyNumbers:
    """Lengths are shares of the body or of its limbs, so that giants and mice are read alike.

    Without a source, the reason is what lies on either side of the number. The bodies of `build.py
    study retargeting` are read with all of them.
    """

    # chains and segments
    tip: float = tune(0.2, "1", "of the length before it: a shorter last bone marks a chain's end")
    segment_aside: float = tune(0.1, "1", "of a segment's length: a bone nearer is a piece of it")
    segment_place: float = tune(0.01, "1", "of a segment's length: nearer bones lie in one place")
    leaf_along: float = tune(0.95, "1", "of a segment: a leaf that lies before is inside it")
    leaf_aside: float = tune(0.02, "1", "of a segment's length: a leaf farther off is outside")
    body_left: float = tune(0.3, "1", "of the body's size: legs stay nearer to a bone of the body")
    # mirror images
    symmetric: float = tune(0.02, "1", "of its size: hand-made rigs are off by a centimetre or two")
    aligned: float = tune(
        cos(radians(0.5)),
        "1",
        "cosine of 0.5°: offsets on rigs with shared axes differ less",
    )
    never_turns: float = tune(1.0 - 1e-6, "1", "least singular value of a still bone's mean turn")
    firm_offsets: float = tune(1e4, "1", "weight of offsets: the average pose just gives the roll")
    # plan of a body
    same_place: float = tune(0.02, "1", "of a leg's length: joints that are nearer coincide")
    uneven_segments: float = tune(1.5, "1", "times the other side's length, at most; by eye")
    unlike_segments: float = tune(4.0, "1", "times its neighbour's: a longer one holds several")
    opposite: float = tune(-0.5, "1", "cosine: two ways to the left of a body that contradict")
    knee_bent: float = tune(0.05, "1", "sine of 3°: knees that bend less in the mean show no side")
    head_aside: float = tune(sin(radians(45.0)), "1", "sine of 45°: a head leans less to a side")
    named: float = tune(1.0, "1", "confidence in a role that a bone's name tells")
    shaped: float = tune(0.6, "1", "in one by shape: above one half, so that retargeting takes it")
    doubtful: float = tune(0.4, "1", "in one whose sides differ: below a half, a person looks")
    doubtful_lengths: float = tune(0.25, "1", "in which both sides' lengths may differ; by eye")
    # fore legs
    standing: float = tune(radians(75.0), "rad", "off the vertical: an insect's lead down less")
    off_trunk: float = tune(radians(60.0), "rad", "off the trunk: zero poses have legs along it")
    as_high: float = tune(0.6, "1", "of the height in the motion: below, a body lies or sits")
    upright_trunk: float = tune(radians(45.0), "rad", "off the vertical: trunks of people and apes")
    on_ground: float = tune(0.15, "1", "of a hind leg's length: an end below stands on the ground")
    foreleg_length: float = tune(0.7, "1", "of a hind leg's length: arms are shorter")
    knees_up: float = tune(0.25, "1", "of a hind leg's length: whoever crawls has the knees lower")
    seen_on_ground: float = tune(0.2, "1", "of the time on the ground, at least")
    as_often: float = tune(0.6, "1", "of the hind legs' time on the ground: hands have less")
    long_legs: float = tune(
        1.8, "1", "of the trunk's length: people's are 2.1 to 3.7 times it, lying animals' about 1"
    )
    paw_height: float = tune(0.3, "1", "of shoulders': wrists over paws are lower, hands higher")
    # toes
    toe_above: float = tune(0.06, "1", "of the leg's length: a joint higher over its end is no toe")
    standing_heights: int = tune(5, "%", "percentile of heights at which a leg stands")
    resting_heights: int = tune(20, "%", "percentile of heights at which an end may rest")
    toe_still: float = tune(0.7, "1", "of the joint's speed: a faster end hangs in the air")
    usual_legs: tuple[float, float] = tune((0.5, 1.0), "m", "thigh to toe: as long as people's")
    # stances
    stance_frames: int = tune(3000, "1", "more take longer and show the same stances")
    arms_down: float = tune(0.5, "rad", "of posture that arms to the sides are worth; by eye")
    arms_out: tuple[float, float] = tune(
        (radians(25.0), radians(110.0)), "rad, rad", "off the vertical: arms held to the sides"
    )
    stance_lean: float = tune(radians(35.0), "rad", "that legs and trunk of a stance may lean")
    stance_score: float = tune(0.8, "1", "score up to which a pose is a T- or A-pose; by eye")
    arm_drop: float = tune(radians(40.0), "rad", "of an A-pose's arms below level: usual in rigs")
    foot_drop: float = tune(radians(25.0), "rad", "from the ankle to the toe joint: usual in rigs")
    toe_height: float = tune(0.03, "1", "of the leg's length: the toe joint above the ground")
    ankle_height: float = tune(0.1, "1", "of the leg's length: an ankle that is the lowest joint")
    # examined frames
    sampled_frames: int = tune(4000, "1", "of all clips: fewer show lengths, but no rare poses")
    sampled_clips: int = tune(40, "1", "as `sampled_frames`")
    length_clips: int = tune(10, "1", "that show how long bones are, and which lie in a line")
    length_frames: int = tune(20, "1", "of each of these clips")
    subset_frames: int = tune(2000, "1", "of all clips: a bone that moves does so within them")
    subset_clips: int = tune(60, "1", "as `subset_frames`")
    shape_frames: int = tune(400, "1", "of all clips, that show the shape of arms; by eye")
    least_rate: float = tune(15.0, "Hz", "slower, a foot's rest cannot be seen")
    # legs
    leg_reach: float = tune(0.1, "1", "of the body's height: ends of legs come lower")
    foot_low: float = tune(0.2, "1", "of the body's height: bones below belong to a foot")
    on_bone: float = tune(0.1, "1", "of a bone's length: what is no farther away lies on it")
    long_segment: float = tune(0.2, "1", "of a leg: thigh and shin are longer, a hip joint shorter")
    no_length: float = tune(0.005, "1", "of a leg's length: shorter is two joints in one place")
    straight: float = tune(radians(3.0), "rad", "a joint that never bends more is a twist bone's")
    blade: float = tune(0.8, "1", "of the first's length: a longer third begins below a blade")
    # arms
    branch_aside: float = tune(0.03, "1", "of the body's height: a branch farther off has a side")
    arm_alike: float = tune(0.6, "1", "of the longer one: upper arm and forearm are this alike")
    fork: float = tune(0.35, "1", "how much fingers that branch from it speak for a hand; by eye")
    last_bone: float = tune(0.15, "1", "and against it that it is a short last bone; by eye")
    hand_length: float = tune(0.25, "1", "of a forearm's length: a hand is longer")
    elbow_back: float = tune(0.03, "1", "of a foreleg's length: an elbow points farther back")
    elbow_segment: float = tune(0.12, "1", "of a foreleg: segments at its elbow are longer")
    inline: float = tune(1e-4, "1", "less the cosine, 0.8°: joints that bend less halve a segment")
    equal_halves: float = tune(0.03, "1", "in which the halves of a segment may differ")
    # trunk
    unlike_pair: float = tune(0.1, "1", "of a limb's length: pairs differ less, tails' bones more")
    long_branch: float = tune(0.25, "1", "of the body's height: arms are longer, coat-tails rarely")
    twins_apart: float = tune(0.02, "1", "of the body's height: twins are farther from the middle")
    twins_uneven: float = tune(0.5, "1", "of their distance: so far their middle may be aside")
    leaf_still: float = tune(radians(0.1), "rad", "a leaf that turns less marks the tip of a chain")
    # axes of files
    axes_frames: int = tune(120, "1", "of a clip that are looked at")
    rest_along: float = tune(0.85, "1", "cosine of a body's way up to an axis at rest: 32°")
    along: float = tune(0.7, "1", "cosine of a body's way up in motion: 46°, as people bend")
    hangs: float = tune(-0.3, "1", "cosine of the way to the head: below, legs and trunk run alike")
    floor_near: float = tune(0.1, "1", "of the legs' length: height of what rests on the floor")
    floor_slow: float = tune(0.35, "1/s", "of the legs' length: speed of what rests on the floor")
    floor_height: int = tune(10, "%", "percentile of the lowest bone's height: the floor's")
    goes: float = tune(0.1, "1", "of frames with hips faster than what rests: else nothing shows")
    walks: float = tune(0.2, "1", "of these with feet on the floor of other axes: runs have few")
    floats: float = tune(0.34, "1", "times as often anything rests on the ground as it is read")
    clearly_behind: float = tune(0.2, "1", "of feet's length: toes that clearly lie behind ankles")


NUMBERS = BodyNumbers()
