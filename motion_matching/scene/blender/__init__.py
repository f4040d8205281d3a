"""Blender's data model: actions, curves, matrices, evaluation."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        actions,
        channels,
        curve_poses,
        curves,
        evaluation,
        files,
        handle,
        id_properties,
        keys,
        object_motion,
        playback,
        pose_selection,
        removal,
        rotation_modes,
        smooth_keys,
        transforms,
    )
else:
    __getattr__ = load_on_use(__name__)
