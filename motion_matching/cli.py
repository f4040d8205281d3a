"""The command line: `python -m motion_matching …`, and `blender --command motion_matching …`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from .commands.arguments import build_parser, join_negative_values
from .commands.output import Output
from .commands.running import explain, run_command
from .engine.errors import MotionMatchingError


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
        run_command(arguments, out)
        return 0
    except KeyboardInterrupt:
        return out.fail_cancelled()
    except BrokenPipeError:  # the reader of the output, such as `head`, closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        # only these may come of a library that Ctrl-C broke while it loaded
        is_plain = not isinstance(error, MotionMatchingError | OSError | MemoryError)
        if is_plain and was_interrupted():
            return out.fail_cancelled()
        sentence = explain(error)
        if not sentence:
            raise
        return out.fail(sentence, 1)
