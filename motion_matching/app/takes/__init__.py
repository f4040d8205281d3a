"""Takes: performed, baked, compared, and played beside each other."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        baking,
        comparing,
        playing_beside,
        recordings,
        requested_tags,
        take_actions,
        take_list,
    )
else:
    __getattr__ = load_on_use(__name__)
