"""Draw flat maps of poses and of the states of a field."""

from typing import TYPE_CHECKING

from ...lazy import load_on_use

if TYPE_CHECKING:
    from . import field_map, pose_map
else:
    __getattr__ = load_on_use(__name__)
