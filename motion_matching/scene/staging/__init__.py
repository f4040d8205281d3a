"""Show a take: body, ground, stage, camera and renders."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        blend_file,
        body,
        character,
        demo,
        fitted,
        ground,
        mannequin,
        marker_writer,
        placements,
        skin,
        source_grounds,
        stage,
        take_file,
    )
else:
    __getattr__ = load_on_use(__name__)
