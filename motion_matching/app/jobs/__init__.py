"""Jobs: what characters would perform, as a folder that other machines run by themselves."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import exporting, submitting
else:
    __getattr__ = load_on_use(__name__)
