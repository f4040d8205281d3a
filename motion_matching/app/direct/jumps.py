"""Jumps of the active directed take: the one at the playhead, and pieces that avoid it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import bpy

from ...engine.control.transition_cost import format_price
from ...engine.direct.shot import ForbiddenJump, Piece, Shot
from ...engine.errors import SettingsError
from ...scene.blender.actions import get_scene_fps
from ...scene.direct import stored_shots

_AROUND = 2.5  # seconds before and after a forbidden jump that are solved anew


@dataclass(frozen=True)
class TakeJump:
    """A jump of a take: when it is, from and to which frame of a clip, and its price."""

    frame: int
    second: float
    source: str
    target: str
    price: float | None

    @property
    def label(self) -> str:
        """The jump in words, for people."""
        price = "" if self.price is None else f", {format_price(self.price)}"
        return f"{self.source} to {self.target}{price}"


def list_jumps(action: bpy.types.Action | None) -> list[TakeJump]:
    """Return the jumps of a directed take in order; none of other takes."""
    told = stored_shots.read_jumps(action) if action else []
    if not action or not told:
        return []
    frame, rate = stored_shots.read_frame(action), get_scene_fps(bpy.context.scene)
    return [
        TakeJump(
            round(frame + float(each["second"]) * rate),
            float(each["second"]),
            str(each["from"]),
            str(each["to"]),
            each["price"],
        )
        for each in told
    ]


def find_jump(action: bpy.types.Action | None, frame: int) -> TakeJump | None:
    """Return the last jump up to a frame, or the first one after it."""
    jumps = list_jumps(action)
    earlier = [jump for jump in jumps if jump.frame <= frame]
    return earlier[-1] if earlier else next(iter(jumps), None)


def find_next_frame(action: bpy.types.Action, frame: int, step: int) -> int | None:
    """Return the frame of the next jump after a frame, or with a step below 0 of the one before."""
    frames = [jump.frame for jump in list_jumps(action)]
    if step > 0:
        return min((each for each in frames if each > frame), default=None)
    return max((each for each in frames if each < frame), default=None)


def forbid(shot: Shot, jump: TakeJump) -> Piece:
    """Return the piece around a jump of a shot that is to be solved without it."""
    asked = shot.current
    forbidden = (*asked.forbidden, ForbiddenJump(jump.source, jump.target))
    start, stop = max(jump.second - _AROUND, 0.0), min(jump.second + _AROUND, shot.seconds)
    return Piece(start, stop, replace(asked, forbidden=forbidden, pieces=()))


def vary(shot: Shot, frame: int, span: tuple[int, int]) -> Piece:
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
    return Piece(start, stop, replace(shot.current, seed=max(seeds) + 1, pieces=()))
