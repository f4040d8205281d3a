"""Numbers of builds, each with its unit and its reason."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class BuildingNumbers:
    """Most numbers of a build are settings, or belong to the rooms that it calls."""

    least_frames: int = tune(5, "1", "of a clip: accelerations are differences of as many")
    least_loop_frames: int = tune(4, "1", "of a loop, with the first repeated: three poses move on")
    frames_at_once: int = tune(
        8192, "1", "laid on the reel together: their arrays stay within caches and little memory"
    )
    files_at_once: int = tune(
        16, "1", "read by a process before it hands them over: more would keep others waiting"
    )
    unmended_frames: int = tune(
        1000, "1", "of a database whose feet are looked at: floors that are off show in far fewer"
    )


NUMBERS = BuildingNumbers()
