"""Compare takes by measures, in rows of a table, and with the frames that they play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..control.rollout import Take
from ..database.database import Database
from ..maths.rotations import quat
from ..motion.margins import MARGINS
from . import baking, metrics
from .bodies import Frames
from .numbers import NUMBERS


class Measure(NamedTuple):
    """A row: its label with the unit, its name in a report, and its format."""

    label: str
    name: str
    decimals: int
    factor: float = 1.0
    is_per_frame: bool = False  # whether it is known only if the take still goes the same way

    def format_in(self, measures: dict[str, Any]) -> str:
        """Return its value among measures as text; empty if it is not known."""
        value = measures.get(self.name)
        return "" if value is None else f"{self.factor * value:.{self.decimals}f}"


MEASURES = (
    Measure("Length  s", "seconds", 1),
    Measure("Foot Slide  cm/s", "foot_slide_mann", 1, 100),
    Measure("In Contact  cm/s", "foot_slide_contacts", 1, 100, is_per_frame=True),
    Measure("Desired  m/s", "desired_speed", 2),
    Measure("Reached  m/s", "achieved_along_wish", 2),
    Measure("Turned After  s", "response_time_median", 2),
    Measure("Strays  m", "simulation_distance_mean", 2, is_per_frame=True),
    Measure("Jumps  /s", "jumps_per_second", 1, is_per_frame=True),
    Measure("Jump Price  cm·s", "jump_price_mean", 2, 100, is_per_frame=True),
    Measure("Price in 95 %  cm·s", "jump_price_p95", 2, 100, is_per_frame=True),
)


def write_table(names: Sequence[str], takes: Sequence[dict[str, Any]]) -> str:
    """Return a table of the measures of takes, a column each, without rows that are all unknown."""
    rows = [["", *names]]
    rows += [[each.label, *map(each.format_in, takes)] for each in MEASURES]
    rows = [row for row in rows if any(row[1:])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in rows)
    return "\n".join("  ".join(row).rstrip() for row in padded)


class Unlikeness(NamedTuple):
    """A measure by which a take is unlike the frames it plays: its value, and the most allowed."""

    measure: str
    value: float
    most: float


@dataclass(frozen=True)
class PlayedFrames:
    """All frames of a database in body units, and the heights (L,) of its toes that stand."""

    database: Database
    frames: Frames
    floors: np.ndarray

    @classmethod
    def from_database(cls, database: Database) -> PlayedFrames:
        """Measure the frames of a database in body units."""
        bodies = [
            baking.make_body(database.poses[a:b], database.track[a:b], database)
            for a, b in zip(database.starts, database.stops, strict=True)
        ]
        floors = metrics.measure_toe_floors(bodies)
        contacts = np.split(np.asarray(database.contacts), database.starts[1:])
        pairs = zip(bodies, contacts, strict=True)
        frames = Frames.concatenate(Frames.from_body(*pair, floors) for pair in pairs)
        return cls(database, frames, floors)

    def measure_distance(self, take: Take) -> float:
        """Return how far joints are on average from the frames played, seen from the character."""
        both = []
        for poses in (take.poses, self.database.poses[take.frames]):
            local = np.array(poses)
            local[..., 0] = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
            both.append(quat.compute_world(local, self.database.skeleton.parents)[1])
        return float(np.linalg.norm(both[0] - both[1], axis=-1).mean())


def find_unlike(take: Take, database: Database) -> list[Unlikeness]:
    """Return by which measures, in body units, a take is unlike the frames it plays.

    Accelerations and speeds of knees may be 1.2 times the largest played. Feet may slide and slip,
    and legs cross, more than in these frames by as much as is hardly seen. `joint_distance` is the
    mean distance in metres from them.
    """
    known = database.derive(PlayedFrames.from_database)
    take = baking.to_body_units(take, database.scale)
    body = baking.make_body(take.poses, take.character, known.database)
    frames = Frames.from_body(body, take.contacts, known.floors)
    own = _measure(frames, take.fps)
    played = _measure(known.frames.select(take.frames), take.fps)
    hardest = MARGINS.pop * max(played["acceleration_max"], MARGINS.fall)
    most = {
        "acceleration_max": hardest,
        "knee_rate_max": MARGINS.pop * played["knee_rate_max"],
        "foot_slide_contacts": played["foot_slide_contacts"] + NUMBERS.unlike_slide,
        "slips_per_minute": played["slips_per_minute"] + NUMBERS.unlike_slips,
        "legs_crossed": played["legs_crossed"] + NUMBERS.unlike_legs,
        "joint_distance": NUMBERS.unlike_joints,
    }
    own["joint_distance"] = known.measure_distance(take)
    return [Unlikeness(name, own[name], limit) for name, limit in most.items() if own[name] > limit]


def _measure(frames: Frames, fps: float) -> dict[str, float]:
    return metrics.measure_frames(frames) | metrics.measure_slips(frames, fps)
