"""Run the commands of the command line, each in its module, and share their parts."""

from typing import TYPE_CHECKING

from ..engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import file_scripts, loading
else:
    __getattr__ = load_on_use(__name__)
