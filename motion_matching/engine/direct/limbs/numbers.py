"""Numbers of limbs and trunk on the way to marks, each with its unit and its reason."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...settings import tune


@dataclass(frozen=True)
class LimbNumbers:
    """Distances are those of a body of people's size.

    Ranges of joints are those of healthy adults: of palms from Kapandji, The Physiology of the
    Joints; of leans from Norkin and White, Measurement of Joint Motion. The motion itself may go
    beyond them.
    """

    # palms
    elbow_reach: tuple[float, float, float] = tune(
        (0.2, -0.8, -0.57), "1", "where a left arm leads that reaches out and down; by eye"
    )
    elbow_side: tuple[float, float, float] = tune(
        (0.64, 0.74, -0.82), "1", "where its elbow points then; other arms turn there; by eye"
    )
    elbow_shown: float = tune(
        0.05, "1", "of an arm's length: an elbow farther from the arm's line shows its side"
    )
    pronation: float = tune(
        math.radians(85.0), "rad", "Kapandji: of the forearm, from where the palm faces the body"
    )
    supination: float = tune(math.radians(90.0), "rad", "Kapandji: the same, the other way")
    flexion: float = tune(math.radians(85.0), "rad", "Kapandji: of the wrist, toward the palm")
    extension: float = tune(
        math.radians(85.0), "rad", "Kapandji: of the wrist, toward the back of the hand"
    )
    radial: float = tune(math.radians(15.0), "rad", "Kapandji: of the wrist, toward the thumb")
    ulnar: float = tune(math.radians(45.0), "rad", "Kapandji: of the wrist, away from the thumb")
    elbow_swings: tuple[float, ...] = tune(
        tuple(map(math.radians, (0, 15, -15, 30, -30, 45, -45, 60))),
        "rad each",
        "tried where hand and forearm do not do: below the arm, or beside the shoulder",
    )
    forearm_twist: float = tune(
        0.5, "1", "of a twist at the elbow: skin shrinks least if elbow and wrist have half each"
    )
    along_forearm: float = tune(
        math.radians(10.0),
        "rad",
        "between forearm and direction, below which less than the whole twist is done: it "
        "says nothing there, and would leap",
    )
    palm_met: float = tune(math.radians(5.0), "rad", "that no eye sees")
    # where parts are
    level: float = tune(
        0.1, "m", "frames are about as high as a mark asks for; the limb bends by the rest"
    )
    level_share: float = tune(
        1e-3, "1", "of frames, from which on they tell where a part is: fewer are chance"
    )
    # leaning
    lean_steps: int = tune(12, "1", "of a whole lean that are compared: 9° each, and smoothed")
    worth_bending: float = tune(0.02, "m", "missing, that are worth coming down on bent knees")
    below_shoulders: float = tune(
        0.1, "m", "aside of the shoulders, within which a goal is below them: one bends forward"
    )
    lean_forward: float = tune(
        math.radians(110.0),
        "rad",
        "Norkin and White: hips and spine together, less than 120° and 60 to 80° as one "
        "stands freely",
    )
    lean_aside: float = tune(
        math.radians(45.0), "rad", "Norkin and White: spine and hips, as one stands freely"
    )
    lean_backward: float = tune(
        math.radians(15.0), "rad", "Norkin and White: less, as one stands freely"
    )
    lean_twist: float = tune(
        math.radians(40.0), "rad", "Norkin and White: of the trunk, to bring one shoulder forward"
    )
    lean_collar: float = tune(math.radians(20.0), "rad", "Norkin and White: of the shoulder girdle")
    lean_pelvis: float = tune(0.55, "1", "of a lean that the hips do, as in lifting")
    lean_head: float = tune(
        0.5, "1", "of a lean that the head does not follow, to look at its hands; by eye"
    )
    arm_hangs: float = tune(
        0.5, "1", "of a lean that upper arms do not follow, by their weight; by eye"
    )
    hips_back: float = tune(
        0.35, "m/m", "that hips go back for each that shoulders go forward: even weight"
    )
    farthest_back: float = tune(0.18, "m", "that hips go back: the weight stays over the feet")
    hips_down: tuple[float, float, float] = tune(
        (0.0, 0.1, 0.2), "m", "on bent knees, tried one after the other: still no crouch"
    )
    head_clear: float = tune(
        0.12, "m", "that the head keeps from obstacles: half of it, and some air"
    )
    reach: float = tune(0.94, "1", "of an arm's length, at which its elbow is still bent a little")
    leg_reach: float = tune(0.995, "1", "the same of a leg, which is straighter")
    lean_ease: float = tune(1.0 / 3.0, "s", "in which a small lean comes and goes")
    lean_ease_more: float = tune(
        0.35, "s", "and more for a whole one: two thirds of a second in all; by eye"
    )
    lean_calm: float = tune(
        0.1, "s", "over which a lean is averaged: steps of `lean_steps` would be seen"
    )
    lean_hopeless: float = tune(
        0.5, "m", "that a goal is beyond all reach, from which on nobody leans to it"
    )
    # where to stand
    beside_near: float = tune(
        1.0, "m", "from an obstacle: a mark of a hand is reached from beside it; a reach"
    )
    stand_angles: int = tune(48, "1", "places compared round a mark: every 7.5°")
    stand_farthest: float = tune(3.0, "m", "from a mark: an arm and a lean reach less")
    stand_step: float = tune(0.05, "m", "between places compared")
    toes_ahead: float = tune(0.2, "m", "of the body, by which it stays clear more than its radius")
    least_clear: float = tune(0.05, "m", "the same where there is no more room")
    stretched: float = tune(0.9, "1", "of an arm's length, beyond which it is stretched")
    cramped: float = tune(0.5, "1", "of an arm's length, below which it is cramped")
    reach_over: float = tune(
        0.2, "m", "below the shoulders, up to which an arm reaches over something: the armpit"
    )
    touched: float = tune(0.05, "m", "by which a mark may be in what it touches")
    stand_tries: int = tune(
        40, "1", "places to which ways are looked for: each is a search for a way; by eye"
    )
    easy_side: tuple[float, float] = tune(
        (-0.35, 1.0),
        "rad, rad",
        "from straight ahead to the own side: there a hand works at ease; by eye",
    )
    keeps_going: float = tune(0.5, "rad", "of turning, up to which one goes on as one went")
    look_aside: float = tune(
        0.3, "rad", "headings tried to both sides of the mark: half of `easy_side`, about"
    )
    shoulder_frames: int = tune(
        512, "1", "shoulders are measured from: a median of fewer shifts with clips; by eye"
    )
    # on the way to a mark
    ease: float = tune(0.5, "s", "in which a limb comes to its mark, and leaves it: a step")
    beyond: float = tune(
        1.1, "1", "times its length that a limb is stretched to a mark, so that it is seen to reach"
    )
    out_of_reach: float = tune(
        2.0, "1", "times its length, beyond which it does not even reach out to a mark"
    )
    folded: float = tune(
        0.35, "1", "of its length to which it is folded at most, as it would fling about then"
    )
    dragged: float = tune(
        0.2, "1", "of its length by which a foot is held at most, if the motion goes on"
    )
    foot_ease: float = tune(0.2, "s", "in which a foot comes to its mark, though it has just stood")
    foot_lift: float = tune(
        0.02, "m", "that a standing foot is lifted: a walk's clearance (Winter) is 1.3 cm"
    )
    foot_lift_time: float = tune(0.3, "s", "that it takes: less than a swing")
    foot_turn_share: float = tune(0.6, "1", "of its way's time, in which it turns there; by eye")
    hand_rise_share: float = tune(
        0.7, "1", "of its way's time, in which a hand rises to a surface, or leaves it; by eye"
    )
    limb_worth: float = tune(1e-5, "m", "not worth bending a limb for: nobody sees it")
    over_edge: float = tune(
        0.02, "m", "beside an edge, from which on a hand is over what it is the edge of"
    )
    highest_lift: float = tune(
        0.35, "m", "that a hand is lifted over an edge at most; else it stays before it"
    )
    before_edge: float = tune(0.02, "m", "that it stays before what is higher")
    clear_ease: float = tune(
        0.12, "s", "in which that comes and goes: as soon as a hand does without being seen to jerk"
    )
    inside_mark: float = tune(
        0.005, "m", "of a mark in an obstacle, from which on a hand is not held there"
    )
    hand_worth: float = tune(1e-4, "m", "not worth bending an arm for: nobody sees it")


NUMBERS = LimbNumbers()
