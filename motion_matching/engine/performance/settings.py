"""Define the settings of a performer: frozen, so that a recorded performance can state them."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from ..errors import SettingsError
from ..settings import LARGEST, check, check_names, describe, is_number
from .labels import DisplacementLabel, check_labels, labels_from_data
from .numbers import NUMBERS

WALK_TO_RUN = NUMBERS.walk_to_run
LARGEST_SPEED = 100.0  # m/s
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
PREDICTIONS = MappingProxyType(
    {  # in the order of Blender's property, which stores positions
        "spring": ("As It Moves", "As the simulation object will move"),
        "horizon": (
            "By the Horizon",
            "Evenly to the desired velocity and heading, reached at the last compared time",
        ),
        "notebook": (
            "As the Notebook",
            "As it will move from its place after the tick, because the notebook moves it first",
        ),
    }
)
INERTIALIZATIONS = MappingProxyType(
    {  # in the order of Blender's property, which stores positions
        "spring": ("Spring", "Halve the offset in each halflife, quickly at first"),
        "cubic": ("Cubic", "Fade the offset to exactly zero within a fixed time"),
    }
)
FIELDS = MappingProxyType(
    {  # in the order of Blender's property, which stores positions
        "by_gait": (
            "By Gait",
            "Blend only poses of the desired gait, and look ahead along their clips in addition to "
            "the trained values",
        ),
        "notebook": (
            "Notebook",
            "Like the notebook: all poses form one field, and the trained values decide alone, or "
            "else the heading after one frame",
        ),
    }
)
_seconds = partial(describe, unit="s", soft_most=1.0)
_metres = partial(describe, unit="m")
_angle = partial(describe, unit="rad", soft_most=math.pi)
_SPEED: dict[str, Any] = {"unit": "m/s", "most": LARGEST_SPEED, "soft_most": 8.0}
BY_DATA = ("walk", "run", "turn_limit", "strafe")  # settings whose defaults come from the data
_large_share = partial(describe, unit="share", most=LARGEST, soft_most=1.0)  # may be above 1


@dataclass(frozen=True)
class Speeds:
    """Full speeds by direction, in m/s."""

    forward: float = describe(MISSING, "Forward", "Full speed straight ahead", **_SPEED)
    side: float = describe(MISSING, "Side", "Full speed to either side", **_SPEED)
    back: float = describe(MISSING, "Back", "Full speed backward", **_SPEED)


@dataclass(frozen=True)
class PerformerSettings:
    """How a character responds. Raises SettingsError, which names the setting that is wrong.

    The character is led by the data, the simulation object by the code. `weights` replaces the
    weights of the features, one each; None leaves those of the schema. `labels` give frames of some
    tags their own displacement.
    """

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
    prediction: str = describe(
        "spring",
        "Predict",
        "Trajectory to search for; the simulation object moves the same with each choice",
        choices=PREDICTIONS,
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
    search_interval: float = _seconds(
        0.1, "Search Every", "Time between searches; longer: plays longer pieces, slower to respond"
    )
    sharp_velocity: float = describe(
        0.5,
        "Sharp Velocity",
        "Changes of the desired velocity larger than this start a search at once; lower: more "
        "sudden responses",
        "m/s",
        soft_most=4.0,
    )
    sharp_angle: float = _angle(
        math.radians(30.0),
        "Sharp Angle",
        "Changes of the desired facing larger than this start a search at once; lower: more sudden "
        "responses",
    )
    end_guard: float = _seconds(
        1.0 / 3.0,
        "End Guard",
        "Frames this near the end of their clip are never entered; longer: fewer dead ends",
    )
    surroundings: float = _seconds(
        1.0 / 3.0,
        "Surroundings",
        "Frames this near the current one are never entered; longer: fewer stutters",
    )
    skip_ahead: bool = describe(
        False,
        "Skip Ahead",
        "Allow jumps to frames just ahead of the current one, and exclude only frames just behind "
        "it: slow motion catches up within its clip",
    )
    wait: bool = describe(
        True,
        "Wait for Calm",
        "Delay a jump until the previous one has faded, and briefly if a joint would pop. Off: "
        "jump as soon as a better frame is found",
    )
    tempo: float = describe(
        0.0,
        "Tempo",
        "How much faster or slower the motion may play to reach the requested speed; higher: "
        "covers more of the speeds between the clips, 0: as captured",
        "%",
        most=15.0,
    )
    continuing_bias: float = describe(
        0.3,
        "Continuing Bias",
        "Advantage over playing on that a frame needs for a jump; higher: fewer and later jumps",
        least=-math.inf,
        most=math.inf,
        soft_least=0.0,
        soft_most=2.0,
    )
    support_weight: float = describe(
        100.0,
        "Foot Support",
        "Cost of jumping to a frame with planted feet elsewhere than the character's; higher: less "
        "foot sliding, later answers, 0: off",
        soft_most=300.0,
    )
    price_weight: float = describe(
        0.0,
        "Jump Price",
        "Weight of a jump's price (cm·s) in the choice of a frame; higher: smoother and fewer "
        "jumps, longer searches, 0: off",
        soft_most=2.0,
    )
    posture_weight: float = describe(
        10.0,
        "Odd Postures",
        "Cost of postures that are odd in their gait, such as a stumble in a run; higher: played "
        "more rarely, 0: off",
        soft_most=20.0,
    )
    idle: bool = describe(
        True,
        "Idle",
        "While standing: step into place and play on through the idle motion of the clips",
    )
    breathing: float = _large_share(
        1.0,
        "Breathing",
        "Amount of breathing and weight shifts in a held stance, used without idle clips; higher: "
        "livelier, 0: as still as a statue",
    )
    look: float = describe(
        0.0,
        "Look",
        "How far the head turns to the requested direction or the object of Look At; higher: seems "
        "to respond sooner, 0: as in the motion",
        "share",
    )
    look_ahead: float = _seconds(
        0.7,
        "Ahead",
        "How far ahead the head looks along a curve or the way to a target; longer: turns sooner",
        soft_most=2.0,
    )
    look_halflife: float = _seconds(
        0.12, "Look Time", "Time to make half of a head turn; longer: calmer, later"
    )
    look_limit: float = _angle(
        math.radians(80.0),
        "Neck Turn",
        "Largest turn of the head relative to the chest; higher: looks farther around",
        most=math.pi,
    )
    look_tilt: float = _angle(
        math.radians(45.0),
        "Neck Tilt",
        "Largest tilt of the head up or down to an object; higher: looks farther up and down",
        most=0.5 * math.pi,
        soft_most=0.5 * math.pi,
    )
    look_spine: float = describe(
        0.2,
        "Spine Part",
        "Share of the turn made by the spine; higher: shoulders and arms turn along more",
        "share",
        most=0.5,
    )
    inertialization: str = describe(
        "spring",
        "Blend By",
        "How the pose offset of a jump fades out",
        choices=INERTIALIZATIONS,
    )
    inertialization_halflife: float = _seconds(
        0.1, "Blending", "Time to fade half of a jump; longer: smoother, more foot sliding"
    )
    blend_time: float = _seconds(
        0.3,
        "Blend Time",
        "Time to fade a whole jump with Blend By Cubic; longer: smoother, more foot sliding",
    )
    blend_stretch: float = describe(
        3.0,
        "Stretch",
        "Longest fade of a jump, as a multiple of Blending, used where a bone would move harder "
        "than in the clips; higher: softer, more foot sliding, 1: all jumps fade alike",
        least=1.0,
        most=10.0,
        soft_most=5.0,
    )
    blend_root: bool = describe(
        True,
        "Blend Root",
        "Blend the character's own speed and turning at a jump, too. Off: it takes those of the "
        "new motion at once, less foot sliding, harder changes of speed",
    )
    root_halflife: float = _seconds(
        0.06,
        "Root on Feet",
        "Time to fade half of the root's leftover speed and turning after a jump while a foot is "
        "planted; shorter: less foot sliding, harder jumps, 0: same as the jump",
    )
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
    catch_up: float = _large_share(
        0.05,
        "Catch Up",
        "Extra speed of the simulation object to make up for waiting, as a share of its speed; 0: "
        "it stays behind",
    )
    labels: tuple[DisplacementLabel, ...] = ()
    label_blend: float = _seconds(
        0.3,
        "Label Blend",
        "Time to blend to the settings of a label and back; longer: softer, later",
    )
    collision_radius: float = _metres(
        0.3,
        "Body Radius",
        "Smallest distance of the body's centre from obstacles; larger: wider curves around them",
        soft_most=1.0,
    )
    foot_lock: bool = describe(True, "Lock Feet", "Hold planted toes in place by bending the legs")
    lock_halflife: float = _seconds(
        0.05,
        "Plant Blending",
        "Time for a landing toe to stop; longer: softer, more foot sliding",
        soft_most=0.5,
    )
    foot_halflife: float = _seconds(
        0.1,
        "Release Blending",
        "Time for a released toe to return to the motion; longer: softer, legs bend more",
        soft_most=0.5,
    )
    swing_clearance: float = _metres(
        0.025,
        "Swing Clearance",
        "Smallest height of a moving toe over the floor; higher: feet scuff less, knees lift more, "
        "0: as in the motion",
        soft_most=0.1,
    )
    hips_halflife: float = _seconds(
        0.15,
        "Hips",
        "Time for the hips to follow half of a change in ground height; longer: softer, legs bend "
        "more",
    )
    unlock_radius: float = _metres(
        0.45,
        "Unlock Radius",
        "Distance from the motion at which a planted toe is released; larger: legs bend more",
        soft_most=0.5,
    )
    stretch_buffer: float = _metres(
        0.015,
        "Stretch Buffer",
        "Length by which a leg stays short of straight; larger: knees do not pop, feet slip sooner",
        soft_most=0.1,
    )
    field: str = describe(
        "by_gait",
        "Field",
        "Poses to blend, and the values that decide; training uses the same",
        choices=FIELDS,
    )
    neighbours: int = describe(
        15,
        "Neighbours",
        "Number of nearest poses to blend; more: smoother, freer, slower",
        least=1,
        most=100,
        soft_most=30,
    )
    drift: float = describe(
        0.1,
        "Drift Correction",
        "How strongly to draw the character to the nearest pose; higher: steadier, less free",
        "share",
    )
    planted_share: float = describe(
        0.9,
        "Planted From",
        "Share of the neighbours' weight from which a toe counts as planted; lower: planted longer",
        "share",
    )
    lookahead: float = _seconds(
        1.0,
        "Look Ahead",
        "How far ahead to compare clips with the goal; longer: calmer, slower to respond",
    )
    favour: int = describe(
        0,
        "Favour",
        "Neighbour to follow always, 1 being the nearest; 0: the field chooses",
        most=100,
        soft_most=30,
    )
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        check(self)
        for name in ("walk", "run"):
            speeds = getattr(self, name)
            if not (
                isinstance(speeds, Speeds)
                and all(is_number(v) and 0 < v <= LARGEST_SPEED for v in vars(speeds).values())
            ):
                raise SettingsError(
                    f"The setting '{name}' is {reprlib.repr(speeds)}; give three speeds, forward, "
                    f"side and back, above 0 and up to {LARGEST_SPEED:g} m/s."
                )
        if self.weights is not None and not (
            isinstance(self.weights, tuple)
            and all(is_number(w) and 0 <= w <= LARGEST for w in self.weights)
            and any(self.weights)
        ):
            raise SettingsError(
                f"The setting 'weights' is {reprlib.repr(self.weights)}; give a number from 0 to "
                f"{LARGEST:g} for each feature, at least one of them above 0."
            )
        check_labels(self)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "labels": [label.to_dict() for label in self.labels]}

    @property
    def foot_support(self) -> float:
        """Cost of jumps that move a standing foot elsewhere, for each m² of people."""
        return self.support_weight if self.foot_lock else 0.0

    def with_changes(self, changes: Mapping[str, Any]) -> PerformerSettings:
        """Return these settings with some replaced by JSON data. Raises SettingsError."""
        check_names(changes, self)
        values = dict(changes)
        for name, value in changes.items():
            if name in ("walk", "run") and isinstance(value, Mapping):
                try:
                    values[name] = Speeds(**value)
                except TypeError:
                    raise SettingsError(
                        f"The setting '{name}' needs forward, side and back speeds."
                    ) from None
            elif name == "weights" and isinstance(value, (list, tuple)):
                values[name] = tuple(value)
        if "labels" in values:
            others = replace(self, labels=(), **{n: v for n, v in values.items() if n != "labels"})
            return replace(others, labels=labels_from_data(values["labels"], others))
        return replace(self, **values)
