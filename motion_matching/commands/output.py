"""Print what a command reports: results, progress and errors."""

from __future__ import annotations

import sys

from .arguments import PROGRAM


class Output:
    """Prints the results of a command to the output.

    Errors, and progress on a terminal, go to the error output.
    """

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self._live = sys.stderr.isatty() and not quiet

    def say(self, text: str) -> None:
        """Print lines, unless quiet."""
        self._clear()
        if not self.quiet:
            print(text)

    def show_progress(self, stage: str, part: float | None = None) -> None:
        """Show on one line of the terminal the stage, and the share of it done (0..1)."""
        if self._live:
            done = "" if part is None else f" {part:.0%}"
            print(f"\r\x1b[K{stage} …{done}", end="", file=sys.stderr, flush=True)

    def fail(self, text: str, code: int) -> int:
        """Print an error as one sentence on one line; return the exit code."""
        self._clear()
        sentence = " ".join(text.split())
        print(
            f"{PROGRAM}: {sentence}{'' if sentence.endswith(('.', '?', '!')) else '.'}",
            file=sys.stderr,
        )
        return code

    def _clear(self) -> None:
        if self._live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
