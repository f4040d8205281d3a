"""The command line: `python -m motion_matching …`, and `blender --command motion_matching …`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from .arguments import joined, parser
from .commands.build import build_command
from .commands.demo_clips import demo_clips_command
from .commands.inspect import inspect_command
from .commands.output import Output
from .commands.take import take_command
from .commands.train import train_command
from .engine.errors import MotionMatchingError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0, 1 for an error told in one sentence, 2 for a wrong command line."""
    try:
        arguments = parser().parse_args(joined(sys.argv[1:] if argv is None else argv))
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
    except BrokenPipeError:  # what read the output, such as `head`, has had enough of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return out.fail(
            f"{error.filename or 'the output'} cannot be used ({error.strerror}); check its disk and rights",
            1,
        )


COMMANDS = {
    "build": build_command,
    "train": train_command,
    "take": take_command,
    "inspect": inspect_command,
    "demo-clips": demo_clips_command,
}
