"""Armatures as skeletons: bones, rest poses, roots, checks and fixes."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import armature, bone_choice, fitting, plan, problems, root_target
else:
    __getattr__ = load_on_use(__name__)
