"""Control rigs: which controls move which deform bones, motion onto them, checks."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        bake_controls,
        check_baked,
        control_rig,
        control_writer,
        deform,
        effects,
        find_controls,
        foot_roll,
        ik_stretch,
        live_chain,
        live_solver,
        match,
        pose_graph,
        proxy_writer,
        snapping,
        solve_controls,
        switches,
        thinning,
        trials,
    )
else:
    __getattr__ = load_on_use(__name__)
