"""Jumps of the active directed take: the one at the playhead, and pieces that avoid it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import bpy

from ...engine.blending.transition_cost import format_price
from ...engine.direct.shot.shot import ForbiddenJump, KeptJump, Piece, Shot
from ...engine.errors import SettingsError
from ...scene.blender.animation.actions import get_scene_fps
from ...scene.direct import stored_shots
from ..property_access import get_active_take

_SAME = 1e-3  # seconds by which the reported time of a kept jump may differ
_AROUND = 2.5  # seconds before and after a forbidden jump that are solved anew


@dataclass(frozen=True)
class TakeJump:
    """A jump of a take: when it is, from and to which frame of a clip, and its price.

    The `runner_up` is where the cheapest other jump leads, and how much dearer that is to the
    director, in metre-seconds.
    """

    frame: int
    second: float
    source: str
    target: str
    price: float | None
    is_pinned: bool = False
    runner_up: tuple[str, float] | None = None

    def list_facts(self) -> list[tuple[str, str]]:
        """Return what people want to know of the jump: the name of each fact, and its value."""
        facts = [("From", self.source), ("To", self.target)]
        if self.price is not None:
            facts.append(("Price", format_price(self.price)))
        if self.runner_up is not None:
            target, dearer = self.runner_up
            facts.append(("Next", target))
            facts.append(
                ("", f"{format_price(abs(dearer))} {'dearer' if dearer >= 0 else 'cheaper'}")
            )
        return facts


def list_jumps(action: bpy.types.Action | None) -> list[TakeJump]:
    """Return the jumps of a directed take in order; none of other takes, or if they were edited."""
    told = stored_shots.read_jumps(action) if action else []
    frame = stored_shots.find_frame(action) if action and told else None
    if not action or frame is None:
        return []
    rate = get_scene_fps(bpy.context.scene)
    kept = stored_shots.read_kept(action)
    return [
        TakeJump(
            **each._asdict(),
            frame=round(frame + each.second * rate),
            is_pinned=any(_is_same(jump, each) for jump in kept),
        )
        for each in told
    ]


def _is_same(kept: KeptJump, jump: TakeJump | stored_shots.StoredJump) -> bool:
    is_then = abs(kept.time - jump.second) < _SAME
    return is_then and (kept.source, kept.target) == (jump.source, jump.target)


def _leave_out(kept: Iterable[KeptJump], jump: TakeJump) -> list[KeptJump]:
    return [each for each in kept if not _is_same(each, jump)]


def find_jump(action: bpy.types.Action | None, frame: int) -> TakeJump | None:
    """Return the last jump up to a frame, or the first one after it."""
    return choose_jump(list_jumps(action), frame)


def choose_jump(jumps: Sequence[TakeJump], frame: int) -> TakeJump | None:
    """Return the last of some jumps up to a frame, or the first one after it."""
    earlier = [jump for jump in jumps if jump.frame <= frame]
    return earlier[-1] if earlier else next(iter(jumps), None)


def find_next_frame(action: bpy.types.Action, frame: int, step: int) -> int | None:
    """Return the frame of the next jump after a frame, or with a step below 0 of the one before."""
    frames = [jump.frame for jump in list_jumps(action)]
    if step > 0:
        return min((each for each in frames if each > frame), default=None)
    return max((each for each in frames if each < frame), default=None)


def pin(action: bpy.types.Action, jump: TakeJump) -> bool:
    """Have later solves keep a jump of a take, or no longer, if they do; return whether they do."""
    kept = stored_shots.read_kept(action)
    others = _leave_out(kept, jump)
    pinned = len(others) == len(kept)
    new = [KeptJump(jump.source, jump.target, jump.second)] if pinned else []
    stored_shots.store_kept(action, [*others, *new])
    return pinned


def list_kept(obj: bpy.types.Object, start: int, end: int) -> tuple[KeptJump, ...]:
    """Return the jumps of an armature's active take that a shot of these frames has to keep."""
    action = get_active_take(obj)
    rate = get_scene_fps(bpy.context.scene)
    frame = stored_shots.find_frame(action) if action else None
    if action is None or frame is None:
        return ()
    kept = stored_shots.read_kept(action)
    later = (frame - start) / rate
    moved = [replace(each, time=each.time + later) for each in kept]
    return tuple(each for each in moved if 0.0 < each.time < (end - start) / rate)


def _ask(shot: Shot, action: bpy.types.Action) -> Shot:
    """Return what a take's shot asks for now, with the jumps that are pinned."""
    return replace(shot.current, kept=tuple(stored_shots.read_kept(action)), pieces=())


def forbid(shot: Shot, action: bpy.types.Action, jump: TakeJump, *, only_here: bool) -> Piece:
    """Return the piece around a jump of a take that is to be solved without it.

    The jump is forbidden in all that is solved from now on, or `only_here`, around its time.
    """
    asked = _ask(shot, action)
    start, stop = max(jump.second - _AROUND, 0.0), min(jump.second + _AROUND, shot.seconds)
    span = (start, stop) if only_here else ()
    new = ForbiddenJump(jump.source, jump.target, *span)
    kept = tuple(_leave_out(asked.kept, jump))
    return Piece(start, stop, replace(asked, forbidden=(*asked.forbidden, new), kept=kept))


def vary(shot: Shot, action: bpy.types.Action, frame: int, span: tuple[int, int]) -> Piece:
    """Return the piece of a shot between two frames of the scene, to be solved in another way.

    Raises SettingsError if the shot, which begins at a frame, has nothing there.
    """
    rate = get_scene_fps(bpy.context.scene)
    start, stop = (min(max((each - frame) / rate, 0.0), shot.seconds) for each in span)
    if stop - start < 1.0:
        last = frame + round(shot.seconds * rate)
        raise SettingsError(
            f"The preview range from {span[0]} to {span[1]} covers less than a second of the take, "
            f"which goes from frame {frame} to {last}; make it longer."
        )
    seeds = [shot.seed, *(piece.shot.seed for piece in shot.pieces)]
    return Piece(start, stop, replace(_ask(shot, action), seed=max(seeds) + 1))
