"""Motion matching: features, databases, search, and the method that plays them."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import cost_terms, fitted_features, flips, method, price_choice
else:
    __getattr__ = load_on_use(__name__)
