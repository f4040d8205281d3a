"""The command line: `python -m motion_matching …`, and `blender --command motion_matching …`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from .commands.arguments import build_parser, join_negative_values
from .commands.build import run_build
from .commands.demo_clips import run_demo_clips
from .commands.inspect import run_inspect
from .commands.output import Output
from .commands.take import run_take
from .commands.train import run_train
from .engine.errors import MotionMatchingError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0, 1 after an error in one sentence, 2 for a wrong command line."""
    try:
        arguments = build_parser().parse_args(
            join_negative_values(sys.argv[1:] if argv is None else argv)
        )
    except SystemExit as stop:
        return int(stop.code or 0)
    out = Output(arguments.quiet)
    try:
        COMMANDS[arguments.command](arguments, out)
        sys.stdout.flush()
        return 0
    except MotionMatchingError as error:
        return out.fail(str(error), 1)
    except KeyboardInterrupt:
        return out.fail(
            "cancelled: what was finished before stays, and nothing is half-written", 130
        )
    except BrokenPipeError:  # the reader of the output, such as `head`, closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return out.fail(
            f"{error.filename or 'the output'} cannot be used ({error.strerror}); check its disk "
            "and rights",
            1,
        )


COMMANDS = {
    "build": run_build,
    "train": run_train,
    "take": run_take,
    "inspect": run_inspect,
    "demo-clips": run_demo_clips,
}
