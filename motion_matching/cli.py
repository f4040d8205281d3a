"""The command line: `python -m motion_matching …`, and `blender --command motion_matching …`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from .commands.arguments import build_parser, join_negative_values
from .commands.output import Output
from .engine.errors import MotionMatchingError, to_missing_library


def main(
    argv: Sequence[str] | None = None, was_interrupted: Callable[[], bool] = lambda: False
) -> int:
    """Run one command; return 0, 1 after an error in one sentence, 2 for a wrong command line.

    `was_interrupted` says whether Ctrl-C was pressed while a library loaded, and broke it.
    """
    try:
        words = join_negative_values(sys.argv[1:] if argv is None else argv)
        arguments = build_parser().parse_args(words)
    except SystemExit as stop:
        return int(stop.code or 0)
    except KeyboardInterrupt:
        return Output(quiet=True).fail_cancelled()
    return _run(arguments, Output(arguments.quiet), was_interrupted)


def _run(arguments: argparse.Namespace, out: Output, was_interrupted: Callable[[], bool]) -> int:
    """Run the command of parsed arguments, and return the exit code."""
    try:
        # the module of the command brings numpy, which help and wrong command lines do without
        command = import_module(f".commands.{arguments.command.replace('-', '_')}", __package__)
        command.run(arguments, out)
        out.flush()
        return 0
    except MotionMatchingError as error:
        return out.fail(str(error), 1)
    except ImportError as error:
        if was_interrupted():
            return out.fail_cancelled()
        return out.fail(str(to_missing_library(error)), 1)
    except KeyboardInterrupt:
        return out.fail_cancelled()
    except BrokenPipeError:  # the reader of the output, such as `head`, closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        text = f"{error.filename or 'the output'} cannot be used ({error.strerror})"
        return out.fail(f"{text}; check its disk and rights", 1)
    except MemoryError:
        text = "there is not enough memory; use fewer or shorter clips, or a lower frame rate"
        return out.fail(text, 1)
    except (OverflowError, RecursionError) as error:
        text = f"a file or a setting is too large or nested too deeply to work with ({error})"
        return out.fail(f"{text}; correct it", 1)
    except Exception:
        if not was_interrupted():
            raise
        return out.fail_cancelled()
