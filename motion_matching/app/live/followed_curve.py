"""The curve that leads a live session, which may be edited meanwhile."""

from __future__ import annotations

from contextlib import suppress

import bpy

from ...engine.errors import MotionMatchingError
from ...live.inputs.base import Input
from ...live.inputs.leaders.path import PathInput
from ...live.session import Session
from ...scene.blender.handle import Handle
from ...scene.staging import placements
from ..property_access import settings_of
from . import steering


class FollowedCurve:
    """The curve that an armature is led along, if the input of its session follows one."""

    def __init__(self, armature: Handle, source: Input) -> None:
        self._armature = armature
        self._is_followed = steering.find_leader(source, PathInput) is not None
        self._has_changed = False
        self._content = b""  # as it is followed

    def _find(self) -> bpy.types.Object | None:
        obj = self._armature.find()
        return settings_of(obj).play.curve if obj else None

    def note_update(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Note a change of the curve, which the next tick heeds."""
        curve = self._find() if self._is_followed and not self._has_changed else None
        if curve:
            uids = curve.session_uid, curve.data.session_uid
            changed = (update.id.original.session_uid for update in depsgraph.updates)
            self._has_changed = any(uid in uids for uid in changed)

    def follow_changes(self, session: Session) -> None:
        """Go on along the curve as it is now; one that cannot be followed leaves the last one."""
        if not self._has_changed:
            return
        self._has_changed = False
        curve = self._find()
        content = placements.read_curve_bytes(curve) if curve else b""
        if content == self._content:  # reading a curve has Blender report a change, too
            return
        self._content = content
        play = settings_of(self._armature.find()).play
        with suppress(MotionMatchingError):
            steering.follow_changed_curve(session.source, play, session.performer.settings)
