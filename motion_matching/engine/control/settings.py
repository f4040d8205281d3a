"""Settings of a performer: frozen, so that a recorded performance can say which ones made it."""

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

WALK_TO_RUN = 2.1  # m/s near which people change from walking to running
LARGEST_SPEED = 100.0  # m/s
DISPLACEMENTS = MappingProxyType(
    {  # in the order of Blender's property, which stores positions
        "synchronize": (
            "Synchronize",
            "Both meet at a point between where the motion leads and where the steering leads",
        ),
        "adjust": ("Adjust", "The character is pulled toward the simulation object"),
        "independent": ("Independent", "Neither follows the other"),
    }
)
PREDICTIONS = MappingProxyType(
    {  # in the order of Blender's property, which stores positions
        "spring": ("As It Moves", "As the simulation object will move"),
        "horizon": (
            "By the Horizon",
            "Evenly to the desired velocity and heading, which it has at the last time that is "
            "compared",
        ),
        "notebook": (
            "As the Notebook",
            "As it will move, from where it is after the tick: the notebook moves it first",
        ),
    }
)
INERTIALIZATIONS = MappingProxyType(
    {  # in the order of Blender's property, which stores positions
        "spring": ("Spring", "Half of a jump fades in each halflife, quickly at first"),
        "cubic": ("Cubic", "A jump fades within a time, and then nothing of it is left"),
    }
)
FIELDS = MappingProxyType(
    {  # in the order of Blender's property, which stores positions
        "by_gait": (
            "By Gait",
            "Blend only poses of the desired gait, and look ahead along their clips besides what "
            "was trained",
        ),
        "notebook": (
            "Notebook",
            "As the notebook plays: all poses are one field, and trained values alone decide, or "
            "without any the heading after one frame",
        ),
    }
)
_seconds = partial(describe, unit="s", soft_most=1.0)
_metres = partial(describe, unit="m")
_angle = partial(describe, unit="rad", soft_most=math.pi)
_SPEED: dict[str, Any] = {"unit": "m/s", "most": LARGEST_SPEED, "soft_most": 8.0}
BY_DATA = ("walk", "run", "turn_limit", "strafe")  # settings whose defaults the data tell
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
        "Full walking speed forward, to the side and back; the character never goes faster than "
        "its sources",
        **_SPEED,
    )
    run: Speeds = describe(
        Speeds(4.0, 3.0, 2.5),
        "Run",
        "Full running speed forward, to the side and back; the character never goes faster than "
        "its sources",
        **_SPEED,
    )
    velocity_halflife: float = _seconds(
        0.27,
        "Velocity",
        "Time in which half of a change of speed is made; longer: calmer, slower to respond",
    )
    rotation_halflife: float = _seconds(
        0.27, "Heading", "Time in which half of a turn is made; longer: wider turns"
    )
    prediction: str = describe(
        "spring",
        "Predict",
        "The trajectory that a search asks for; it does not change how the simulation object moves",
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
        "How many times as fast as the data steps aside and back the simulation object runs while "
        "it still has to turn to where it goes; higher: turns are answered sooner, farther off the "
        "path and with more foot sliding. Without Strafe it has no effect",
        least=1.0,
        most=10.0,
        soft_most=3.0,
    )
    strafe: bool = describe(
        True,
        "Strafe",
        "Move aside and back while facing elsewhere; off: the character faces where it moves",
    )
    stop_factor: float = describe(
        1.0,
        "Stop Factor",
        "Multiplies the velocity halflife while there is no input; below 1: stops sooner",
        soft_most=2.0,
    )
    gait_halflife: float = _seconds(
        0.1, "Gait", "Time in which half of a change of gait is made; longer: softer"
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
        "Let a search enter frames just ahead of the current one, and leave out only those just "
        "behind it: motion that is too slow catches up in its own clip",
    )
    wait: bool = describe(
        True,
        "Wait for Calm",
        "Let a jump wait while the one before fades, and a moment where a joint would pop; off: "
        "jumps as soon as a better frame is found",
    )
    tempo: float = describe(
        0.0,
        "Tempo",
        "How much faster or slower motion may be played so that it goes as fast as it is asked to; "
        "higher: reaches more speeds between those of the clips, 0: as captured",
        "%",
        most=15.0,
    )
    continuing_bias: float = describe(
        0.3,
        "Continuing Bias",
        "How much better another frame must be than playing on; higher: fewer and later jumps",
        least=-math.inf,
        most=math.inf,
        soft_least=0.0,
        soft_most=2.0,
    )
    support_weight: float = describe(
        100.0,
        "Foot Support",
        "How much it costs to jump to a frame whose planted feet are not where the character's "
        "are; higher: less foot sliding, later answers, 0: nothing",
        soft_most=300.0,
    )
    price_weight: float = describe(
        0.0,
        "Jump Price",
        "How much a jump's price counts in the choice of a frame, for each cm·s; higher: smoother "
        "and fewer jumps, longer searches, 0: not at all",
        soft_most=2.0,
    )
    posture_weight: float = describe(
        10.0,
        "Odd Postures",
        "How much it costs to play a posture that is odd in its gait, such as a stumble in a run, "
        "and what leads to it; higher: rarer, 0: as any other",
        soft_most=20.0,
    )
    idle: bool = describe(
        True,
        "Idle",
        "Where the character stands: step into place and play on through the standing motion of "
        "the data",
    )
    breathing: float = _large_share(
        1.0,
        "Breathing",
        "How much the character breathes and shifts its weight while it holds a stance, where no "
        "data stands; higher: livelier, 0: as still as a statue",
    )
    look: float = describe(
        0.0,
        "Look",
        "How far the head turns to where the character is asked to go, or to the object that it "
        "looks at; higher: responds sooner to the eye, 0: as in the motion",
        "share",
    )
    look_ahead: float = _seconds(
        0.7,
        "Ahead",
        "How far ahead on a curve, or on the way to a target, the head looks; longer: turns sooner",
        soft_most=2.0,
    )
    look_halflife: float = _seconds(
        0.12, "Look Time", "Time in which half of a look is made; longer: calmer, later"
    )
    look_limit: float = _angle(
        math.radians(80.0),
        "Neck Turn",
        "Farthest that the head turns from the chest; higher: looks farther around",
        most=math.pi,
    )
    look_tilt: float = _angle(
        math.radians(45.0),
        "Neck Tilt",
        "Farthest that the head looks up or down at an object; higher: looks farther up and down",
        most=0.5 * math.pi,
        soft_most=0.5 * math.pi,
    )
    look_spine: float = describe(
        0.2,
        "Spine Part",
        "Share of a look that the spine makes; higher: shoulders and arms turn along more",
        "share",
        most=0.5,
    )
    inertialization: str = describe(
        "spring",
        "Blend By",
        "How the difference that a jump leaves fades",
        choices=INERTIALIZATIONS,
    )
    inertialization_halflife: float = _seconds(
        0.1, "Blending", "Time in which half of a jump fades; longer: smoother, more foot sliding"
    )
    blend_time: float = _seconds(
        0.3,
        "Blend Time",
        "Time in which all of a jump fades if blended by a cubic; longer: smoother, more foot "
        "sliding",
    )
    blend_stretch: float = describe(
        3.0,
        "Stretch",
        "How many times as long a jump may take to fade so that no bone moves harder than in the "
        "data; higher: softer, more foot sliding, 1: all jumps fade alike",
        least=1.0,
        most=10.0,
        soft_most=5.0,
    )
    blend_root: bool = describe(
        True,
        "Blend Root",
        "Let the character's own speed and turn fade at a jump too; off: it moves at once as the "
        "motion that is entered, less foot sliding, harder changes of speed",
    )
    root_halflife: float = _seconds(
        0.06,
        "Root on Feet",
        "Time in which half of the speed and turn that a jump leaves to the character is gone "
        "while a foot stands; shorter: less foot sliding, harder jumps, 0: they fade as the jump "
        "does",
    )
    displacement: str = describe(
        "adjust",
        "Displacement",
        "How the character, led by the motion, and the simulation object, led by the steering, "
        "stay together",
        choices=DISPLACEMENTS,
    )
    synchronization: float = describe(
        0.2,
        "Synchronization",
        "What leads: the motion (0), which leaves feet planted, or the exact steering (1)",
        "share",
    )
    adjust_position_halflife: float = _seconds(
        0.1,
        "Adjust Position",
        "Time in which half of the distance to the simulation object is closed; longer: less foot "
        "sliding, follows less closely",
    )
    adjust_rotation_halflife: float = _seconds(
        0.2,
        "Adjust Heading",
        "Time in which half of the angle to the simulation object is closed; longer: less foot "
        "sliding, follows less closely",
    )
    adjust_by_velocity: bool = describe(
        True,
        "Only While Moving",
        "Pull the character by no more than a share of its own motion, so that it never slides "
        "while it stands",
    )
    adjust_position_ratio: float = _large_share(
        0.5,
        "Position Part",
        "Limit of the pull, as a share of its own motion; higher: follows more closely, more foot "
        "sliding",
    )
    adjust_rotation_ratio: float = _large_share(
        0.5,
        "Heading Part",
        "Limit of the turn, as a share of its own turning; higher: follows more closely, more foot "
        "sliding",
    )
    object_waits: bool = describe(
        True,
        "Object Waits",
        "Have the simulation object wait for a character that may be pulled no nearer, which turns "
        "faster while it lags; off: as published, the steering is followed exactly and Clamp drags "
        "the character along, more foot sliding",
    )
    clamp: bool = describe(
        True,
        "Clamp",
        "Keep the character and the simulation object within a distance and an angle of each other",
    )
    clamp_distance: float = _metres(
        0.15,
        "Distance",
        "Farthest the character may be from the simulation object; shorter: more exact, more foot "
        "sliding",
        soft_most=1.0,
    )
    clamp_angle: float = _angle(
        math.radians(90.0),
        "Angle",
        "Most the character may turn from the simulation object; smaller: more exact, more foot "
        "sliding",
    )
    catch_up: float = _large_share(
        0.05,
        "Catch Up",
        "How much faster the simulation object goes to make up for waiting, as a share of its "
        "speed; 0: it stays behind where it had to wait",
    )
    labels: tuple[DisplacementLabel, ...] = ()
    label_blend: float = _seconds(
        0.3,
        "Label Blend",
        "Time in which the numbers of a label take over, and let go again; longer: softer, later",
    )
    collision_radius: float = _metres(
        0.3,
        "Body Radius",
        "Nearest the character's middle may come to an obstacle; larger: wider curves around it",
        soft_most=1.0,
    )
    foot_lock: bool = describe(True, "Lock Feet", "Hold planted toes in place by bending the legs")
    lock_halflife: float = _seconds(
        0.05,
        "Plant Blending",
        "Time a landing toe takes to stop; longer: softer, more foot sliding",
        soft_most=0.5,
    )
    foot_halflife: float = _seconds(
        0.1,
        "Release Blending",
        "Time in which a released toe returns to the motion; longer: softer, legs bend more",
        soft_most=0.5,
    )
    swing_clearance: float = _metres(
        0.025,
        "Swing Clearance",
        "Least height of a toe that moves over the floor; higher: feet scuff less, knees lift "
        "more; 0: as in the motion",
        soft_most=0.1,
    )
    hips_halflife: float = _seconds(
        0.15,
        "Hips",
        "Time in which the hips follow half of a change in ground height; longer: softer, legs "
        "bend more",
    )
    unlock_radius: float = _metres(
        0.45,
        "Unlock Radius",
        "A planted toe is released once the motion takes it farther away; larger: legs bend more",
        soft_most=0.5,
    )
    stretch_buffer: float = _metres(
        0.015,
        "Stretch Buffer",
        "How far a leg stays short of straight; larger: knees do not pop, feet slip sooner",
        soft_most=0.1,
    )
    field: str = describe(
        "by_gait",
        "Field",
        "Which poses a motion field blends, and what decides; training follows it",
        choices=FIELDS,
    )
    neighbours: int = describe(
        15,
        "Neighbours",
        "How many of the nearest poses are blended; more: smoother, freer, slower",
        least=1,
        most=100,
        soft_most=30,
    )
    drift: float = describe(
        0.1,
        "Drift Correction",
        "How strongly the character is drawn to the nearest pose; higher: steadier, less free",
        "share",
    )
    planted_share: float = describe(
        0.9,
        "Planted From",
        "Share of the neighbours' weight at which a toe is planted; lower: planted longer",
        "share",
    )
    lookahead: float = _seconds(
        1.0,
        "Look Ahead",
        "How far ahead clips are compared with the goal; longer: calmer, slower to respond",
    )
    favour: int = describe(
        0,
        "Favour",
        "Neighbour whose action is always taken, 1 for the nearest; 0: the field chooses",
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
        """What jumps cost that put a standing foot elsewhere, for each m² of people."""
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
