"""What leads a character by itself: a path, a target, a recording."""

from typing import TYPE_CHECKING

from ....engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import path, replay, target
else:
    __getattr__ = load_on_use(__name__)
