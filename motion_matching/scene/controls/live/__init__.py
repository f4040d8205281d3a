"""Live poses on the controls of a rig, or on a proxy."""

from typing import TYPE_CHECKING

from ....engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import control_writer, proxy_writer
else:
    __getattr__ = load_on_use(__name__)
