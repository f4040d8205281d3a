"""Marks of a shot, with each of their goals described once: for files, sizes, checks and panels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ...settings import Description, get_defaults, get_descriptions
from ...units import measured

Point = tuple[float, float]

LONGEST_SHOT = 600.0  # seconds
# parts of marks other than limbs
CHARACTER = "character"
HIPS = "hips"
HANDS = ("left_hand", "right_hand")  # limbs that have palms
_DISTANCE: Any = {"most": 100.0, "soft_most": 1.0, "entry": "tolerance"}


@dataclass(frozen=True)
class MarkGoal(Description):
    """Description of a field of marks; label and help are those of its first property in Blender.

    The unit is 'own' for values whose fields have units, and 'direction' for those without length.

    - `default`: that of the field; None leaves a value free
    - `entry`: how files write it, a key of `shot_file`'s readers; empty: as its unit or type says
    - `by`: names of its properties in Blender: a switch, as use_place, the value, or both of them;
      with a switch alone, the empty of a mark says the value; empty: the name of the field
    - `initial`: what the value's property is at first, if not the default of the field
    - `steers`: only marks that lead ask for it; `parts`: only marks for these
    - `rival`: what two marks at one time contradict each other in, if they differ in it
    - `words`: how lists of marks show it, with {} for the value
    """

    default: Any = None
    entry: str = ""
    by: str = ""
    initial: Any = None
    steers: bool = False
    parts: tuple[str, ...] = ()
    rival: str = ""
    words: str = ""

    @property
    def properties(self) -> list[str]:
        """Names of its properties in Blender."""
        return self.by.split()

    @property
    def is_placed(self) -> bool:
        """Whether the empty of a mark says its value."""
        return self.properties[-1].startswith("use_")


def goal(default: Any, label: str, help: str, unit: str = "", **more: Any) -> Any:
    """Return a dataclass field with a default and its `MarkGoal`, whose other fields are `more`."""
    return field(default=default, metadata={"description": MarkGoal(label, help, unit, **more)})


def list_goals(cls: type) -> Mapping[str, MarkGoal]:
    """Return the goals of a class by field name, with the defaults and names of these."""
    goals: Any = get_descriptions(cls)
    for name, default in get_defaults(cls).items():
        goals[name] = replace(goals[name], default=default, by=goals[name].by or name)
    return MappingProxyType(goals)


@measured(height="m")
@dataclass(frozen=True)
class Pose:
    """A pose by the `rotations` of bones, each w, x, y and z relative to the bone above it.

    They are as in the database's poses, with hips relative to the character. `height` is the height
    of the hips above the ground in metres; None keeps the motion's.
    """

    rotations: tuple[tuple[str, tuple[float, float, float, float]], ...] = ()
    height: float | None = None


@dataclass(frozen=True)
class Mark:
    """Requests at a time in seconds; None or empty leaves a value free. `GOALS` describes each.

    - `position` and `height` of the `part` in metres in the world: of the character, its hips, or a
      limb, such as 'left_hand'; `facing` in radians
    - `frame` of a clip, as `frame_names.find_frame` takes it; `hold` and `pose_fade` in seconds
    - `gait` and `tags` to move with from then on; () ends earlier tags, None keeps them
    - `pose`, or the frame of a clip that shows it; each joint is within `pose_tolerance` of it
    - `palm`: direction x, y and z in the world; None leaves that to the motion
    - `leads`: whether way and motion are chosen for it; else only a limb or a pose is brought there
    """

    time: float = goal(
        MISSING,
        "Frame",
        "Frame to meet the mark on; drag its timeline marker to change it",
        "s",
        by="frame",
    )
    position: Point | None = goal(
        None, "Place", "Be at the start of the arrow on this frame", "m", by="use_place"
    )
    facing: float | None = goal(
        None,
        "Facing",
        "Face along the arrow on this frame",
        "rad",
        by="use_facing",
        steers=True,
        rival="heading",
    )
    hold: float = goal(
        0.0,
        "Hold",
        "Time to stand still from this frame on, or to keep only the limb there; 0: go on at once",
        "s",
        most=LONGEST_SHOT,
        soft_most=10.0,
        words="{:.1f} s",
    )
    frame: str | None = goal(
        None,
        "Moment",
        "Source frame to play on this frame, such as walk_01:120, or walk_01:120:mirrored",
        entry="text",
        by="moment",
        steers=True,
        rival="frame",
        words="{}",
    )
    gait: str | None = goal(
        None, "Gait", "Gait from this mark on", steers=True, entry="gait", rival="gait", words="{}"
    )
    tags: tuple[str, ...] | None = goal(
        None,
        "Other Tags",
        "Ask for different tags from this mark on",
        entry="tags",
        by="use_tags tags",
        steers=True,
        words="{}",
    )
    tolerance: float = goal(
        0.01,
        "Tolerance",
        "Largest distance from its place at which a mark counts as met",
        "m",
        **_DISTANCE,
    )
    facing_tolerance: float = goal(
        0.035,
        "Facing Tolerance",
        "Largest angle from its facing at which a mark counts as met",
        "rad",
        most=math.pi,
        entry="tolerance",
        steers=True,
    )
    pose: Pose | str | None = goal(
        None,
        "Pose",
        "Match the pose stored with Keep Pose at This Frame on this frame",
        "own",
        by="use_pose pose",
        rival="pose",
        words="Pose",
    )
    pose_tolerance: float = goal(
        0.02,
        "Pose Tolerance",
        "Largest distance of any joint at which the pose counts as met",
        "m",
        **_DISTANCE,
    )
    pose_fade: float = goal(
        0.5, "Fade", "Time to blend into the pose and out of it", "s", most=10.0
    )
    part: str = goal(
        CHARACTER, "Part", "Part of the body to bring to the start of the arrow on this frame"
    )
    height: float | None = goal(
        None,
        "Height",
        "Match the height of the arrow on this frame; off: the height of the motion",
        "m",
        by="use_height",
    )
    leads: bool = goal(
        True,
        "Lead Character",
        "Choose way and motion for this mark; off: only bring the limb or pose there, wherever the "
        "character is",
    )
    palm: tuple[float, float, float] | None = goal(
        None,
        "Palm",
        "Direction of the palm while the hand is at the mark",
        "direction",
        parts=HANDS,
        rival="where the palm faces",
        words="Palm {}",
    )

    @classmethod
    def from_pin(
        cls, limb: str, start: float, stop: float, position: tuple[float, float, float]
    ) -> Mark:
        """Return a mark that does not lead, for a limb to be at a point from `start` to `stop`."""
        x, y, z = position
        return cls(start, (x, y), hold=stop - start, part=limb, height=z, leads=False)

    @property
    def is_limb(self) -> bool:
        """Whether a limb has to be somewhere."""
        return self.is_of_part and self.part != HIPS

    @property
    def is_of_part(self) -> bool:
        """Whether hips or a limb have to be somewhere, and not the character as a whole."""
        return self.position is not None and self.part != CHARACTER

    @property
    def is_place(self) -> bool:
        """Whether the character has to be somewhere, to face somewhere, or to stand."""
        is_asked = self.position is not None or self.facing is not None or self.hold > 0.0
        return self.leads and is_asked

    def free(self) -> Mark:
        """Return the same without a place, a heading and a hold."""
        free = replace(self, position=None, facing=None, hold=0.0, part=CHARACTER, height=None)
        return replace(free, palm=None)

    def find_span(self, fps: float, begins: float = 0.0) -> tuple[int, int]:
        """Return its first and last tick in a take that `begins` at a second of the shot."""
        return round((self.time - begins) * fps), round((self.time + self.hold - begins) * fps)

    def find_goals(self, places: np.ndarray) -> np.ndarray:
        """Return goals (K, 3) of its part, now at places; a free height stays the same."""
        height = places[:, 2] if self.height is None else np.full(len(places), self.height)
        return np.column_stack([np.tile(self.position or (), (len(places), 1)), height])


GOALS = list_goals(Mark)  # by field
