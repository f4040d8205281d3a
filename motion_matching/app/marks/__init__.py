"""Marks of a scene, and the shots that they make."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import keeping_poses, marks, outcomes, shots, tracing
else:
    __getattr__ = load_on_use(__name__)
