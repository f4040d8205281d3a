"""Find the parts of a body: roles of bones, sides and mirror images, and its stance.

Other rooms import these seven modules and no others.
"""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import axes, body_roles, limbs, mirror, rig, stance, toe_ends
else:
    __getattr__ = load_on_use(__name__)
