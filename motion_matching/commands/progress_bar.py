"""Draw a bar of progress on a terminal, with the time left."""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from typing import Any

_BAR = "{desc} {percentage:3.0f}% |{bar}| {remaining} left"
_NO_BAR = "{desc} …"  # of work whose length nobody knows


class ProgressBar:
    """A line of the terminal that shows a stage, and the share of it done."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._stage = ""
        self._is_hidden = False

    def show(self, stage: str, part: float | None = None) -> None:
        """Show a stage, and the share of it done (0..1), unless tqdm is missing.

        What stands in parentheses behind the stage may change while it lasts.
        """
        name = stage.partition(" (")[0]
        if self._bar is None or name != self._stage:
            self.close()
            self._bar = _make_bar(stage, part)
            self._stage = name
        if self._bar is None:
            return
        self._bar.set_description_str(stage, refresh=False)
        if part is not None:
            self._bar.bar_format = _BAR
            self._bar.update(part - self._bar.n)
        if self._is_hidden:
            self._bar.refresh()
            self._is_hidden = False

    def hide(self) -> None:
        """Remove the line, until there is progress again."""
        if self._bar is not None:
            self._bar.clear()
            self._is_hidden = True

    def close(self) -> None:
        """Remove the line for good."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _make_bar(stage: str, part: float | None) -> Any:
    try:
        # only terminals show bars, and tqdm takes 0.1 s to load
        tqdm = import_module("tqdm").tqdm
    except ImportError:
        return None
    tqdm.monitor_interval = 0  # no thread that looks after bars, as Blender has none beside it
    tqdm.set_lock(threading.RLock())  # else one for several processes is made, which draw none
    text = _NO_BAR if part is None else _BAR
    return tqdm(
        total=1.0, desc=stage, bar_format=text, leave=False, file=sys.stderr, dynamic_ncols=True
    )
