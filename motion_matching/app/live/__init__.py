"""The host of a live session."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import endings, host, leaders, performing, steering, tag_requests
else:
    __getattr__ = load_on_use(__name__)
