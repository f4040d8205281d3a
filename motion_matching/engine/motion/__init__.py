"""Clips, and data made from them: contacts, simulation bones, and limits of motion."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import clip, conforming, contacts, margins, rest, settings, simulation_bone
else:
    __getattr__ = load_on_use(__name__)
