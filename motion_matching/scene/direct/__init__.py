"""Set up a scene for the director: empties for marks, timeline markers, the NLA."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import empties, own_track, stored_shots, timeline
else:
    __getattr__ = load_on_use(__name__)
