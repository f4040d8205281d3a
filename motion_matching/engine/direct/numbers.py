"""Times, distances and counts of the director, each with its unit and its reason."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class DirectNumbers:
    """By room; weights are in `objective`, and those of limbs in `limbs.numbers`.

    Distances are those of a body of people's size, and times those of its motion.
    """

    # footage: known jumps, and measured ways
    end_guard: float = tune(
        0.3, "s", "jumps lead to frames with as long to go, or they would jump again at once"
    )
    reach_step: float = tune(0.25, "s", "between ways that are measured: half a step")
    reach_seconds: float = tune(10.0, "s", "up to which they are; beyond, they grow evenly")
    frames_at_once: int = tune(8192, "1", "whose joints are in memory together; changes no result")
    jumps_kept: int = tune(
        48, "1", "of each frame: more fill memory and time, 320 states price 15,000; by eye"
    )
    jumps_priced: int = tune(
        320, "1", "nearest frames priced exactly, of which the cheapest are kept; by eye"
    )
    tree_axes: int = tune(
        9, "1", "principal axes of the tree: with more, it looks at nearly all frames; by eye"
    )
    tree_slack: float = tune(
        0.5, "1", "neighbours may be as much farther: exact prices sort them anyway"
    )
    tree_leaf: int = tune(32, "1", "points of a leaf: a matter of speed alone")
    jumps_at_once: int = tune(
        2048, "1", "frames whose jumps are in memory together; changes no result"
    )
    entered_rate: float = tune(
        30.0, "Hz", "frames that may be entered: neighbours at 60 differ by less than is seen"
    )
    clip_cell: float = tune(
        0.15, "s", "of a clip, of which only the cheapest frame is kept: the rest lead to the same"
    )
    kind_ahead: float = tune(
        0.67, "s", "that tells kinds of jumps apart: two thirds of a second, about a step"
    )
    kind_size: tuple[float, float, float] = tune(
        (0.25, 0.25, 0.4),
        "m, m, rad",
        "in a larger kind, a search lacks the jump to its mark; by eye",
    )
    jumps_of_a_kind: int = tune(
        4, "1", "before others come first: a few, so that the cheapest are there; by eye"
    )
    same_moment: float = tune(
        1.0 / 3.0, "s", "another jump leads to the same moment within it; as the inspector lists"
    )
    # search: the beam
    step: float = tune(0.1, "s", "between decisions: at half of it, a search takes twice as long")
    jumps_apart: float = tune(
        0.3, "s", "an inertialized jump is nearly gone then; sooner, two add up"
    )
    looks: tuple[float, float, float] = tune(
        (0.33, 0.67, 1.0),
        "s",
        "ahead, at which playing on is compared: a third of a second, to a step",
    )
    lead_in: float = tune(
        1.0, "s", "before a frame that is asked for, jumps lead to what leads to it"
    )
    forgotten: int = tune(39, "1", "steps after which nothing is left of a jump: 3.9 s")
    states_of_a_piece: int = tune(
        6, "1", "kept of one piece of a clip: else all states are of the same one"
    )
    states_compared: int = tune(
        6, "1", "times as many as are kept: those alike are left out of these; by eye"
    )
    piece_alike: float = tune(
        0.1, "s", "in a clip; states as near, also in place and heading, are one: a step of it"
    )
    place_alike: float = tune(0.08, "m", "as a mark's `near`: what the closing can bend away")
    heading_alike: float = tune(
        0.17, "rad", "10°: a jump may bend it away; finer, the beam is full of copies"
    )
    part_ahead: float = tune(
        1.0, "s", "before a mark, it counts where playing on leads: two steps of a walk"
    )
    pose_moments: int = tune(
        12, "1", "of the data, the nearest to a pose, to which a search tries to jump; by eye"
    )
    marks_together: float = tune(
        1.5, "s", "one mark may be what makes the other missed: beyond, there is time for both"
    )
    # search: frames
    upright: float = tune(
        0.9, "1", "of their usual height, below which hips begin to be low: a walk bobs by less"
    )
    crouched: float = tune(0.75, "1", "of their usual height: hips of a crouch; sitting is lower")
    gait_window: float = tune(
        0.25, "s", "on both sides, over which a gait's speed is averaged: half a second, a step"
    )
    forbidden_around: float = tune(
        0.25, "s", "around a jump that is forbidden: beside it, it would look the same"
    )
    seed_piece: float = tune(
        0.25, "s", "of a clip that a seed makes dearer: shorter ones leave a good frame beside each"
    )
    poses_kept: int = tune(32, "1", "in memory: far more than a shot asks for")
    walk_until: float = tune(
        0.8, "1", "of the limit of gaits, from which on a walk asked for counts less"
    )
    run_from: float = tune(
        0.4, "1", "of the limit, up to which a run asked for counts nothing: it starts and stops"
    )
    gait_fades: float = tune(0.4, "1", "of the limit, over which either fades; by eye")
    # search: the guide
    firm_time: float = tune(0.15, "s", "around a mark: one and a half steps of the search")
    tight_time: float = tune(0.5, "s", "around what was missed: a step of a walk")
    join_time: float = tune(0.8, "s", "within which a guide is led elsewhere: a step and a half")
    one_place: float = tune(
        0.15, "m", "marks that are nearer are at one place: half a foot, which nobody steps"
    )
    still_turn: float = tune(
        0.1, "rad", "a body that stands still turns by less: 6°, without lifting a foot"
    )
    distance_a_second: float = tune(
        0.05, "m/s", "that a second counts for how far a mark is: stands come nearer, too"
    )
    strafe_change: float = tune(
        0.8, "rad", "both ends that differ less in how they face aside agree: 45°"
    )
    turn_within: float = tune(1.2, "s", "a character turns to where it goes: two steps")
    lean_to_facing: float = tune(
        0.7, "1", "of the way to where it faces that it leaves and arrives; by eye"
    )
    no_curve: float = tune(1.2, "rad", "that it faces aside: at 70° one goes sideways on purpose")
    keeps_heading: float = tune(
        0.35, "rad", "a heading kept so far is meant: 20°, below any turn of a walk"
    )
    still_speed: float = tune(
        0.05, "m/s", "of a path on which one stands: a step of half a foot takes 3 s there"
    )
    still_turn_speed: float = tune(0.1, "rad/s", "of a path on which one stands")
    directed_speed: float = tune(
        0.02, "m/s", "slower, a way has no direction of its own: below it, cubics come to rest"
    )
    after_last_mark: float = tune(
        0.5, "s", "a shot goes on after its last mark without going further: no step begins"
    )
    almost_reach: float = tune(
        0.98, "1", "of the data's farthest way that is tried for: the last 2 % are single frames"
    )
    side_sample: float = tune(0.1, "s", "between looks at a path; as a step of the search")
    side_share: float = tune(
        0.3, "1", "of a path that goes sideways, from which on it depends on side steps; by eye"
    )
    side_seconds: float = tune(
        3.0, "s", "of side steps to one side with which a search has some choice: a few steps"
    )
    side_speed: float = tune(
        0.8, "1", "of the path's speed that they have: slower ones fall behind by a step in five"
    )
    # fit
    closing_rounds: int = tune(
        8, "1", "of Gauss and Newton: with fewer, marks are off by millimetres; by eye"
    )
    round_shift: float = tune(
        0.1, "s", "that time moves in one round: frames beyond are no longer alike"
    )
    closing_beside: float = tune(
        0.02, "m", "beside obstacles that are kept free: half of `search_beside`"
    )
    largest_lead: float = tune(
        0.1, "m/s", "corrections beyond it miss a mark: the bound of docs/direct-quality.md"
    )
    largest_turn: float = tune(1.0, "rad/s", "of turning; the bound of docs/direct-quality.md")
    least_rate: float = tune(
        0.85, "1", "of time, beyond which a mark is missed: at a fifth slower a walk looks tired"
    )
    largest_rate: float = tune(1.15, "1", "the same: at a fifth faster, a walk looks hurried")
    hopeless: float = tune(
        0.3, "m", "that a plan may miss a mark by, besides what closing can do: half a step"
    )
    part_arm: float = tune(
        0.5, "m", "of a part's place that count as a radian: a hand from the middle of a body"
    )
    closing_passes: int = tune(
        8, "1", "in which marks that cannot be reached are given up, some at a time; by eye"
    )
    tempo_ease: float = tune(
        0.3, "s", "in which the tempo changes, within its range: at once, a step would jerk"
    )
    # obstacles
    corner_room: float = tune(
        0.15, "m", "beyond the radius of a body at which it passes corners: it swings in turns"
    )
    least_room: float = tune(
        0.05, "m", "beyond the radius that a way keeps: a little more than `search_beside`"
    )
    blocked_places: int = tune(
        40, "1", "of a straight way that is blocked, at which it may end: each 10 cm of 4 m"
    )
    wall_side: float = tune(
        0.01, "m", "from a wall, at which the floor shows what it is the side of"
    )
    wall_shares: tuple[float, float, float] = tune(
        (0.2, 0.5, 0.8), "1", "of a wall at which it does: not at its ends, where other walls are"
    )
    wall_near: float = tune(0.6, "m", "within which the floor is looked at: a step")
    search_beside: float = tune(
        0.04, "m", "kept free for what closing moves: 4 cm, study director's most on a path"
    )
    toe_tip: float = tune(0.1, "m", "tips are from joints of toes: a person's toes and a shoe")
    trunk_radius: float = tune(
        0.1, "m", "below most people's, as all radii: clothes and flesh give way"
    )
    head_radius: float = tune(0.08, "m", "a head is 15 cm wide at the ears")
    thigh_radius: float = tune(0.06, "m", "as `trunk_radius`")
    shin_radius: float = tune(0.045, "m", "as `trunk_radius`")
    foot_radius: float = tune(0.03, "m", "as `trunk_radius`: half the height of an instep")
    crown: float = tune(
        0.12, "m", "from the joint of the head to the middle of its upper half: of adults"
    )
    capsule_step: float = tune(
        0.06, "m", "between points of a capsule's axis: below the least diameter of a capsule"
    )
    entered: float = tune(
        0.01, "m", "that count as inside: what is not seen of a surface that gives way"
    )
    floor_step: float = tune(
        0.1, "m", "between looks at the floor along a line: less than any tread"
    )
    smooth_reach: float = tune(
        4.0, "1", "times its width that the smoothing looks to both sides: 6e-5 is beyond"
    )
    # play, shots and outcomes
    seam_blend: float = tune(
        0.4, "s", "at both ends of a piece, in which it is led to the rest; by eye"
    )
    slowest: float = tune(0.9, "1", "tempo that leaves room for marks, within what is not seen")
    fastest: float = tune(1.1, "1", "as `slowest`")
    longest_dip: float = tune(
        0.5, "s", "that hips may be as low as in a crouch, as they are in a stumble"
    )
    asked_around: float = tune(
        1.0, "s", "on both sides of a moment of a source, in which it decides on hips; by eye"
    )
    foot_steps: float = tune(0.1, "m", "that a foot moves if it steps, and not just shifts")
    path_mean: float = tune(0.01, "m", "a path is kept to: docs/direct-quality.md has 4 mm at most")
    path_usual: float = tune(0.025, "m", "in 95 % of it: docs/direct-quality.md has 17 mm at most")
    path_most: float = tune(0.1, "m", "anywhere on it: docs/direct-quality.md has 4 cm at most")
    path_facing: float = tune(
        math.radians(9.0), "rad", "in 95 % of it: docs/direct-quality.md has 3.2° at most"
    )
    tempo_met: float = tune(
        0.5, "1", "of a change of tempo, from which on it is met: nearer to it than to none"
    )
    kept_ticks: float = tune(
        1.5, "1", "by which a jump that is kept may be off: a tick, and rounding"
    )
    passed_around: float = tune(
        1.0, "s", "around a mark, in which it may be passed: too early or late is told as that"
    )
    too_short: float = tune(0.1, "m", "up to which a limb that misses its height is just too short")
    too_fast: float = tune(
        0.9, "1", "of the data's fastest, from which on a way is told to be too fast"
    )
    leant_over: float = tune(
        0.75, "m", "from an obstacle, within which a limb is led over it from beside it: an arm"
    )
    # the director's passes
    take_states: int = tune(
        320, "1", "kept by the search: docs/direct-quality.md is measured with as many"
    )
    preview_states: int = tune(80, "1", "a quarter, for a preview in about a quarter of the time")
    extra: float = tune(0.5, "s", "searched beyond the end, as a take may run ahead of its plan")
    search_around: float = tune(
        4.0, "s", "on both sides of a missed mark: a few jumps on either side may help"
    )
    pinned_ticks: int = tune(
        4, "1", "on both sides of a piece, at which it has to be as before: velocity and more"
    )
    play_context: float = tune(
        3.0, "s", "on both sides with which a piece is played: what is left of a jump is gone"
    )
    shortest_piece: float = tune(1.0, "s", "a piece shorter than two steps leaves no choice")
    part_closings: int = tune(
        2, "1", "more, on where the take has parts; then they are there to the millimetre"
    )
    wider: tuple[int, int, int] = tune(
        (2, 3, 3), "1", "times as many states in each search again around missed marks"
    )
    change_around: float = tune(
        10.0, "s", "on both sides of a change at most: beyond, a whole search is as fast"
    )
    change_beyond: float = tune(1.0, "s", "beyond the marks before and after a change; by eye")
    change_share: float = tune(
        0.5, "1", "of a shot, from which on all of it is searched: it takes as long"
    )
    seeds_tried: int = tune(3, "1", "for each variation: one waits for each of them; by eye")
    same_moment_shown: float = tune(
        0.5, "s", "of a clip, within which two takes show the same: a step"
    )
    other_frames: float = tune(
        0.5, "1", "of the time in which takes that differ show other frames: most of it"
    )
    ways_apart: float = tune(
        0.25, "m", "between ways that differ, on average: half the width of a body"
    )


NUMBERS = DirectNumbers()
