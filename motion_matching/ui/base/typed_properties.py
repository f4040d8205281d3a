"""Properties declared with the type of their values: `speed: float = number(1.0, "Speed", "…")`.

A type checker sees a float, and Blender wants an annotation for each property. `annotate` and
`settings_group` move the declarations there before a class is registered.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import bpy

from ...engine.settings import Description, get_defaults, get_descriptions

if TYPE_CHECKING:
    from bpy.types import bpy_prop_collection_idprop as Items  # noqa: N812  # a class
else:
    Items = list  # only annotations name it, which nobody evaluates

Class = TypeVar("Class", bound=type)
Value = TypeVar("Value")

_MAKERS: Any = bpy.props  # whose functions are typed to return nothing

# How Blender shows numbers of a unit
_UNITS: Mapping[str, Mapping[str, Any]] = {
    "": {"precision": 2},
    "s": {"subtype": "TIME_ABSOLUTE", "unit": "TIME_ABSOLUTE", "precision": 2, "step": 1},
    "m": {"subtype": "DISTANCE", "unit": "LENGTH", "precision": 3},
    "m/s": {"unit": "VELOCITY", "precision": 2},
    "rad": {"subtype": "ANGLE", "unit": "ROTATION"},
    "rad/s": {"subtype": "ANGLE", "unit": "ROTATION"},
    "share": {"subtype": "FACTOR", "precision": 2},
    "%": {"subtype": "PERCENTAGE", "precision": 0},
}
_LARGEST = 1000.0  # in panels, of settings without a limit
_PREFIX = "_PROPERTIES_OF_"  # of the names by which modules hold the properties of classes

# Options of distances that are allowed in exchange for fewer keys
TOLERANCE: Mapping[str, Any] = {**_UNITS["m"], "precision": 4, "min": 0, "max": 1, "soft_max": 0.02}


# Each function takes a property's default, label and help, then Blender's other options by name


def switch(default: bool, label: str, help: str, **options: Any) -> bool:
    return _MAKERS.BoolProperty(name=label, description=help, default=default, **options)


def integer(default: int, label: str, help: str, **options: Any) -> int:
    return _MAKERS.IntProperty(name=label, description=help, default=default, **options)


def number(default: float, label: str, help: str, **options: Any) -> float:
    return _MAKERS.FloatProperty(name=label, description=help, default=default, **options)


def numbers(default: Sequence[float], label: str, help: str, **options: Any) -> Sequence[float]:
    options |= {"default": default, "size": len(default)}
    return _MAKERS.FloatVectorProperty(name=label, description=help, **options)


def text(default: str, label: str, help: str, **options: Any) -> str:
    return _MAKERS.StringProperty(name=label, description=help, default=default, **options)


def hidden_text(label: str, help: str, **options: Any) -> str:
    """Declare a text that is stored and never shown."""
    return text("", label, help, options={"HIDDEN"}, **options)


def choice(default: str, label: str, help: str, items: Sequence[Any], **options: Any) -> str:
    options |= {"default": default, "items": items}
    return _MAKERS.EnumProperty(name=label, description=help, **options)


def listed(label: str, help: str, list_items: Callable[..., Sequence[Any]]) -> str:
    """Declare a choice among items that a function lists; the first one by default."""
    return _MAKERS.EnumProperty(name=label, description=help, items=list_items)


def pointer(kind: type[Value], label: str, help: str, **options: Any) -> Value:
    """Declare a data-block, which may be None."""
    return _MAKERS.PointerProperty(type=kind, name=label, description=help, **options)


def group(kind: type[Value], label: str) -> Value:
    """Declare a group within a group, whose docstring explains it."""
    return _MAKERS.PointerProperty(type=kind, name=label, description=kind.__doc__)


def collection(kind: type[Value], label: str, help: str, **options: Any) -> Items[Value]:
    return _MAKERS.CollectionProperty(type=kind, name=label, description=help, **options)


def suggest(find_names: Callable[[Any, bpy.types.Context, str], list[str]]) -> Any:
    """Return options of a text that suggests names; with them, Blender 4.2 crashes at its end."""
    return {"search": find_names} if bpy.app.version >= (4, 5, 0) else {}


def described(settings: Any, name: str, *, is_hard: bool = False, **options: Any) -> Any:
    """Declare a property by an engine's setting; `options` replace what follows from it.

    With `is_hard`, the end of the slider is the limit.
    """
    default: Any = options.pop("default", get_defaults(settings)[name])
    description = get_descriptions(settings)[name]
    words = description.label, description.help
    if description.choices is not None:
        items = [(value, *texts) for value, texts in description.choices.items()]
        return choice(default, *words, items, **options)
    if isinstance(default, (bool, str)):
        declare: Any = switch if isinstance(default, bool) else text
        return declare(default, *words, **options)
    limits = _get_limits(description, is_hard)
    if isinstance(default, int):
        options = {**{limit: int(value) for limit, value in limits.items()}, **options}
        return integer(default, *words, **options)
    options = {**limits, **_UNITS[description.unit], **options}
    if isinstance(default, float):
        return number(default, *words, **options)
    return numbers(tuple(vars(default).values()), *words, **options)  # such as the speeds of a gait


def _get_limits(description: Description, is_hard: bool) -> dict[str, float]:
    most = min(description.most, 1.0 if description.unit == "share" else _LARGEST)
    if is_hard and description.soft_most is not None:
        most = description.soft_most
    limits = {
        "min": max(description.least, -_LARGEST),
        "max": most,
        "soft_min": description.soft_least,
        "soft_max": description.soft_most,
    }
    return {name: value for name, value in limits.items() if value is not None}


def describe_by(
    settings: Any, only: Sequence[str] | None = None, **options: Any
) -> Callable[[Class], Class]:
    """Return a decorator that declares an engine's settings, which a group names with types.

    They are all settings, or `only` some.
    """

    def decorate(cls: Class) -> Class:
        names = inspect.get_annotations(cls)
        for name in get_descriptions(settings) if only is None else only:
            if name not in names:
                raise TypeError(f"{cls.__name__} lacks the setting '{name}' of {settings.__name__}")
            if name not in vars(cls):
                setattr(cls, name, described(settings, name, **options))
        return cls

    return decorate


def declare(**properties: Any) -> Callable[[Class], Class]:
    """Return a decorator that declares properties by name, which code does not name one by one."""

    def decorate(cls: Class) -> Class:
        own = inspect.get_annotations(cls)
        cls.__annotations__ = {**dict.fromkeys(properties, "Any"), **own}
        for name, declared in properties.items():
            setattr(cls, name, declared)
        return cls

    return decorate


def updates(call: Callable[[Any, bpy.types.Context], None]) -> Callable[[Class], Class]:
    """Return a decorator: a change of any property that names no other `update` makes this call."""

    def decorate(cls: Class) -> Class:
        for declared in vars(cls).values():
            if _is_property(declared) and declared.function is not _MAKERS.CollectionProperty:
                declared.keywords.setdefault("update", call)
        return cls

    return decorate


def annotate(cls: Class) -> Class:
    """Turn the properties that a class and its bases declare into Blender's annotations."""
    return _store(cls, _collect(cls))


def settings_group(cls: Class) -> Class:
    """Annotate a group of a character's settings, which library overrides may change."""
    declared = _collect(cls)
    return _store(cls, {name: _make_overridable(value) for name, value in declared.items()})


def _collect(cls: type) -> dict[str, Any]:
    """Return the properties of a class and its bases by name, and take them off the class."""
    result: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        result |= vars(sys.modules[base.__module__]).get(_PREFIX + base.__name__, {})
        for name in inspect.get_annotations(base):
            if _is_property(declared := vars(base).get(name)):
                result[name] = declared
                if base is cls:
                    delattr(cls, name)  # it would hide Blender's own attribute
    return result


def _store(cls: Class, declared: Mapping[str, Any]) -> Class:
    """Annotate a class by names in its module, where Blender looks up the properties.

    The class must not refer to the properties: Blender 4.2 keeps classes until Python is gone, and
    crashes if functions such as `update` go with them.
    """
    name = _PREFIX + cls.__name__
    vars(sys.modules[cls.__module__])[name] = declared
    cls.__annotations__ = {key: f"{name}[{key!r}]" for key in declared}
    return cls


def _is_property(value: Any) -> bool:
    return type(value).__name__ == "_PropertyDeferred"


def _make_overridable(declared: Any) -> Any:
    options = declared.keywords
    if "get" in options or "override" in options:
        return declared
    override = {"LIBRARY_OVERRIDABLE"}
    if declared.function is _MAKERS.CollectionProperty:
        override.add("USE_INSERTION")
    return declared.function(**options, override=override)


# The names of sources, takes and databases in lists: that of the action, if there is one


class Named:
    """A mixin of items of lists. `named_by` makes its properties: a row's name, and its tooltip."""

    whole_name: str
    tip: str


def get_full_name(item: Any) -> str:
    """Return the name of a source, take or database, which is that of its action if it has one."""
    action = getattr(item, "action", None)
    return str(action.name if action else getattr(item, "label", "") or item.name)


def named_by(
    rename: Callable[[Any, str], None] | None = None,
    describe: Callable[[Any], Iterable[str]] | None = None,
) -> Callable[[Class], Class]:
    """Return a decorator of items: what renames one, and the lines of its tooltip below the name.

    These are functions outside the class, as Blender 4.2 crashes at its end if a class of settings
    has methods.
    """

    def set_name(item: Any, name: str) -> None:
        if rename and name.strip():
            rename(item, name.strip())

    def get_tip(item: Any) -> str:
        return "\n".join((get_full_name(item), *(describe(item) if describe else ())))

    return declare(
        whole_name=text("", "Name", "Name", get=get_full_name, set=set_name),
        tip=text("", "Details", "The whole name, and what else is known", get=get_tip),
    )
