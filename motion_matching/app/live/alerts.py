"""Warnings of a live session: speeds that the clips do not have, and ticks that take too long."""

from __future__ import annotations

import math

from ...engine.control.performer import Frame
from ...engine.database import statistics
from ...engine.database.database import Database
from ...engine.maths.planar import rotate_xy
from ...scene.controls.live.control_writer import ControlWriter
from ...scene.staging.marker_writer import MarkerWriter
from ...scene.writing.channel_writer import ChannelWriter
from ..character.controls import LEAST_RATE
from ..preferences import ROOT
from ..strip.warnings import Button, WarningItem

_MATCH = Button("Match Speeds to Data", "motion_matching.match_speeds", "DRIVER_DISTANCE")
_ADD = Button("Add Motion", "MOTION_MATCHING_MT_add_sources", "ADD")
_ALLOW = (Button("Tick Budget", "preferences.addon_show", "PREFERENCES", (("module", ROOT),)),)


def check_rig(writer: ChannelWriter | MarkerWriter) -> tuple[WarningItem, ...]:
    """Return a warning if a rig is driven by its controls and evaluates too slowly."""
    if not isinstance(writer, ControlWriter) or not 0.0 < writer.rate < LEAST_RATE:
        return ()
    text = (
        f"'{writer.armature.name}' ({writer.bone_count} bones) evaluates at {writer.rate:.0f} Hz: "
        "for a smooth view, disable meshes or modifiers in viewports, or set Live to Proxy under "
        "Controls. Takes are exact either way"
    )
    return (WarningItem("slow rig", text, "play", (writer.armature.name,)),)


class Alerts:
    """Warnings of a session on a database."""

    def __init__(self, database: Database) -> None:
        self._fastest = statistics.measure_top_speeds(database)

    def check(
        self, frame: Frame, matches_data: bool, slowest: float, budget: float
    ) -> tuple[WarningItem, ...]:
        """Return the warnings at a tick, given the slowest tick lately and its budget in seconds.

        `matches_data` says whether full speeds already equal the data's.
        """
        warnings = []
        if missing := self._find_missing_speed(frame):
            sentence, direction = missing
            advice = "add such clips"
            button = _ADD
            if not matches_data:
                advice = "Match Speeds to Data"
                button = _MATCH
            text = f"{sentence}: {advice}"
            warnings.append(WarningItem("speed", text, "play", (direction,), (button,)))
        if slowest > budget:
            took = f"A tick took {1000.0 * slowest:.1f} ms"
            text = f"{took}; the budget is {1000.0 * budget:.3g}"
            warnings.append(WarningItem("slow", text, "play", (), _ALLOW))
        return tuple(warnings)

    def _find_missing_speed(self, frame: Frame) -> tuple[str, str] | None:
        """Return a sentence on the desired speed that the data lacks, and its direction."""
        x, y = frame.desired_velocity
        speed = math.hypot(x, y)
        seen = rotate_xy(x, y, -frame.desired_yaw)
        direction = statistics.classify_direction(*seen)
        fastest = getattr(self._fastest, direction)
        if statistics.is_in_data(speed, fastest):
            return None
        where = "to the side" if direction == "side" else direction
        return (
            f"The clips reach only {fastest:.1f} m/s {where}; {speed:.1f} was requested",
            direction,
        )


class TickRate:
    """Ticks in the last second, and the seconds of an average and of the slowest one."""

    def __init__(self) -> None:
        self.rate = 0.0
        self.seconds = 0.0
        self.slowest = 0.0
        self._since: float | None = None
        self._ticks = 0
        self._spent = 0.0
        self._slowest = 0.0

    def add_ticks(self, now: float, ticks: int, seconds: float) -> None:
        """Count ticks that were made for one redraw, and the seconds that they took together."""
        if self._since is None:  # these ticks were made before
            self._since = now
            return
        self._ticks = self._ticks + ticks
        self._spent = self._spent + seconds
        if ticks:
            self._slowest = max(self._slowest, seconds / ticks)
        if now - self._since >= 1.0:
            self.rate = self._ticks / (now - self._since)
            self.seconds = self._spent / max(self._ticks, 1)
            self.slowest = self._slowest
            self._since = now
            self._ticks = 0
            self._spent = 0.0
            self._slowest = 0.0
