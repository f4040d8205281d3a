"""Operators without properties, each of which is the function that it runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import new_class
from typing import Any

import bpy

from .operator_base import Operator, SteppedOperator


def operator(
    label: str = "", *, base: type[Operator] = Operator, **fields: Any
) -> Callable[[Callable[[bpy.types.Context], Any]], type[Operator]]:
    """Return a decorator: the function does what an operator without properties does.

    `add_mark` is `motion_matching.add_mark`, and its docstring is the tooltip. `fields` are those
    of the class, with `options` for Blender's.
    """
    content = {f"bl_{key}" if key == "options" else key: value for key, value in fields.items()}
    if label:
        content["bl_label"] = label

    def decorate(work: Callable[[bpy.types.Context], Any]) -> type[Operator]:
        method = "steps" if issubclass(base, SteppedOperator) else "run"
        content[method] = lambda self, context: work(context)
        content.update(__doc__=work.__doc__, __module__=work.__module__)
        name = f"MOTION_MATCHING_OT_{work.__name__}"
        return new_class(name, (base, bpy.types.Operator), {}, lambda own: own.update(content))

    return decorate


stepped_operator = partial(operator, base=SteppedOperator)
