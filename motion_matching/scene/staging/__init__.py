"""Show a take: body, ground, stage, camera and renders."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import body, character, demo, ground, marker_writer, placements, take_file
else:
    __getattr__ = load_on_use(__name__)
