"""Blender's data model: actions, curves, matrices, evaluation."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import animation, evaluation, files, handle, id_properties, removal, transforms
else:
    __getattr__ = load_on_use(__name__)
