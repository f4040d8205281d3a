"""What is changed while a session runs: what ends it, and what waits until it is started again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from . import feature_list, fields, request

if TYPE_CHECKING:
    from ..engine.matching.database import Database
    from ..live.session import Session


class Changes:
    """Compares an armature, its settings and the scene with those that a session began with."""

    def __init__(self, obj: bpy.types.Object, database: Database | None) -> None:
        self.plays_features = True  # whether the features that are set are those that it plays with
        self._database = database
        self._scene, self._data, self._bones = (
            bpy.context.scene.session_uid,
            obj.data.session_uid,
            obj.pose.bones.keys(),
        )
        self._tuned = request.tuning(obj)
        self._method, self._plays_method = fields.asked_of(obj), True

    def is_scene(self, scene: bpy.types.Scene) -> bool:
        """Whether that is the session's own."""
        return scene.session_uid == self._scene

    def of_armature(self, obj: bpy.types.Object, session: Session) -> str:
        """What has become of the armature that the session cannot go on, or nothing."""
        if obj.data.session_uid != self._data:
            return f"The live session has ended, because armature '{obj.name}' has got other bones."
        names = obj.pose.bones.keys()
        if names != self._bones and len(names) == len(self._bones):
            renamed = dict(zip(self._bones, names, strict=True))
            session.writer.follow_names(renamed)
            before, now = next((before, now) for before, now in renamed.items() if before != now)
            return f"The live session has ended, because bone '{before}' was renamed to '{now}'."
        return ""

    def is_tuned(self, obj: bpy.types.Object) -> bool:
        """Whether settings that count at once were changed since this was asked."""
        before, self._tuned = self._tuned, request.tuning(obj)
        return self._tuned != before

    def features(self, obj: bpy.types.Object) -> str:
        """What to say, once, where other features are set than the session plays with."""
        did = self.plays_features
        self.plays_features = not self._database or feature_list.is_built_with(
            obj.motion_matching.features, self._database.schema
        )
        return (
            ""
            if self.plays_features or not did
            else (
                "Features were added, removed or changed: the session goes on with those that it began with, and the others "
                "count once it is started again."
            )
        )

    def method(self, obj: bpy.types.Object) -> str:
        """What to say, once, where another method is chosen than the session plays by, or a field of another training."""
        did = self._plays_method
        self._plays_method = self._database is None or fields.asked_of(obj) == self._method
        return (
            ""
            if self._plays_method or not did
            else (
                "Another method or training was chosen: the session goes on with the one that it began with, and the other "
                "counts once it is started again."
            )
        )
