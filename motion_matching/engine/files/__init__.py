"""Files: paths, arrays, JSON, written numbers, presets, digests, and folders of our own."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import array_files, digests, file_paths, json_files, own_files, presets, written
else:
    __getattr__ = load_on_use(__name__)
