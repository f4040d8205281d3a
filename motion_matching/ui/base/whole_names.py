"""The names of sources, takes and databases in lists: that of the action, if there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .typed_properties import Class, declare, text


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
