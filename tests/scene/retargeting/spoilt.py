"""Motion that comes out wrong, as if retargeting had a fault."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.retargeting.retarget import Retargeter


def turn_bone(clip: Clip, name: str, degrees: float, axis: tuple[float, float, float]) -> Clip:
    """Return a clip in which a bone is turned about an axis of its own, in all frames."""
    rotations = clip.rotations.copy()
    bone = clip.skeleton.index(name)
    turn = quat.from_angle_axis(np.radians(degrees), np.array(axis))
    rotations[:, bone] = quat.mul(rotations[:, bone].astype(np.float64), turn)
    return replace(clip, rotations=rotations)


def shift_bone(clip: Clip, name: str, metres: float) -> Clip:
    """Return a clip in which a bone is away from where it rests in its parent."""
    positions = clip.positions.copy()
    positions[:, clip.skeleton.index(name), 0] += metres
    return replace(clip, positions=positions)


def roll_left_foot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let retargeting turn over the left sole of characters with Mixamo's names."""
    good = Retargeter.retarget

    def retarget(self: Retargeter, clip: Clip) -> Clip:
        return turn_bone(good(self, clip), "mixamorig:LeftFoot", 165, (0, 1, 0))

    monkeypatch.setattr(Retargeter, "retarget", retarget)
