"""Print the results, progress and errors of a command."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..engine.errors import shorten
from .arguments import PROGRAM
from .progress_bar import ProgressBar

if TYPE_CHECKING:
    from ..engine.files.file_paths import NamedPath
    from ..engine.sources.reel import BuildNote
    from .loading import KeptDatabases

_MOST_ALIKE = 8  # warnings of one kind that are printed


class Output:
    """Prints the results of a command to the output.

    Errors, and progress on a terminal, go to the error output; it `is_live` if there is progress.
    Databases are `kept` open for other commands, if there may be some.
    """

    def __init__(self, quiet: bool, kept: KeptDatabases | None = None) -> None:
        self.quiet = quiet
        self.kept = kept
        self._bar = ProgressBar()
        # without a terminal, as for a program of the desktop, there may be no outputs at all
        self.is_live = sys.stderr is not None and sys.stderr.isatty() and not quiet

    def say(self, text: str) -> None:
        """Print lines, unless quiet."""
        self._bar.hide()
        if not self.quiet:
            print(text, flush=True)  # what waits for a row or a take of many reads it at once

    def show_progress(self, stage: str, part: float | None = None) -> None:
        """Show on one line of the terminal the stage, and the share of it done (0..1)."""
        if self.is_live:
            self._bar.show(stage, part)

    def flush(self) -> None:
        """Write all printed lines; OSError if nobody reads them."""
        self._bar.close()
        if sys.stdout is not None:
            sys.stdout.flush()

    def fail_cancelled(self) -> int:
        """Print that Ctrl-C ended the command; return the exit code of that."""
        return self.fail(
            "cancelled: what was finished before stays, and nothing is half-written", 130
        )

    def fail(self, text: str, code: int) -> int:
        """Print an error as one sentence on one line; return the exit code."""
        self._bar.close()
        sentence = shorten(" ".join(text.split()))
        print(
            f"{PROGRAM}: {sentence}{'' if sentence.endswith(('.', '?', '!')) else '.'}",
            file=sys.stderr,
        )
        return code


def say_warnings(notes: Iterable[BuildNote], out: Output) -> None:
    """Print notes on sources as warnings, and how many more there are of each kind."""
    by_kind: dict[str, list[str]] = {}
    for note in notes:
        by_kind.setdefault(note.kind, []).append(note.text.rstrip("."))
    for texts in by_kind.values():
        for text in texts[:_MOST_ALIKE]:
            out.say(f"Warning: {text}.")
        more = len(texts) - _MOST_ALIKE
        if more > 0:
            out.say(f"Warning: there are {more} more warnings like these.")


def say_written(out: Output, files: Iterable[NamedPath], choices: str = "") -> None:
    """Print the files written, or if there are none, the options that write some."""
    if names := [str(path) for _, path in files if path]:
        out.say(f"Written: {', '.join(names)}.")
    elif choices:
        out.say(f"Nothing was written; choose an output with {choices}.")
