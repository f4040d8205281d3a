"""What Blender evaluates: poses, objects, and the channels that hold them."""

from typing import TYPE_CHECKING

from ....engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import channels, evaluation, object_motion
else:
    __getattr__ = load_on_use(__name__)
