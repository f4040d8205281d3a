"""Motion of other characters as actions of one."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import retarget_results, retargeting
else:
    __getattr__ = load_on_use(__name__)
