"""Detect changes while a session runs: ones that end it, and ones that wait for a restart."""

from __future__ import annotations

from typing import Any

import bpy

from ...engine.database.database import Database
from ...live.session import Session
from ..controller import features
from ..controller.training import get_training_request
from ..property_access import settings_of
from ..settings import get_controller_state

_OTHER_FEATURES = (
    "Features were added, removed or changed: the session keeps its own until you restart it."
)
_OTHER_METHOD = (
    "Another method or training was chosen: the session keeps its own until you restart it."
)


class ChangeDetector:
    """Compares an armature, its settings and the scene with their state at the session's start."""

    def __init__(self, obj: bpy.types.Object, database: Database | None) -> None:
        self.plays_features = True  # whether it plays with the current features
        self._database = database
        self._scene = bpy.context.scene.session_uid
        self._data = obj.data.session_uid
        self._bones = obj.pose.bones.keys()
        self._tuning_state = _get_tuning_state(obj)
        self._method = get_training_request(obj)
        self._plays_method = True

    def is_own_scene(self, scene: bpy.types.Scene) -> bool:
        """Return whether a scene is the session's own."""
        return scene.session_uid == self._scene

    def describe_armature_change(self, obj: bpy.types.Object, session: Session) -> str:
        """Return why the session must end (the armature changed), or an empty string."""
        if obj.data.session_uid != self._data:
            return f"The live session ended: the bones of armature '{obj.name}' changed."
        names = obj.pose.bones.keys()
        if names != self._bones and len(names) == len(self._bones):
            renamed = dict(zip(self._bones, names, strict=True))
            session.writer.rename_bones(renamed)
            before, now = next((before, now) for before, now in renamed.items() if before != now)
            return f"The live session ended: bone '{before}' was renamed to '{now}'."
        return ""

    def detect_tuning_change(self, obj: bpy.types.Object) -> bool:
        """Return whether settings that take effect at once were changed since the last call."""
        before = self._tuning_state
        self._tuning_state = _get_tuning_state(obj)
        return self._tuning_state != before

    def describe_feature_change(self, obj: bpy.types.Object) -> str:
        """Return what to report, once, if other features are set than the session plays with."""
        if self._database is None:
            return ""
        did = self.plays_features
        chosen = settings_of(obj).features
        self.plays_features = features.is_built_with(chosen, self._database.schema)
        return _OTHER_FEATURES if did and not self.plays_features else ""

    def describe_method_change(self, obj: bpy.types.Object) -> str:
        """Return what to report, once, if another method or training is chosen than is played."""
        if self._database is None:
            return ""
        did = self._plays_method
        self._plays_method = get_training_request(obj) == self._method
        return _OTHER_METHOD if did and not self._plays_method else ""


def _get_tuning_state(obj: bpy.types.Object) -> tuple[Any, ...]:
    """Return all that `get_performer_settings` reads, to see cheaply whether it has changed."""
    settings = settings_of(obj)
    chosen = settings_of(obj).features
    items = (
        (item.weight, item.kind, item.bone, item.times, item.bone_times, item.axes, item.time)
        for item in chosen.items
    )
    sliders = chosen.responsiveness, chosen.continuity, chosen.past
    general = chosen.normalization, chosen.beyond_range, chosen.difference
    return get_controller_state(settings.controller), tuple(items), (*sliders, *general)
