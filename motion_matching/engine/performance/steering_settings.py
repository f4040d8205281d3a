"""Define how a character is steered, and how it stays with the object that follows the steering."""

from __future__ import annotations

import math
import reprlib
from dataclasses import MISSING, dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from ..errors import SettingsError
from ..settings import LARGEST, Room, describe, get_defaults, is_number
from .labels import DisplacementLabel, check_labels
from .numbers import NUMBERS

WALK_TO_RUN = NUMBERS.walk_to_run
LARGEST_SPEED = 100.0  # m/s
BY_GAIT = ("walk", "run")  # settings that are speeds
BY_DATA = (*BY_GAIT, "turn_limit", "strafe")  # settings whose defaults come from the data
DISPLACEMENTS = MappingProxyType(
    {  # in the order of Blender's property, which stores positions
        "synchronize": (
            "Synchronize",
            "Place both between the motion's path and the steering's path",
        ),
        "adjust": ("Adjust", "Pull the character toward the simulation object"),
        "independent": ("Independent", "Keep them apart: neither follows the other"),
    }
)
_seconds = partial(describe, unit="s", soft_most=1.0)
_metres = partial(describe, unit="m")
_angle = partial(describe, unit="rad", soft_most=math.pi)
_SPEED: dict[str, Any] = {"unit": "m/s", "most": LARGEST_SPEED, "soft_most": 8.0}
_large_share = partial(describe, unit="share", most=LARGEST, soft_most=1.0)  # may be above 1


@dataclass(frozen=True)
class Speeds:
    """Full speeds by direction, in m/s."""

    forward: float = describe(MISSING, "Forward", "Full speed straight ahead", **_SPEED)
    side: float = describe(MISSING, "Side", "Full speed to either side", **_SPEED)
    back: float = describe(MISSING, "Back", "Full speed backward", **_SPEED)


@dataclass(frozen=True)
class Steering(Room):
    """How the simulation object follows the steering."""

    walk: Speeds = describe(
        Speeds(1.75, 1.5, 1.25),
        "Walk",
        "Full walking speed forward, sideways and backward; the clips set the upper limit",
        **_SPEED,
    )
    run: Speeds = describe(
        Speeds(4.0, 3.0, 2.5),
        "Run",
        "Full running speed forward, sideways and backward; the clips set the upper limit",
        **_SPEED,
    )
    velocity_halflife: float = _seconds(
        0.27,
        "Velocity",
        "Time to make half of a change of speed; longer: calmer, slower to respond",
    )
    rotation_halflife: float = _seconds(
        0.27, "Heading", "Time to make half of a turn; longer: wider turns"
    )
    turn_limit: float = describe(
        math.tau,
        "Turn Limit",
        "Largest turn per second; higher: turns on the spot start sooner, more foot sliding",
        "rad/s",
        soft_most=2.0 * math.tau,
    )
    turning_speed: float = describe(
        1.4,
        "Speed in Turns",
        "Speed while running into a turn, as a multiple of the fastest side and back steps in the "
        "clips; higher: quicker turns, wider of the path, more foot sliding. Needs Strafe",
        least=1.0,
        most=10.0,
        soft_most=3.0,
    )
    strafe: bool = describe(
        True,
        "Strafe",
        "Move sideways and backward while facing elsewhere; off: the character faces where it "
        "moves",
    )
    stop_factor: float = describe(
        1.0,
        "Stop Factor",
        "Multiplies the velocity halflife while there is no input; below 1: stops sooner",
        soft_most=2.0,
    )
    gait_halflife: float = _seconds(
        0.1, "Gait", "Time to make half of a change of gait; longer: softer"
    )
    catch_up: float = _large_share(
        0.05,
        "Catch Up",
        "Extra speed of the simulation object to make up for waiting, as a share of its speed; 0: "
        "it stays behind",
    )
    collision_radius: float = _metres(
        0.3,
        "Body Radius",
        "Smallest distance of the body's centre from obstacles; larger: wider curves around them",
        soft_most=1.0,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in BY_GAIT:
            speeds = getattr(self, name)
            if not (
                isinstance(speeds, Speeds)
                and all(is_number(v) and 0 < v <= LARGEST_SPEED for v in vars(speeds).values())
            ):
                raise SettingsError(
                    f"The setting '{name}' is {reprlib.repr(speeds)}; give three speeds, forward, "
                    f"side and back, above 0 and up to {LARGEST_SPEED:g} m/s."
                )

    @property
    def can_run(self) -> bool:
        """Whether running differs from walking."""
        return self.run != self.walk


@dataclass(frozen=True)
class Coupling(Room):
    """How the character, led by the data, stays with the simulation object, led by the code.

    `labels` give frames of some tags their own displacement.
    """

    displacement: str = describe(
        "adjust",
        "Displacement",
        "How the character, led by the motion, stays with the simulation object, led by the "
        "steering",
        choices=DISPLACEMENTS,
    )
    synchronization: float = describe(
        0.2,
        "Synchronization",
        "Balance between the motion (0), which keeps feet planted, and the exact steering (1)",
        "share",
    )
    adjust_position_halflife: float = _seconds(
        0.1,
        "Adjust Position",
        "Time to close half of the distance to the simulation object; longer: less foot sliding, "
        "follows less closely",
    )
    adjust_rotation_halflife: float = _seconds(
        0.2,
        "Adjust Heading",
        "Time to close half of the angle to the simulation object; longer: less foot sliding, "
        "follows less closely",
    )
    adjust_by_velocity: bool = describe(
        True,
        "Only While Moving",
        "Limit the pull to a share of the character's own motion, so that it never slides while "
        "standing",
    )
    adjust_position_ratio: float = _large_share(
        0.5,
        "Position Part",
        "Limit of the pull, as a share of the character's own motion; higher: follows more "
        "closely, more foot sliding",
    )
    adjust_rotation_ratio: float = _large_share(
        0.5,
        "Heading Part",
        "Limit of the turn, as a share of the character's own turning; higher: follows more "
        "closely, more foot sliding",
    )
    object_waits: bool = describe(
        True,
        "Object Waits",
        "Slow the simulation object down while the character cannot keep up. Off: it follows the "
        "steering exactly and Clamp drags the character along, more foot sliding",
    )
    clamp: bool = describe(
        True,
        "Clamp",
        "Keep the character and the simulation object within a distance and an angle of each other",
    )
    clamp_distance: float = _metres(
        0.15,
        "Distance",
        "Largest distance between the character and the simulation object; shorter: more exact, "
        "more foot sliding",
        soft_most=1.0,
    )
    clamp_angle: float = _angle(
        math.radians(90.0),
        "Angle",
        "Largest angle between the character and the simulation object; smaller: more exact, more "
        "foot sliding",
    )
    labels: tuple[DisplacementLabel, ...] = ()
    label_blend: float = _seconds(
        0.3,
        "Label Blend",
        "Time to blend to the settings of a label and back; longer: softer, later",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_labels(self)


LABELLED = tuple(name for name in get_defaults(Coupling) if not name.startswith("label"))
