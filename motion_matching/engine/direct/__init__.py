"""Direct shots: marks that are hit on time, from a search that knows all of the shot."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        beam,
        closing,
        director,
        footage,
        guide,
        jump_price,
        jump_table,
        obstruction,
        outcomes,
        pins,
        playing,
        shot,
        shot_file,
    )
else:
    __getattr__ = load_on_use(__name__)
