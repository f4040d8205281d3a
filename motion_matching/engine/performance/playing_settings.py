"""Define how motion is chosen, blended and finished, and what only reproduces a publication."""

from __future__ import annotations

import math
import reprlib
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from ..errors import SettingsError
from ..settings import LARGEST, Room, describe, is_number
from ..units import measured

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
_large_share = partial(describe, unit="share", most=LARGEST, soft_most=1.0)  # may be above 1


@dataclass(frozen=True)
class Search(Room):
    """When to search for a better frame, and which to choose.

    `weights` replaces the weights of the features, one each; None leaves those of the schema.
    """

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
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights is not None and not (
            isinstance(self.weights, tuple)
            and all(is_number(w) and 0 <= w <= LARGEST for w in self.weights)
            and any(self.weights)
        ):
            raise SettingsError(
                f"The setting 'weights' is {reprlib.repr(self.weights)}; give a number from 0 to "
                f"{LARGEST:g} for each feature, at least one of them above 0."
            )


@dataclass(frozen=True)
class Life(Room):
    """How a character stands, breathes and looks."""

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


@measured(root_halflife="")  # in body units already, as `FootLocking`
@dataclass(frozen=True)
class Blending(Room):
    """How the pose offset of a jump fades out."""

    inertialization_halflife: float = _seconds(
        0.1, "Blending", "Time to fade half of a jump; longer: smoother, more foot sliding"
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


@dataclass(frozen=True)
class FootLocking(Room):
    """How planted feet are held."""

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


@dataclass(frozen=True)
class Field(Room):
    """How a motion field blends similar poses."""

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


@dataclass(frozen=True)
class AsPublished(Room):
    """What only reproduces a publication; the defaults are the method as shipped."""

    prediction: str = describe(
        "spring",
        "Predict",
        "Trajectory to search for; the simulation object moves the same with each choice",
        choices=PREDICTIONS,
    )
    inertialization: str = describe(
        "spring", "Blend By", "How the pose offset of a jump fades out", choices=INERTIALIZATIONS
    )
    blend_time: float = _seconds(
        0.3,
        "Blend Time",
        "Time to fade a whole jump with Blend By Cubic; longer: smoother, more foot sliding",
    )
    field: str = describe(
        "by_gait",
        "Field",
        "Poses to blend, and the values that decide; training uses the same",
        choices=FIELDS,
    )
