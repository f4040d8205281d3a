"""What every controller shares: intents, trajectories, inertialization, displacement, takes."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        bending,
        breathing,
        carrying,
        contact_ranges,
        displacement,
        dragging,
        fade,
        feet_apart,
        foot_lock,
        footholds,
        ground,
        ground_ahead,
        ideal,
        idling,
        inertialization,
        intent,
        joints,
        knee_limit,
        label_blending,
        labels,
        legs,
        looking,
        method,
        performance,
        performer,
        played_labels,
        rollout,
        scripts,
        settings,
        start_state,
        stepping,
        take,
        trajectory,
        transition_cost,
    )
else:
    __getattr__ = load_on_use(__name__)
