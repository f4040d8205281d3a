"""The sources of a character, and their previews."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        source_check,
        source_files,
        source_grounds,
        source_list,
        source_motion,
        source_preview,
    )
else:
    __getattr__ = load_on_use(__name__)
