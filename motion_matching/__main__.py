"""`python -m motion_matching`: the command line."""

import io
import signal
import sys

from .cli import main

if isinstance(sys.stdout, io.TextIOWrapper):
    sys.stdout.reconfigure(
        errors="replace"
    )  # a file's name that cannot be shown must not end a command
# ended from outside it tidies up as after an error, so that nothing half-written stays behind
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
sys.exit(main())
