"""`python -m motion_matching`: the command line."""

import io
import signal
import sys

# on SIGTERM clean up as after an error, so that nothing half-written stays behind
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
try:
    from .cli import main

    if isinstance(sys.stdout, io.TextIOWrapper):
        # a file name that cannot be printed must not end a command
        sys.stdout.reconfigure(errors="replace")
    code = main()
except KeyboardInterrupt:  # while modules are loaded, before anything was begun
    code = 130
    if sys.stderr is not None:
        print("motion_matching: cancelled.", file=sys.stderr)
# where Ctrl-C came while code from a text ran, as in dataclasses, Python would end by that signal;
# it forgets that as other code from a text runs
exec("")
sys.exit(code)
