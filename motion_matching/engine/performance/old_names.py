"""Let scripts written for 0.1.0 use the settings of a performer without their rooms.

`PerformerSettings(tempo=5.0)`, `replace(settings, tempo=5.0)` and `settings.tempo` work, each with
a DeprecationWarning that says where the setting is now.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import fields, replace
from functools import wraps
from typing import Any, TypeVar

from ..settings import get_defaults

Settings = TypeVar("Settings", bound=type[Any])


def accept_old_names(cls: Settings) -> Settings:
    """Let a class of settings by rooms take and give each setting by its name alone, too."""
    rooms = {name: room for room in fields(cls) for name in get_defaults(room.default)}
    make = cls.__init__

    @wraps(make)
    def init(self: Any, *args: Any, **given: Any) -> None:
        for name in [name for name in rooms if name in given]:
            _warn(name, rooms[name].name)
            own = given.get(rooms[name].name, rooms[name].default)
            given[rooms[name].name] = replace(own, **{name: given.pop(name)})
        make(self, *args, **given)

    def get(self: Any, name: str) -> Any:
        if name not in rooms:
            raise AttributeError(f"{cls.__name__!r} object has no attribute {name!r}")
        _warn(name, rooms[name].name)
        return getattr(getattr(self, rooms[name].name), name)

    cls.__init__ = init
    cls.__getattr__ = get
    return cls


def _warn(name: str, room: str) -> None:
    """Warn where a script uses an old name, or has `dataclasses.replace` use it."""
    level = 3
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals["__name__"] == "dataclasses":
        level = level + 1
        frame = frame.f_back
    text = f"The setting '{name}' has moved to 'settings.{room}.{name}'."
    warnings.warn(text, DeprecationWarning, stacklevel=level)
