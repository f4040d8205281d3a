"""The bones of a source paired with those of the character."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import bone_table, mapping, source_skeletons
else:
    __getattr__ = load_on_use(__name__)
