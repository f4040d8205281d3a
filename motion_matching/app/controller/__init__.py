"""The method of a character: features, labels, training, presets."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import as_published, controller_presets, features, labels, tag_colors, training
else:
    __getattr__ = load_on_use(__name__)
