"""Read and write BVH files."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import bvh, bvh_text, clip_cache
else:
    __getattr__ = load_on_use(__name__)
