"""Define the settings of a performer: frozen, so that a recorded performance can state them.

Files, Blender's properties and options name each setting alone; code finds it in its room.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from ..errors import SettingsError
from ..settings import check_names, get_defaults, room
from ..units import measured
from .labels import labels_from_data
from .old_names import accept_old_names
from .playing_settings import AsPublished, Blending, Field, FootLocking, Life, Search
from .steering_settings import (
    BY_DATA,
    BY_GAIT,
    DISPLACEMENTS,
    LABELLED,
    LARGEST_SPEED,
    WALK_TO_RUN,
    Coupling,
    Speeds,
    Steering,
)

_AFTER = MappingProxyType(
    {  # settings whose place in files is apart from their room's, and those before them there
        "prediction": "rotation_halflife",
        "inertialization": "look_spine",
        "blend_time": "inertialization_halflife",
        "catch_up": "clamp_angle",
        "collision_radius": "label_blend",
        "field": "stretch_buffer",
        "weights": "favour",
    }
)


@accept_old_names
@measured(feet="")  # in body units already: feet of any size are locked alike
@dataclass(frozen=True)
class PerformerSettings:
    """How a character responds, by rooms. SettingsError names the setting that is wrong.

    No room has the name of a setting, as scripts may read settings by the names of 0.1.0.
    """

    steering: Steering = room(Steering(), "Steering")
    search: Search = room(Search(), "Search")
    life: Life = room(Life(), "Idle and Look")
    blending: Blending = room(Blending(), "Blending")
    coupling: Coupling = room(Coupling(), "Displacement")
    feet: FootLocking = room(FootLocking(), "Feet")
    motion_field: Field = room(Field(), "Neighbours of a Motion Field")
    as_published: AsPublished = room(AsPublished(), "As Published")

    @property
    def foot_support(self) -> float:
        """Cost of jumps that move a standing foot elsewhere, for each m² of people."""
        return self.search.support_weight if self.feet.foot_lock else 0.0

    def flatten(self) -> dict[str, Any]:
        """Return all settings by name, without their rooms, in the order of files."""
        return {name: getattr(getattr(self, room), name) for name, room in ROOMS.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return all settings by name as JSON data."""
        speeds = {gait: asdict(getattr(self.steering, gait)) for gait in BY_GAIT}
        labels = [label.to_dict() for label in self.coupling.labels]
        return self.flatten() | speeds | {"labels": labels}

    def with_changes(self, changes: Mapping[str, Any]) -> PerformerSettings:
        """Return these settings with some replaced by JSON data, by name. Raises SettingsError."""
        check_names(changes, self)
        by_room: dict[str, dict[str, Any]] = {}
        for name, value in changes.items():
            by_room.setdefault(ROOMS[name], {})[name] = _read(name, value)
        rooms = {name: _change(getattr(self, name), given) for name, given in by_room.items()}
        return replace(self, **rooms)


def _read(name: str, value: Any) -> Any:
    """Return the value of a setting in JSON data. Raises SettingsError for wrong speeds."""
    if name in BY_GAIT and isinstance(value, Mapping):
        try:
            return Speeds(**value)
        except TypeError:
            raise SettingsError(
                f"The setting '{name}' needs forward, side and back speeds."
            ) from None
    return tuple(value) if name == "weights" and isinstance(value, list) else value


def _change(room: Any, given: dict[str, Any]) -> Any:
    """Return a room with some settings replaced; ready labels follow from the others."""
    if "labels" not in given:
        return replace(room, **given)
    others = replace(room, **{**given, "labels": ()})
    return replace(others, labels=labels_from_data(given["labels"], others))


def _find_rooms() -> dict[str, str]:
    """Return the room of each setting, in the order of files."""
    rooms = {n: each.name for each in fields(PerformerSettings) for n in get_defaults(each.default)}
    names = [name for name in rooms if name not in _AFTER]
    for name, before in _AFTER.items():
        names.insert(names.index(before) + 1, name)
    return {name: rooms[name] for name in names}


ROOMS: Mapping[str, str] = MappingProxyType(_find_rooms())  # of settings, by name
