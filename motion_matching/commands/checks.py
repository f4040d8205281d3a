"""Check arguments before the work begins, and write the files of a command together."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ..engine.errors import SettingsError
from ..engine.files import file_paths


class _CheckedError(Exception):
    """Ends the trial of a target."""


def _check_target(path: Path, ending: str) -> None:
    """Check that a target can be written, without touching it."""
    folder = path.absolute().parent
    if path.is_dir():
        raise SettingsError(f"{path} is a folder; give the name of a {ending} file.")
    if path.suffix.lower() != ending:
        raise SettingsError(
            f"{path} does not end in {ending}, as the file that is written here must; rename it."
        )
    if not folder.is_dir():
        raise SettingsError(
            f"The folder {folder} does not exist; make it first, or write elsewhere."
        )
    with suppress(_CheckedError), file_paths.replacing(path, SettingsError):
        raise _CheckedError


def check_targets(
    arguments: argparse.Namespace,
    targets: Mapping[str, str],
    inputs: Iterable[file_paths.NamedPath],
) -> None:
    """Check the files to write, options by name with the ending of each.

    None may be among the `inputs`, files to read with the option that names each.
    """
    for name, ending in targets.items():
        if (path := getattr(arguments, name)) is not None:
            _check_target(path, ending)
    file_paths.check_clashes(inputs, name_paths(arguments, *targets))


def name_paths(arguments: argparse.Namespace, *names: str) -> list[file_paths.NamedPath]:
    """Return the files that options give, each with its option, or as what the command reads."""
    return [(name_option(name), getattr(arguments, name)) for name in names]


def name_option(name: str) -> str:
    """Return the spelling of an option, by its name among the arguments."""
    spelled = {"output": "-o", **dict.fromkeys(("database", "scene", "source"), "the command")}
    return spelled.get(name) or f"--{name.replace('_', '-')}"


def check_number(option: str, value: float | None, low: float, high: float) -> None:
    """Raise SettingsError if a number is out of its range."""
    if value is not None and not low <= value <= high:
        raise SettingsError(f"{option} is {value:g}; give a number from {low:g} to {high:g}.")


def check_seed(seed: int | None) -> None:
    """Raise SettingsError if a seed is negative."""
    if seed is not None and seed < 0:
        raise SettingsError(f"--seed is {seed}; give a whole number of zero or more.")


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
