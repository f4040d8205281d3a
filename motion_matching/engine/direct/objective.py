"""Weights of the director, in one table and in comparable units."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class Objective:
    """The weights by which the director judges jumps, plans, closings and places to stand.

    The search adds up metre-seconds: the error of joints times the time that it is seen, as in the
    price of a jump of `blending.jump_price`. A deviation d of which `a` is allowed costs `place` or
    `heading` times (d / a)² in each second, so an allowed deviation is also a weight: half of it
    makes costs four times as high. The closing adds up (d / a)² in each second.

    To compare them: 0.01 m·s is a second of a deviation that is just allowed, 0.016 m·s a usual
    jump (`build.py study director`), and 1 m·s is plainly wrong. That study judges them together
    (docs/direct-quality.md); "by eye" marks a weight without its own measurement.
    """

    # jumps: metre-seconds each
    barred: float = tune(
        1e3, "m·s", "more than any jump costs: stands for one that may not be taken"
    )
    jump: float = tune(
        0.03, "m·s", "two usual jumps (study director: 0.016 each): plans jump for a reason"
    )
    seed: float = tune(
        0.04, "m·s", "a usual jump or two: seeds choose among plans about as good, no worse ones"
    )
    toe: float = tune(1.0, "1", "of joints in the price of a jump; the unit of the other two")
    hips: float = tune(
        0.7, "1", "beside a toe: a pelvis that jumps is seen less than a sliding foot; by eye"
    )
    ends: float = tune(
        1.2, "1", "of all other ends of limbs together: hands and head as much as one foot; by eye"
    )
    places_alone: float = tune(
        0.7, "1", "of places beside places and velocities in sum, lest two large errors cancel"
    )
    crowded: float = tune(
        100.0, "m·s", "more than any jump, less than `barred`: other kinds of jumps come first"
    )
    # the way: metre-seconds a second, for the largest allowed deviation
    place: float = tune(
        0.01, "m·s/s", "three seconds of it are worth a jump; with more, plans jump all the time"
    )
    heading: float = tune(0.01, "m·s/s", "as `place`: neither gives way to the other")
    most_heading: float = tune(
        4.0, "1", "times `heading`, at most between marks, where a body may well turn otherwise"
    )
    most_heading_again: tuple[float, float, float] = tune(
        (1e3, 0.5, 4.0),
        "1",
        "when missed marks are searched again: headings between are often wrong",
    )
    # allowed deviations, at marks and far from them
    near: float = tune(0.08, "m", "at a mark: what the closing can bend away; costs `place`")
    far: float = tune(
        0.6, "m", "far from marks: a step aside, as only marks were asked for; by eye"
    )
    spread: float = tune(
        0.12, "m/m", "how soon it gets as large: within two or three steps of a mark; by eye"
    )
    near_turn: float = tune(
        0.12, "rad", "as `near`: 7° can be bent away within a step; costs `heading`"
    )
    far_turn: float = tune(0.8, "rad", "as `far`: nobody asked where to face between marks; by eye")
    spread_turn: float = tune(0.25, "rad/m", "as `spread`; by eye")
    path_near: float = tune(
        0.06, "m", "on a timed path, which is asked for all along; the closing does the rest"
    )
    path_turn: float = tune(0.2, "rad", "on a timed path; by eye")
    firm: float = tune(
        4.0, "1", "how much more deviations cost at a mark: less, and a cheaper way misses it"
    )
    tight: float = tune(5.0, "1", "as `firm`, around what the search before it missed; by eye")
    firm_beyond: float = tune(
        0.2, "1", "of deviations beyond the end, which is searched only as a take may run ahead"
    )
    # where playing on would lead
    hope: float = tune(
        0.7, "1", "of that beside what is paid: at 1, states that will jump anyway are lost; by eye"
    )
    most_hope: float = tune(
        3.0, "m·s/s", "at most: who leads far away has to jump, which costs no more"
    )
    hope_near: float = tune(
        0.04, "m²", "added to the squares allowed, for what can change within a second: 20 cm"
    )
    hope_turn: float = tune(0.02, "rad²", "the same of headings: 8°")
    most_part_hope: float = tune(
        0.5, "m·s", "of a part at most before its mark: a plan may jump and get there yet"
    )
    lead_to_frame: float = tune(
        0.6, "m·s", "for not leading to a frame asked for, just before it; more than any jump to it"
    )
    # requests at a moment
    frame_missed: float = tune(
        1e3, "m·s", "more than all else: a frame that is asked for has to be shown"
    )
    part_away: float = tune(
        2.0, "m·s/m²", "of a part from its mark: 7 cm, which the closing bends away, are 0.01"
    )
    part_height: float = tune(
        0.05, "m·s/m", "of a limb's height: little, as limbs bend to it afterwards"
    )
    pose: float = tune(
        3.0, "m·s/m", "of joints from a pose: a centimetre of all joints is worth a jump"
    )
    # frames: metre-seconds a second
    gait: float = tune(
        0.15, "m·s/s", "of the other gait: a second is worth five flat jumps, marks more; by eye"
    )
    runs_above: float = tune(
        3.0, "1", "how fast walking faster than the limit becomes the other gait: at 4/3 of it"
    )
    tag: float = tune(
        0.5, "m·s/s", "of frames without the tags asked for: more than any other gait; by eye"
    )
    odd: float = tune(
        0.5, "m·s/s", "of odd postures where no tags are asked for: as frames that lack a tag"
    )
    low_hips: float = tune(
        0.1, "m·s/s", "without it, data of one who walks and crouches leaves people crouching"
    )
    drift: float = tune(
        0.3, "m·s/s per m/s", "of a root or foot that is to stand: steps in place are seen; by eye"
    )
    climb: float = tune(
        0.3, "m·s/s per m/s", "of ground rising otherwise than in the clip; as `drift`"
    )
    drift_turn: float = tune(0.2, "m", "that a radian counts in a drift: hips are about as wide")
    # the first frame
    first_turn: float = tune(
        0.1, "m²/rad²", "0.3 m for a radian: a start soon turns, but gets nowhere soon; by eye"
    )
    first_speed: float = tune(
        1.0, "s²", "where one stands, what goes is as far off as it gets in a second"
    )
    # obstacles: metre-seconds a step of 0.1 s
    inside: float = tune(10.0, "m·s", "more than any way round costs")
    deeper: float = tune(
        200.0, "m·s/m", "and the more the deeper: who has to be inside leaves by the shortest way"
    )
    beside: float = tune(
        20.0, "m·s/m", "within the room that closing needs: a few jumps, but no way round"
    )
    toes: float = tune(
        8.0, "m·s/m", "of toes nearer than a body may be: feet turn and step aside; by eye"
    )
    # the closing: corrections that are just allowed; they add up as (d / a)² in each second
    lead: float = tune(
        0.04, "1", "of its speed that a root may be led aside: less than is seen of a slide"
    )
    lead_at_rest: float = tune(0.004, "m/s", "the same where one stands: 4 mm in a second")
    twist: float = tune(
        0.12, "1", "of its turning, and speed at `twist_arm`, that a root may be turned; by eye"
    )
    twist_at_rest: float = tune(0.02, "rad/s", "the same where one stands: 1° in a second")
    twist_arm: float = tune(0.8, "m", "speed that counts as turning: about a leg's length")
    rate: float = tune(
        0.05, "1", "of the time that is stretched: a walk at a tenth more still looks like one"
    )
    stiff: tuple[float, float, float, float] = tune(
        (0.07, 0.07, 0.7, 0.1),
        "m/s, m/s, rad/s, 1",
        "beyond, corrections are hardly made; less misses marks",
    )
    stiff_on_path: tuple[float, float, float, float] = tune(
        (0.3, 0.3, 2.0, 0.1),
        "m/s, m/s, rad/s, 1",
        "wider, as a path is asked for all along; by eye",
    )
    stiffest: float = tune(
        5.0, "1", "times as large as that, from which on they are as hard to make as there; by eye"
    )
    calm: float = tune(
        0.15, "s", "in which corrections change: in less, bodies jerk; in more, marks are missed"
    )
    free_change: tuple[float, float, float, float] = tune(
        (0.02, 0.02, 0.05, 0.0),
        "m/s, m/s, rad/s, 1",
        "changes that are free, lest a stand holds back a step",
    )
    shift: float = tune(0.3, "s", "that a take may be ahead of its plan or behind it; by eye")
    on_path: float = tune(
        0.0016, "m", "a path is kept to; study director: 2 to 5 mm off on average"
    )
    on_path_turn: float = tune(
        0.0125, "rad", "the same of headings; study director: within 3.2° in 95 %"
    )
    beside_obstacle: float = tune(
        0.004, "m", "the room beside obstacles is kept to; above all corrections"
    )
    anchor: float = tune(
        1e3, "1/unit", "at a mark: a millimetre costs as much as a second at the limit"
    )
    anchor_of_stand: float = tune(
        30.0, "1/unit", "at the end of a stand: 3 cm do, as a mark holds the place at its beginning"
    )
    # where to stand: metres of stretching
    reach_aside: float = tune(
        0.3, "m/rad", "that a mark is to the side of where a hand works at ease; by eye"
    )
    stand_turn: float = tune(
        0.06, "m/rad", "of turning there: little, as one turns while one walks"
    )
    stand_way: float = tune(
        0.1, "m/m", "of way: a metre farther is worth 10 cm less of stretching; by eye"
    )
    lean_barred: float = tune(1e3, "m", "missing where one cannot lean: more than any arm misses")
    swing: float = tune(
        0.2, "rad/rad", "a palm may lack it rather than swing an elbow, which shows more; by eye"
    )


COSTS = Objective()
