"""Keep prints of libraries out of the output of the process."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout


@contextmanager
def silence_output(*, with_errors: bool = False) -> Iterator[None]:
    """Discard prints of Python, and of C libraries, which write to the process's output itself.

    With `with_errors`, the error output is discarded, too.
    """
    sys.stdout.flush()
    saved = {output: os.dup(output) for output in ((1, 2) if with_errors else (1,))}
    try:
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
            for output in saved:
                os.dup2(nowhere.fileno(), output)
            yield
    finally:
        for output, before in saved.items():
            os.dup2(before, output)
            os.close(before)
