"""`python -m motion_matching`: the command line."""

import io
import signal
import sys
from types import FrameType


class Interrupts:
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


# on SIGTERM clean up as after an error, so that nothing half-written stays behind
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
try:
    from .cli import main

    if isinstance(sys.stdout, io.TextIOWrapper):
        # a file name that cannot be printed must not end a command
        sys.stdout.reconfigure(errors="replace")
    interrupts = Interrupts()
    code = main(was_interrupted=lambda: interrupts.happened)
except KeyboardInterrupt:  # while modules are loaded, before anything was begun
    code = 130
    if sys.stderr is not None:
        print("motion_matching: cancelled.", file=sys.stderr)
# where Ctrl-C came while code from a text ran, as in dataclasses, Python would end by that signal;
# it forgets that as other code from a text runs
exec("")
sys.exit(code)
