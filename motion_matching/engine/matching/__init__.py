"""Motion matching: features, databases, search, and the method that plays them."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        cost_terms,
        differences,
        fitted_features,
        flips,
        length_search,
        method,
        moments,
        price_choice,
        search,
        similar_frames,
        support,
        tempo,
    )
else:
    __getattr__ = load_on_use(__name__)
