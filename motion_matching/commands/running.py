"""Run the command of parsed arguments, and say in a sentence what ended it."""

from __future__ import annotations

import argparse
from importlib import import_module
from types import ModuleType

from ..engine.errors import MotionMatchingError, to_missing_library
from .output import Output


def load_command(name: str) -> ModuleType:
    """Load the module of a command, which has `run` and `check`. It may bring numpy."""
    return import_module(f".{name.replace('-', '_')}", __package__)


def run_command(arguments: argparse.Namespace, out: Output) -> None:
    """Run the command of parsed arguments."""
    load_command(arguments.command).run(arguments, out)
    out.flush()


def explain(error: Exception) -> str:
    """Return the sentence for an error of data, disk or memory; empty for a mistake of ours.

    Raises the ImportError of a library that the program does not bring.
    """
    match error:
        case MotionMatchingError():
            return str(error)
        case ImportError():
            return str(to_missing_library(error))
        case OSError():
            text = f"{error.filename or 'the output'} cannot be used ({error.strerror})"
            return f"{text}; check its disk and rights"
        case MemoryError():
            text = "there is not enough memory; use fewer or shorter clips"
            return f"{text}, or a lower frame rate"
        case OverflowError() | RecursionError():
            text = f"a file or a setting is too large or nested too deeply to work with ({error})"
            return f"{text}; correct it"
    return ""
