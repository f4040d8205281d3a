"""Write the files of a command together: all of them, or none."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ..engine.errors import SettingsError
from ..engine.files import file_paths


@contextmanager
def write_together(arguments: argparse.Namespace, *options: str) -> Iterator[argparse.Namespace]:
    """Yield the arguments with a temporary file for each of these options that is given.

    At the end these files replace their targets. After an exception none does.
    """
    with ExitStack() as stack:
        paths = {name: getattr(arguments, name) for name in options}
        temporary = {
            name: stack.enter_context(file_paths.replacing(path, SettingsError))
            for name, path in paths.items()
            if path
        }
        yield argparse.Namespace(**vars(arguments) | temporary)
