"""Load the modules of packages when they are first used.

Registering the extension loads a third of its modules this way (0.15 s instead of 0.5 s), and no
file needs an import inside a function for it: `from ... import app`, then `app.runtime`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def load_on_use(package: str) -> Callable[[str], ModuleType]:
    """Return a `__getattr__` for a package's `__init__` that imports the submodule of the name."""

    def load(name: str) -> ModuleType:
        module = f"{package}.{name}"
        if name.startswith("__"):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            return import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    return load
