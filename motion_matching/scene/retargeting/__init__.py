"""Motion of any character onto another: read it, and write the result as actions."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import checking, files, onto, sources, targets, transfer, writing
else:
    __getattr__ = load_on_use(__name__)
