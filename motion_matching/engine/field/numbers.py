"""Tuned numbers for choices, training and pushes of motion fields; no user changes them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class FieldNumbers:
    """Lengths, times and speeds are those of people."""

    # control
    wider_search: int = tune(4, "1", "times the neighbours to look ahead with: by eye")
    further_share: float = tune(1 / 3, "1", "of neighbours that may be further away: by eye")
    further_reach: float = tune(1.5, "1", "times as far as others: farther, poses blend badly")
    on_field_share: float = tune(
        0.6, "1", "of the neighbours' reach: if the nearest is farther, the pose is off the field"
    )
    clip_seconds: float = tune(0.3, "s", "that control by values looks along the clips: a step")
    straight_angle: float = tune(math.radians(35.0), "rad", "off ahead, where values apply: by eye")
    # a change of action
    action_halflife: float = tune(0.03, "s", "of a change of action; longer would delay answers")
    gait_halflife: float = tune(0.1, "s", "after a change of gait, as its steps differ more")
    gait_fading: float = tune(0.1, "s", "in which half of what `gait_halflife` is more has gone")
    gait_seconds: float = tune(0.3, "s", "after a change of gait: a toe that moves is up")
    moving_toe: float = tune(1.0, "m/s", "from which a toe moves: chosen by eye")
    # the way of the object
    path_times: tuple[float, ...] = tune(
        (0.25, 0.5, 0.75, 1.0), "s", "of the known way; values aim at the last"
    )
    path_samples: int = tune(4, "1", "of the lookahead, to compare paths: by eye")
    path_price: float = tune(2.5, "rad/m", "at 2, one stays beside a path; at 4, one stands")
    entry_lasting: float = tune(0.6, "s", "that a clip goes on for at least: about two steps")
    most_entries: int = tune(2000, "1", "states that are compared: a tick has no time for more")
    first_entries: int = tune(32, "1", "of the best rewarded, compared before the rest")
    entry_growth: int = tune(4, "1", "times as many each time: few calls, little in vain")
    entry_price: float = tune(0.5, "rad/m", "at 1, one stays off the way; at 0.4, toes slide")
    return_seconds: float = tune(0.3, "s", "back in a played clip, until it may be played anew")
    halt_seconds: float = tune(0.1, "s", "of a halting clip: overriding choices costs more")
    # gaits
    gait_leads: tuple[float, ...] = tune((1.0, 0.2, 0.5), "s", "to standing, walking, running")
    clip_end: float = tune(0.25, "s", "of a clip without neighbours: what ends there leaps")
    enough_share: float = tune(0.5, "1", "of states left, or a gait keeps the ends of its clips")
    standing_speed: float = tune(0.2, "m/s", "of goals and states that stand: by eye")
    standing_turn: float = tune(0.5, "rad/s", "of states that stand: by eye")
    standing_angle: float = tune(math.radians(10.0), "rad", "a goal farther aside makes one turn")
    # the measure between states
    position_weight: float = tune(0.8, "1", "of all positions relative to velocities: notebook 003")
    hips_weight: float = tune(0.3, "1", "of the hips' position: notebook 003")
    spine_weight: float = tune(0.1, "1", "of each bone between hips and chest: notebook 003")
    chest_weight: float = tune(0.5, "1", "of the chest: notebook 003")
    beyond_chest_weight: float = tune(0.01, "1", "of arms and head: notebook 003")
    thigh_weight: float = tune(0.2, "1", "of a thigh: notebook 003")
    shin_weight: float = tune(0.5, "1", "of a shin: notebook 003")
    foot_weight: float = tune(1.0, "1", "of feet and toes: notebook 003")
    arm_bones: int = tune(4, "1", "from the chest to a hand or past the head, without fingers")
    root_velocity_weight: float = tune(4.0, "1", "of the root's velocity among bones': by eye")
    turn_lever: float = tune(1.0, "m", "of the root's turn among those velocities: by eye")
    states_at_once: int = tune(2048, "1", "whose features are computed together, within the cache")
    measured_seconds: float = tune(0.1, "s", "of the root's velocity, to tell a field's data")
    alike_cosine: float = tune(
        0.9999, "1", "of half the angle between rotations, above which a line is as exact as an arc"
    )
    speed_count: int = tune(5, "1", "of tasks; values between them are interpolated")
    # the search for neighbours
    wider_times: float = tune(1.5, "1", "times k, to find states of different stretches")
    bound_sums: int = tune(8, "1", "of terms in which bounds are measured: chosen by eye")
    block_states: int = tune(16, "1", "states in a block: chosen by eye")
    group_states: int = tune(256, "1", "states in a group, which is halved into blocks")
    bound_seeds: int = tune(64, "1", "states beyond 2 k that give the first bound")
    queries_at_once: int = tune(16, "1", "searched around one mean: chosen by eye")
    most_pairs: int = tune(30_000, "1", "of a batch; queries that need more go one by one")
    # training
    trained_at_once: int = tune(16, "1", "states whose actions are computed together: cache")
    tables_share: float = tune(0.8, "1", "of a training's time, in a progress bar")
    values_at_once: int = tune(1024, "1", "states whose values are computed together: cache")
    # a push and ghosts
    full_push: float = tune(
        2.0, "m/s", "a push of full strength: harder ones move a body farther, and bend it no more"
    )
    push_bend: float = tune(0.2, "rad", "of each joint of the spine; notebook 003 bends each tick")
    push_shift: float = tune(0.1, "m", "of the hips; notebook 003 moves them each tick")
    push_seconds: float = tune(0.2, "s", "of a push, to look alike at any rate")
    ghosts_in_a_row: int = tune(5, "1", "neighbours drawn beside each other, as a view holds")
    ghosts_apart: float = tune(0.5, "1", "of a body's height, in a row: arms do not meet")
    ghosts_behind: float = tune(1.25, "1", "of a body's height, from row to row")


NUMBERS = FieldNumbers()
