"""Blender data in and out; no operators, no drawing."""

from typing import TYPE_CHECKING

from ..engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import blender, controls, direct, library, reading, retargeting, rig, staging, writing
else:
    __getattr__ = load_on_use(__name__)
