"""Keeping what a library prints off the output of the process."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout


@contextmanager
def silent() -> Iterator[None]:
    """Drop what is printed, by Python and by the libraries below it, which write straight to the output of the process."""
    sys.stdout.flush()
    shown = os.dup(1)
    try:
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
            os.dup2(nowhere.fileno(), 1)
            yield
    finally:
        os.dup2(shown, 1)
        os.close(shown)
