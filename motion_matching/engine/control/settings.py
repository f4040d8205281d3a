"""Settings of a performer: frozen, so that a recorded performance can say with which ones it was made."""

from __future__ import annotations

import math
import reprlib
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from ..errors import SettingsError

WALK_TO_RUN = 2.1  # m/s near which people change over
LARGEST_SPEED = 100.0  # m/s
_LARGEST = 1000.0  # of any other setting: more is a mistake, and far more overflows
DISPLACEMENTS = ("independent", "synchronize", "adjust")


@dataclass(frozen=True)
class Speeds:
    """Full speeds in m/s: forward, to the side, and back."""

    forward: float
    side: float
    back: float


@dataclass(frozen=True)
class PerformerSettings:
    """How a character answers; times in seconds, angles in radians.

    Response: `velocity_halflife` and `rotation_halflife` smooth what is wanted (longer: calmer, slower); while nothing
    is wanted the former is multiplied by `stop_factor`; `gait_halflife` blends walking and running. The simulation
    object turns by at most `turn_limit` radians per second.
    Search: every `search_interval` (0: each tick), at once where the wanted velocity changes by more than
    `sharp_velocity` m/s or the wanted facing by more than `sharp_angle`; never within `end_guard` of a range's end nor
    within `surroundings` of the current frame; `continuing_bias` is taken off the cost of playing on.
    Result: jumps fade with `inertialization_halflife`. `displacement` says how the character, led by the data, and the
    simulation object, led by the code, keep together: 'independent' leaves both alone; 'synchronize' places both from
    where the data leads (`synchronization` 0) to where the code leads (1); 'adjust' damps the character toward the
    object with the adjust halflives, and if `adjust_by_velocity` by no more than the adjust ratios of its own motion.
    `clamp` holds the character within `clamp_distance` and `clamp_angle` of the object; one that is pulled by no
    more than a part of its own motion is not dragged there: the object waits for it, unless it is on a path. Where that one
    lags behind by more than half of `clamp_distance`, it may be turned by its steps as well.
    Obstacles keep `collision_radius` metres away from the middle of the simulation object and of the character.
    Feet: `foot_lock` holds toes where they are planted, coming to rest with `lock_halflife`, until the data has them
    further away than `unlock_radius`; they are let go with `foot_halflife`. Toes that swing are `swing_clearance` metres
    above the floor or higher. Legs stay `stretch_buffer` metres short of straight. On uneven ground the hips follow
    with `hips_halflife`.
    Motion fields: actions blend the `neighbours` nearest states, and `drift` is how much of each tick leads to where the
    nearest goes; a toe is planted where neighbours with `planted_share` of the weight have it so. Some
    neighbours are those whose clips serve best within `lookahead` seconds, and without a value function, or to strafe and to
    go back, actions are judged by that; 0: by their own tick.
    `favour` has the action of that neighbour taken whatever it is worth, counted from 1, the nearest; 0 leaves it open.
    `weights` replaces those of the features, one each; None keeps the schema's.
    """

    walk: Speeds = Speeds(1.75, 1.5, 1.25)
    run: Speeds = Speeds(4.0, 3.0, 2.5)
    velocity_halflife: float = 0.27
    rotation_halflife: float = 0.27
    turn_limit: float = math.tau
    stop_factor: float = 1.0
    gait_halflife: float = 0.1
    search_interval: float = 0.1
    sharp_velocity: float = 0.5
    sharp_angle: float = math.radians(30.0)
    end_guard: float = 1.0 / 3.0
    surroundings: float = 1.0 / 3.0
    continuing_bias: float = 0.3
    inertialization_halflife: float = 0.1
    displacement: str = "adjust"
    synchronization: float = 0.2
    adjust_position_halflife: float = 0.1
    adjust_rotation_halflife: float = 0.2
    adjust_by_velocity: bool = True
    adjust_position_ratio: float = 0.5
    adjust_rotation_ratio: float = 0.5
    clamp: bool = True
    clamp_distance: float = 0.15
    clamp_angle: float = math.radians(90.0)
    collision_radius: float = 0.3
    foot_lock: bool = True
    lock_halflife: float = 0.05
    foot_halflife: float = 0.1
    swing_clearance: float = 0.025
    hips_halflife: float = 0.15
    unlock_radius: float = 0.2
    stretch_buffer: float = 0.015
    neighbours: int = 15
    drift: float = 0.1
    planted_share: float = 0.9
    lookahead: float = 0.6
    favour: int = 0
    weights: tuple[float, ...] | None = field(default=None)

    def __post_init__(self) -> None:
        for name in _NOT_NEGATIVE:
            value = getattr(self, name)
            if not (is_number(value) and 0 <= value <= _LARGEST):
                raise SettingsError(
                    f"The setting '{name}' is {reprlib.repr(value)}; give a number from 0 to {_LARGEST:g}."
                )
        for gait in (self.walk, self.run):
            if not isinstance(gait, Speeds) or not all(
                is_number(v) and 0 < v <= LARGEST_SPEED for v in vars(gait).values()
            ):
                raise SettingsError(
                    "The settings 'walk' and 'run' need speeds above zero, and no more than "
                    f"{LARGEST_SPEED:g} m/s: forward, side and back."
                )
        if not is_number(self.continuing_bias):
            raise SettingsError(
                f"The setting 'continuing_bias' is {reprlib.repr(self.continuing_bias)}; give a number."
            )
        if self.weights is not None and not (
            isinstance(self.weights, tuple)
            and all(is_number(w) and 0 <= w <= _LARGEST for w in self.weights)
            and any(self.weights)
        ):
            raise SettingsError(
                f"The setting 'weights' is {reprlib.repr(self.weights)}; give a number from 0 to "
                f"{_LARGEST:g} for each feature, and one of them above zero."
            )
        if self.displacement not in DISPLACEMENTS:
            raise SettingsError(
                f"The setting 'displacement' is {self.displacement!r}; use {', '.join(DISPLACEMENTS)}."
            )
        for name in ("adjust_by_velocity", "clamp", "foot_lock"):
            if not isinstance(getattr(self, name), bool):
                raise SettingsError(
                    f"The setting '{name}' is {getattr(self, name)!r}; it is true or false."
                )
        for name in ("synchronization", "drift", "planted_share"):
            if getattr(self, name) > 1:
                raise SettingsError(
                    f"The setting '{name}' is {getattr(self, name)}; it lies between 0 and 1."
                )
        for name, fewest in {"neighbours": 1, "favour": 0}.items():
            value = getattr(self, name)
            if not (is_number(value) and value == int(value) and fewest <= value <= 100):
                raise SettingsError(
                    f"The setting '{name}' is {reprlib.repr(value)}; give a whole number from "
                    f"{fewest} to 100."
                )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def changed(self, changes: Mapping[str, Any]) -> PerformerSettings:
        """These settings with some replaced, from JSON data; SettingsError names an unknown one."""
        known = {f.name for f in fields(self)}
        values = dict(changes)
        for name, value in values.items():
            if name not in known:
                raise SettingsError(
                    f"There is no setting '{name}'; known ones are {', '.join(sorted(known))}."
                )
            if name in ("walk", "run") and isinstance(value, Mapping):
                try:
                    values[name] = Speeds(**value)
                except TypeError:
                    raise SettingsError(
                        f"The setting '{name}' needs forward, side and back speeds."
                    ) from None
            elif name == "weights" and isinstance(value, (list, tuple)):
                values[name] = tuple(value)
        return replace(self, **values)


def is_number(value: Any) -> bool:
    """Whether a value is a finite number that fits a float; true and false are none."""
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and abs(value) <= sys.float_info.max
    )


_NOT_NEGATIVE = tuple(
    f.name for f in fields(PerformerSettings) if f.type == "float" and f.name != "continuing_bias"
)
