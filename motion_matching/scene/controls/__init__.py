"""Control rigs: which controls move which deform bones, motion onto them, checks."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import bake_controls, check_baked, control_rig, deform, finding, live
else:
    __getattr__ = load_on_use(__name__)
