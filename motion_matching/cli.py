"""The command line: `python -m motion_matching …`, and `blender --command motion_matching …`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from types import FrameType

from .commands.arguments import build_parser, join_negative_values
from .commands.output import Output
from .engine.errors import MotionMatchingError, to_missing_library


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0, 1 after an error in one sentence, 2 for a wrong command line."""
    try:
        words = join_negative_values(sys.argv[1:] if argv is None else argv)
        arguments = build_parser().parse_args(words)
    except SystemExit as stop:
        return int(stop.code or 0)
    except KeyboardInterrupt:
        return Output(quiet=True).fail_cancelled()
    return _run(arguments, Output(arguments.quiet))


class _Interrupts:
    """Lets Ctrl-C wait for modules that load: libraries take it for an error of their own there.

    Blender's own handler stays.
    """

    def __init__(self) -> None:
        self.happened = False
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.happened = True
        importer = _find_importer(frame)
        if importer is None:
            raise KeyboardInterrupt
        importer.f_trace = _stop_at_next_line
        sys.settrace(lambda *call: None)


def _find_importer(frame: FrameType | None) -> FrameType | None:
    """Return the frame whose import is running the furthest out, or None without one."""
    importer = None
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            importer = frame.f_back
        frame = frame.f_back
    return importer


def _stop_at_next_line(frame: FrameType, event: str, argument: object) -> None:
    sys.settrace(None)
    raise KeyboardInterrupt


def _run(arguments: argparse.Namespace, out: Output) -> int:
    """Run the command of parsed arguments, and return the exit code."""
    interrupts = _Interrupts()
    try:
        # the module of the command brings numpy, which help and wrong command lines do without
        command = import_module(f".commands.{arguments.command.replace('-', '_')}", __package__)
        command.run(arguments, out)
        out.flush()
        return 0
    except MotionMatchingError as error:
        return out.fail(str(error), 1)
    except ImportError as error:
        if interrupts.happened:
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
        if not interrupts.happened:
            raise
        return out.fail_cancelled()
