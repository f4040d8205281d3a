"""Direct shots: marks that are hit on time, from a search that knows all of the shot."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        aims,
        anchors,
        beam,
        blocked,
        body_clearance,
        closing,
        conduct,
        conflicts,
        director,
        footage,
        from_performance,
        guide,
        hands_clear,
        improving,
        jump_price,
        jump_table,
        leaning,
        leaning_body,
        limb_marks,
        limbs,
        mark_outcomes,
        nearness,
        obstruction,
        outcomes,
        palms,
        part_closing,
        parts,
        playing,
        poses,
        reach,
        revising,
        routing,
        scaling,
        seams,
        shot,
        shot_checks,
        shot_file,
        side_steps,
        sketch,
        standing_beside,
        tempo,
        variations,
        wishes,
    )
else:
    __getattr__ = load_on_use(__name__)
