"""Hold all state that lives while Blender runs. `runtime` is the only mutable state of the add-on:
`register` fills it, `unregister` closes it, and every other module asks it. It knows no Blender and
loads nothing, so that everything may import it.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from pathlib import Path

    import bpy

    from ..engine.control.performer import Frame, Placement
    from ..scene.library.library import ActionDigests, Library
    from ..scene.rig.problems import RigState
    from .database.status import Status
    from .direct.previewing import MarkPreview
    from .direct.solving import BestWay
    from .insight.data_insight import CoverageReport, MappedPoses
    from .insight.inspector import Inspector
    from .live.host import LiveSession
    from .sources.source_preview import SourcePreview
    from .steps import Steps, Work
    from .takes.comparing import Comparison
    from .takes.playing_beside import PlayedBeside

# What can change: settings that databases are made of; weights of features; the active source or
# take; which path is drawn; and whether a live session runs.
Kind = Literal["database", "weights", "selection", "path", "live"]
Cache = TypeVar("Cache")


@dataclass
class Statuses:
    """States of databases for `status`; session_uids stand for armatures and other data."""

    by_uid: dict[int, Status] = field(default_factory=dict)
    by_key: dict[str, Status] = field(default_factory=dict)
    editions: Counter[str] = field(default_factory=Counter)  # by key, how often it was built
    stale: set[int] = field(default_factory=set)
    watched: set[int] = field(default_factory=set)  # what the databases of known status are made of
    refresh: tuple[int, Steps[Status]] | None = None  # that goes on
    change_count: int = 0  # changes and jumps such as undo


@dataclass
class Trail:
    """Positions of a session for drawing: where its armature is seen, and frames of the data."""

    uid: int  # the session_uid of the armature
    key: str  # of the data
    placement: Placement  # on the ground
    frames: deque[int] = field(default_factory=lambda: deque(maxlen=60))  # played last
    neighbour_frames: Sequence[int] = ()  # that a motion field has blended last
    neighbour_shares: Sequence[float] = ()  # of each in the blend


@dataclass(eq=False)
class Runtime:
    """All state while Blender runs: live session, work, results for panels, and listeners."""

    live: LiveSession | None = None
    end_message: str = ""  # why the last session ended, unless the user ended it
    trail: Trail | None = None  # of the live session
    recovery_paths: list[Path] = field(default_factory=list)  # of a session that an undo has ended
    interrupted: tuple[Path, ...] = ()  # recordings that were cut off
    work: Work | None = None  # that goes on between redraws
    progress: tuple[str, float] | None = None  # what that work does, and the part that is done
    is_cancelled: bool = False  # whether that work is to end
    stop_message: str = ""  # what is left of the training that was stopped last
    library: Library | None = None
    action_digests: ActionDigests | None = None  # of actions that are sources
    statuses: Statuses = field(default_factory=Statuses)
    inspector: Inspector | None = None
    source_preview: SourcePreview | None = None
    beside: PlayedBeside | None = None  # what moves beside a character
    mark_preview: MarkPreview | None = None  # the way of a take as marks are moved
    mark_preview_end: str = ""  # why the last one ended, unless the user ended it
    best_way: BestWay | None = None  # of the solve that is going on
    # those down to `comparisons` by session_uid
    rigs: dict[int, tuple[tuple[Any, ...], RigState]] = field(default_factory=dict)
    pending_rigs: set[int] = field(default_factory=set)
    dismissed: dict[int, set[tuple[str, ...]]] = field(default_factory=dict)  # warnings
    unfolded: set[str] = field(default_factory=set)  # places in the tab where warnings are listed
    coverage_reports: dict[int, CoverageReport] = field(default_factory=dict)
    pose_maps: dict[int, MappedPoses] = field(default_factory=dict)
    comparisons: dict[int, Comparison] = field(default_factory=dict)
    scheduled: set[Callable[[], Any]] = field(default_factory=set)  # what timers call
    window_timers: list[bpy.types.Timer] = field(default_factory=list)  # Blender does not list them
    caches: dict[type, Any] = field(default_factory=dict)
    # what is found out once, by what it is and what it depends on
    known: defaultdict[str, dict[Any, Any]] = field(default_factory=lambda: defaultdict(dict))
    listeners: dict[str, list[Callable[..., Any]]] = field(default_factory=dict)
    registered: ExitStack = field(default_factory=ExitStack)  # takes back what is registered

    def get_cache(self, kind: type[Cache]) -> Cache:
        """Return the one object of a class that caches what drawing makes."""
        if kind not in self.caches:
            self.caches[kind] = kind()
        return self.caches[kind]

    def subscribe(self, kind: Kind | Literal["tick"], listener: Callable[..., Any]) -> None:
        """Have a listener called after every change of a kind, or every tick."""
        self.listeners.setdefault(kind, []).append(listener)

    def changed(self, kind: Kind) -> None:
        """Notify the listeners of a kind of change."""
        for listener in self.listeners.get(kind, ()):
            listener()

    def tick(self, live: LiveSession, frame: Frame) -> None:
        """Notify the listeners that a live session shows another frame."""
        for listener in self.listeners.get("tick", ()):
            listener(live, frame)

    def close(self) -> None:
        """Remove what is registered, in reverse order, and reset all; may be called twice."""
        try:
            self.registered.close()
        finally:  # a panel of the next registration says why the session ended
            vars(self).update(vars(Runtime(end_message=self.end_message)))


runtime = Runtime()
