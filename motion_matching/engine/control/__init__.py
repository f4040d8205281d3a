"""Run the tick: simulation object, method, blending, feet and looks in one performer."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import continuation, label_blending, life, method, performer, rollout, trajectory
else:
    __getattr__ = load_on_use(__name__)
