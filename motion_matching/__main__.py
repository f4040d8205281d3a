"""`python -m motion_matching`: the command line."""

import io
import signal
import sys

from .cli import main

if isinstance(sys.stdout, io.TextIOWrapper):
    # a file name that cannot be printed must not end a command
    sys.stdout.reconfigure(errors="replace")
# on SIGTERM clean up as after an error, so that nothing half-written stays behind
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
sys.exit(main())
